#!/usr/bin/env python3
"""Goal: a long-running process does not grow: 10,000 requests of random shapes add less than 1%.

    memory_growth.py LAYARD MODEL [--requests N] [--seed S] [--dtype D]

One process answers all requests through --batch. Its resident memory is read after a warm-up, in
which caches fill and the largest shapes pass, and again at the end; both figures are printed.
"""
import argparse
import json
import pathlib
import random
import subprocess
import sys
import threading

WARM_UP = 3000
GROWTH_MAX = 0.01
WORDS = ["order", "refund", "late", "Grüße", "server", "the", "why", "price", "数据", "please",
         "cancel", "42", "broken", "thanks", "контракт", "https://example.org/a?b=c", "🙂"]


def text(rng, words):
    return " ".join(rng.choice(WORDS) + str(rng.randrange(1000)) for _ in range(words))


def question(rng):
    kind = rng.choice(["choice", "score", "noul"])
    if kind == "choice":
        names = {f"o{i}": text(rng, rng.randint(1, 6)) for i in range(rng.randint(2, 12))}
        return {"type": kind, "instructions": text(rng, rng.randint(1, 20)), "criteria": names}
    if kind == "score":
        return {"type": kind, "instructions": text(rng, 5),
                "criteria": [text(rng, 3) for _ in range(rng.randint(2, 6))]}
    return {"type": kind, "instructions": text(rng, rng.randint(1, 20))}


def request(rng, index):
    longest = index % 50 == 0
    count = 8 if longest else rng.randint(1, 6)
    words = 600 if longest else int(2 ** rng.uniform(0, 8))
    return {"state": text(rng, words),
            "questions": {f"q{i}": question(rng) for i in range(count)}}


def feed(pipe, rng, count):
    for index in range(count):
        pipe.write(json.dumps(request(rng, index)).encode() + b"\n")
    pipe.close()


def resident_kib(pid):
    for line in pathlib.Path(f"/proc/{pid}/status").read_text(encoding="ascii").splitlines():
        if line.startswith("VmRSS:"):
            return int(line.split()[1])
    raise RuntimeError("no VmRSS")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("layard")
    parser.add_argument("model")
    parser.add_argument("--requests", type=int, default=10000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--dtype", default="float32")
    arguments = parser.parse_args()
    total = WARM_UP + arguments.requests
    process = subprocess.Popen(
        [arguments.layard, "predict", arguments.model, "--batch", "-", "--dtype", arguments.dtype],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    feeder = threading.Thread(
        target=feed, args=(process.stdin, random.Random(arguments.seed), total), daemon=True)
    feeder.start()
    warm = failed = answered = 0
    last = 0
    for line in process.stdout:
        answered += 1
        failed += "error" in json.loads(line)
        if answered == WARM_UP:
            warm = resident_kib(process.pid)
        if answered % 1000 == 0:
            last = resident_kib(process.pid)
            print(f"{answered} requests: {last} KiB resident", flush=True)
    status = process.wait()
    feeder.join()
    if status != 0 or failed or answered != total:
        print(f"failed: exit {status}, {failed} errors, {answered} of {total} answers")
        return 1
    growth = last / warm - 1
    print(f"resident after {WARM_UP}: {warm} KiB, after {total}: {last} KiB, growth {growth:.2%}")
    if growth >= GROWTH_MAX:
        print(f"failed: more than {GROWTH_MAX:.0%}")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
