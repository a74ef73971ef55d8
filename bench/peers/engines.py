"""Engines as processes: started, stopped, asked to run, and frozen while others are measured.

Freezing (SIGSTOP) matters: idle thread pools of several runtimes spin, and would take a core from
whoever is being timed.
"""

import ctypes
import json
import os
import signal
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path

from adapters import quiet_environment

HERE = Path(__file__).resolve().parent
START_LIMIT_S = 900
CALL_LIMIT_S = 1800


class EngineError(Exception):
    """An engine that could not start or stopped answering; the text says what it printed last."""


@dataclass(frozen=True)
class Setting:
    """What one process is: a runtime, a number format and a number of threads."""

    peer: str
    precision: str
    threads: int

    @property
    def name(self) -> str:
        return f"{self.peer} {self.precision}"


def die_with_parent() -> None:
    """A frozen engine must not outlive a run that was killed."""
    parent_death_signal = 1
    ctypes.CDLL(None).prctl(parent_death_signal, signal.SIGKILL)


class Process:
    """A child that answers lines with lines. Its standard error goes to a log file."""

    def __init__(self, command: list, environment: dict, log: Path):
        log.parent.mkdir(parents=True, exist_ok=True)
        self.log = log
        with log.open("w") as file:
            self.child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                          stderr=file, text=True, env=environment,
                                          preexec_fn=die_with_parent)

    def line(self, limit_s: float) -> str:
        timer = threading.Timer(limit_s, self.child.kill)
        timer.start()
        try:
            text = self.child.stdout.readline()
        finally:
            timer.cancel()
        if not text:
            self.child.wait()
            tail = self.log.read_text(errors="replace").strip().splitlines()[-3:]
            raise EngineError(" / ".join(tail) or f"ended with status {self.child.wait()}")
        return text

    def send(self, text: str) -> None:
        try:
            self.child.stdin.write(text)
            self.child.stdin.flush()
        except BrokenPipeError:
            pass  # the next line() says why

    def freeze(self) -> None:
        self.child.send_signal(signal.SIGSTOP)

    def thaw(self) -> None:
        self.child.send_signal(signal.SIGCONT)

    def stop(self) -> None:
        self.thaw()
        self.child.kill()
        self.child.wait()
        self.child.stdin.close()
        self.child.stdout.close()


class Peer:
    """A runtime behind worker.py. Frozen except during a call."""

    def __init__(self, setting: Setting, checkpoint: Path, files: Path, logs: Path):
        self.setting = setting
        command = [sys.executable, HERE / "worker.py", setting.peer, checkpoint, files,
                   setting.precision, setting.threads]
        self.process = Process(list(map(str, command)), quiet_environment(setting.threads),
                               logs / f"{setting.name} {setting.threads}.log".replace(" ", "_"))
        self.process.line(START_LIMIT_S)
        self.process.freeze()
        self.turns = 0

    def call(self, message: dict) -> dict:
        self.process.thaw()
        self.process.send(json.dumps(message) + "\n")
        reply = json.loads(self.process.line(CALL_LIMIT_S))
        self.process.freeze()
        return reply

    def info(self) -> dict:
        return self.call({"op": "info"})

    def measure(self, case, grouping: list, repeats: int) -> dict:
        """{"ms", "outputs"} or, for text, {"ms", "answer"}."""
        if case.kind == "text":
            self.turns += repeats + 1
            return self.call({"op": "text", "requests": case.requests, "repeats": repeats,
                              "start": self.turns - repeats})
        return self.call({"op": "run", "rows": case.rows, "groups": grouping, "repeats": repeats})

    def stop(self) -> None:
        self.process.stop()


class Layard:
    """Layard behind layard_driver, with the same calls as a peer."""

    COMMANDS = {"forward": "forward", "batch": "batch", "text": "text"}

    def __init__(self, setting: Setting, checkpoint: Path, driver: Path, logs: Path):
        self.setting = setting
        command = [driver, checkpoint, setting.precision, setting.threads]
        self.process = Process(list(map(str, command)), dict(os.environ),
                               logs / f"{setting.name}.log".replace(" ", "_"))
        self.opened = json.loads(self.process.line(START_LIMIT_S))
        self.process.freeze()

    def call(self, header: str, requests: list) -> dict:
        self.process.thaw()
        lines = "".join(json.dumps(request) + "\n" for request in requests)
        self.process.send(f"{header} {len(requests)}\n{lines}")
        reply = json.loads(self.process.line(CALL_LIMIT_S))
        self.process.freeze()
        return reply

    def info(self) -> dict:
        status = Path(f"/proc/{self.process.child.pid}/statm").read_text().split()
        resident = int(status[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20
        return {"opened": self.opened, "resident_mib": round(resident)}

    def raw(self, case) -> list:
        return self.call("raw", case.requests)

    def measure(self, case, grouping: list, repeats: int) -> dict:
        return self.call(f"{self.COMMANDS[case.kind]} {repeats}", case.requests)

    def stop(self) -> None:
        self.process.stop()
