#!/usr/bin/env python3
"""Goal: `layard serve` stays what it is under minutes of everything clients do at once.

    server_soak.py LAYARD SOURCE [--seconds N] [--clients N] [--seed S]

More clients than the server can answer send good, compressed, broken, too large, slow, pipelined,
hurried and unauthorised requests, and leave in the middle of a body or of an answer. Demanded:
every request is answered or refused with a status of its kind and a text; memory is flat after
warm-up (RSS_GROWTH_MAX); descriptors are back where they were; /metrics adds up with what clients
saw; SIGTERM ends the server with 0. One JSON object is printed; the exit status is 1 if a demand
failed.
"""

import argparse
import collections
import gzip
import json
import pathlib
import random
import socket
import statistics
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent / "e2e"))

from harness import Failure, world_for  # noqa: E402
from serving import gzip_bomb, serving, zstd_bomb, zstd_frame  # noqa: E402

# From the median after warm-up to that at the end; the largest pass may come late, and its memory
# is allowed besides.
RSS_GROWTH_MAX = 0.05
RSS_PASS_KIB = 8 * 1024
WARM_UP_SHARE = 0.25
KEY = "soak-key"
BODY_MAX = 2 << 20
QUICK_MS = 1500
OPTIONS = ("--queue-requests-max", "24", "--answer-cache-max", "1MiB", "--head-ms", QUICK_MS,
           "--body-ms", QUICK_MS, "--write-ms", "5000", "--log-format", "json")
WORDS = ("order refund late Grüße server the why price 数据 please cancel 42 broken thanks "
         "контракт https://example.org/a?b=c 🙂 invoice").split()
CHOICE = {"type": "choice", "instructions": "Which team should answer?",
          "criteria": {"tech": "errors", "billing": "charges and refunds", "account": None}}
NOUL = {"type": "noul", "instructions": "Is the writer angry?"}
SCORE = {"type": "score", "instructions": "How urgent is it?",
         "criteria": ["can wait", "this week", "today"]}
BUSY = 503


class Wire:
    """One client's connection, opened when it is needed. A server that closes where it must not
    raises."""

    def __init__(self, address):
        self.address, self.socket, self.buffer = address, None, b""

    def open(self):
        if self.socket is None:
            self.socket, self.buffer = socket.create_connection(self.address, timeout=60), b""
        return self.socket

    def close(self):
        if self.socket is not None:
            self.socket.close()
        self.socket = None

    def more(self):
        part = self.socket.recv(65536)
        if not part:
            raise ConnectionError(f"closed without an answer, after {self.buffer[:200]!r}")
        self.buffer += part

    def answer(self):
        """(status, fields, body) of the next answer."""
        while b"\r\n\r\n" not in self.buffer:
            self.more()
        head, _, self.buffer = self.buffer.partition(b"\r\n\r\n")
        lines = head.decode("ascii").split("\r\n")
        fields = {name.lower(): value.strip() for name, _, value in
                  (line.partition(":") for line in lines[1:])}
        size = int(fields["content-length"])
        while len(self.buffer) < size:
            self.more()
        body, self.buffer = self.buffer[:size], self.buffer[size:]
        if fields.get("connection") == "close":
            self.close()
        return int(lines[0].split()[1]), fields, body


class Tally:
    """What clients saw."""

    def __init__(self):
        self.lock = threading.Lock()
        self.by_kind = collections.Counter()   # (kind, outcome)
        self.by_status = collections.Counter()
        self.aborted = 0
        self.decided = 0                       # texts in answers of 200
        self.problems = []
        self.latency_ms = []                   # of good single requests

    def saw(self, kind, status, texts):
        with self.lock:
            self.by_kind[kind, str(status)] += 1
            self.by_status[status] += 1
            self.decided += texts if status == 200 else 0

    def left(self, kind):
        with self.lock:
            self.by_kind[kind, "left"] += 1
            self.aborted += 1

    def problem(self, text):
        with self.lock:
            self.problems.append(text)


def text(rng, words):
    return " ".join(rng.choice(WORDS) + str(rng.randrange(1000)) for _ in range(words))


def questions(rng):
    kinds = {"team": CHOICE, "angry": NOUL, "mood": SCORE}
    return {name: kinds[name] for name in rng.sample(sorted(kinds), rng.randint(1, 3))}


def single(rng, words=None):
    return {"state": text(rng, words or int(2 ** rng.uniform(1, 7))), "questions": questions(rng)}


def encode(body):
    return body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()


