"""What the backend of gateway_backend.py answers by itself: each API's usual replies, computed from
the request, whole or as events. Standard library only."""

import json

USAGE = {"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
TOOL_ARGUMENTS = '{"city": "Z\u00fcrich"}'
CREATED = 1_700_000_000


def data(value):
    """One event without a name."""
    return b"data: " + dumped(value) + b"\n\n"


def named(value):
    """One event named after its type, as Anthropic and the Responses API have them."""
    return b"event: " + value["type"].encode() + b"\n" + data(value)


def dumped(value):
    return json.dumps(value, ensure_ascii=False).encode()


def words(text):
    """A text in pieces, as a model would stream it."""
    first, *others = text.split(" ")
    return [first, *(" " + word for word in others)]


def first_tool(request):
    tool = request["tools"][0]
    return tool.get("function", tool)["name"]


def chunk(model, delta, finish=None, **more):
    """One chunk of a streamed chat completion."""
    return {"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": CREATED,
            "model": model,
            "choices": [{"index": 0, "delta": delta, "finish_reason": finish}], **more}


def chat(request, model, text):
    message, reason = {"role": "assistant", "content": text}, "stop"
    if request.get("tools"):
        reason = "tool_calls"
        message = {"role": "assistant", "content": None, "tool_calls": [
            {"id": "call_1", "type": "function",
             "function": {"name": first_tool(request), "arguments": TOOL_ARGUMENTS}}]}
    return {"id": "chatcmpl-1", "object": "chat.completion", "created": CREATED, "model": model,
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            "usage": USAGE}


def chat_events(request, model, text):
    pieces = [chunk(model, {"role": "assistant", "content": ""})]
    reason = "stop"
    if request.get("tools"):
        reason = "tool_calls"
        call = {"index": 0, "id": "call_1", "type": "function",
                "function": {"name": first_tool(request), "arguments": ""}}
        pieces.append(chunk(model, {"tool_calls": [call]}))
        half = len(TOOL_ARGUMENTS) // 2
        for part in (TOOL_ARGUMENTS[:half], TOOL_ARGUMENTS[half:]):
            pieces.append(chunk(model, {"tool_calls": [
                {"index": 0, "function": {"arguments": part}}]}))
    else:
        pieces += [chunk(model, {"content": word}) for word in words(text)]
    pieces.append(chunk(model, {}, reason))
    if request.get("stream_options", {}).get("include_usage"):
        pieces.append({**chunk(model, {}), "choices": [], "usage": USAGE})
    return [*map(data, pieces), b"data: [DONE]\n\n"]


def completion(model, text, reason="stop"):
    return {"id": "cmpl-1", "object": "text_completion", "created": CREATED, "model": model,
            "choices": [{"index": 0, "text": text, "finish_reason": reason, "logprobs": None}],
            "usage": USAGE}


def completion_events(model, text):
    return [*(data(completion(model, word, None)) for word in words(text)), b"data: [DONE]\n\n"]


def response(model, text, status="completed"):
    item = {"id": "msg_1", "type": "message", "role": "assistant", "status": status,
            "content": [{"type": "output_text", "text": text, "annotations": []}]}
    return {"id": "resp_1", "object": "response", "created_at": CREATED, "model": model,
            "status": status, "output": [item] if status == "completed" else [], "error": None,
            "incomplete_details": None, "instructions": None, "metadata": {},
            "parallel_tool_calls": True, "temperature": 1, "tool_choice": "auto", "tools": [],
            "top_p": 1, "usage": {"input_tokens": 7, "output_tokens": 3, "total_tokens": 10,
                                  "input_tokens_details": {"cached_tokens": 0},
                                  "output_tokens_details": {"reasoning_tokens": 0}}}


def response_events(model, text):
    events = [{"type": "response.created", "response": response(model, "", "in_progress")}]
    place = {"item_id": "msg_1", "output_index": 0, "content_index": 0}
    events += [{"type": "response.output_text.delta", "delta": word, "logprobs": [], **place}
               for word in words(text)]
    events.append({"type": "response.completed", "response": response(model, text)})
    return [named({**event, "sequence_number": number}) for number, event in enumerate(events)]


def embeddings(request, model):
    texts = request.get("input", [])
    count = len(texts) if isinstance(texts, list) else 1
    return {"object": "list", "model": model,
            "data": [{"object": "embedding", "index": i, "embedding": [0.5, -0.25, float(i)]}
                     for i in range(count)],
            "usage": {"prompt_tokens": 7, "total_tokens": 7}}


def message(request, model, text):
    content, reason = [{"type": "text", "text": text}], "end_turn"
    if request.get("tools"):
        reason = "tool_use"
        content = [{"type": "tool_use", "id": "toolu_1", "name": first_tool(request),
                    "input": json.loads(TOOL_ARGUMENTS)}]
    return {"id": "msg_1", "type": "message", "role": "assistant", "model": model,
            "content": content, "stop_reason": reason, "stop_sequence": None,
            "usage": {"input_tokens": 7, "output_tokens": 3}}


def message_events(model, text):
    empty = {**message({}, model, ""), "content": [], "stop_reason": None}
    events = [{"type": "message_start", "message": empty},
              {"type": "content_block_start", "index": 0,
               "content_block": {"type": "text", "text": ""}}]
    events += [{"type": "content_block_delta", "index": 0,
                "delta": {"type": "text_delta", "text": word}} for word in words(text)]
    events += [{"type": "content_block_stop", "index": 0},
               {"type": "message_delta", "delta": {"stop_reason": "end_turn",
                                                   "stop_sequence": None},
                "usage": {"output_tokens": 3}},
               {"type": "message_stop"}]
    return [named(event) for event in events]


def answer(path, request, model, text):
    """(whole reply, events) of a path; both None where there is no such path. What has no streamed
    form gives no events."""
    path = path.split("?")[0]
    if path == "/v1/chat/completions":
        return chat(request, model, text), chat_events(request, model, text)
    if path == "/v1/completions":
        return completion(model, text), completion_events(model, text)
    if path == "/v1/responses":
        return response(model, text), response_events(model, text)
    if path == "/v1/embeddings":
        return embeddings(request, model), None
    if path == "/v1/messages":
        return message(request, model, text), message_events(model, text)
    if path == "/v1/messages/count_tokens":
        return {"input_tokens": 7}, None
    if path == "/v1/models":
        return {"object": "list", "data": [{"id": model, "object": "model", "created": CREATED,
                                            "owned_by": "tests"}]}, None
    return None, None
