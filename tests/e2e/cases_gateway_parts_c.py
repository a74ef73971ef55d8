"""What users of other gateways complained of, one case a row: how replies are relayed.

A case's name has its row's number in part C of the routing specification. This file has rows 1 to
25 (streams, errors, clients that leave, bodies); cases_gateway_parts_c_devices.py has 26 to 50.

Covered elsewhere: 22 and 23 at their full size (2,000 streams, 100,000 requests) by the soak of
the gateway and bench/gateway; here they run small. The half of 5 that looks into the first event
of a reply of status 200 belongs to the tests of the reply's reader, and the half of 14 about
requests that are being classified to those of the decision, which a case cannot slow down.
Do not apply: 18 (there is one commit point, the first byte) and the opt-in half of 19 (a broken
stream is never continued elsewhere).
"""

import gzip
import json
import os
import pathlib
import re
import time

import gateway_backend as behave
import gateway_answers
from gateway_backend import Backend
from gateway_running import policy_of, running_gateway
from harness import case, check, check_equal
from serving import until

CHAT = "/v1/chat/completions"
EVENT_DELAY_S_MAX = 0.005
CANCEL_S_MAX = 0.1


def chunk(text):
    return gateway_answers.data(gateway_answers.chunk("m", {"content": text}))


def started(world, backend, *flags, **policy):
    """A gateway in front of one backend, without a model that decides."""
    return running_gateway(world, policy_of({"gpu0": backend}, **policy), *flags)


def check_left(world, backend, left, number=-1):
    """The backend's connection was closed soon after the client's."""
    request = backend.requests[number]
    until(lambda: request.closed_at is not None, "the end of the backend's request")
    took = request.closed_at - left
    check(took < CANCEL_S_MAX * world.slow, f"the backend was left after {took:.3f} s")