def message(path, body, extra=(), length=None, key=KEY):
    """A POST; `length` announces another size than that of `body`."""
    body = encode(body)
    fields = ["Host: localhost", f"Authorization: Bearer {key}", "Content-Type: application/json",
              f"Content-Length: {len(body) if length is None else length}", *extra]
    return f"POST {path} HTTP/1.1\r\n".encode() + "\r\n".join(fields).encode() + b"\r\n\r\n" + body


SYSTEMONE, BATCH, DECISIONS = "/v1/systemone", "/v1/systemone/batch", "/v1/decisions"


class Client:
    """One thread's turns."""

    def __init__(self, address, tally, seed):
        self.address, self.tally, self.rng = address, tally, random.Random(seed)
        self.wire = Wire(address)

    def run(self, end):
        kinds = [kind for kind, weight in KINDS.items() for _ in range(weight)]
        while time.monotonic() < end:
            kind = self.rng.choice(kinds)
            try:
                getattr(self, kind)(kind)
            except (OSError, ValueError, LookupError, AttributeError) as error:
                self.tally.problem(f"{kind}: {type(error).__name__}: {error}")
                self.wire.close()
        self.wire.close()

    def ask(self, kind, data, accepted, texts=1):
        """Sends whole messages and reads one answer."""
        self.wire.open().sendall(data)
        return self.read(kind, accepted, texts)

    def read(self, kind, accepted, texts=1):
        status, fields, body = self.wire.answer()
        self.tally.saw(kind, status, texts)
        if status not in accepted:
            self.tally.problem(f"{kind}: status {status}: {body[:200]!r}")
        if status == 200:
            json.loads(body)
        elif not json.loads(body)["detail"]:
            self.tally.problem(f"{kind}: {status} without a text")
        if status == BUSY:
            time.sleep(min(int(fields["retry-after-ms"]), 20) / 1000)
        return status

    def good(self, kind):
        began = time.monotonic()
        if self.ask(kind, message(SYSTEMONE, single(self.rng)), (200, BUSY)) == 200:
            self.tally.latency_ms.append((time.monotonic() - began) * 1000)

    def repeated(self, kind):
        self.ask(kind, message(SYSTEMONE, single(random.Random(self.rng.randrange(20)), 12)),
                 (200, BUSY))

    def batch(self, kind):
        states = [text(self.rng, 20) for _ in range(self.rng.randint(1, 8))]
        self.ask(kind, message(BATCH, {"states": states, "questions": questions(self.rng)}),
                 (200, BUSY), len(states))

    def decisions(self, kind):
        body = {"input": [{"role": "user", "content": text(self.rng, 20)}],
                "questions": [{"type": "predicate", "name": "a", "instructions": "Is it late?"},
                              {"type": "score", "name": "b", "instructions": "How late?",
                               "levels": [{"label": "little"}, {"label": "much"}]}]}
        self.ask(kind, message(DECISIONS, body), (200, BUSY))

    def compressed(self, kind):
        body = encode(single(self.rng, 200))
        if self.rng.random() < 0.5:
            data = message(SYSTEMONE, gzip.compress(body), ["Content-Encoding: gzip"])
        else:
            data = message(SYSTEMONE, zstd_frame(body), ["Content-Encoding: zstd"])
        self.ask(kind, data, (200, BUSY))

    def large(self, kind):
        """Read beside the loop, and cut to what the model takes."""
        self.ask(kind, message(SYSTEMONE, single(self.rng, 3000)), (200, BUSY))

    def bad_json(self, kind):
        body = self.rng.choice((b"{", b"", b'{"state": NaN}', b'{"state": "\xff"}', b"[" * 50_000,
                                b'{"state": "x", "questions": 3}', b'{"questions": {}}'))
        self.ask(kind, message(SYSTEMONE, body), (400, BUSY))

    def bad_question(self, kind):
        body = {"state": "x", "questions": {"q": {"type": "box", "instructions": "where"}}}
        self.ask(kind, message(SYSTEMONE, body), (422, BUSY))

    def too_large(self, kind):
        """Announced, or found out after decompression."""
        data = self.rng.choice((
            message(SYSTEMONE, b"{" + b" " * 100_000, length=BODY_MAX + 1),
            message(SYSTEMONE, BOMBS["gzip"], ["Content-Encoding: gzip"]),
            message(SYSTEMONE, BOMBS["zstd"], ["Content-Encoding: zstd"])))
        self.ask(kind, data, (413, BUSY))
        self.wire.close()  # the rest of what was announced never comes

    def wrong_key(self, kind):
        self.ask(kind, message(SYSTEMONE, single(self.rng), key="other"), (401,))

    def not_found(self, kind):
        self.ask(kind, message("/v1/nothing", b"{}"), (404,))

    def looking(self, kind):
        path = self.rng.choice(("/health", "/ready", "/v1/models", "/openapi.json"))
        self.ask(kind, f"GET {path} HTTP/1.1\r\nHost: localhost\r\n"
                       f"Authorization: Bearer {KEY}\r\n\r\n".encode(), (200,), 0)

    def slow_head(self, kind):
        self.wire.close()
        self.wire.open().sendall(b"GET /health HTTP/1.1\r\nHost: local")
        self.read(kind, (408,))

    def slow_body(self, kind):
        self.wire.open().sendall(message(SYSTEMONE, b'{"state": ', length=1000))
        self.read(kind, (408, BUSY))
        self.wire.close()

    def leaves_in_body(self, kind):
        data = message(SYSTEMONE, single(self.rng, 500))
        self.wire.open().sendall(data[:self.rng.randrange(1, len(data))])
        self.wire.close()
        self.tally.left(kind)

    def leaves_in_answer(self, kind):
        states = [text(self.rng, 30) for _ in range(8)]
        self.wire.open().sendall(message(BATCH, {"states": states,
                                                 "questions": questions(self.rng)}))
        time.sleep(self.rng.uniform(0, 0.02))
        self.wire.close()
        self.tally.left(kind)

    def pipelined(self, kind):
        bodies = [message(SYSTEMONE, single(self.rng, 8)) for _ in range(5)]
        self.wire.open().sendall(b"".join(bodies))
        for _ in bodies:
            self.read(kind, (200, BUSY))

    def hurried(self, kind):
        data = message(SYSTEMONE, single(self.rng),
                       [f"X-Layard-Deadline-Ms: {self.rng.choice((1, 5, 20))}"])
        self.ask(kind, data, (200, BUSY))


