"""Real llama.cpp servers for the gateway's cases: a tiny random model, made here, served by the
package xllamacpp as child processes of the gateway, and what can be seen of them."""

import contextlib
import http.client
import json
import os
import pathlib
import signal
import socket
import subprocess
import time

from gateway_running import policy_of, running_gateway
from harness import Skip, check, check_equal
from serving import ask_on, test_python, until

READY_LIMIT_S = 30
# What the model is told so that it ends, and calls a tool: see tools/make-tiny-gguf.
END_OF_TEXT, TOOL_CALL = 2, 3
CALLS_A_TOOL = {str(TOOL_CALL): 1000, str(END_OF_TEXT): 2000}
LOOK_UP = {"type": "function", "function": {
    "name": "look_up", "description": "Looks a city up.", "parameters": {
        "type": "object", "properties": {"city": {"type": "string", "enum": ["Bern", "Genf"]}},
        "required": ["city"], "additionalProperties": False}}}


def llamacpp_python(world):
    """The interpreter that has llama.cpp; skips where it has not."""
    python = test_python(world)
    found = subprocess.run([str(python), "-c", "import xllamacpp"], capture_output=True,
                           check=False)
    if found.returncode != 0:
        raise Skip("no xllamacpp in .venv/test (scripts/bootstrap --tests): "
                   + found.stderr.decode().strip().rsplit("\n", 1)[-1])
    return python


def tiny_model(world):
    path = world.folder / "tiny.gguf"
    if not path.exists():
        subprocess.run([str(test_python(world)), str(world.source / "tools/make-tiny-gguf"),
                        str(path)], check=True)
    return path


def free_ports(count):
    with contextlib.ExitStack() as held:
        found = [held.enter_context(socket.create_server(("127.0.0.1", 0))) for _ in range(count)]
        return [one.getsockname()[1] for one in found]


def server_command(world, alias, *more):
    """The command line of a device."""
    script = pathlib.Path(__file__).resolve().parent / "clients/llamacpp_server.py"
    return [str(llamacpp_python(world)), "-B", str(script), "{port}", str(tiny_model(world)), alias,
            *map(str, more)]


def device(world, alias, *more):
    """Members of a device that is llama.cpp in a child process."""
    return {"model": alias, "command": server_command(world, alias, *more), "stop_ms": 5000,
            "health": {"interval_ms": 100, "timeout_ms": 1000}}


@contextlib.contextmanager
def two_servers(world, *flags, rows=None, alternates=(), more=()):
    """(gateway, {device: url}) of the devices `a` and `b`, both ready."""
    urls = dict(zip("ab", (f"http://127.0.0.1:{port}" for port in free_ports(2))))
    devices = {name: device(world, f"tiny-{name}", *more) for name in urls}
    policy = policy_of(urls, rows=rows, alternates=alternates, devices=devices,
                       model_names=["m"])
    with running_gateway(world, policy, *flags) as gateway:
        wait_healthy(gateway, *urls)
        yield gateway, urls


def state_of(gateway, name):
    """A device's entry on the status page."""
    return next(one for one in gateway.status()["devices"] if one["name"] == name)


def wait_healthy(gateway, *names):
    for name in names:
        until(lambda name=name: state_of(gateway, name)["state"] == "healthy", f"{name} is ready",
              READY_LIMIT_S * gateway.world.slow)


def ask_server(url, method, path, body=None):
    """The server itself, past the gateway."""
    host = url.removeprefix("http://")
    with contextlib.closing(http.client.HTTPConnection(host, timeout=30)) as connection:
        return ask_on(connection, method, path, body)


def is_busy(url):
    return any(one["is_processing"] for one in json.loads(ask_server(url, "GET", "/slots").body))


def wait_idle(gateway):
    """No request is counted any more, anywhere."""
    def counted():
        told = gateway.status()
        return told["requests"]["in_flight"] + sum(one["in_flight"] for one in told["devices"])
    until(lambda: counted() == 0, "no request in flight", 5 * gateway.world.slow)


def parents():
    """{process: its parent} of all processes."""
    found = {}
    for path in pathlib.Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            text = path.read_text(encoding="utf-8", errors="replace")
            found[int(path.parent.name)] = int(text.rpartition(")")[2].split()[1])
    return found


def descendants(pid):
    """Processes that `pid` started, and those they did."""
    known, found = parents(), [pid]
    for one in found:
        found += [child for child, parent in known.items() if parent == one]
    return found[1:]


def command_of(pid):
    with contextlib.suppress(OSError):
        return pathlib.Path(f"/proc/{pid}/cmdline").read_bytes().decode().split("\0")
    return []


def is_alive(pid):
    """Whether it runs; one that has ended and was not waited for does not."""
    with contextlib.suppress(OSError):
        text = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
        return text.rpartition(")")[2].split()[0] not in "ZX"
    return False


def server_pid(gateway, url):
    """The llama.cpp process behind a device's address, by its argument; None: there is none."""
    port = url.rsplit(":", 1)[1]
    found = [one for one in descendants(gateway.pid)
             if port in command_of(one) and "-B" in command_of(one)[:3]
             and command_of(one)[0].endswith("python")]
    check(len(found) < 2, f"several servers on {port}: {found}")
    return found[0] if found else None


def kill_server(gateway, url):
    """Ends it as a crash would; returns its process and when."""
    pid = server_pid(gateway, url)
    check(pid is not None, f"no server on {url}")
    os.kill(pid, signal.SIGKILL)
    return pid, time.monotonic()


def check_all_gone(pids, limit_s):
    until(lambda: not any(map(is_alive, pids)),
          f"the end of {[(one, command_of(one)) for one in pids if is_alive(one)]}", limit_s)


def route_of(reply):
    """(class, device) that a reply says."""
    label, _, name = reply.headers["X-1bit-Route"].split(" ")
    return label, name


def json_of(reply):
    """The body of a reply of status 200; llama.cpp says its charset too."""
    check_equal(reply.status, 200, f"status of {reply}")
    check(reply.headers["Content-Type"].startswith("application/json"), f"{reply.headers}")
    return json.loads(reply.body)


def check_tokens(line, usage):
    """The decision log has the device's own counts."""
    check_equal([line["prompt_tokens"], line["completion_tokens"]],
                [usage["prompt_tokens"], usage["completion_tokens"]], "tokens in the log")
    check(line["decode_tps"] > 0 and line["ttft_ms"] > 0, f"times in the log: {line}")
