"""`layard serve`: how it stops, and what keeps it from starting."""

import http.client
import json
import signal
import threading
import time

from harness import THREE_KINDS, case, check, check_equal
from serving import ask_on, serving, until


class Load:
    """Clients that ask one request after another until the server is gone."""

    def __init__(self, server, clients):
        self.server, self.answered, self.broken, self.refused = server, 0, [], 0
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run, args=(i,)) for i in range(clients)]
        for thread in self.threads:
            thread.start()

    def run(self, number):
        connection = self.server.connect()
        for i in range(100_000):
            body = {"state": f"client {number}, text {i}", "questions": THREE_KINDS}
            try:
                reply = ask_on(connection, "POST", "/v1/systemone", body)
            except (ConnectionRefusedError, ConnectionResetError, BrokenPipeError,
                    http.client.RemoteDisconnected):
                return  # closed between requests, or before this one was read
            except http.client.HTTPException as error:
                with self.lock:
                    self.broken.append(repr(error))
                return
            with self.lock:
                if reply.status == 200:
                    self.answered += 1
                elif reply.status == 503:
                    self.refused += 1
                else:
                    self.broken.append(str(reply))

    def join(self):
        for thread in self.threads:
            thread.join()


@case
def server_sigterm_under_load(world):
    """What was begun is answered whole, new work is refused, the end comes within the bound."""
    with serving(world, "--drain-ms", str(8000 * world.slow)) as server:
        load = Load(server, 16)
        # An instrumented build answers some in a second where another answers some hundreds.
        until(lambda: load.answered > 50 / world.slow, "answers before the signal", 30 * world.slow)
        began = time.monotonic()
        server.stop()
        check_equal(server.wait(), 0, "exit status")
        seconds = time.monotonic() - began
        load.join()
        check_equal(load.broken, [], "answers that were cut or wrong")
        check(seconds < 10 * world.slow, f"stopping took {seconds:.1f} s")
        check_equal(server.stderr(), "", "stderr")


@case
def server_second_signal_cuts(world):
    with serving(world, "--drain-ms", "60000", "--body-ms", "60000") as server:
        connection = server.connect()
        connection.connect()
        # A request whose body never comes: without a second signal it would be waited for.
        connection.sock.sendall(b"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
                                b"application/json\r\nContent-Length: 100\r\n\r\n{")
        until(lambda: server.metric("layard_http_connections") >= 1, "the connection")
        server.stop()
        time.sleep(0.3)
        check_equal(server.process.poll(), None, "one signal waits for what was begun")
        began = time.monotonic()
        server.stop(signal.SIGINT)
        server.wait(8)
        check(time.monotonic() - began < 5 * world.slow, "the second signal waited")
        connection.close()


@case
def server_restarts_after_kill(world):
    """kill -9 leaves nothing behind that a new start stumbles on."""
    environment = {"LAYARD_CACHE_MAX": "1G"}
    body = {"state": "a text", "questions": THREE_KINDS}
    with serving(world, environment=environment) as server:
        first = server.systemone(body).json()["answers"]
        server.process.kill()
        server.process.wait()
        with serving(world, environment=environment, port=server.port) as second:
            check_equal(second.systemone(body).json()["answers"], first, "answers after a restart")
        server.process.returncode = 0  # its end was ours


@case
def server_two_keep_alive_requests(world):
    """A connection lives on after answers and after refusals, and closes when it is asked to."""
    body = {"state": "a text", "questions": THREE_KINDS}
    with serving(world) as server:
        connection = server.connect()
        connection.connect()
        socket = connection.sock
        for _ in range(3):
            ask_on(connection, "POST", "/v1/systemone", body).json()
            ask_on(connection, "POST", "/v1/systemone", b"{").detail(400)
            check(connection.sock is socket, "the connection was closed")
        reply = ask_on(connection, "GET", "/health", None, {"Connection": "close"})
        check_equal(reply.headers.get("Connection"), "close", "Connection")
        check(connection.sock is None, "the connection lives on")


@case
def server_checks_recorded_rows(world):
    """A checkpoint that computes other numbers than its own records say is not served."""
    copy = world.copy_of(world.starter_folder)
    lines = (copy / "goldens.jsonl").read_text(encoding="utf-8").split("\n")
    golden = json.loads(min(filter(None, lines), key=len))
    golden["rows"][0]["logits"][0] += 2
    (copy / "goldens.jsonl").write_text(json.dumps(golden) + "\n", encoding="utf-8")
    run = world.run("serve", "--model", copy, "--port", "0")
    run.refused("BackendUnavailableError", "self-test", "goldens.jsonl", "layard parity")