BOMBS = {"gzip": gzip_bomb(16), "zstd": zstd_bomb(16)}
# How often each is sent. Slow ones hold a client for as long as the server waits.
KINDS = {"good": 12, "repeated": 4, "batch": 5, "decisions": 4, "compressed": 4, "large": 1,
         "bad_json": 3, "bad_question": 2, "too_large": 1, "wrong_key": 2, "not_found": 1,
         "looking": 3, "slow_head": 1, "slow_body": 1, "leaves_in_body": 2, "leaves_in_answer": 2,
         "pipelined": 3, "hurried": 3}
# Statuses that a request whose client left can never have had.
EXACT = (400, 401, 404, 408, 413, 422)


def metrics(wire):
    """Every sample of /metrics by its name with labels."""
    wire.open().sendall(f"GET /metrics HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {KEY}"
                        "\r\n\r\n".encode())
    _, _, body = wire.answer()
    lines = [line.rsplit(" ", 1) for line in body.decode().splitlines() if line[0] != "#"]
    return {name: float(value) for name, value in lines}


def wait_until_quiet(wire, asked):
    """The last samples, once nothing is under way. `asked`: answers to these questions are not
    the clients'."""
    end = time.monotonic() + 60
    while True:
        found = metrics(wire)
        busy = [name for name, value in (
            ("layard_http_requests_open", 1), ("layard_http_connections", 1),
            ("layard_decisions_queued", 0), ("layard_decisions_running", 0),
            ("layard_http_body_bytes", 0)) if found[name] != value]
        if not busy:
            return found, asked
        if time.monotonic() > end:
            raise Failure(f"not quiet after 60 s: {[(name, found[name]) for name in busy]}")
        asked += 1
        time.sleep(0.1)


def check_sums(found, tally, asked):
    """What does not add up."""
    served = collections.Counter()
    for name, value in found.items():
        if name.startswith("layard_http_responses_total{"):
            served[int(name.split('status="')[1].split('"')[0])] += int(value)
    served[200] -= asked
    wrong = [f"{status}: clients saw {tally.by_status[status]}, the server counted {served[status]}"
             for status in EXACT if tally.by_status[status] != served[status]]
    for status in (200, BUSY):
        over = served[status] - tally.by_status[status]
        if not 0 <= over <= tally.aborted:
            wrong.append(f"{status}: the server counted {over} more than clients saw, "
                         f"and {tally.aborted} left")
    over = sum(served.values()) - sum(tally.by_status.values())
    if not 0 <= over <= tally.aborted:
        wrong.append(f"answers: {over} more than clients saw, and {tally.aborted} left")
    if any(status >= 500 and status != BUSY for status in served):
        wrong.append(f"statuses {dict(served)}")
    ends = {name: found[f'layard_decisions_total{{outcome="{name}"}}']
            for name in ("completed", "failed", "cancelled", "expired", "refused")}
    submitted = found["layard_decisions_submitted_total"]
    if sum(ends.values()) != submitted:
        wrong.append(f"{submitted} decisions were submitted, and ended as {ends}")
    if ends["completed"] < tally.decided:
        wrong.append(f"completed {ends['completed']}, and clients had {tally.decided} answers")
    return wrong


