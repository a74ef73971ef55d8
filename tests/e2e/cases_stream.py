"""Batches as a stream: a client that writes lines and waits for their answers before it asks on."""

import contextlib
import itertools
import json
import select
import subprocess
import time

from harness import Failure, case, check, check_equal, json_lines, without_times

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
ANSWER_LIMIT_S = 30


class Dialogue:
    """A running batch whose input stays open."""

    def __init__(self, world, process):
        self.world, self.process, self.left = world, process, b""

    def send(self, text):
        self.process.stdin.write(text.encode())
        self.process.stdin.flush()

    def receive(self, count):
        """The next `count` lines of its output; fails when they do not come."""
        until = time.monotonic() + ANSWER_LIMIT_S * self.world.slow
        while self.left.count(b"\n") < count:
            left_s = until - time.monotonic()
            if left_s <= 0 or not select.select([self.process.stdout], [], [], left_s)[0]:
                raise Failure(f"{self.left.count(10)} of {count} answers came")
            piece = self.process.stdout.read1(65536)
            check(piece, f"the output ended after {self.left!r}")
            self.left += piece
        *lines, self.left = self.left.split(b"\n", count)
        return [line.decode() for line in lines]

    def is_silent(self, seconds):
        return not self.left and not select.select([self.process.stdout], [], [], seconds)[0]

    def finish(self):
        self.process.stdin.close()
        rest = self.left + self.process.stdout.read()
        check_equal(self.process.wait(ANSWER_LIMIT_S * self.world.slow), 0, "exit status")
        return rest.decode().splitlines()


@contextlib.contextmanager
def dialogue(world, *arguments):
    with subprocess.Popen([str(world.binary), *arguments, "--batch", "-"], cwd=world.folder,
                          env=world.environment, stdin=subprocess.PIPE,
                          stdout=subprocess.PIPE) as process:
        try:
            yield Dialogue(world, process)
        finally:
            process.kill()


@case
def batches_answer_when_the_input_pauses(world):
    """Whatever has come, also less than one group, in order and with the file's own bytes."""
    requests = [json.dumps({"state": f"Invoice {number}.", "questions": ONE})
                for number in range(66)]
    texts = [json.dumps({"text": f"Invoice {number}."}) for number in range(66)]
    for arguments, lines in ((("predict", str(world.model)), requests),
                             (("tokenize", world.starter), texts)):
        with dialogue(world, *arguments) as batch:
            batch.send("".join(line + "\n" for line in lines[:63]))
            found = batch.receive(63)
            batch.send(lines[63] + "\n")
            found += batch.receive(1)
            batch.send(lines[64][:20])
            check(batch.is_silent(0.2), "half a line was answered")
            batch.send(lines[64][20:] + "\n" + lines[65])
            found += batch.receive(1)
            found += batch.finish()
        path = world.write("whole.jsonl", "".join(line + "\n" for line in lines))
        whole = world.run(*arguments, "--batch", path)
        check_equal([without_times(line) for line in found],
                    without_times(whole.stdout).splitlines(), f"{arguments[0]} as a stream")


@case
def files_fill_whole_groups(world):
    """Lines of one group share the time of their forward passes."""
    line = json.dumps({"state": "Charged twice.", "questions": ONE}) + "\n"
    path = world.write("many.jsonl", line * 130)
    run = world.run("predict", world.model, "--batch", path)
    times = [answer["runtime"]["device_ms"] for answer in json_lines(run.stdout)]
    check_equal([len(list(group)) for _, group in itertools.groupby(times)], [64, 64, 2],
                "lines answered together")
