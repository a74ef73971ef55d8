"""A stand-in for `layard serve`: the page's files under the policy the server sends, and replies
that are computed from the request, or scripted by the case.

The replies have the shape of docs/answers.md and the headers of the server. Standard library only.
"""

import contextlib
import http.server
import json
import math
import sys
import threading
import zlib

POLICY = ("default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; "
          "img-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'")
KINDS = {".html": "text/html; charset=utf-8", ".js": "text/javascript; charset=utf-8",
         ".css": "text/css; charset=utf-8", ".svg": "image/svg+xml"}
STATE_TOKENS_MAX = 400
METRICS = """# HELP layard_queue_requests Requests waiting for the device.
# TYPE layard_queue_requests gauge
layard_queue_requests{device="cpu"} 3
# HELP layard_running_requests Requests in the running batch.
# TYPE layard_running_requests gauge
layard_running_requests{device="cpu"} 1
# TYPE layard_requests_total counter
layard_requests_total{outcome="completed"} %d
"""
MODELS = {"models": [
    {"name": "starter", "description": "ships with the binary", "release_date": "2026-11-01",
     "state": "ready", "loaded": True, "default": True},
    {"name": "laya", "description": "ModernBERT-large, 512 tokens", "release_date": "2026-10-01",
     "state": "unloaded", "loaded": False, "default": False}]}


class Reply:
    """A scripted reply; a body that is no text is sent as JSON."""

    def __init__(self, status, body, headers=()):
        self.status, self.headers = status, dict(headers)
        self.body = body if isinstance(body, str) else json.dumps(body, ensure_ascii=False)


class Stub:
    """What the server answers with, and what it was asked."""

    def __init__(self, folder):
        self.folder = folder
        self.key = None
        self.scripted = []    # Reply, one per request, before computed ones
        self.requests = []    # {"path", "headers", "body"} in the order of arrival
        self.order_bias = {}  # question -> how much the first slot is preferred
        self.models, self.metrics = MODELS, METRICS
        self.url = None

    def asked(self, path="/v1/systemone"):
        return [one for one in list(self.requests) if one["path"] == path]

    def last_body(self):
        return self.asked()[-1]["body"].decode()

    def reply(self, path, headers, body):
        """Reply to one request of the interface; None for an unknown path."""
        if self.key and headers.get("Authorization") != f"Bearer {self.key}":
            return Reply(401, {"detail": "invalid or missing bearer token"})
        if path == "/v1/models":
            return Reply(200, self.models)
        if path == "/metrics":
            text = self.metrics % len(self.requests) if "%d" in self.metrics else self.metrics
            return Reply(200, text, {"Content-Type": "text/plain; version=0.0.4"})
        if path != "/v1/systemone":
            return None
        if self.scripted:
            return self.scripted.pop(0)
        return Reply(200, answer(json.loads(body), self.order_bias),
                     {"Server-Timing": "inference;dur=4.21, queue;dur=0.30"})


def shares(logits):
    """Softmax, to 4 decimals."""
    top = max(logits)
    powers = [math.exp(logit - top) for logit in logits]
    return [round(power / sum(powers), 4) for power in powers]


def option_shares(name, options, question, bias):
    """Probabilities in the caller's order; the slot an option stands in counts by `bias`."""
    order = question.get("option_order") or list(range(len(options)))
    logits = [(zlib.crc32(f"{name}/{option}".encode()) % 1000) / 250 for option in options]
    for slot, index in enumerate(order):
        logits[index] -= bias * slot
    return shares(logits)


def figures(found):
    count = len(found)
    entropy = -sum(p * math.log(p) for p in found if p > 0)
    return {"confidence": round(1 - entropy / math.log(count), 4) if count > 1 else 1.0,
            "answer_confidence": max(found), "action": {"act_probability": 0.5}}


