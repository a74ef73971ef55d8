#!/usr/bin/env python3
"""Goal: the labelled requests stay what rule.md says, and nothing they measure is trained on.

    check_cases.py schema|training [--datasets FOLDER]

schema: fields, classes, counts and the size gate. training: no text shares five words in a row with
a training text or template of the project; with --datasets the given training files are filtered as
training filters them, and some must remain.
"""
import argparse
import ast
import gzip
import json
import pathlib
import sys
from collections import Counter

HERE = pathlib.Path(__file__).resolve().parent
TRAINING = HERE.parent.parent / "tools" / "train_starter"
sys.path.insert(0, str(TRAINING))
import overlap  # noqa: E402  (its folder is on the path from here on)

CLASSES = ("code", "prose", "short", "long_doc")
GATE = 1024
FIELDS = {"id", "class", "text", "language", "source", "tags", "messages"}


def check_case(case):
    """What is wrong with one case, or None."""
    if not set(case) <= FIELDS or not FIELDS - {"messages"} <= set(case):
        return "fields"
    if case["class"] not in CLASSES or case["source"] not in ("free", "composed"):
        return "class or source"
    if (len(case["text"]) >= GATE) != (case["class"] == "long_doc"):
        return f"{len(case['text'])} characters and class {case['class']}"
    turns = [m["content"] for m in case.get("messages", []) if m["role"] == "user"]
    if turns and turns[0] != case["text"]:
        return "text is not the first user message"
    return None


def check_schema():
    cases = overlap.read_lines(overlap.CASES)
    wrong = [f"{c.get('id')}: {why}" for c in cases if (why := check_case(c))]
    for field in ("id", "text"):
        if len({c[field] for c in cases}) != len(cases):
            wrong.append(f"two cases with the same {field}")
    counts = Counter(c["class"] for c in cases)
    wrong += [f"{name}: {counts[name]} cases, at least 100" for name in CLASSES
              if counts[name] < 100]
    free = sum(c["source"] == "free" for c in cases)
    if 2 * free < len(cases):
        wrong.append(f"{free} of {len(cases)} from no pattern; at least half")
    print(f"{len(cases)} cases: {dict(counts)}")
    return wrong


def templates():
    """Every string literal of the generators' sources."""
    for path in sorted(TRAINING.glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if isinstance(node, ast.Constant) and isinstance(node.value, str):
                yield path.name, node.value


def written():
    for path in sorted((TRAINING / "written").glob("*.jsonl")):
        for row in overlap.read_lines(path):
            yield path.name, row.get("text") or row["state"]


def check_training(datasets):
    # The project's own texts must be clean; templates cannot be filtered when they are drawn.
    own = [m for case in overlap.read_lines(overlap.CASES)
           for m in [case["text"], *(t["content"] for t in case.get("messages", []))]]
    guard = overlap.Guard(own)
    wrong = [f"{name}: {' '.join(run)!r} is in a labelled request"
             for name, text in [*templates(), *written()] if (run := guard.shared(text))]
    if datasets:
        with gzip.open(datasets / "request_kind.jsonl.gz", "rt", encoding="utf-8") as lines:
            states = [json.loads(line)["state"] for line in lines]
        kept = sum(guard.shared(state) is None for state in states)
        print(f"request_kind: {kept} of {len(states)} records share nothing")
        if 2 * kept < len(states):
            wrong.append("most of request_kind shares words with the labelled requests")
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("part", choices=["schema", "training"])
    parser.add_argument("--datasets", type=pathlib.Path)
    arguments = parser.parse_args()
    wrong = check_schema() if arguments.part == "schema" else check_training(arguments.datasets)
    for line in wrong:
        print(f"wrong: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
