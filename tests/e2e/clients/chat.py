#!/usr/bin/env python3
"""The unmodified clients of OpenAI and Anthropic against a gateway: `chat.py CASE[,CASE...] URL`.

Exit 0: all holds. Behind the gateway are the backends of gateway_answers.py, one named gpu0, which
say what they heard. SLOW_FACTOR (default 1) stretches waits."""

import os
import sys
import time

import anthropic
import openai

SLOW = int(os.environ.get("SLOW_FACTOR", "1"))
KEY = os.environ.get("GATEWAY_KEY", "any-key-of-tests")
MODEL = "gpu0"
ASKED = [{"role": "user", "content": "h\u00e9llo \U0001f600"}]
SAID = "gpu0 heard: h\u00e9llo \U0001f600"
WEATHER = {"name": "weather", "description": "of a city"}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}}
OPENAI_TOOLS = [{"type": "function", "function": {**WEATHER, "parameters": CITY}}]
ANTHROPIC_TOOLS = [{**WEATHER, "input_schema": CITY}]
ARGUMENTS = '{"city": "Z\u00fcrich"}'


def openai_client(url, **settings):
    return openai.OpenAI(base_url=url + "/v1", **{
        "api_key": KEY, "timeout": 20 * SLOW, "max_retries": 0, **settings})


def anthropic_client(url, **settings):
    return anthropic.Anthropic(base_url=url, **{
        "api_key": KEY, "timeout": 20 * SLOW, "max_retries": 0, **settings})


def refused(kind, call):
    """The error that a call ends with, which must be of this kind."""
    try:
        call()
    except kind as error:
        return error
    raise AssertionError(f"no {kind.__name__}")


def chat(url):
    with openai_client(url) as client:
        raw = client.chat.completions.with_raw_response.create(model=MODEL, messages=ASKED)
        reply = raw.parse()
    assert reply.choices[0].message.content == SAID, reply
    assert reply.model == MODEL and reply.usage.total_tokens == 10, reply
    assert raw.headers["x-1bit-route"].endswith(" gpu0"), dict(raw.headers)


def chat_streamed(url):
    with openai_client(url) as client:
        chunks = list(client.chat.completions.create(
            model=MODEL, messages=ASKED, stream=True, stream_options={"include_usage": True}))
    text = "".join(choice.delta.content or "" for one in chunks for choice in one.choices)
    assert text == SAID, text
    assert {one.model for one in chunks} == {MODEL}, chunks
    assert chunks[-1].usage.total_tokens == 10, chunks[-1]


def chat_tools(url):
    with openai_client(url) as client:
        reply = client.chat.completions.create(model=MODEL, messages=ASKED, tools=OPENAI_TOOLS)
        call = reply.choices[0].message.tool_calls[0]
        assert (call.function.name, call.function.arguments) == ("weather", ARGUMENTS), call
        parts = [choice.delta.tool_calls[0].function.arguments or ""
                 for one in client.chat.completions.create(
                     model=MODEL, messages=ASKED, tools=OPENAI_TOOLS, stream=True)
                 for choice in one.choices if choice.delta.tool_calls]
        assert "".join(parts) == ARGUMENTS, parts
        turn = [*ASKED, reply.choices[0].message.model_dump(exclude_none=True),
                {"role": "tool", "tool_call_id": call.id, "content": "rain"}]
        after = client.chat.completions.create(model=MODEL, messages=turn)
        assert after.choices[0].message.content == "gpu0 heard: rain", after


def chat_cancelled(url):
    """The backend says a word every 50 ms, without end; the test looks when it was left."""
    with openai_client(url) as client:
        stream = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
        for _ in zip(range(3), stream):
            pass
        stream.close()
    print(f"left {time.monotonic()}")


def models(url):
    with openai_client(url) as client:
        listed = [one.id for one in client.models.list()]
    assert MODEL in listed, listed


def completions(url):
    with openai_client(url) as client:
        reply = client.completions.create(model=MODEL, prompt="once")
    assert reply.choices[0].text == "gpu0 heard: once", reply


