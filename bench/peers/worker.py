"""One runtime in its own process: reads a JSON command a line, answers with a JSON line.

    python worker.py PEER CHECKPOINT FILES PRECISION THREADS

Commands: {"op": "run", "rows", "groups", "repeats"} times all groups, one after the other, and
gives the logits of each row; {"op": "text", "requests", "start", "repeats"} times one request a
repeat; {"op": "hidden", "row"} gives the encoder's first vector. Each is preceded by one untimed
pass. Times are milliseconds of the wall clock, without the pipe.
"""

import json
import os
import sys
import time
from pathlib import Path

from adapters import ADAPTERS


def resident_mib() -> float:
    pages = int(Path("/proc/self/statm").read_text().split()[1])
    return pages * os.sysconf("SC_PAGE_SIZE") / 2**20


def timed(call) -> tuple:
    started = time.perf_counter()
    result = call()
    return (time.perf_counter() - started) * 1000.0, result


def run(adapter, command: dict) -> dict:
    rows, groups = command["rows"], command["groups"]
    inputs = [adapter.batch([rows[at] for at in group]) for group in groups]
    logits = [None] * len(rows)
    for group, made in zip(groups, inputs):  # untimed, and the outputs are copied out
        for at, values in zip(group, adapter.run(made)):
            logits[at] = [float(v) for v in values]
    samples = []
    for _ in range(command["repeats"]):
        samples.append(timed(lambda: [adapter.run(made) for made in inputs])[0])
    return {"ms": samples, "outputs": logits}


def run_text(adapter, command: dict) -> dict:
    requests, start = command["requests"], command["start"]
    first = adapter.text(requests[(start - 1) % len(requests)])
    samples = [timed(lambda: adapter.text(requests[(start + at) % len(requests)]))[0]
               for at in range(command["repeats"])]
    return {"ms": samples, "answer": json.loads(first)}


def main() -> None:
    peer, checkpoint, files, precision, threads = sys.argv[1:]
    out, sys.stdout = sys.stdout, sys.stderr  # libraries that print must not break the protocol
    adapter = ADAPTERS[peer](Path(checkpoint), Path(files), precision, int(threads))
    operations = {"run": lambda c: run(adapter, c), "text": lambda c: run_text(adapter, c),
                  "hidden": lambda c: {"hidden": adapter.first_hidden(c["row"])},
                  "info": lambda c: {**adapter.info(), "resident_mib": round(resident_mib())}}
    print(json.dumps({"ready": True}), file=out, flush=True)
    for line in sys.stdin:
        command = json.loads(line)
        print(json.dumps(operations[command["op"]](command)), file=out, flush=True)


if __name__ == "__main__":
    main()
