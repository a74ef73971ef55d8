#!/usr/bin/env python3
"""Compares the language detector with a second reading of its rules on random states.

usage: python3 tools/language_diff/diff.py --dump build/.../language_dump [--count N] [--seed S]
Choice, reason and detection must be equal, numbers to the last digit. Without --seed one is drawn;
it is printed. Exit 0: no difference; 1: differences, the shortest shown.
"""

import argparse
import json
import random
import subprocess
import sys
from collections import Counter

from rules import Rules
from texts import Texts

BATCH = 5000
SHOWN = 5
ROUTINGS = {"language_english", "language_non_latin_script", "language_not_english",
            "language_undecided_default", "no_text_default"}


def ours(program, states):
    lines = "".join(json.dumps({"state": state}, ensure_ascii=False) + "\n" for state in states)
    run = subprocess.run([program], input=lines.encode(), capture_output=True, check=False)
    if run.returncode != 0:
        sys.exit(f"{program} ended with {run.returncode}: {run.stderr.decode()[:500]}")
    return [json.loads(line) for line in run.stdout.decode().split("\n")[:-1]]


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dump", required=True)
    parser.add_argument("--count", type=int, default=20000)
    parser.add_argument("--seed", type=int)
    arguments = parser.parse_args()
    seed = arguments.seed if arguments.seed is not None else random.randrange(1 << 32)
    print(f"seed {seed}", flush=True)
    tables = json.loads(subprocess.run([arguments.dump, "--tables"], capture_output=True,
                                       check=True).stdout)
    rules, texts = Rules(tables), Texts(seed, tables)
    failures, reasons = [], Counter()
    for begin in range(0, arguments.count, BATCH):
        states = [texts.state() for _ in range(min(BATCH, arguments.count - begin))]
        states = [state for state in states if state is not None]
        found = ours(arguments.dump, states)
        if len(found) != len(states):
            sys.exit(f"{len(states)} states, {len(found)} answers (seed {seed})")
        for state, mine in zip(states, found):
            mine["detection"].pop("detector")
            wanted = rules.route(state)
            reasons[wanted["model_routing"]] += 1
            # As texts: the order of members and the digits of numbers count too.
            if json.dumps(mine) != json.dumps(wanted):
                failures.append((state, wanted, mine))
    print(f"{sum(reasons.values())} states, {len(failures)} differences; {dict(reasons)}")
    for state, wanted, mine in sorted(failures, key=lambda f: len(json.dumps(f[0])))[:SHOWN]:
        print(f"seed {seed}: {json.dumps(state, ensure_ascii=True)[:2000]}\n"
              f"  rules: {wanted}\n  found: {mine}")
    if set(reasons) != ROUTINGS:
        sys.exit(f"the states reach only {sorted(reasons)}")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