def responses(url):
    with openai_client(url) as client:
        reply = client.responses.create(model=MODEL, input="once")
        assert reply.output_text == "gpu0 heard: once" and reply.model == MODEL, reply
        events = list(client.responses.create(model=MODEL, input="twice", stream=True))
    text = "".join(one.delta for one in events if one.type == "response.output_text.delta")
    assert text == "gpu0 heard: twice", events
    assert events[-1].response.model == MODEL, events[-1]


def embeddings(url):
    with openai_client(url) as client:
        reply = client.embeddings.create(model=MODEL, input=["a", "b"], encoding_format="float")
    assert [one.embedding for one in reply.data] == [[0.5, -0.25, 0.0], [0.5, -0.25, 1.0]], reply
    assert reply.model == MODEL, reply


def chat_errors(url):
    with openai_client(url) as client:
        def ask(model):
            return client.chat.completions.create(model=model, messages=ASKED)
        unknown = refused(openai.NotFoundError, lambda: ask("nobody-knows"))
        assert unknown.code == "model_not_found", unknown
        bad = refused(openai.BadRequestError, lambda: client.post(
            "/chat/completions", body=["no", "object"], cast_to=object))
        assert bad.body["type"] == "invalid_request_error", bad.body


def chat_error_of_backend(url):
    """The backend's own refusal, as it was said, streamed or not."""
    with openai_client(url) as client:
        for streamed in (False, True):
            error = refused(
                openai.RateLimitError, lambda s=streamed: client.chat.completions.create(
                    model=MODEL, messages=ASKED, stream=s))
            assert error.body["message"] == "busy", error.body


def chat_broken(url):
    """A stream that breaks is an error, not a short answer."""
    with openai_client(url) as client:
        stream = client.chat.completions.create(model=MODEL, messages=ASKED, stream=True)
        refused(openai.APIError, lambda: list(stream))


def messages(url):
    with anthropic_client(url) as client:
        reply = client.messages.create(model=MODEL, max_tokens=50, messages=ASKED)
    assert reply.content[0].text == SAID and reply.model == MODEL, reply
    assert reply.usage.output_tokens == 3, reply


def messages_streamed(url):
    with anthropic_client(url) as client:
        with client.messages.stream(model=MODEL, max_tokens=50, messages=ASKED) as stream:
            text = "".join(stream.text_stream)
            last = stream.get_final_message()
    assert text == SAID, text
    assert last.stop_reason == "end_turn" and last.model == MODEL, last


def messages_tools(url):
    with anthropic_client(url) as client:
        reply = client.messages.create(model=MODEL, max_tokens=50, messages=ASKED,
                                       tools=ANTHROPIC_TOOLS)
    assert reply.content[0].input == {"city": "Z\u00fcrich"}, reply


def count_tokens(url):
    with anthropic_client(url) as client:
        assert client.messages.count_tokens(model=MODEL, messages=ASKED).input_tokens == 7


def messages_errors(url):
    with anthropic_client(url) as client:
        unknown = refused(anthropic.NotFoundError, lambda: client.messages.create(
            model="nobody-knows", max_tokens=50, messages=ASKED))
        assert unknown.body["error"]["type"] == "not_found_error", unknown.body
        bad = refused(anthropic.BadRequestError, lambda: client.post(
            "/v1/messages", body=["no", "object"], cast_to=object))
        assert bad.body["error"]["type"] == "invalid_request_error", bad.body


def messages_broken(url):
    with anthropic_client(url) as client:
        with client.messages.stream(model=MODEL, max_tokens=50, messages=ASKED) as stream:
            refused(anthropic.APIError, lambda: list(stream))


def wrong_key(url):
    """Both clients, each with its own field for the key."""
    with openai_client(url, api_key="wrong-key-of-tests") as client:
        refused(openai.AuthenticationError, client.models.list)
    with anthropic_client(url, api_key="wrong-key-of-tests") as client:
        error = refused(anthropic.AuthenticationError, lambda: client.messages.create(
            model=MODEL, max_tokens=50, messages=ASKED))
        assert error.body["error"]["type"] == "authentication_error", error.body


if __name__ == "__main__":
    for case in sys.argv[1].split(","):
        print(case, flush=True)  # the last one is the one that failed
        globals()[case](sys.argv[2])
