#!/usr/bin/env python3
"""Counts the results in JUnit files, as ctest, GoogleTest and scripts/fuzz write them.

Prints one line a file, every failure, and every skip with its reason. A skip without a reason is
a failure. With --closing-line the last line printed is `N passed, N failed, N skipped`. The exit
status is 1 when anything failed, when a file could not be read, or when no test ran.
"""

import argparse
import pathlib
import sys
import xml.etree.ElementTree as ElementTree

REASON_CHARS_MAX = 200


def skip_reason(case, skipped):
    """The text that says why: the message, or the last line the test printed. Empty if none."""
    message = (skipped.get("message") or "").strip() or (skipped.text or "").strip()
    if message and not message.startswith("SKIP_"):
        return message.splitlines()[-1][:REASON_CHARS_MAX]
    output = (case.findtext("system-out") or "").strip()
    lines = [line.strip() for line in output.splitlines() if line.strip()]
    # GoogleTest under ctest: the reason stands on the lines before "[  SKIPPED ]".
    for line in reversed(lines):
        lowered = line.lower()
        if lowered.startswith("skip") or "skipped:" in lowered:
            return line[:REASON_CHARS_MAX]
    for index, line in enumerate(lines):
        if line.endswith("Skipped") and index + 1 < len(lines):
            return lines[index + 1][:REASON_CHARS_MAX]
    return ""


def outcome_of(case):
    """One of passed, failed, skipped for a <testcase>, with a detail."""
    if case.find("failure") is not None or case.find("error") is not None:
        return "failed", ""
    skipped = case.find("skipped")
    status = (case.get("status") or "").lower()
    if status == "fail":
        return "failed", ""
    if status == "disabled":
        return "failed", "disabled: a test is either run or removed"
    if skipped is not None or status == "notrun" or case.get("result") == "skipped":
        if skipped is None:
            return "failed", "registered but not run"
        if "Unable to find executable" in (skipped.get("message") or ""):
            return "failed", "its executable was not built"
        reason = skip_reason(case, skipped)
        return ("skipped", reason) if reason else ("failed", "skipped without a reason")
    return "passed", ""


def case_name(case):
    """ctest repeats the name in classname; GoogleTest splits it in two."""
    name, group = case.get("name") or "?", case.get("classname") or ""
    return name if not group or group == name else f"{group}.{name}"


def summarise(path):
    """Counts of one file as {outcome: [(name, detail)]}."""
    results = {"passed": [], "failed": [], "skipped": []}
    for case in ElementTree.parse(path).getroot().iter("testcase"):
        outcome, detail = outcome_of(case)
        results[outcome].append((case_name(case), detail))
    return results


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="*", type=pathlib.Path)
    parser.add_argument("--closing-line", action="store_true", help="print the totals last")
    arguments = parser.parse_args()
    totals = {"passed": 0, "failed": 0, "skipped": 0}
    for path in arguments.files:
        if "*" in path.name and not path.exists():
            continue  # a shell pattern that matched nothing
        try:
            results = summarise(path)
        except (OSError, ElementTree.ParseError) as error:
            print(f"{path}: unreadable results: {error}")
            totals["failed"] += 1
            continue
        for outcome, cases in results.items():
            totals[outcome] += len(cases)
        print(f"{path.stem}: " + " · ".join(f"{key} {len(results[key])}" for key in totals))
        for name, detail in results["failed"]:
            print(f"  FAILED {name}" + (f": {detail}" if detail else ""))
        for name, detail in results["skipped"]:
            print(f"  skipped {name}: {detail}")
    ran = totals["passed"] + totals["failed"]
    if ran == 0:
        print("no test ran")
    line = ", ".join(f"{totals[key]} {key}" for key in ("passed", "failed", "skipped"))
    print(line if arguments.closing_line else f"all: {line.replace(', ', ' · ')}")
    return 1 if totals["failed"] or ran == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