@case
def gateway_c01_each_write_at_once(world):
    """No event waits for the next one."""
    with Backend() as backend, started(world, backend) as gateway:
        gateway.chat().json()  # the connection is there
        backend.script(behave.stream([chunk(f"w{i} ") for i in range(49)], 0.02))
        with gateway.stream() as stream:
            stream.rest()
            written = backend.requests[-1].sent_at()[:49]
            check_equal(len(stream.pieces), 49, "pieces that arrived apart")
        late = sorted(got - sent for (got, _), sent in zip(stream.pieces, written))
        check(late[len(late) // 2] < EVENT_DELAY_S_MAX * world.slow, f"median {late[24]:.4f} s")
        check(late[-5] < 3 * EVENT_DELAY_S_MAX * world.slow, f"late: {late[-5:]}")


@case
def gateway_c02_streams_are_not_to_be_buffered(world):
    with Backend() as backend, started(world, backend) as gateway, gateway.stream() as stream:
        check_equal(stream.headers["X-Accel-Buffering"], "no", "X-Accel-Buffering")
        check_equal(stream.headers["Cache-Control"], "no-cache", "Cache-Control")
        check_equal(stream.headers["Content-Type"], "text/event-stream", "Content-Type")
        stream.rest()


@case
def gateway_c03_partial_reads_are_relayed(world):
    """Some bytes of a heartbeat do not wait for a buffer to fill."""
    beats = [b": hb\n\n"] * 10
    with Backend() as backend, started(world, backend) as gateway:
        backend.script(behave.stream([*beats, chunk("end"), b"data: [DONE]\n\n"], 0.03))
        with gateway.stream() as stream:
            stream.rest()
        check_equal([piece for _, piece in stream.pieces[:10]], beats, "heartbeats")


@case
def gateway_c04_split_and_merged_events(world):
    """Events cut anywhere, CRLF, several in one write, characters cut in half."""
    text = chunk("\u00e9\u4e16\U0001f600") + chunk("b").replace(b"\n", b"\r\n") + chunk("c")
    text += b"data: [DONE]\n\n"
    for size in (1, 2, 3, 7, 64, len(text)):
        pieces = [text[at:at + size] for at in range(0, len(text), size)]
        with Backend() as backend, started(
                world, backend, devices={"gpu0": {"model": "m"}}) as gateway:
            backend.script(behave.stream(pieces))
            with gateway.stream() as stream:
                stream.rest()
                check_equal(stream.text(), "\u00e9\u4e16\U0001f600bc", f"text in {size}s")
                check(stream.body.rstrip().endswith(b"data: [DONE]"), f"{stream.body[-40:]!r}")


@case
def gateway_c05_status_before_first_byte(world):
    """A streamed request that is refused keeps its status and its body."""
    with Backend() as backend, started(world, backend, alternates_on_error=False) as gateway:
        # 429 last: from then on the backend is left alone for as long as it asked.
        for status in (400, 401, 404, 422, 500, 503, 429):
            wait = {"Retry-After": "3"} if status == 429 else {}
            backend.script(behave.error(status, f"because {status}", wait))
            with gateway.stream() as stream:
                check_equal(stream.status, status, "status")
                check_equal(stream.headers["Content-Type"], "application/json", "content type")
                said = json.loads(stream.rest())
                check_equal(said["error"]["message"], f"because {status}", "message")
                check_equal(stream.headers["Retry-After"], wait.get("Retry-After"), "Retry-After")


@case
def gateway_c06_replies_pass_as_they_are(world):
    """Status, content type and encoding; the other routes; 502 for a backend that is not there."""
    with Backend() as backend, started(world, backend) as gateway:
        backend.script(behave.gzipped({"usage": {"total_tokens": 3}}, {"X-Request-Id": "r1"}))
        packed = gateway.chat()
        check_equal(packed.headers["Content-Encoding"], "gzip", "encoding")
        check_equal(json.loads(gzip.decompress(packed.body))["usage"], {"total_tokens": 3}, "body")
        check_equal(packed.headers["X-Request-Id"], "r1", "another field")
        backend.script(behave.reply({"odd": True}, 202, {"Content-Type": "application/x-own"}))
        odd = gateway.chat()
        check_equal((odd.status, odd.headers["Content-Type"]), (202, "application/x-own"), "odd")
        for path, body in (("/v1/completions", {"prompt": "a"}), ("/v1/responses", {"input": "a"}),
                           ("/v1/embeddings", {"input": "a"}),
                           ("/v1/messages", {"messages": [], "max_tokens": 5}),
                           ("/v1/messages/count_tokens", {"messages": []})):
            check_equal(gateway.post(path, {"model": "m", **body}).status, 200, path)
            check_equal(len(backend.asked(path)), 1, f"requests of {path}")
        asked = len(backend.requests)
        for path in ("/slots", "/v1/nowhere", "/props", "/v1/chat/completions/../../slots"):
            refused = gateway.post(path, {"model": "m"}).status
            check(refused == 404 or (refused == 400 and ".." in path), f"{path}: {refused}")
        check_equal(len(backend.requests), asked, "requests that passed")
        backend.stop()
        gone = gateway.chat()
        check(gone.status in (502, 503), f"without a backend: {gone}")
        check("message" in json.loads(gone.body)["error"], f"{gone}")


@case
def gateway_c07_no_done_after_a_broken_stream(world):
    for end in ("cut", "reset"):
        with Backend() as backend, started(world, backend) as gateway:
            backend.script(behave.stream([chunk("half "), chunk("of it")], end=end))
            with gateway.stream() as stream:
                body = stream.rest()
                check(b"[DONE]" not in body, f"a clean end: {body!r}")
                check("error" in stream.events()[-1], f"no error event: {body!r}")
                check_equal(stream.text(), "half of it", "what came")


@case
def gateway_c07_no_done_after_a_broken_stream_of_anthropic(world):
    """The same in Anthropic's form."""
    events = gateway_answers.message_events("m", "one two")[:4]
    with Backend() as backend, started(world, backend) as gateway:
        backend.script(behave.stream(events, end="cut"))
        with gateway.stream(path="/v1/messages", max_tokens=9) as stream:
            body = stream.rest()
            check(body.startswith(b"".join(events)), f"{body!r}")
            check(b"message_stop" not in body and b"event: error\n" in body, f"{body!r}")
            check_equal(stream.events()[-1]["type"], "error", "the last event")


@case
def gateway_c08_bytes_are_the_same(world):
    """Escapes, spaces and Unicode come as they were sent, and [DONE] only where it was sent."""
    text = (rb'data: {"a": "\u00e9\/", "model":"m" ,"b":1.0,"b":1e0}' b"\n\n"
            b'data: {"c": "\xf0\x9f\x98\x80\\u0000"}\n\n' b": comment\nid: 7\nretry: 10\n\n"
            b'event: x\ndata: {"model" : "m"}\ndata: more\n\n')
    for tail in (b"", b"data: [DONE]\n\n"):
        with Backend() as backend, started(world, backend) as gateway:
            backend.script(behave.stream([text + tail]))
            with gateway.stream() as stream:
                check_equal(stream.rest(), text + tail, "body")


@case
def gateway_c09_comments_by_wall_clock(world):
    """A silent stream gets comments in even time, never within an event."""
    pieces = [chunk("a"), 0.7, chunk("b")[:20], 0.7, chunk("b")[20:], b"data: [DONE]\n\n"]
    with Backend() as backend, started(world, backend, "--keepalive-ms", 150) as gateway:
        backend.script(behave.stream(pieces))
        with gateway.stream() as stream:
            body = stream.rest()
            comments = [when for when, piece in stream.pieces if b": keep-alive" in piece]
        check(3 <= len(comments) <= 5, f"{len(comments)} comments: {body!r}")
        check(body.startswith(chunk("a") + b": keep-alive\n\n"), f"{body!r}")
        check_equal(body.replace(b": keep-alive\n\n", b""),
                    chunk("a") + chunk("b") + b"data: [DONE]\n\n", "the rest")
        check(chunk("b") in body, f"a comment within an event: {body!r}")


@case
def gateway_c10_ten_seconds_unless_said(world):
    told = world.run("gateway", "--help").stdout
    line = re.search(r"--keepalive-ms.*?(?=\n\s*--|\Z)", told, re.S)
    check(line is not None and "10000" in line.group(0), f"the default of --keepalive-ms:\n{told}")


@case
def gateway_c11_comments_before_the_first_token(world):
    with Backend() as backend, started(world, backend, "--keepalive-ms", 100) as gateway:
        backend.script(behave.stream([0.55, chunk("late"), b"data: [DONE]\n\n"]))
        with gateway.stream() as stream:
            stream.until(b": keep-alive\n\n: keep-alive\n\n", 5)
            check(b"late" not in stream.body, "the comments came with the token")
            stream.rest()
            check_equal(stream.text(), "late", "text")


@case
def gateway_c12_client_gone_mid_stream(world):
    with Backend() as backend, started(world, backend) as gateway:
        for pause in (0.01, 60.0):  # a busy backend, and a silent one
            backend.script(behave.stream([part for i in range(5000)
                                          for part in (chunk(f"{i}"), pause)]))
            with gateway.stream() as stream:
                stream.until(b'"content": "0"')
                left = stream.close()
            check_left(world, backend, left)


@case
def gateway_c13_client_gone_without_a_stream(world):
    """A whole reply that nobody waits for is not computed on."""
    with Backend() as backend, started(world, backend) as gateway:
        backend.script(behave.hang)
        raw = json.dumps({"model": "m", "messages": []}).encode()
        connection = gateway.connect()
        connection.request("POST", CHAT, raw, {"Content-Type": "application/json"})
        until(lambda: len(backend.requests) == 1, "the request")
        connection.close()
        check_left(world, backend, time.monotonic())
        until(lambda: backend.open_requests() == 0, "no open request")


@case
def gateway_c14_client_gone_before_the_first_token(world):
    """Before the head, after it, and while it waits for a place."""
    limits = {"gpu0": {"requests_max": 1, "queue_max": 4}}
    with Backend() as backend, started(world, backend, devices=limits) as gateway:
        for kind in (behave.hang, behave.stream([60.0])):
            backend.script(kind)
            stream = gateway.stream()
            count = len(backend.requests)
            until(lambda n=count: len(backend.requests) > n, "the request")
            left = stream.close()
            check_left(world, backend, left)
        backend.script(behave.hang)
        first = gateway.stream()
        until(lambda: backend.open_requests() == 1, "the first one")
        waiting = gateway.stream("waits")
        time.sleep(0.2)
        waiting.close()
        time.sleep(0.2)
        first.close()
        until(lambda: backend.open_requests() == 0, "the end of the first one")
        check_equal(gateway.chat("next").status, 200, "the next one")
        heard = [request.json()["messages"][0]["content"] for request in backend.requests]
        check("waits" not in heard, f"a request whose client had left went on: {heard}")


@case
def gateway_c15_the_backend_is_cut_not_ignored(world):
    """The connection of an abandoned request is closed; the next request has another."""
    with Backend() as backend, started(world, backend) as gateway:
        backend.script(behave.stream([chunk("a"), 60.0]))
        with gateway.stream() as stream:
            stream.until(b'"a"')
            left = stream.close()
        check_left(world, backend, left)
        gateway.chat().json()
        check(backend.requests[1].connection != backend.requests[0].connection,
              "the same connection")


@case
def gateway_c16_no_retry_after_content(world):
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, alternates=["b"])
        with running_gateway(world, policy) as gateway:
            one.script(behave.stream([chunk("half")], end="cut"))
            with gateway.stream() as stream:
                stream.rest()
                check_equal(stream.text(), "half", "text")
            check_equal(len(other.requests), 0, "requests of the other backend")


@case
def gateway_c17_retry_sends_the_preamble_once(world):
    """A backend that breaks before its first byte: the next one's reply is whole and alone."""
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, alternates=["b"])
        with running_gateway(world, policy) as gateway:
            one.script(behave.cut)
            with gateway.stream("who") as stream:
                stream.rest()
                check_equal(stream.status, 200, "status")
                check_equal(stream.text(), "b heard: who", "text")
                roles = [event["choices"][0]["delta"].get("role") for event in stream.events()]
                check_equal(roles.count("assistant"), 1, "preambles")
                check(stream.headers["X-1bit-Route"].endswith(" b"), "X-1bit-Route")
            check_equal(one.requests[0].body, other.requests[0].body, "body of both")


