#!/usr/bin/env python3
"""OpenAI's and Anthropic's unmodified packages against `layard gateway` in front of llama.cpp with
the model of tools/make-tiny-gguf: `gateway_sdk.py CASE[,CASE...] URL`. Exit 0: all holds."""

import json
import os
import sys

import anthropic
import openai

SLOW = int(os.environ.get("SLOW_FACTOR", "1"))
ASK = [{"role": "user", "content": "hello"}]
LOOK_UP = {"type": "object", "properties": {"city": {"type": "string", "enum": ["Bern", "Genf"]}},
           "required": ["city"], "additionalProperties": False}
TOOLS = [{"type": "function", "function": {"name": "look_up", "parameters": LOOK_UP}}]
# Tokens of the model: the end, and what begins the call of a tool.
CALLS_A_TOOL = {"3": 1000, "2": 2000}


def client(url):
    return openai.OpenAI(api_key="any", base_url=f"{url}/v1", timeout=30.0 * SLOW, max_retries=0)


def whole(url):
    with client(url) as api:
        names = [one.id for one in api.models.list()]
        assert "auto" in names, names
        raw = api.chat.completions.with_raw_response.create(model="auto", messages=ASK,
                                                            max_tokens=12)
        assert raw.headers["X-1bit-Route"].split(" ")[2] == "a", raw.headers
        reply = raw.parse()
        assert reply.model == "auto", reply.model
        assert reply.choices[0].finish_reason == "length", reply
        assert reply.choices[0].message.content.strip(), reply
        assert reply.usage.completion_tokens == 12, reply.usage
        assert api.completions.create(model="auto", prompt="a", max_tokens=3).choices[0].text
        assert api.responses.create(model="auto", input="a", max_output_tokens=16).output_text


def streamed(url):
    with client(url) as api:
        text, usage = "", None
        for chunk in api.chat.completions.create(model="auto", messages=ASK, max_tokens=40,
                                                 stream=True,
                                                 stream_options={"include_usage": True}):
            assert chunk.model == "auto", chunk
            text += "".join(choice.delta.content or "" for choice in chunk.choices)
            usage = chunk.usage or usage
        assert len(text) > 40, text
        assert usage.completion_tokens == 40, usage


def tools(url):
    """A call, streamed; then its result, and the next turn."""
    with client(url) as api:
        calls = {}
        for chunk in api.chat.completions.create(
                model="auto", messages=ASK, tools=TOOLS, tool_choice="required", max_tokens=2000,
                logit_bias=CALLS_A_TOOL, stream=True):
            for part in [p for c in chunk.choices for p in c.delta.tool_calls or []]:
                call = calls.setdefault(part.index, {"id": part.id, "name": "", "arguments": ""})
                call["name"] += part.function.name or ""
                call["arguments"] += part.function.arguments or ""
        assert calls[0]["name"] == "look_up", calls
        assert json.loads(calls[0]["arguments"])["city"] in ("Bern", "Genf"), calls
        made = {"id": calls[0]["id"], "type": "function",
                "function": {"name": "look_up", "arguments": calls[0]["arguments"]}}
        turns = [*ASK, {"role": "assistant", "content": None, "tool_calls": [made]},
                 {"role": "tool", "tool_call_id": made["id"], "content": "a city"}]
        reply = api.chat.completions.create(model="auto", messages=turns, tools=TOOLS,
                                            max_tokens=8)
        assert reply.usage.completion_tokens == 8, reply


def refused(url):
    """What llama.cpp refuses, the package understands."""
    with client(url) as api:
        try:
            api.embeddings.create(model="auto", input="a")
            raise AssertionError("embeddings of a server without them")
        except openai.InternalServerError as error:
            assert error.status_code == 501, error
            assert "embeddings" in str(error), error


def cancelled(url):
    """A stream that is left, and the next request on the same client."""
    with client(url) as api:
        with api.chat.completions.create(model="auto", messages=ASK, max_tokens=7000,
                                         stream=True) as stream:
            assert next(iter(stream)).model == "auto"
        assert api.chat.completions.create(model="auto", messages=ASK, max_tokens=3).usage


def anthropic_client(url):
    return anthropic.Anthropic(api_key="any", base_url=url, timeout=30.0 * SLOW, max_retries=0)


def anthropic_whole_and_streamed(url):
    with anthropic_client(url) as api:
        reply = api.messages.create(model="auto", max_tokens=8, messages=ASK)
        assert reply.model == "auto", reply
        assert reply.usage.output_tokens == 8, reply
        assert reply.content[0].text.strip(), reply
        with api.messages.stream(model="auto", max_tokens=8, messages=ASK) as stream:
            text = "".join(stream.text_stream)
            last = stream.get_final_message()
        assert text.strip() and last.model == "auto", last
        assert last.stop_reason == "max_tokens", last
        assert api.messages.count_tokens(model="auto", messages=ASK).input_tokens > 0


CASES = {"whole": whole, "streamed": streamed, "tools": tools, "refused": refused,
         "cancelled": cancelled, "anthropic": anthropic_whole_and_streamed}

if __name__ == "__main__":
    for case in sys.argv[1].split(","):
        print(case, flush=True)  # the last one is the one that failed
        CASES[case](*sys.argv[2:])
