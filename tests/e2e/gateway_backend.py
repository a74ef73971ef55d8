"""A scripted OpenAI- and Anthropic-compatible server for the gateway's cases: it answers as told,
down to single writes, faults and framing, records every request, and knows when a client left.

    with Backend("gpu0") as backend:
        backend.script(error(429, "busy", {"Retry-After": "7"}), stream([b"data: {}\\n\\n"], 0.02))
        ... backend.url ... backend.requests[0].json() ... backend.requests[0].closed_at ...

Requests but health checks take the scripted behaviours one by one, then `backend.otherwise`. A
behaviour is a function of an Exchange. Times are time.monotonic(). Standard library only.
"""

import contextlib
import gzip
import json
import select
import socket
import threading
import time

import gateway_answers

HEAD_BYTES_MAX = 1 << 20
PIECE_BYTES = 65536
EVENT_STREAM = {"Content-Type": "text/event-stream"}


class Gone(Exception):
    """The client closed the connection."""


class Request:
    """One request as it came, and what became of it."""

    def __init__(self, connection, head):
        line, *fields = head.decode("latin-1").split("\r\n")
        self.connection = connection  # its number
        self.method, self.path, _ = line.split(" ", 2)
        self.raw_headers = [tuple(part.strip() for part in field.split(":", 1))
                            for field in fields if field]
        self.headers = {name.lower(): value for name, value in self.raw_headers}
        self.body = b""
        self.head_at = time.monotonic()
        self.body_at = None    # when the body was whole
        self.sent = []         # (when, bytes) of every write of the reply
        self.closed_at = None  # when the client was seen to have left before the reply's end
        self.done_at = None    # when the reply was whole

    def json(self):
        return json.loads(self.body)

    def sent_at(self):
        """Times of the writes of the body, without the head's."""
        return [when for when, piece in self.sent if not piece.startswith(b"HTTP/1.1 ")]


class Exchange:
    """One request and the socket to answer it on."""

    def __init__(self, backend, request, connection):
        self.backend, self.request, self.socket = backend, request, connection
        self.keeps_alive = request.headers.get("connection", "").lower() != "close"

    def write(self, piece):
        """Bytes as they are, in one write."""
        self.request.sent.append((time.monotonic(), piece))
        try:
            self.socket.sendall(piece)
        except OSError as error:
            self.gone(error)

    def head(self, status, headers, length=None):
        """Status line and fields; without a length the body comes in chunks."""
        fields = {**headers, **({"Transfer-Encoding": "chunked"} if length is None else
                                {"Content-Length": str(length)})}
        lines = [f"HTTP/1.1 {status} Scripted", *(f"{k}: {v}" for k, v in fields.items())]
        self.write(("\r\n".join(lines) + "\r\n\r\n").encode("latin-1"))

    def whole(self, status, headers, body):
        self.head(status, headers, len(body))
        if body:
            self.write(body)

    def piece(self, data):
        """One chunk of the body, in one write."""
        self.write(b"%x\r\n" % len(data) + data + b"\r\n")

    def end(self):
        self.write(b"0\r\n\r\n")

    def wait(self, seconds):
        """Waits, and raises Gone as soon as the client closes; None: until then or the end."""
        end = None if seconds is None else time.monotonic() + seconds
        while not self.backend.ended:
            left = 3600 if end is None else end - time.monotonic()
            if left <= 0:
                return
            self.look(min(left, 0.25))

    def look(self, seconds):
        readable, _, _ = select.select([self.socket], [], [], seconds)
        if not readable:
            return
        try:
            if not self.socket.recv(1, socket.MSG_PEEK):
                self.gone(None)
        except OSError as error:
            self.gone(error)
        time.sleep(0.002)  # the next request came early

    def gone(self, cause):
        self.request.closed_at = time.monotonic()
        raise Gone from cause

    def cut(self, reset=False):
        """Ends the connection: in order, or by a reset."""
        if reset:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
        self.keeps_alive = False


# Behaviours.

def reply(body, status=200, headers=None):
    """`body`: bytes as they are, anything else as JSON."""
    def run(exchange):
        raw = body if isinstance(body, bytes) else gateway_answers.dumped(body)
        exchange.whole(status, {"Content-Type": "application/json", **(headers or {})}, raw)
    return run


def error(status, text="scripted", headers=None):
    """An error in OpenAI's form."""
    return reply({"error": {"message": text, "type": "scripted_error", "param": None,
                            "code": "scripted"}}, status, headers)


