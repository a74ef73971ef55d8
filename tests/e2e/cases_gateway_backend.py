"""The scripted backend of the gateway's cases, on its own: that it does what a script says, and
that it sees what a client does."""

import gzip
import http.client
import json
import socket
import time

import gateway_backend as behave
from gateway_backend import Backend
from gateway_running import Gateway, chat_body
from harness import case, check, check_equal
from serving import until


def direct(world, backend):
    """A client of the backend itself."""
    return Gateway(world, None, backend.url, None, None, None)


@case
def gateway_backend_answers_every_api(world):
    """Whole and streamed, in each API's form; what it was sent is recorded as it came."""
    with Backend("gpu0") as backend:
        client = direct(world, backend)
        reply = client.chat("h\u00e9llo").json()
        check_equal(reply["choices"][0]["message"]["content"], "gpu0 heard: h\u00e9llo", "chat")
        check_equal(reply["model"], "m", "model")
        check_equal(backend.requests[0].body,
                    json.dumps(chat_body("h\u00e9llo"), ensure_ascii=False).encode(), "body")
        check_equal(client.post("/v1/embeddings", {"model": "e", "input": ["a", "b"]}).json()
                    ["data"][1]["embedding"], [0.5, -0.25, 1.0], "embedding")
        for path, last in (("/v1/chat/completions", b"data: [DONE]\n\n"),
                           ("/v1/completions", b"data: [DONE]\n\n"),
                           ("/v1/responses", b'"response.completed"'),
                           ("/v1/messages", b"event: message_stop\n")):
            with client.stream("one two", path=path) as stream:
                check(last in stream.rest(), f"end of {path}: {stream.body!r}")
        tools = [{"type": "function", "function": {"name": "weather"}}]
        calls = client.chat(tools=tools).json()["choices"][0]["message"]["tool_calls"]
        check_equal(calls[0]["function"]["name"], "weather", "tool")
        check_equal(client.get("/v1/models").json()["data"][0]["id"], "none", "models")
        check_equal(client.get("/health").status, 200, "health")
        check_equal(len(backend.health_checks), 1, "health checks")
        check_equal(client.post("/v1/nowhere", {}).status, 404, "another path")
        backend.health = "bad"
        check_equal(client.get("/health").status, 500, "bad health")


@case
def gateway_backend_scripts_in_order(world):
    with Backend() as backend:
        client = direct(world, backend)
        backend.script(behave.busy(7), behave.gzipped({"a": 1}),
                       behave.after(0.2, behave.reply({})), behave.huge_head(40000))
        refused = client.chat()
        check_equal((refused.status, refused.headers["Retry-After"]), (429, "7"), "busy")
        packed = client.chat()
        check_equal(json.loads(gzip.decompress(packed.body)), {"a": 1}, "gzip")
        began = time.monotonic()
        client.chat().json()
        check(time.monotonic() - began >= 0.2, "it did not wait")
        check_equal(len(client.chat().headers["X-Huge"]), 40000, "head")
        check_equal(client.chat().status, 200, "after the script")


@case
def gateway_backend_writes_as_told(world):
    """Pieces keep their limits and their times, within a character too."""
    pieces = [b"data: \xe2", b"\x82\xac\r", b"\n\r\ndata: [DONE]\n\n"]
    with Backend() as backend:
        backend.script(behave.stream(pieces, 0.05))
        with direct(world, backend).stream() as stream:
            stream.rest()
            check_equal([piece for _, piece in stream.pieces], pieces, "pieces")
            late = [got - sent for (got, _), sent in
                    zip(stream.pieces, backend.requests[0].sent_at())]
            check(max(late) < 0.04 * world.slow, f"pieces were late: {late}")


@case
def gateway_backend_breaks_as_told(world):
    kinds = [behave.cut, behave.stream([b"data: 1\n\n"], end="cut"),
             behave.stream([b"data: 1\n\n"], end="reset"), behave.cut_within(b"{}  ", 2),
             *(behave.bad_framing(kind) for kind in behave.BAD_FRAMINGS)]
    with Backend() as backend:
        client = direct(world, backend)
        for number, kind in enumerate(kinds):
            backend.script(kind)
            raw = client.send_raw(b"POST /v1/chat/completions HTTP/1.1\r\nHost: a\r\n"
                                  b"Content-Length: 2\r\n\r\n{}")
            check(not raw.endswith(b"0\r\n\r\n") or b"Content-Length" in raw,
                  f"kind {number} ended whole: {raw!r}")
        check_equal(len(backend.requests), len(kinds), "requests")
        try:
            backend.script(behave.cut)
            client.chat()
        except (http.client.RemoteDisconnected, ConnectionResetError):
            return
        check(False, "an answer from a connection that was cut")


@case
def gateway_backend_sees_who_leaves(world):
    """While it waits before the head, and between two pieces: within some milliseconds."""
    endless = behave.stream([b"data: 1\n\n", 60.0])
    with Backend() as backend:
        for number, kind in enumerate((behave.hang, endless)):
            backend.script(kind)
            stream = direct(world, backend).stream()
            until(lambda n=number: len(backend.requests) > n, "the request")
            if kind is endless:
                stream.until(b"data: 1")
            check_equal(backend.open_requests(), 1, "open requests")
            left = stream.close()
            request = backend.requests[number]
            until(lambda one=request: one.closed_at is not None, "the end")
            check(request.closed_at - left < 0.05 * world.slow,
                  f"seen after {request.closed_at - left:.3f} s")
        check_equal(backend.open_requests(), 0, "open requests")


@case
def gateway_backend_reads_slowly_and_in_chunks(world):
    with Backend() as backend:
        client = direct(world, backend)
        backend.drain_bytes_per_s = 100_000
        began = time.monotonic()
        client.chat("x" * 50_000).json()
        check(time.monotonic() - began > 0.4, "the body was read at once")
        backend.drain_bytes_per_s = 0
        raw = client.send_raw(b"POST /v1/completions HTTP/1.1\r\nHost: a\r\nConnection: close\r\n"
                              b"Transfer-Encoding: chunked\r\n\r\n8\r\n{\"model\"\r\n"
                              b"5\r\n:\"x\"}\r\n0\r\n\r\n")
        check(b'"model": "x"' in raw, f"{raw!r}")
        check_equal(backend.requests[-1].body, b'{"model":"x"}', "body")


@case
def gateway_backend_comes_back_on_its_port(world):
    with Backend() as backend:
        client = direct(world, backend)
        client.chat().json()
        backend.stop()
        try:
            socket.create_connection(("127.0.0.1", backend.port), timeout=1).close()
        except ConnectionRefusedError:
            backend.start()
            client.chat().json()
            return
        check(False, "a stopped backend took a connection")
