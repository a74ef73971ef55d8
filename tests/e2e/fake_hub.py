"""A model hub on the loopback interface: the paths of the Hugging Face hub, over one folder.

Serves GET and HEAD of /<org>/<name>/resolve/<revision>/<file> with ETag, length, commit and ranges,
and /api/models/<org>/<name>/revision/<revision>. Every request is recorded.
"""

import hashlib
import http.server
import json
import pathlib
import re
import threading
import urllib.parse


class FakeHub:
    """Use as a context manager; `url` is the endpoint, `requests` what was asked."""

    def __init__(self):
        self.requests = []
        self.repositories = {}
        hub = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_GET(self):  # noqa: N802 (the library's name)
                hub.answer(self, body=True)

            def do_HEAD(self):  # noqa: N802
                hub.answer(self, body=False)

            def log_message(self, *_):
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        # A client that gives up in the middle of an answer is what some cases are about.
        self._server.handle_error = lambda *_: None
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,))

    @property
    def url(self):
        return f"http://127.0.0.1:{self._server.server_address[1]}"

    def add(self, repository, revision, folder):
        """Serves a checkpoint folder as one revision of a repository."""
        self.repositories[(repository, revision)] = pathlib.Path(folder)

    def __enter__(self):
        self._thread.start()
        return self

    def __exit__(self, *_):
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()

    def answer(self, handler, body):
        path = urllib.parse.unquote(handler.path.split("?")[0])
        self.requests.append(f"{handler.command} {path}")
        listing = re.fullmatch(r"/api/models/([^/]+/[^/]+)(?:/revision/([^/]+))?", path)
        if listing:
            return self._list(handler, *listing.groups(), body)
        found = re.fullmatch(r"/([^/]+/[^/]+)/resolve/([^/]+)/(.+)", path)
        folder = self.repositories.get(found.groups()[:2]) if found else None
        file = folder / found.group(3) if folder else None
        if file is None or not file.is_file() or ".." in file.parts:
            return self._send(handler, 404, b"not found", body)
        return self._send_file(handler, file, found.group(2), body)

    def _list(self, handler, repository, revision, body):
        folder = self.repositories.get((repository, revision))
        if folder is None:
            return self._send(handler, 404, b"not found", body)
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*")
                       if path.is_file())
        listing = {"sha": revision, "siblings": [{"rfilename": name} for name in names]}
        return self._send(handler, 200, json.dumps(listing).encode(), body)

    def _send_file(self, handler, file, revision, body):
        data = file.read_bytes()
        headers = {"ETag": f'"{hashlib.sha256(data).hexdigest()}"', "X-Repo-Commit": revision,
                   "X-Linked-Size": str(len(data)), "Accept-Ranges": "bytes"}
        wanted = re.fullmatch(r"bytes=(\d+)-(\d*)", handler.headers.get("Range") or "")
        if not wanted:
            return self._send(handler, 200, data, body, headers)
        begin = int(wanted.group(1))
        end = int(wanted.group(2) or len(data) - 1)
        if begin >= len(data):
            return self._send(handler, 416, b"", body, headers)
        headers["Content-Range"] = f"bytes {begin}-{end}/{len(data)}"
        return self._send(handler, 206, data[begin:end + 1], body, headers)

    @staticmethod
    def _send(handler, status, data, body, headers=None):
        handler.send_response(status)
        for name, value in (headers or {}).items():
            handler.send_header(name, value)
        handler.send_header("Content-Length", str(len(data)))
        handler.end_headers()
        if body:
            handler.wfile.write(data)
