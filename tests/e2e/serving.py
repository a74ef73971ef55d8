"""A running `layard serve` for cases: started on a free port, asked over real sockets, ended by a
signal. Standard library only."""

import contextlib
import gzip
import http.client
import json
import os
import pathlib
import shutil
import signal
import socket
import struct
import subprocess
import threading
import time

from harness import AT_END, Failure, Skip, check, check_equal, world_for

START_LIMIT_S = 30
STOP_LIMIT_S = 20
ANSWER_LIMIT_S = 30
JSON_HEADERS = {"Content-Type": "application/json"}


class Reply:
    """One answer."""

    def __init__(self, status, headers, body):
        self.status, self.headers, self.body = status, headers, body

    def __str__(self):
        return f"{self.status} {self.body[:600]!r}"

    def json(self, status=200):
        check_equal(self.status, status, f"status of {self}")
        check_equal(self.headers.get("Content-Type"), "application/json", "content type")
        return json.loads(self.body)

    def detail(self, status):
        """The text of a refusal."""
        found = self.json(status)
        check_equal(list(found), ["detail"], "members of a refusal")
        return found["detail"]


class Server:
    """The process and how to ask it."""

    def __init__(self, world, process, url, log):
        self.world, self.process, self.url, self.log = world, process, url, log
        self.host, self.port = url.removeprefix("http://").rsplit(":", 1)
        self.port = int(self.port)

    def connect(self):
        return http.client.HTTPConnection(self.host, self.port,
                                          timeout=ANSWER_LIMIT_S * self.world.slow)

    def ask(self, method, path, body=None, headers=None):
        """On a connection of its own."""
        with contextlib.closing(self.connect()) as connection:
            return ask_on(connection, method, path, body, headers)

    def get(self, path, headers=None):
        return self.ask("GET", path, None, headers)

    def post(self, path, body, headers=None):
        return self.ask("POST", path, body, headers)

    def systemone(self, body, headers=None):
        return self.post("/v1/systemone", body, headers)

    def metric(self, name, absent=None):
        """One line of /metrics by its name with labels; `absent` where none was counted yet."""
        for line in self.get("/metrics").body.decode().splitlines():
            if line.startswith(name + " "):
                return float(line.rsplit(" ", 1)[1])
        check(absent is not None, f"/metrics has no {name}")
        return absent

    def send_raw(self, data, limit_s=5):
        """What comes back for bytes on a fresh connection, until it closes or is quiet."""
        received = b""
        with socket.create_connection((self.host, self.port), timeout=limit_s) as connection:
            connection.sendall(data)
            with contextlib.suppress(TimeoutError, ConnectionResetError):
                while part := connection.recv(65536):
                    received += part
        return received

    def descriptors(self):
        """How many the process has open."""
        return len(os.listdir(f"/proc/{self.process.pid}/fd"))

    def resident_kib(self):
        """Memory of the process."""
        status = pathlib.Path(f"/proc/{self.process.pid}/status").read_text(encoding="ascii")
        return int(status.split("VmRSS:")[1].split()[0])

    def stop(self, number=signal.SIGTERM):
        self.process.send_signal(number)

    def wait(self, limit_s=STOP_LIMIT_S):
        try:
            return self.process.wait(limit_s * self.world.slow)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"still running {limit_s} s after a signal") from error

    def stderr(self):
        return self.log.read_text(encoding="utf-8", errors="replace")


def ask_on(connection, method, path, body=None, headers=None):
    """`body`: bytes as they are, everything else as JSON."""
    if body is not None and not isinstance(body, bytes):
        body = json.dumps(body, ensure_ascii=False).encode()
    sent = dict(JSON_HEADERS if body is not None else {})
    sent.update(headers or {})
    connection.request(method, path, body, sent)
    response = connection.getresponse()
    return Reply(response.status, response.headers, response.read())


@contextlib.contextmanager
def serving(world, *options, environment=None, port=0, prefix=()):
    """Runs `layard serve`; at the end it must stop by SIGTERM with exit status 0. `prefix`: a
    command that becomes the one behind it, as `sh -c '... exec "$@"' sh` does."""
    log = world.folder / f"serve-{len(list(world.folder.glob('serve-*.log')))}.log"
    command = [*prefix, str(world.binary), "serve", "--port", str(port), *map(str, options)]
    with open(log, "wb") as stderr:
        process = subprocess.Popen(  # pylint: disable=consider-using-with  (ended below)
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=stderr,
            cwd=world.folder, env={**world.environment, **(environment or {})})
    try:
        server = Server(world, process, listening_url(world, process, log), log)
        yield server
        if process.poll() is None:
            server.stop()
        check_equal(server.wait(), 0, f"exit status of the server\n{server.stderr()[-2000:]}")
    finally:
        if process.poll() is None:
            process.kill()
        process.stdout.close()
        process.wait()


_shared = contextlib.ExitStack()
_shared_server = []


