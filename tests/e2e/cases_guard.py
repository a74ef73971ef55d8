"""The hidden command that starts a backend and ends it, whatever becomes of the gateway."""

import contextlib
import os
import pathlib
import signal
import socket
import subprocess
import sys
import time

from harness import Failure, case, check, check_equal

# A gateway that is to be killed: starts the guard with its arguments, and says what the guard says.
GATEWAY = """
import os, socket, subprocess, sys, time
ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
with subprocess.Popen([sys.argv[1], "__guard", "--control-fd", str(theirs.fileno()),
                       *sys.argv[2:]], pass_fds=[theirs.fileno()]) as guard:
    theirs.close()
    print(guard.pid, ours.recv(100).decode(), flush=True)
    time.sleep(600)
"""
# Writes the numbers of its three processes: one that ignores SIGTERM, one in a session of its own,
# and the command itself, which goes on.
FAMILY = """
sh -c 'trap "" TERM; echo $$; while :; do sleep 0.2; done' &
sh -c 'setsid sh -c "echo \\$\\$; while :; do sleep 0.2; done" &'
echo $$
wait
sleep 600
"""


def state_of(pid):
    """The letter of a process's state; nothing where there is none."""
    try:
        stat = pathlib.Path(f"/proc/{pid}/stat").read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""
    return stat.rpartition(")")[2].split()[0]


def until(holds, what, limit_s=20):
    end = time.monotonic() + limit_s
    while not holds():
        if time.monotonic() > end:
            raise Failure(f"waited {limit_s} s for {what}")
        time.sleep(0.01)


@contextlib.contextmanager
def guarded(world, *arguments):
    """The guard and our end of its socket."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    ours.settimeout(20 * world.slow)
    with ours, subprocess.Popen(
            [str(world.binary), "__guard", "--control-fd", str(theirs.fileno()), *arguments],
            pass_fds=[theirs.fileno()], env=world.environment, cwd=world.folder,
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT) as guard:
        theirs.close()
        try:
            yield guard, ours
        finally:
            ours.close()  # it ends what it started, then itself
            guard.wait(20 * world.slow)


@case
def guard_reports_what_it_started(world):
    """One message for the start and one for the end; argv and variables as they were given."""
    for command, messages, output in (
            (["sh", "-c", "exit 3"], ["exited 3"], ""),
            (["sh", "-c", "kill -9 $$"], ["signaled 9"], ""),
            (["printf", "%s|", "a b", "", "$HOME `x` 'y' \"z\"", "l\nm"], ["exited 0"],
             "a b||$HOME `x` 'y' \"z\"|l\nm|")):
        with guarded(world, "--stop-ms", "1000", "--", *command) as (guard, control):
            check(control.recv(100).startswith(b"started "), f"{command}: did not start")
            check_equal([control.recv(100).decode()], messages, f"what is said of {command}")
            check_equal(control.recv(100), b"", "more is said")
            check_equal(guard.stdout.read().decode(), output, "output")
            check_equal(guard.wait(10 * world.slow), 0, "exit status")
    for command, error in ((["no-such-program"], b"failed 2"), (["/"], b"failed 13")):
        with guarded(world, "--", *command) as (_, control):
            check_equal(control.recv(100), error, f"{command}")


@case
def guard_stops_the_whole_family(world):
    """SIGTERM first; who ignores it is killed, in whatever session it is."""
    with guarded(world, "--stop-ms", "300", "--", "sh", "-c", FAMILY) as (guard, control):
        control.recv(100)
        pids = [int(guard.stdout.readline()) for _ in range(3)]
        control.send(b"stop")
        check_equal(control.recv(100).decode(), "signaled 15", "what is said")
        check_equal([state_of(pid) for pid in pids], ["", "", ""], "states of the processes")


@case
def guard_outlives_its_gateway(world):
    """A gateway that is killed leaves nothing behind."""
    command = [sys.executable, "-I", "-S", "-c", GATEWAY, str(world.binary), "--stop-ms", "300",
               "--", "sh", "-c", FAMILY]
    with subprocess.Popen(command, env=world.environment, stdout=subprocess.PIPE) as gateway:
        try:
            words = b" ".join(gateway.stdout.readline() for _ in range(4)).split()
            check(b"started" in words, f"what the guard said: {words}")
            pids = [int(word) for word in words if word != b"started"]
            check_equal([state_of(pid) in tuple("SRD") for pid in pids], [True] * 5,
                        f"they run: {words}")
        finally:
            os.kill(gateway.pid, signal.SIGKILL)
        until(lambda: all(state_of(pid) in ("", "Z") for pid in pids),
              "the end of what a killed gateway ran", 20 * world.slow)


@case
def guard_is_hidden(world):
    """No person types it, so neither help nor completion nor the manual page has it."""
    check("__guard" not in world.run("--help").stdout, "it is in --help")
    check("__guard" not in world.run("__complete", "").stdout, "it is completed")
    manual = (world.source / "docs/layard.1").read_text(encoding="utf-8")
    check("guard" not in manual, "it is in the manual page")
    world.run("__guard").refused("InvalidRequestError", "--control-fd is missing", "not a person")
    world.run("__guard", "--control-fd", "99", "--", "true").refused("IoError", "control socket 99")