def busy(retry_after_s):
    return error(429, "busy", {"Retry-After": str(retry_after_s)})


def answer(exchange):
    """The usual reply of the request's path, whole or streamed: the backend's name, then the last
    message's text."""
    request = exchange.request
    body = json.loads(request.body) if request.body else {}
    text = f"{exchange.backend.name} heard: {last_text(body)}"
    model = exchange.backend.model or body.get("model", "none")
    whole, events = gateway_answers.answer(request.path, body, model, text)
    if whole is None:
        return error(404, f"no {request.path}")(exchange)
    if body.get("stream") and events is not None:
        return stream(events)(exchange)
    return reply(whole)(exchange)


def stream(pieces, delay_s=0.0, end="whole", headers=None, status=200, head_delay_s=0.0):
    """An event stream. Each piece is one write of its own, whatever it holds; a number among them
    is a wait in seconds. `end`: `whole`, `cut` and `reset` (the connection ends without the last
    chunk), `hang` (nothing more comes until the client leaves)."""
    def run(exchange):
        exchange.wait(head_delay_s)
        exchange.head(status, {**EVENT_STREAM, **(headers or {})})
        for part in pieces:
            if isinstance(part, bytes):
                exchange.piece(part)
            exchange.wait(delay_s if isinstance(part, bytes) else part)
        if end == "whole":
            exchange.end()
        elif end == "hang":
            exchange.wait(None)
        else:
            exchange.cut(reset=end == "reset")
    return run


def after(seconds, behaviour):
    """Nothing for a while, then another behaviour."""
    def run(exchange):
        exchange.wait(seconds)
        behaviour(exchange)
    return run


def hang(exchange):
    """No reply at all, until the client leaves."""
    exchange.wait(None)
    exchange.cut()


def cut(exchange):
    """The connection ends before the head."""
    exchange.cut()


def cut_within(body, count, status=200):
    """A reply with a length that ends after `count` bytes of its body."""
    def run(exchange):
        exchange.head(status, {"Content-Type": "application/json"}, len(body))
        exchange.write(body[:count])
        exchange.cut()
    return run


def gzipped(body, headers=None):
    """JSON under a content coding, asked for or not."""
    packed = gzip.compress(gateway_answers.dumped(body), mtime=0)
    return reply(packed, headers={"Content-Encoding": "gzip", **(headers or {})})


def huge_head(count):
    """A head with one field of so many bytes."""
    return reply({}, headers={"X-Huge": "x" * count})


BAD_FRAMINGS = {
    "no_http": b"hello\r\n\r\n",
    "two_lengths": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\n{}",
    "negative_length": b"HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\n{}",
    "length_and_chunks": b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nTransfer-Encoding: chunked\r\n"
                         b"\r\n2\r\n{}\r\n0\r\n\r\n",
    "bad_chunk_size": b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n{}\r\n",
    "status_of_letters": b"HTTP/1.1 abc OK\r\nContent-Length: 2\r\n\r\n{}",
    "field_without_colon": b"HTTP/1.1 200 OK\r\nContent-Length 2\r\n\r\n{}",
}


def bad_framing(kind):
    def run(exchange):
        exchange.write(BAD_FRAMINGS[kind])
        exchange.cut()
    return run


def last_text(body):
    """The text of the last message, or what stands for it in APIs without messages."""
    if not isinstance(body, dict):
        return ""
    messages = body.get("messages")
    found = messages[-1].get("content") if messages else body.get("prompt", body.get("input", ""))
    if isinstance(found, list):
        found = "".join(part.get("text", "") for part in found if isinstance(part, dict))
    return found if isinstance(found, str) else ""


