"""`layard serve` when something goes wrong around it: full disks, no descriptors, and clients that
flood, dribble, stop reading or go away. The client's process is this one, the server's its own."""

import concurrent.futures
import contextlib
import json
import resource
import shutil
import socket
import struct
import subprocess
import time

from harness import CHARGED_TWICE, Failure, Skip, case, check, check_equal
from serving import ask_on, serving, until

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
REQUEST = {"state": CHARGED_TWICE, "questions": ONE}
CONNECTIONS = 10_000
DESCRIPTORS = 2 * CONNECTIONS
HEAD = b"POST /v1/systemone HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"


def whole_request(body):
    data = json.dumps(body).encode()
    return HEAD + b"Content-Length: %d\r\n\r\n" % len(data) + data


@contextlib.contextmanager
def many_descriptors():
    """How many connections this process and those it starts can have: CONNECTIONS, or what the
    machine allows."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    soft, hard = before
    if hard not in (resource.RLIM_INFINITY,) and hard < DESCRIPTORS:
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(resource.RLIMIT_NOFILE, (soft, DESCRIPTORS))
            hard = DESCRIPTORS
    wanted = DESCRIPTORS if hard == resource.RLIM_INFINITY else min(DESCRIPTORS, hard)
    limit = max(soft, wanted)
    resource.setrlimit(resource.RLIMIT_NOFILE, (limit, hard))
    count = min(CONNECTIONS, limit - 300)
    if count < CONNECTIONS:
        print(f"note: {count} connections instead of {CONNECTIONS}: "
              f"this machine allows {limit} descriptors")
    try:
        yield count
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (min(soft, hard), hard))


class Crowd:
    """Many sockets that one thread looks after."""

    def __init__(self, server):
        self.server, self.sockets = server, []

    def __enter__(self):
        return self

    def __exit__(self, *unused):
        self.close()

    def connect(self, count, first=b""):
        for _ in range(count):
            one = socket.create_connection((self.server.host, self.server.port), timeout=20)
            if first:
                one.sendall(first)
            one.setblocking(False)
            self.sockets.append(one)

    def send(self, data):
        """To all that still take something."""
        for one in self.sockets:
            with contextlib.suppress(OSError):
                one.send(data)

    def received(self):
        """Of each what is there: bytes and whether the end, a reset too, was seen."""
        return [receive_now(one) for one in self.sockets]

    def drop_ended(self, said):
        """How many are left without those that the server has closed; what those got goes to
        `said`."""
        left = []
        for one in self.sockets:
            data, end = receive_now(one)
            said += [data] if data else []
            if end:
                one.close()
            else:
                left.append(one)
        self.sockets = left
        return len(left)

    def close(self):
        for one in self.sockets:
            one.close()
        self.sockets = []


def receive_now(one):
    data = b""
    while True:
        try:
            part = one.recv(65536)
        except BlockingIOError:
            return data, False
        except OSError:
            return data, True
        if not part:
            return data, True
        data += part


def exchange(server, data, limit_s=20):
    """(all that came back, seconds until the server's end) for bytes that are sent whole."""
    began = time.monotonic()
    received = b""
    with socket.create_connection((server.host, server.port), timeout=limit_s) as one:
        try:
            with contextlib.suppress(ConnectionResetError, BrokenPipeError):
                one.sendall(data)
                while part := one.recv(65536):
                    received += part
        except TimeoutError as error:
            raise Failure(f"no end within {limit_s} s of {data[:80]!r}: {received[:300]!r}") \
                from error
    return received, time.monotonic() - began


def status_and_detail(received):
    head, _, body = received.partition(b"\r\n\r\n")
    check(head.startswith(b"HTTP/1.1 "), f"an answer: {received[:300]!r}")
    return int(head.split()[1]), json.loads(body)["detail"]


def check_well(server):
    """A stranger is served."""
    check_equal(server.get("/health").json()["status"], "ok", "health")
    check_equal(list(server.systemone(REQUEST).json()["answers"]), ["refund"], "a decision")


def wait_for_metric(server, name, accept, limit_s=20):
    """`accept` is a value, or judges one."""
    def reached():
        found = server.metric(name)
        return accept(found) if callable(accept) else found == accept
    until(reached, name, limit_s * server.world.slow)


# ---- what runs out -------------------------------------------------------------------------------

def full_disks(world):
    """Commands under which nothing fits into world.folder/cache."""
    yield "ulimit -f", ("/bin/sh", "-c", 'ulimit -f 8; exec "$@"', "sh")
    mounted = ("unshare", "-rm", "/bin/sh", "-c",
               'mount -t tmpfs -o size=64k,mode=0700 none "$LAYARD_CACHE" && exec "$@"', "sh")
    works = shutil.which("unshare") is not None and subprocess.run(
        [*mounted, "true"], capture_output=True, check=False, env=world.environment).returncode == 0
    if works:
        yield "a full file system", mounted
    else:
        print("note: no private mounts here; only `ulimit -f` was tried")


@case
def server_cache_disk_full(world):
    """Packed weights that cannot be kept are used all the same, and the log says so once."""
    with serving(world) as server:
        expected = server.systemone(REQUEST).json()["answers"]
    for name, prefix in full_disks(world):
        with serving(world, prefix=prefix, environment={"LAYARD_CACHE_MAX": "1G"}) as server:
            check_equal(server.systemone(REQUEST).json()["answers"], expected, name)
            check_equal(server.get("/ready").status, 200, f"ready under {name}")
        check_equal(server.stderr().count("packed weights are not kept: cannot take"), 1,
                    f"{name}: {server.stderr()!r}")
        left = [path for path in (world.folder / "cache").rglob("*")
                if path.is_file() and path.stat().st_size > 4096]
        check_equal(left, [], f"files left in the cache under {name}")


@case
def server_log_disk_full(world):
    """A log that takes no line costs no answer."""
    for target in ("2>/dev/full", "2>&-"):
        prefix = ("/bin/sh", "-c", f'exec "$@" {target}', "sh")
        with serving(world, "--log-level", "info", prefix=prefix) as server:
            for _ in range(20):
                check_well(server)


@case
def server_descriptors_run_out(world):
    """Who cannot be accepted waits or fails; nobody else does, and nothing stays broken."""
    if world.slow > 1:
        raise Skip("skip: the sanitizers' own checks need descriptors")
    with serving(world, prefix=("/bin/sh", "-c", 'ulimit -n 64; exec "$@"', "sh")) as server:
        kept = server.connect()
        ask_on(kept, "GET", "/health").json()
        before = server.descriptors()
        with Crowd(server) as crowd:
            crowd.connect(200)
            until(lambda: server.descriptors() >= 60, "all descriptors taken", 10)
            time.sleep(0.5)
            check_equal(ask_on(kept, "POST", "/v1/systemone", REQUEST).status, 200, "who was there")
            text = ask_on(kept, "GET", "/metrics").body.decode()
            errors = [line for line in text.splitlines()
                      if line.startswith("layard_http_accept_errors_total ")]
            check(float(errors[0].split()[1]) > 0, f"counted: {errors}")
        until(lambda: server.descriptors() <= before, "descriptors given back", 20 * world.slow)
        check_well(server)
        kept.close()


# ---- connections ---------------------------------------------------------------------------------

@case
def server_ten_thousand_connections(world):
    """Idle ones cost descriptors and nothing else; others are served beside them."""
    with many_descriptors() as count, serving(
            world, "--connections-max", count + 100, "--head-ms", 120_000) as server:
        check_well(server)
        descriptors, memory_kib = server.descriptors(), server.resident_kib()
        with Crowd(server) as crowd:
            crowd.connect(count)
            wait_for_metric(server, "layard_http_connections", lambda n: n >= count)
            for _ in range(5):
                check_well(server)
            grown_kib = server.resident_kib() - memory_kib
            check(grown_kib < count * 16 * world.slow, f"{grown_kib} KiB for {count} connections")
            ended = [data for data, end in crowd.received() if end or data]
            check_equal(ended, [], "connections that did not stay")
            # Each of them is a client like any other.
            crowd.sockets[count // 2].setblocking(True)
            crowd.sockets[count // 2].sendall(b"GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n")
            check(crowd.sockets[count // 2].recv(100).startswith(b"HTTP/1.1 200 "), "one of them")
        wait_for_metric(server, "layard_http_connections", lambda n: n <= 2)
        until(lambda: server.descriptors() <= descriptors + 1, "descriptors given back")
        check_well(server)


@case
def server_connections_over_the_bound(world):
    """As many as the bound says stay; of the others each gets 503 or is closed at once."""
    bound = 256
    with many_descriptors() as count, serving(
            world, "--connections-max", bound, "--head-ms", 120_000) as server:
        kept = server.connect()
        ask_on(kept, "GET", "/health").json()
        refused_name = 'layard_http_refused_total{reason="connections"} '
        with Crowd(server) as crowd:
            crowd.connect(count)

            def refused():
                text = ask_on(kept, "GET", "/metrics").body.decode()
                (line,) = [li for li in text.splitlines() if li.startswith(refused_name)]
                return float(line.rsplit(" ", 1)[1])

            until(lambda: refused() >= count - bound + 1, "refusals", 20 * world.slow)
            check_equal(refused(), count - bound + 1, "counted refusals")
            check(server.descriptors() < bound + 200, f"{server.descriptors()} descriptors")
            check_equal(ask_on(kept, "GET", "/health").status, 200, "health of who was there")
            check_equal(ask_on(kept, "POST", "/v1/systemone", REQUEST).status, 200, "a decision")
            told = []
            until(lambda: crowd.drop_ended(told) == bound - 1, "only those that may stay", 20)
            check(bool(told), "nobody was told why")
            for data in told:
                status, detail = status_and_detail(data)
                check_equal(status, 503, "status of a refused connection")
                check("connections" in detail and b"\r\nRetry-After: " in data, f"{data!r}")
        until(lambda: closed_or_served(server), "a stranger is served", 10 * world.slow)
        check_well(server)
        kept.close()


def closed_or_served(server):
    try:
        return server.get("/health").status == 200
    except OSError:
        return False


# ---- floods --------------------------------------------------------------------------------------

LINE = b"GET /health HTTP/1.1\r\nHost: localhost\r\n"
FLOODS = (
    # what it is, bytes, status
    ("one field of a megabyte", LINE + b"X-A: " + b"a" * 1_000_000, 431),
    ("100,000 fields", LINE + b"a: b\r\n" * 100_000, 431),
    ("101 fields", LINE + b"a: b\r\n" * 100 + b"\r\n", 431),
    ("a name of a megabyte", LINE + b"a" * 1_000_000, 431),
    ("a target of 9,000 bytes", b"GET /" + b"a" * 9000 + b" HTTP/1.1\r\nHost: localhost\r\n\r\n",
     414),
    ("a request line without an end", b"GET /" + b"a" * 1_000_000, 431),
    ("a method without an end", b"G" * 1_000_000, 431),
    ("a folded field without an end", LINE + b"a: b\r\n" + b" c\r\n" * 100_000, 431),
)


@case
def server_header_floods(world):
    """Every header that is too much gets one 4xx at once, whatever follows it."""
    with serving(world, "--head-ms", 60_000) as server:
        for name, data, status in FLOODS:
            received, seconds = exchange(server, data)
            found, detail = status_and_detail(received)
            check_equal((found, received.count(b"HTTP/1.1 ")), (status, 1), f"{name}: {detail}")
            check(seconds < 5 * world.slow, f"{name}: closed after {seconds:.1f} s")
        memory_kib = server.resident_kib()
        with concurrent.futures.ThreadPoolExecutor(32) as pool:
            flooding = [pool.submit(exchange, server, data, 60) for _ in range(8)
                        for _, data, _ in FLOODS]
            for _ in range(5):
                check_well(server)
            for flood in flooding:
                status_and_detail(flood.result()[0])
        grown_kib = server.resident_kib() - memory_kib
        check(grown_kib < 32 * 1024 * world.slow, f"{grown_kib} KiB more after the floods")


SLOW = (
    # what it is, sent at once, then again and again, what is answered, the reason in the metrics
    ("nothing", b"", b"", None, None),
    ("blank lines", b"\r\n", b"", 408, "head_time"),
    ("half a request line", b"GET /hea", b"l", 408, "head_time"),
    ("fields", LINE, b"x", 408, "head_time"),
    ("a body of known length", HEAD + b"Content-Length: 1000\r\n\r\n{", b" ", 408, "body_time"),
    ("a body in chunks", HEAD + b"Transfer-Encoding: chunked\r\n\r\n", b"1\r\n \r\n", 408,
     "body_time"),
    ("no body", HEAD + b"Content-Length: 1000\r\n\r\n", b"", 408, "body_time"),
    ("a gzip header of 64 KiB",
     HEAD + b"Content-Encoding: gzip\r\nContent-Length: 70000\r\n\r\n"
            b"\x1f\x8b\x08\x04\0\0\0\0\0\0\xff\xff", b"\0", 408, "body_time"),
)
SLOW_EACH = 20


@case
def server_slow_clients(world):
    """Headers and bodies that never end are closed in time; meanwhile others are served."""
    limit_ms = 700 * world.slow
    with contextlib.ExitStack() as stack:
        server = stack.enter_context(
            serving(world, "--head-ms", limit_ms, "--body-ms", limit_ms))
        crowds = [stack.enter_context(Crowd(server)) for _ in SLOW]
        began = time.monotonic()
        for crowd, (_, first, _, _, _) in zip(crowds, SLOW, strict=True):
            crowd.connect(SLOW_EACH, first)
        answers = [[b""] * SLOW_EACH for _ in SLOW]
        ended_s = [[None] * SLOW_EACH for _ in SLOW]
        end = began + limit_ms / 1000 + 5 * world.slow
        while time.monotonic() < end and not all(all(ends) for ends in ended_s):
            for row, (crowd, (_, _, more, _, _)) in enumerate(zip(crowds, SLOW, strict=True)):
                crowd.send(more)
                for i, (data, is_end) in enumerate(crowd.received()):
                    answers[row][i] += data
                    if is_end and ended_s[row][i] is None:
                        ended_s[row][i] = time.monotonic() - began
            check_well(server)
            time.sleep(0.02)
        for row, (name, _, _, status, reason) in enumerate(SLOW):
            check(all(ended_s[row]), f"{name}: still open after {end - began:.1f} s")
            check(min(ended_s[row]) > limit_ms / 1000 * 0.5, f"{name}: closed too early")
            for data in answers[row]:
                if status is None:
                    check_equal(data, b"", f"what was said about {name}")
                else:
                    check_equal(status_and_detail(data)[0], status, name)
            if reason is not None:
                total = SLOW_EACH * sum(other == reason for *_, other in SLOW)
                check_equal(server.metric(f'layard_http_refused_total{{reason="{reason}"}}'), total,
                            reason)
        check_well(server)


# ---- clients that stop half way ------------------------------------------------------------------

@case
def server_client_reads_nothing(world):
    """Answers that are not taken wait in one connection's buffers, for a time; then it is cut."""
    with serving(world, "--write-ms", 500 * world.slow) as server, socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect((server.host, server.port))
        memory_kib = server.resident_kib()
        one.sendall(b"GET /openapi.json HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        wait_for_metric(server, "layard_http_responses_cut_total", 1)
        for _ in range(3):
            check_well(server)
        wait_for_metric(server, "layard_http_connections", 1)
        grown_kib = server.resident_kib() - memory_kib
        check(grown_kib < 16 * 1024 * world.slow, f"{grown_kib} KiB for answers that nobody takes")


HALVES = (
    # sent before the sending half is closed, may it be answered
    (b"", False),
    (b"GET /health HT", False),
    (HEAD, False),
    (HEAD + b"Content-Length: 100\r\n\r\n{", False),
    (HEAD + b"Transfer-Encoding: chunked\r\n\r\n5\r\n{", False),
    (LINE + b"\r\n", True),
    (whole_request(REQUEST), True),
)


@case
def server_half_closed_clients(world):
    """Who closes the sending half counts as gone: a whole answer if it was ready, else none."""
    with serving(world) as server:
        before = server.descriptors()
        for data, may_be_answered in HALVES:
            with socket.create_connection((server.host, server.port), timeout=20) as one:
                one.sendall(data)
                one.shutdown(socket.SHUT_WR)
                received = b""
                with contextlib.suppress(ConnectionResetError):
                    while part := one.recv(65536):
                        received += part
            if received:
                check(may_be_answered, f"an answer to {data!r}: {received[:200]!r}")
                head, _, body = received.partition(b"\r\n\r\n")
                check(head.startswith(b"HTTP/1.1 200 "), f"{received[:200]!r}")
                json.loads(body)
        wait_for_metric(server, "layard_http_connections", 1)
        wait_for_metric(server, "layard_http_requests_open", 1)  # the one that asks
        until(lambda: server.descriptors() <= before, "descriptors given back")
        check_well(server)


@case
def server_clients_that_reset(world):
    """A reset in any part of a request leaves no descriptor, no memory and no queued work."""
    body = {"state": "a text " * 400, "questions": ONE}
    whole = whole_request(body)
    cuts = (0, 10, len(HEAD), whole.index(b"{") + 20, len(whole) - 1, len(whole))
    with serving(world) as server:
        check_well(server)
        before, memory_kib = server.descriptors(), server.resident_kib()
        for i in range(300):
            one = socket.create_connection((server.host, server.port), timeout=20)
            one.sendall(whole[:cuts[i % len(cuts)]])
            if i % 5 == 0:
                time.sleep(0.002)
            one.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            one.close()
        for name, value in (("http_connections", 1), ("http_requests_open", 1),
                            ("decisions_queued", 0), ("decisions_running", 0),
                            ("http_body_bytes", 0)):
            wait_for_metric(server, f"layard_{name}", value, 60)
        submitted = server.metric("layard_decisions_submitted_total")
        ended = sum(server.metric(f'layard_decisions_total{{outcome="{name}"}}')
                    for name in ("completed", "failed", "cancelled", "expired", "refused"))
        check_equal(ended, submitted, "decisions by their ends")
        until(lambda: server.descriptors() <= before, "descriptors given back")
        grown_kib = server.resident_kib() - memory_kib
        check(grown_kib < 16 * 1024 * world.slow, f"{grown_kib} KiB more after 300 resets")
        check_well(server)