@case
def gateway_c19_a_broken_stream_ends(world):
    """It is not continued on another device, not even when nothing but a role was sent."""
    role = gateway_answers.data(gateway_answers.chunk("m", {"role": "assistant", "content": ""}))
    with Backend("a") as one, Backend("b") as other:
        with running_gateway(world, policy_of({"a": one, "b": other},
                                              alternates=["b"])) as gateway:
            one.script(behave.stream([role, 0.1], end="cut"))
            with gateway.stream() as stream:
                body = stream.rest()
            check(body.startswith(role) and b"error" in body, f"{body!r}")
            check_equal(len(other.requests), 0, "requests of the other backend")


@case
def gateway_c20_no_hidden_cap_of_connections(world):
    """150 streams are 150 requests of the backend at one time; limits are in the metrics."""
    with Backend() as backend, started(
            world, backend, devices={"gpu0": {"requests_max": 160, "queue_max": 5}}) as gateway:
        backend.otherwise = behave.stream([chunk("a"), 60.0])
        streams = [gateway.stream(f"client {i}") for i in range(150)]
        try:
            until(lambda: backend.open_requests() == 150, "150 requests at once", 20 * world.slow)
            limits = [line for line in gateway.metrics().splitlines()
                      if 'device="gpu0"' in line and line.endswith(" 160")]
            check(limits, "the limit of 160 is not in /metrics")
        finally:
            for stream in streams:
                stream.close()
        until(lambda: backend.open_requests() == 0, "their ends")