def answer_one(name, question, bias):
    kind, criteria = question["type"], question.get("criteria") or {}
    if kind == "noul":
        yes = option_shares(name, ["false", "true"], question, bias)[1]
        certain = max(yes, round(1 - yes, 4))
        return {"type": kind, "noul": yes, "confidence": certain, "answer_confidence": certain,
                "action": {"act_probability": 0.5}}
    options = list(criteria)
    if kind == "score":
        options = [str(i) for i in range(len(criteria))]
    found = option_shares(name, options, question, bias)
    listed = dict(zip(options, found))
    if kind == "choice":
        return {"type": kind, "choice": max(listed, key=listed.get), "probabilities": listed,
                **figures(found), "x_jev_confidence": 0.5}
    return {"type": kind, "score": round(sum(i * p for i, p in enumerate(found)), 4),
            "legend": dict(zip(options, criteria)), "probabilities": listed, **figures(found),
            "x_jev_confidence": 0.5}


def answer(request, order_bias):
    """A reply to a request of good form."""
    state, questions = request["state"], request["questions"]
    text = state if isinstance(state, str) else json.dumps(state)
    tokens = len(text.split())
    dropped = max(0, tokens - STATE_TOKENS_MAX)
    return {
        "model": "laya-rl-agent",
        "answers": {name: answer_one(name, question, order_bias.get(name, 0))
                    for name, question in questions.items()},
        "usage": {"input_tokens": (tokens - dropped + 40) * len(questions), "output_tokens": 0,
                  "state_tokens": tokens, "state_tokens_dropped": dropped,
                  "truncated": dropped > 0, "truncated_questions": list(questions) if dropped
                  else []},
        "routing": {"model": request.get("model", "starter"), "repo": "starter",
                    "reason": "server default model"},
        "layard": {"model": "starter", "device": "cpu", "latency_ms": 4.21, "queue_wait_ms": 0.3,
                   "device_ms": 3.87},
    }


class Handler(http.server.BaseHTTPRequestHandler):
    """Files of the page, else the stub's replies."""

    protocol_version = "HTTP/1.1"

    def log_message(self, *_):  # a test's output is for its findings
        pass

    def do_GET(self):
        self.respond(b"")

    def do_POST(self):
        self.respond(self.rfile.read(int(self.headers.get("Content-Length", 0))))

    def respond(self, body):
        stub = self.server.stub
        path = self.path.split("?")[0]
        file = stub.folder / ("index.html" if path == "/" else path[1:])
        if self.command == "GET" and file.parent == stub.folder and file.is_file():
            self.send(200, file.read_bytes(), {"Content-Type": KINDS[file.suffix]})
            return
        stub.requests.append({"path": path, "headers": dict(self.headers), "body": body})
        reply = stub.reply(path, self.headers, body)
        reply = reply or Reply(404, {"detail": "Not Found"})
        if reply.status == 0:  # a server that dies in the middle of its reply
            self.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\n{")
            self.close_connection = True
            return
        self.send(reply.status, reply.body.encode("utf-8", "surrogatepass"),
                  {"Content-Type": "application/json", **reply.headers})

    def send(self, status, body, headers):
        self.send_response(status)
        for name, value in {"Content-Security-Policy": POLICY, "X-Content-Type-Options": "nosniff",
                            **headers, "Content-Length": str(len(body))}.items():
            self.send_header(name, value)
        self.end_headers()
        with contextlib.suppress(OSError):  # the browser may have gone
            self.wfile.write(body)


class Server(http.server.ThreadingHTTPServer):
    """A browser that ends resets its connections; that is nothing to report."""

    def handle_error(self, request, client_address):
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


@contextlib.contextmanager
def stub_server(folder):
    """A Stub that listens on a free port of this machine only."""
    stub = Stub(folder)
    server = Server(("127.0.0.1", 0), Handler)
    server.stub, server.daemon_threads = stub, True
    stub.url = f"http://127.0.0.1:{server.server_address[1]}/"
    thread = threading.Thread(target=server.serve_forever, args=(0.05,))
    thread.start()
    try:
        yield stub
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