class Backend:
    """The server; a context manager. `model`: what replies call their model, else the request's.

    `health`: `good`, `bad` (500) or `hang`, for GET /health. `drain_bytes_per_s`: how fast request
    bodies are read, 0 as they come. `stop` and `start` make it go away and come back on its port.
    """

    def __init__(self, name="backend", model=None, otherwise=answer):
        self.name, self.model, self.otherwise = name, model, otherwise
        self.health = "good"
        self.drain_bytes_per_s = 0
        self.requests = []       # Request, without health checks
        self.health_checks = []  # Request
        self.connections = 0     # accepted so far
        self.ended = True
        self.port = 0
        self._scripted = []
        self._lock = threading.Lock()
        self._listener, self._threads, self._sockets = None, [], set()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def script(self, *behaviours):
        """What the next requests get, one each."""
        with self._lock:
            self._scripted += behaviours

    def asked(self, path):
        return [one for one in list(self.requests) if one.path.split("?")[0] == path]

    def open_requests(self):
        """How many are being answered."""
        return sum(one.done_at is None and one.closed_at is None for one in list(self.requests))

    def __enter__(self):
        self.start()
        return self

    def __exit__(self, *_):
        self.stop()

    def start(self):
        self.ended = False
        self._listener = socket.create_server(("127.0.0.1", self.port), backlog=1024)
        self.port = self._listener.getsockname()[1]
        self._listener.settimeout(0.1)
        self._thread(self._accept)

    def stop(self):
        """Ends every connection at once, as a killed process would."""
        self.ended = True
        with self._lock:
            sockets = list(self._sockets)
        for one in sockets:
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
        for thread in self._threads:
            thread.join()
        self._threads = []

    def _thread(self, work, *arguments):
        thread = threading.Thread(target=work, args=arguments, daemon=True)
        self._threads.append(thread)
        thread.start()

    def _accept(self):
        with self._listener:
            while not self.ended:
                try:
                    connection, _ = self._listener.accept()
                except TimeoutError:
                    continue
                connection.settimeout(None)
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
                if self.drain_bytes_per_s:  # else the system would take a whole body at once
                    connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
                with self._lock:
                    self._sockets.add(connection)
                    self.connections += 1
                    number = self.connections
                self._thread(self._serve, connection, number)

    def _serve(self, connection, number):
        pending = b""
        try:
            while not self.ended:
                request, pending = self._read(connection, number, pending)
                if request is None or not self._answer(request, connection):
                    return
        except OSError:
            pass  # the client left while it sent
        finally:
            with self._lock:
                self._sockets.discard(connection)
            connection.close()

    def _answer(self, request, connection):
        """Whether the connection lives on."""
        exchange = Exchange(self, request, connection)
        try:
            self._behaviour(request)(exchange)
            request.done_at = time.monotonic()
        except Gone:
            return False
        return exchange.keeps_alive

    def _behaviour(self, request):
        if request.method == "GET" and request.path == "/health":
            return {"good": reply({"status": "ok"}), "bad": error(500, "unwell"),
                    "hang": hang}[self.health]
        with self._lock:
            return self._scripted.pop(0) if self._scripted else self.otherwise

    def _read(self, connection, number, pending):
        """(request, bytes after it); no request when the connection ended before one was whole."""
        while b"\r\n\r\n" not in pending:
            piece = connection.recv(512 if self.drain_bytes_per_s else PIECE_BYTES)
            if not piece or len(pending) > HEAD_BYTES_MAX:
                return None, b""
            pending += piece
        head, _, pending = pending.partition(b"\r\n\r\n")
        request = Request(number, head)
        health = request.method == "GET" and request.path == "/health"
        (self.health_checks if health else self.requests).append(request)
        reader = _BodyReader(self, connection, pending)
        if "chunked" in request.headers.get("transfer-encoding", ""):
            request.body = reader.chunks()
        else:
            request.body = reader.exactly(int(request.headers.get("content-length", "0")))
        if request.body is None:
            request.closed_at = time.monotonic()
            return None, b""
        request.body_at = time.monotonic()
        return request, reader.pending


class _BodyReader:
    """Reads a body at the backend's pace; None where the connection ends before it does."""

    def __init__(self, backend, connection, pending):
        self.backend, self.connection, self.pending = backend, connection, pending

    def more(self):
        pace = self.backend.drain_bytes_per_s
        piece = self.connection.recv(min(pace // 20 + 1, PIECE_BYTES) if pace else PIECE_BYTES)
        if pace:
            time.sleep(len(piece) / pace)
        self.pending += piece
        return bool(piece)

    def exactly(self, count):
        while len(self.pending) < count:
            if not self.more():
                return None
        taken, self.pending = self.pending[:count], self.pending[count:]
        return taken

    def line(self):
        while b"\r\n" not in self.pending:
            if not self.more():
                return None
        taken, _, self.pending = self.pending.partition(b"\r\n")
        return taken

    def chunks(self):
        body = b""
        while (size := self.line()) is not None:
            count = int(size.split(b";")[0], 16)
            piece = self.exactly(count + 2)
            if piece is None:
                return None
            if count == 0:
                return body
            body += piece[:-2]
        return None
