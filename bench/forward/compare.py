"""Layard's cpu backend beside PyTorch (the upstream package) on the same checkpoint and rows.

    python bench/forward/compare.py --checkpoint build/large \
        --binary build/release/bench/bench_forward --out bench/results/forward_<cpu>.json

Text in, answer out, one thread setting for both, measured in turn in one run; medians and their
ratio are reported. Needs the packages of tools/train_starter/requirements.txt.
"""

import argparse
import json
import platform
import statistics
import subprocess
import time
from pathlib import Path

import laya
import torch

QUESTION = {"q": {"type": "noul", "instructions": "Is money asked back?"}}


def text_of(words: int) -> str:
    return "".join("order " if i % 2 == 0 else "refund " for i in range(words))


def cpu_name() -> str:
    for line in Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


class Layard:
    def __init__(self, binary: str, checkpoint: str, threads: int):
        self.process = subprocess.Popen([binary, checkpoint, str(threads)], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, text=True)
        assert self.process.stdout.readline().strip() == "ready"

    def time(self, words: int, rows: int) -> tuple:
        self.process.stdin.write(f"{words} {rows}\n")
        self.process.stdin.flush()
        elapsed, length = self.process.stdout.readline().split()
        return float(elapsed), int(length)


def torch_time(agent, words: int, rows: int) -> float:
    states = [text_of(words)] * rows
    started = time.perf_counter()
    agent.predict_batch(states, QUESTION)
    return (time.perf_counter() - started) * 1000.0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", required=True)
    parser.add_argument("--binary", required=True)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--words", type=int, nargs="+", default=[20, 50, 110, 240])
    parser.add_argument("--rows", type=int, nargs="+", default=[1])
    parser.add_argument("--out", type=Path)
    arguments = parser.parse_args()
    torch.set_num_threads(arguments.threads)
    agent = laya.load(str(Path(arguments.checkpoint).resolve()), device="cpu")
    ours = Layard(arguments.binary, arguments.checkpoint, arguments.threads)
    records = []
    for rows in arguments.rows:
        for words in arguments.words:
            ours.time(words, rows), torch_time(agent, words, rows)  # warm-up
            pairs = [(ours.time(words, rows), torch_time(agent, words, rows))
                     for _ in range(arguments.rounds)]
            layard_ms = statistics.median(p[0][0] for p in pairs)
            torch_ms = statistics.median(p[1] for p in pairs)
            records.append({"tokens": pairs[0][0][1], "rows": rows,
                            "layard_ms": round(layard_ms, 3), "torch_ms": round(torch_ms, 3),
                            "torch_over_layard": round(torch_ms / layard_ms, 3)})
            print(records[-1], flush=True)
    result = {"cpu": cpu_name(), "threads": arguments.threads, "rounds": arguments.rounds,
              "checkpoint": Path(arguments.checkpoint).name, "torch": torch.__version__,
              "records": records}
    if arguments.out:
        arguments.out.parent.mkdir(parents=True, exist_ok=True)
        arguments.out.write_text(json.dumps(result, indent=1) + "\n")


if __name__ == "__main__":
    main()