def watch_memory(server, end):
    samples = []
    while time.monotonic() < end:
        samples.append(server.resident_kib())
        time.sleep(min(1, max(0.0, end - time.monotonic())))
    return samples


def settled_descriptors(server, wanted):
    """The server notices a moment later that a client closed."""
    for _ in range(50):
        if server.descriptors() <= wanted:
            break
        time.sleep(0.1)
    return server.descriptors()


def percentile(values, share):
    ordered = sorted(values)
    return round(ordered[min(len(ordered) - 1, int(len(ordered) * share))], 2) if ordered else None


def soak(server, arguments):
    """The summary; its `problems` are empty when all demands are met."""
    address = (server.host, server.port)
    tally, own = Tally(), Wire(address)
    metrics(own)
    descriptors, start_kib = server.descriptors(), server.resident_kib()
    began = time.monotonic()
    end = began + arguments.seconds
    threads = [threading.Thread(target=Client(address, tally, arguments.seed * 1000 + i).run,
                                args=(end,)) for i in range(arguments.clients)]
    for thread in threads:
        thread.start()
    samples = watch_memory(server, end)
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - began
    if server.process.poll() is not None:
        raise Failure(f"the server died: {server.process.returncode}\n{server.stderr()[-3000:]}")
    own.close()  # it may have been idle for longer than the server waits
    found, asked = wait_until_quiet(own, 1)
    problems = tally.problems + check_sums(found, tally, asked)
    own.close()
    left = settled_descriptors(server, descriptors - 1)
    if left > descriptors - 1:  # the first count had the connection that asked
        problems.append(f"{left} descriptors at the end, {descriptors} at the start")
    warm = samples[int(len(samples) * WARM_UP_SHARE):]
    window = max(1, len(warm) // 5)
    warm_kib, end_kib = statistics.median(warm[:window]), statistics.median(warm[-window:])
    growth = end_kib / warm_kib - 1
    if end_kib > warm_kib * (1 + RSS_GROWTH_MAX) + RSS_PASS_KIB:
        problems.append(f"memory grew by {growth:.1%} after warm-up: {warm_kib} to {end_kib} KiB")
    if not tally.by_status[200] or not tally.by_status[BUSY]:
        problems.append(f"not at saturation: {dict(tally.by_status)}")
    missing = [kind for kind in KINDS if not any(k == kind for k, _ in tally.by_kind)]
    if missing:
        problems.append(f"never sent: {missing}")
    outcomes = collections.Counter()
    for (_, outcome), count in tally.by_kind.items():
        outcomes[outcome] += count
    return {"seconds": round(seconds, 1), "clients": arguments.clients,
            "requests": sum(outcomes.values()),
            "per_second": {outcome: round(count / seconds, 1)
                           for outcome, count in sorted(outcomes.items())},
            "by_kind": {f"{kind} {outcome}": count
                        for (kind, outcome), count in sorted(tally.by_kind.items())},
            "good_p50_ms": percentile(tally.latency_ms, 0.5),
            "good_p99_ms": percentile(tally.latency_ms, 0.99),
            "rss_start_kib": start_kib, "rss_warm_kib": warm_kib, "rss_end_kib": end_kib,
            "rss_max_kib": max(samples), "rss_growth": round(growth, 4),
            "rss_growth_max": RSS_GROWTH_MAX, "rss_pass_kib": RSS_PASS_KIB,
            "descriptors": [descriptors, left],
            "problem_count": len(problems), "problems": problems[:20]}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layard", type=pathlib.Path)
    parser.add_argument("source", type=pathlib.Path)
    parser.add_argument("--seconds", type=float, default=600)
    parser.add_argument("--clients", type=int, default=32)
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    try:
        with world_for(arguments.layard.resolve(), arguments.source.resolve(), None) as world, \
                serving(world, *OPTIONS, environment={"LAYARD_API_KEY": KEY}) as server:
            summary = soak(server, arguments)
            log = server.stderr()
    except Failure as failure:
        print(f"failed: {failure}")
        return 1
    if log:
        summary["problems"].append(f"log: {log[:2000]}")
        summary["problem_count"] += 1
    print(json.dumps(summary, indent=1))
    return 1 if summary["problem_count"] else 0


if __name__ == "__main__":
    sys.exit(main())