@case
def gateway_c21_a_hung_backend_stalls_only_its_own(world):
    """Each limit on time ends a request, and no other one waits for it."""
    limits = {"a": {"first_byte_ms": 400, "idle_ms": 400}}
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, devices=limits, alternates_on_error=False)
        with running_gateway(world, policy) as gateway:
            one.script(behave.hang, behave.stream([chunk("a")], end="hang"))
            began = time.monotonic()
            with gateway.stream() as stuck:
                quick = gateway.chat("hi", {"X-Layard-Device": "b"})
                check(time.monotonic() - began < 0.3 * world.slow, f"the other request waited {time.monotonic() - began:.3f} s")
                check_equal(quick.status, 200, "the other request")
                check(stuck.status in (502, 503, 504), f"status {stuck.status}")
                check(0.3 < time.monotonic() - began < 2 * world.slow, "not the limit's time")
            with gateway.stream() as silent:
                body = silent.rest()
                check(b"error" in body and b"[DONE]" not in body, f"{body!r}")


@case
def gateway_c22_many_idle_streams(world):
    """Some hundred idle streams, and a request beside them."""
    with Backend() as backend, started(world, backend) as gateway:
        backend.otherwise = behave.stream([chunk("a"), 60.0])
        streams = [gateway.stream(f"client {i}") for i in range(300)]
        try:
            until(lambda: backend.open_requests() == 300, "300 streams", 30 * world.slow)
            for stream in streams:
                stream.until(b'"a"')
            backend.script(behave.answer)
            check_equal(gateway.chat().status, 200, "a request beside them")
        finally:
            for stream in streams:
                stream.close()
        until(lambda: backend.open_requests() == 0, "their ends", 20)