@contextlib.contextmanager
def shared_serving(world):
    """The default server, one for all cases of this process that leave nothing behind in it but
    cached answers and counts. It is ended, and its exit status checked, after the last case."""
    if _shared_server and _shared_server[0].process.poll() is not None:
        _shared_server.clear()  # a case killed it, and failed
    if not _shared_server:
        if close_shared not in AT_END:
            AT_END.append(close_shared)
        own = _shared.enter_context(world_for(world.binary, world.source, world.shared_folder))
        _shared_server.append(_shared.enter_context(serving(own)))
    yield _shared_server[0]


def close_shared():
    _shared_server.clear()
    _shared.close()


def listening_url(world, process, log):
    """From the one line on stdout."""
    timer = threading.Timer(START_LIMIT_S * world.slow, process.kill)
    timer.start()
    line = process.stdout.readline()
    timer.cancel()
    if not line:
        raise Failure(f"the server did not start: {log.read_text()[-2000:]}")
    return json.loads(line)["listening"]


def test_python(world):
    """The interpreter of the test environment, with typesafe-sdk."""
    python = world.source / ".venv/test/bin/python"
    if not python.is_file():
        raise Skip("no .venv/test; run scripts/bootstrap --tests")
    return python


def client_environment(world):
    """Clients stretch their waits by SLOW_FACTOR."""
    return {**world.environment, "PATH": os.environ.get("PATH", ""),
            "SLOW_FACTOR": str(world.slow)}


def run_client(world, script, *arguments, limit_s=60):
    """A client program of tests/e2e/clients under the test environment; it prints what is wrong."""
    path = pathlib.Path(__file__).resolve().parent / "clients" / script
    done = subprocess.run(
        [str(test_python(world)), "-B", str(path), *map(str, arguments)], capture_output=True,
        timeout=limit_s * world.slow, check=False, cwd=world.folder,
        env=client_environment(world))
    check(done.returncode == 0, f"{script} {arguments} failed:\n"
                                f"{done.stdout.decode()[-3000:]}{done.stderr.decode()[-3000:]}")
    return done.stdout.decode()


def run_node_client(world, url):
    """clients/sdk.mjs under Node.js with the packages of .venv/npm."""
    sdk = world.source / ".venv/npm/node_modules/@typesafe-ai/sdk"
    node = shutil.which("node")
    if node is None or not sdk.is_dir():
        raise Skip("no Node.js, or no .venv/npm; run scripts/bootstrap --tests")
    path = pathlib.Path(__file__).resolve().parent / "clients/sdk.mjs"
    done = subprocess.run([node, str(path), str(sdk), url], capture_output=True, check=False,
                          timeout=60 * world.slow, cwd=world.folder,
                          env=client_environment(world))
    check(done.returncode == 0, f"sdk.mjs failed:\n{done.stderr.decode()[-3000:]}")


def run_schemathesis(world, url, examples):
    """Asks what /openapi.json describes, and compares the answers with it."""
    config = pathlib.Path(__file__).resolve().parent / "clients/schemathesis.toml"
    checks = ("not_a_server_error,status_code_conformance,content_type_conformance,"
              "response_headers_conformance,response_schema_conformance,negative_data_rejection")
    done = subprocess.run(
        [str(test_python(world)), "-B", "-m", "schemathesis.cli", "--config-file", str(config),
         "run", url + "/openapi.json", "--max-examples", str(examples),
         "--request-timeout", str(10 * world.slow),
         "--generation-deterministic", "--checks", checks, "--no-color"], capture_output=True,
        timeout=120 * world.slow, check=False, cwd=world.folder,
        env=client_environment(world))
    check(done.returncode == 0, f"schemathesis:\n{done.stdout.decode()[-4000:]}"
                                f"{done.stderr.decode()[-1000:]}")


def zstd_frame(data):
    """`data` as a zstd frame of stored blocks."""
    frame = struct.pack("<IB", 0xFD2FB528, 0b1010_0000) + struct.pack("<I", len(data))
    pieces = [data[i:i + 65536] for i in range(0, len(data), 65536)] or [b""]
    for index, piece in enumerate(pieces):
        last = index == len(pieces) - 1
        frame += (len(piece) << 3 | last).to_bytes(3, "little") + piece
    return frame


def zstd_bomb(megabytes):
    """A zstd frame of some bytes that becomes megabytes of blanks."""
    frame = struct.pack("<IBB", 0xFD2FB528, 0, 0x38)  # a window of 128 KiB
    blocks = megabytes * 8
    for index in range(blocks):
        frame += (131072 << 3 | 1 << 1 | (index == blocks - 1)).to_bytes(3, "little") + b" "
    return frame


def gzip_bomb(megabytes):
    return gzip.compress(b" " * (megabytes << 20), 9)


def until(condition, what, limit_s=10):
    """Waits for what happens a moment later."""
    end = time.monotonic() + limit_s
    while not condition():
        check(time.monotonic() < end, f"not within {limit_s} s: {what}")
        time.sleep(0.02)
