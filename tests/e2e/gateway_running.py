"""A running `layard gateway` for cases: a policy for given backends, the process on a free port,
and streams read piece by piece with the time of each. Standard library only."""

import contextlib
import datetime
import http.client
import json
import select
import socket
import subprocess
import time

from harness import check, check_equal, json_lines
from serving import ANSWER_LIMIT_S, JSON_HEADERS, Server, listening_url, until

CLASSES = ("code", "prose", "short", "long_doc")
# The gate makes it a long document without asking a model.
LONG_TEXT = "The tenant pays the rent on the first day of every month. " * 20


def policy_of(backends, rows=None, alternates=(), devices=None, **more):
    """A policy of version 1 over {device name: Backend or URL}; the first one is the default.
    `rows`: {class: device} off the default, with the evidence they need; `alternates` of every row;
    `devices`: {name: members}; the rest is put in as it is."""
    names = list(backends)
    found = {"version": 1, "default": names[0], "min_confidence": 0.0, "classes": {},
             "evidence": {}, "devices": {}}
    for name, backend in backends.items():
        url = backend if isinstance(backend, str) else backend.url
        found["devices"][name] = {"url": url, **(devices or {}).get(name, {})}
    for label in CLASSES:
        device = (rows or {}).get(label, names[0])
        row = {"device": device, "alternates": [one for one in alternates if one != device]}
        if device != names[0]:
            row["evidence"] = f"measured-{device}"
            found["evidence"][row["evidence"]] = {
                "n": 24, "baseline": names[0], "gain_ms": 310, "ci95_ms": [220, 400],
                "date": datetime.date.today().isoformat()}
        found["classes"][label] = row
    if not found["evidence"]:
        del found["evidence"]
    return {**found, **more}


def chat_body(text="hello", **more):
    """A chat request of one message."""
    return {"model": "m", "messages": [{"role": "user", "content": text}], **more}


class Gateway(Server):
    """The process and how to ask it."""

    def __init__(self, world, process, url, log, policy_path, decisions_path):
        super().__init__(world, process, url, log)
        self.policy_path, self.decision_log = policy_path, decisions_path

    @property
    def pid(self):
        return self.process.pid

    def chat(self, text="hello", headers=None, **more):
        return self.post("/v1/chat/completions", chat_body(text, **more), headers)

    def stream(self, text="hello", headers=None, path="/v1/chat/completions", **more):
        """A streamed chat request, to be read piece by piece; a context manager."""
        return Streamed(self, path, chat_body(text, stream=True, **more), headers)

    def decisions(self, count=0):
        """The lines of the decision log, once there are so many."""
        def lines():
            return json_lines(self.decision_log.read_text(encoding="utf-8")) \
                if self.decision_log.exists() else []
        until(lambda: len(lines()) >= count, f"{count} decisions in the log")
        return lines()

    def metrics(self):
        return self.get("/metrics").body.decode()

    def status(self):
        return self.get("/gateway/status").json()


class Streamed:
    """A reply that is read as it comes: `pieces` are (when, bytes), without the chunks' framing."""

    def __init__(self, gateway, path, body, headers=None):
        self.pieces, self._connection = [], gateway.connect()
        raw = body if isinstance(body, bytes) else json.dumps(body, ensure_ascii=False).encode()
        self._connection.connect()
        self.socket = self._connection.sock
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.sent_at = time.monotonic()
        self._connection.request("POST", path, raw, {**JSON_HEADERS, **(headers or {})})
        self._response = None

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    @property
    def response(self):
        if self._response is None:
            self._response = self._connection.getresponse()
        return self._response

    @property
    def status(self):
        return self.response.status

    @property
    def headers(self):
        return self.response.headers

    @property
    def body(self):
        return b"".join(piece for _, piece in self.pieces)

    def next(self):
        """The next bytes as they come; empty at the end."""
        piece = self.response.read1(1 << 16)
        if piece:
            self.pieces.append((time.monotonic(), piece))
        return piece

    def until(self, text, limit_s=ANSWER_LIMIT_S):
        """Reads until `text` came."""
        end = time.monotonic() + limit_s
        while text not in self.body:
            check(time.monotonic() < end, f"no {text!r} within {limit_s} s: {self.body!r}")
            check(self.next(), f"the stream ended without {text!r}: {self.body!r}")
        return self

    def rest(self):
        """All there is to come; a stream that is cut ends here too."""
        with contextlib.suppress(http.client.IncompleteRead, ConnectionResetError):
            while self.next():
                pass
        return self.body

    def quiet(self, seconds):
        """Whether nothing comes for so long."""
        return not select.select([self.socket], [], [], seconds)[0]

    def events(self):
        """The values of the events so far; comments, names and [DONE] are left out."""
        text = self.body.decode().replace("\r\n", "\n")
        lines = [line[6:] for line in text.split("\n") if line.startswith("data: ")]
        return [json.loads(line) for line in lines if line != "[DONE]"]

    def text(self):
        """What the chunks of a chat say."""
        return "".join(choice["delta"].get("content") or ""
                       for event in self.events() for choice in event.get("choices", []))

    def close(self):
        """Leaves, at once; returns when."""
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)
        now = time.monotonic()
        if self._response is not None:
            self._response.close()
        self._connection.close()
        self.socket.close()
        return now


@contextlib.contextmanager
def running_gateway(world, policy, *flags, environment=None, prefix=(), port=0):
    """Runs `layard gateway` with a policy; at the end SIGTERM must end it with exit status 0."""
    number = len(list(world.folder.glob("gateway-*.log")))
    log = world.folder / f"gateway-{number}.log"
    decisions = world.folder / f"decisions-{number}.jsonl"
    policy_path = world.write(f"policy-{number}.json", policy)
    command = [*prefix, str(world.binary), "gateway", "--policy", str(policy_path), "--port",
               str(port), "--decision-log", str(decisions), *map(str, flags)]
    with open(log, "wb") as stderr:
        process = subprocess.Popen(  # pylint: disable=consider-using-with  (ended below)
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
            cwd=world.folder, env={**world.environment, **(environment or {})})
    try:
        gateway = Gateway(world, process, listening_url(world, process, log), log, policy_path,
                          decisions)
        yield gateway
        if process.poll() is None:
            gateway.stop()
        check_equal(gateway.wait(), 0, f"exit status of the gateway\n{gateway.stderr()[-2000:]}")
    finally:
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.wait()
