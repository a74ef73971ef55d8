"""Fits one temperature per bucket (question type, option count) of a checkpoint.

    python calibrate.py --model models/starter --data ../shared/datasets --out temperatures.json

Temperatures fitted on the trained sources' own dev data alone come out too sharp for new texts,
those fitted on new texts alone too flat for the trained sources. So each bucket is fitted on both,
which count the same: dev rows, and material that was never trained on (snips, two reading sets,
every second line of heldout_requests.jsonl and the written texts that were held out). A bucket that
has too few rows of the one is fitted on the other.
"""

import argparse
import json
from collections import defaultdict
from pathlib import Path

import laya
import numpy as np
from laya.common import temp_bucket

import evaluate

GRID = np.exp(np.linspace(np.log(0.5), np.log(5.0), 120))
ROWS_MIN = 60


def negative_log_likelihood(logits: list, targets: list, temperature: float) -> float:
    total = 0.0
    for z, target in zip(logits, targets):
        z = z / temperature
        total += np.log(np.exp(z - z.max()).sum()) + z.max() - z[target]
    return total / len(logits)


def losses(groups: dict) -> np.ndarray:
    """Mean loss at each temperature of GRID; every source in `groups` counts the same."""
    return np.array([np.mean([negative_log_likelihood(z, y, t) for z, y in groups.values()])
                     for t in GRID])


def best(sides: list) -> float:
    """The temperature with the least loss; each of `sides` (source -> rows) counts the same."""
    return float(GRID[int(np.argmin(sum(losses(groups) for groups in sides)))])


def grouped(built: list, logits: list) -> dict:
    """bucket -> source -> (logits, targets)."""
    buckets = defaultdict(lambda: defaultdict(lambda: ([], [])))
    for row, z in zip(built, logits):
        if len(z) < 2:
            continue
        group = buckets[temp_bucket(row["kind"], len(z))][row["source"].split("/")[0]]
        group[0].append(z)
        group[1].append(row["target"])
    return buckets


def fit_all(held: dict, dev: dict) -> dict:
    """Both temperature keys of rl_agent_config.json, and where each came from."""
    by_options, basis = {}, {}
    for bucket in sorted(set(held) | set(dev)):
        sides = {}
        for name, groups in (("held-out", held.get(bucket, {})), ("dev", dev.get(bucket, {}))):
            groups = {s: g for s, g in groups.items() if len(g[0]) >= 20}
            if sum(len(g[0]) for g in groups.values()) >= ROWS_MIN:
                sides[name] = groups
        if not sides:
            continue
        by_options[bucket] = round(best(list(sides.values())), 4)
        basis[bucket] = {"on": " and ".join(sides),
                         "rows": sum(len(g[0]) for side in sides.values() for g in side.values()),
                         "sources": sorted(set().union(*sides.values()))}
    per_type = []
    for name in ("choice", "score", "noul"):
        merged = {}
        for bucket, groups in dev.items():
            if bucket.startswith(name):
                merged.update({f"{bucket}/{s}": g for s, g in groups.items() if len(g[0]) >= 20})
        per_type.append(round(best([merged]), 4) if merged else 1.0)
    return {"temperature": per_type, "temperature_by_options": by_options, "basis": basis}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder of the exported checkpoint")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    agent = laya.load(args.model, device="cpu")
    held = evaluate.held_out_rows(args.data, agent.tok)
    for part in (0, 1, 2):  # three wordings of the request question, fit half only
        held += evaluate.request_rows(agent.tok, wording=part, lines="even")
    held += evaluate.written_rows(agent.tok)
    dev = evaluate.dev_rows(args.data, agent.tok)
    fitted = fit_all(grouped(held, evaluate.logits_of(agent.model, held)),
                     grouped(dev, evaluate.logits_of(agent.model, dev)))
    args.out.write_text(json.dumps(fitted, indent=2) + "\n", encoding="utf-8")
    print(json.dumps(fitted, indent=2))


if __name__ == "__main__":
    main()
