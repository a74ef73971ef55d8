#!/usr/bin/env python3
"""Goal: the size gate makes `layard route eval` of the starter better and cheaper.

    check_route_eval.py LAYARD MODEL

Every fourth labelled request, with the gate and with --no-gate (the model asked about every size,
with four options), in turn. Checks accuracy, the processor time of the two runs (which other
programs change less than a clock's) and the confusion's rows.
"""
import json
import pathlib
import resource
import subprocess
import sys
import tempfile

CASES = pathlib.Path(__file__).resolve().parent / "cases.jsonl"
CLASSES = ["code", "prose", "short", "long_doc"]
RATIO_MAX = 3 / 4


def spent_s():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def evaluated(layard, model, cases, *options):
    """What the command says, and the processor time it took."""
    before = spent_s()
    run = subprocess.run([layard, "route", "eval", "--model", model, "--cases", cases,
                          "--format", "json", *options], capture_output=True, text=True,
                         check=True)
    return json.loads(run.stdout), spent_s() - before


def main():
    layard, model = sys.argv[1:]
    lines = CASES.read_text(encoding="utf-8").splitlines(keepends=True)[::4]
    with tempfile.TemporaryDirectory(prefix="layard_requests.") as folder:
        cases = pathlib.Path(folder) / "cases.jsonl"
        cases.write_text("".join(lines), encoding="utf-8")
        gated, gated_s = evaluated(layard, model, str(cases))
        whole, whole_s = evaluated(layard, model, str(cases), "--no-gate")
    ratio = gated_s / whole_s
    print(f"{len(lines)} requests: {gated['accuracy']:.3f} with the gate, {whole['accuracy']:.3f} "
          f"without; processor time 1 : {1 / ratio:.1f}, "
          f"time of a decision 1 : {whole['ms_all'] / gated['ms_all']:.1f}")
    wrong = []
    if gated["accuracy"] <= whole["accuracy"]:
        wrong.append("the gate does not make it better")
    if ratio > RATIO_MAX:
        wrong.append(f"the gate leaves {ratio:.2f} of the processor time, at most 3/4")
    for found in (gated, whole):
        counts = sum(sum(row.values()) for row in found["confusion"].values())
        if list(found["confusion"]) != CLASSES or counts != len(lines):
            wrong.append(f"confusion of {list(found['confusion'])} with {counts} counts")
        if list(found["confusion"]["prose"]) != CLASSES:
            wrong.append("the row of prose lacks an answer")
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
