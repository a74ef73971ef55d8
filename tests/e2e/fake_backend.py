"""An OpenAI-compatible server on the loopback interface whose speeds are known; words are its
tokens."""

import http.server
import json
import threading
import time


class FakeBackend:
    """Use as a context manager; `url` is the address, `requests` are (headers, body, path).

    A reply's first token comes after `fixed_ms` and the prompt at `prefill_tps`, the others at
    `decode_tps`. `slower(backend, body)` may multiply the times of a request.
    """

    def __init__(self, fixed_ms=10, prefill_tps=5000, decode_tps=200, status=200, usage=True,
                 slower=None):
        self.fixed_ms, self.prefill_tps, self.decode_tps = fixed_ms, prefill_tps, decode_tps
        self.status, self.usage, self.slower = status, usage, slower
        self.requests = []
        backend = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):  # noqa: N802 (the library's name)
                backend.answer(self)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self._server.handle_error = lambda *_: None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler):
        began = time.monotonic()
        body = json.loads(handler.rfile.read(int(handler.headers["Content-Length"])))
        self.requests.append((dict(handler.headers), body, handler.path))
        handler.send_response(self.status)
        handler.send_header("Connection", "close")
        handler.close_connection = True
        if self.status != 200:
            handler.send_header("Content-Length", "0")
            handler.end_headers()
            return
        handler.send_header("Content-Type", "text/event-stream")
        handler.end_headers()
        self.stream(handler, body, began)

    def stream(self, handler, body, began):
        words = len(body["messages"][0]["content"].split())
        factor = self.slower(self, body) if self.slower else 1
        at_ms = self.fixed_ms + words * 1000 / self.prefill_tps

        def send(event):
            handler.wfile.write(f"data: {event}\n\n".encode())
            handler.wfile.flush()

        for token in range(body["max_tokens"]):
            wait_s = began + at_ms * factor / 1000 - time.monotonic()
            if wait_s > 0:
                time.sleep(wait_s)
            send(json.dumps({"choices": [{"delta": {"content": f"t{token} "}}]}))
            at_ms += 1000 / self.decode_tps
        if self.usage:
            send(json.dumps({"choices": [], "usage": {
                "prompt_tokens": words, "completion_tokens": body["max_tokens"]}}))
        send("[DONE]")