@case
def gateway_c23_nothing_leaks(world):
    """Descriptors and memory after some hundred requests, many of them abandoned or refused."""
    with Backend() as backend, started(world, backend, alternates_on_error=False) as gateway:
        def some(count):
            for number in range(count):
                if number % 4 == 1:
                    backend.script(behave.error(400))
                if number % 4 == 2:
                    backend.script(behave.stream([chunk("a"), 60.0]))
                    with gateway.stream() as stream:
                        stream.until(b'"a"')
                    continue
                gateway.chat(f"number {number}")
        some(100)
        until(lambda: backend.open_requests() == 0, "the ends")
        before, memory = gateway.descriptors(), gateway.resident_kib()
        some(200)
        until(lambda: gateway.descriptors() <= before + 4, f"{before} descriptors")
        check(gateway.resident_kib() < memory + 8192 * world.slow, "memory grew")


@case
def gateway_c24_bodies_have_a_limit(world):
    """413 before the body is read, and one copy of a large body that is taken."""
    with Backend() as backend, started(world, backend) as gateway:
        refused = gateway.send_raw(
            f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            f"Content-Length: {1 << 40}\r\n\r\n".encode())
        check(refused.startswith(b"HTTP/1.1 413 "), f"{refused[:200]!r}")
        check(b'"error"' in refused, f"{refused[:400]!r}")
        check_equal(len(backend.requests), 0, "requests that passed")
        gateway.chat("warm").json()
        before = peak_kib(gateway.pid)
        image = "data:image/png;base64," + "A" * (6 << 20)
        parts = [{"type": "image_url", "image_url": {"url": image}}]
        body = json.dumps({"model": "m", "messages": [{"role": "user", "content": parts}]}).encode()
        check_equal(gateway.post(CHAT, body).status, 200, "a large body")
        check_equal(backend.requests[-1].body, body, "the large body")
        grown = (peak_kib(gateway.pid) - before) * 1024
        check(world.slow > 1 or grown < 4 * len(body), f"{grown} bytes for a body of {len(body)}")


def peak_kib(pid):
    status = pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii")
    return int(status.split("VmHWM:")[1].split()[0])


@case
def gateway_c25_only_whole_bodies_are_sent(world):
    """A body that never becomes whole reaches no backend; a retry sends all of it again."""
    with Backend("a") as one, Backend("b") as other:
        with running_gateway(world, policy_of({"a": one, "b": other},
                                              alternates=["b"])) as gateway:
            gateway.send_raw(f"POST {CHAT} HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                             "application/json\r\nContent-Length: 500\r\n\r\n{\"model\":"
                             .encode(), 0.5)
            check_equal(len(one.requests) + len(other.requests), 0, "requests of half a body")
            one.script(behave.cut)
            text = os.urandom(40_000).hex()
            check_equal(gateway.chat(text).status, 200, "status")
            check_equal(other.requests[0].json()["messages"][0]["content"], text, "body")
            check_equal(other.requests[0].body, one.requests[0].body, "body of both")
