#!/usr/bin/env python3
"""Runs the tests that ctest knows, many in one process: starting one for each takes longer than
most of them, several times so under sanitizers.

usage: run_tests.py --build DIR --label LABEL [--label LABEL ...] --junit FILE [--jobs N]
                    [--only REGEX]

GoogleTest programs run once for all their tests, and tests/e2e/run_e2e.py once a module; everything
else runs as ctest would run it. The names, labels, limits and commands are ctest's own. Tests that
a died process left without a result are run again one by one, so that each failure has a name. A
process that fails after all its tests passed (a leak, say) is a failure of its own. Failures are
printed with what they wrote; FILE is JUnit. Exit status: 0 all passed or skipped, 1 not, 2 usage.
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import xml.etree.ElementTree as ElementTree

OUTPUT_CHARS_MAX = 6000
GROUP_LIMIT_S_MAX = 3600
DEFAULT_LIMIT_S = 600
# Expected seconds of a test without the property COST: only the order of starting depends on it.
GTEST_COST, E2E_COST = 0.02, 0.4
NOT_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Test:
    """One registered test."""

    def __init__(self, entry):
        properties = {p["name"]: p["value"] for p in entry.get("properties", [])}
        self.name = entry["name"]
        self.command = entry.get("command")
        self.labels = properties.get("LABELS", [])
        self.limit_s = float(properties.get("TIMEOUT", DEFAULT_LIMIT_S))
        self.serial = properties.get("RUN_SERIAL", False)
        self.skip_code = properties.get("SKIP_RETURN_CODE")
        self.folder = properties.get("WORKING_DIRECTORY")
        self.environment = dict(e.split("=", 1) for e in properties.get("ENVIRONMENT", []))
        self.kind, self.key = self.group()
        # ctest shows a test's parameters in its name; the report has the name of the filter.
        self.result_name = (self.command[1].removeprefix("--gtest_filter=")
                            if self.kind == "gtest" else self.name)
        default = {"gtest": GTEST_COST, "e2e": E2E_COST}.get(self.kind, 1.0)
        self.cost = float(properties.get("COST", default))

    def group(self):
        """(kind, what tests must share to run in one process)."""
        command = self.command or []
        if len(command) > 1 and command[1].startswith("--gtest_filter="):
            return "gtest", (command[0], self.serial)
        if "--from" in command and any(part.endswith("run_e2e.py") for part in command):
            return "e2e", (*command[:-1], self.serial)
        return "other", (self.name,)


def registered(build, labels):
    """The tests of `build` that carry one of `labels`."""
    done = subprocess.run(["ctest", "--test-dir", str(build), "--show-only=json-v1"],
                          capture_output=True, text=True, check=True)
    return [test for test in map(Test, json.loads(done.stdout)["tests"])
            if set(labels) & set(test.labels)]


def grouped(tests):
    groups = {}
    for test in tests:
        groups.setdefault((test.kind, test.key), []).append(test)
    return sorted(groups.values(), key=lambda group: -sum(test.cost for test in group))


def result(name, seconds, failure=None, skipped=None):
    """A <testcase>; `failure` and `skipped` are texts."""
    case = ElementTree.Element("testcase", name=name, classname=name, time=f"{seconds:.3f}",
                               status="fail" if failure is not None else "run")
    if failure is not None:
        ElementTree.SubElement(case, "failure").text = NOT_XML.sub("?", failure)
    if skipped is not None:
        case.set("status", "notrun")
        ElementTree.SubElement(case, "skipped", message=NOT_XML.sub("?", skipped))
    return case


class Runner:
    """Runs groups; can be stopped."""

    def __init__(self):
        self.lock, self.processes, self.stopped = threading.Lock(), set(), False

    def stop(self):
        with self.lock:
            self.stopped = True
            for process in self.processes:
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)

    def execute(self, command, test, limit_s):
        """(exit status or None when it ran too long, output, seconds)."""
        began = time.monotonic()
        with tempfile.TemporaryFile() as output:
            with self.lock:
                if self.stopped:
                    return None, "stopped", 0.0
                process = subprocess.Popen(  # pylint: disable=consider-using-with  (waited for)
                    command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT,
                    cwd=test.folder, env={**os.environ, **test.environment},
                    start_new_session=True)
                self.processes.add(process)
            try:
                code = process.wait(limit_s)
            except subprocess.TimeoutExpired:
                code = None
                with contextlib.suppress(ProcessLookupError):
                    os.killpg(process.pid, signal.SIGKILL)
                process.wait()
            with self.lock:
                self.processes.discard(process)
            output.seek(0, os.SEEK_END)
            output.seek(max(0, output.tell() - 4 * OUTPUT_CHARS_MAX))
            text = output.read().decode("utf-8", "replace")[-OUTPUT_CHARS_MAX:]
        return code, text, time.monotonic() - began

    def run(self, group):
        """The results of a group, one a test at least."""
        if group[0].kind == "other":
            return [self.run_other(test) for test in group]
        cases, missing, code, output = self.run_together(group)
        if missing and len(group) > 1 and not self.stopped:
            for test in missing:
                alone, left, code, output = self.run_together([test])
                cases += alone or [result(left[0].name, 0, f"{how_ended(code)}\n{output}")]
            return cases
        if missing:
            cases += [result(test.name, 0, f"{how_ended(code)}\n{output}") for test in missing]
        elif code != 0 and not any(case.find("failure") is not None for case in cases):
            name = pathlib.Path(group[0].command[0]).name
            cases.append(result(f"{name}.ExitStatus", 0,
                                f"all tests passed, then: {how_ended(code)}\n{output}"))
        return cases

    def run_together(self, group):
        """(results, tests without one, exit status, output) of one process."""
        first = group[0]
        with tempfile.TemporaryDirectory(prefix="layard_tests.") as folder:
            report = pathlib.Path(folder) / "report.xml"
            if first.kind == "gtest":
                names = ":".join(test.result_name for test in group)
                command = [first.command[0], f"--gtest_filter={names}",
                           f"--gtest_output=xml:{report}"]
            else:
                command = [*first.command[:-1], *(test.command[-1] for test in group),
                           "--junit", str(report)]
            limit_s = min(sum(test.limit_s for test in group),
                          max(first.limit_s, GROUP_LIMIT_S_MAX))
            code, output, _ = self.execute(command, first, limit_s)
            cases = read_cases(report)
        found = {case.get("name"): case for case in cases}
        wanted = {test.result_name: test for test in group}
        missing = [test for name, test in wanted.items() if name not in found]
        return [case for name, case in found.items() if name in wanted], missing, code, output

    def run_other(self, test):
        if test.command is None:
            return result(test.name, 0, "its executable was not built")
        code, output, seconds = self.execute(test.command, test, test.limit_s)
        if code is not None and code == test.skip_code:
            lines = [line for line in output.splitlines() if line.lower().startswith("skip")]
            return result(test.name, seconds, skipped=lines[-1] if lines else "")
        if code != 0:
            return result(test.name, seconds, f"{how_ended(code)}\n{output}")
        return result(test.name, seconds)


def how_ended(code):
    if code is None:
        return "stopped at its time limit"
    return f"died of signal {-code}" if code < 0 else f"exit status {code}"


def read_cases(report):
    """The <testcase> elements of a report with their full names; none when it is not whole."""
    try:
        root = ElementTree.parse(report).getroot()
    except (OSError, ElementTree.ParseError):
        return []
    cases = []
    for case in root.iter("testcase"):
        group, name = case.get("classname") or "", case.get("name") or "?"
        full = name if group in ("", name) else f"{group}.{name}"
        case.set("name", full)
        case.set("classname", full)
        cases.append(case)
    return cases


def show(group, cases, numbers):
    """One line a group, and every failure with its text."""
    failed = [case for case in cases if case.find("failure") is not None]
    label = group[0].name if len(group) == 1 else group[0].name.split(".")[0]
    if group[0].kind == "gtest":
        label = pathlib.Path(group[0].command[0]).name
    elif group[0].kind == "e2e":
        label = group[0].command[-2]
    seconds = sum(float(case.get("time") or 0) for case in cases)
    print(f"[{numbers}] {label}: {len(cases)} tests, {len(failed)} failed ({seconds:.1f} s)",
          flush=True)
    for case in failed:
        print(f"FAILED {case.get('name')}")
        for failure in case.findall("failure"):
            print((failure.text or failure.get("message") or "")[-OUTPUT_CHARS_MAX:], flush=True)


def run_all(groups, jobs):
    """Results of all groups; those that must have the machine for themselves come last."""
    runner, cases, done = Runner(), [], 0

    def take(group, found):
        nonlocal done
        done += 1
        cases.extend(found)
        show(group, found, f"{done}/{len(groups)}")

    try:
        with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
            running = {pool.submit(runner.run, group): group for group in groups
                       if not group[0].serial}
            try:
                for future in concurrent.futures.as_completed(running):
                    take(running[future], future.result())
            except BaseException:
                runner.stop()
                raise
        for group in groups:
            if group[0].serial:
                take(group, runner.run(group))
    except BaseException:
        runner.stop()
        raise
    return cases


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--label", action="append", required=True)
    parser.add_argument("--only", default="", help="tests whose name matches this expression")
    parser.add_argument("--junit", type=pathlib.Path, required=True)
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2)
    arguments = parser.parse_args()
    tests = registered(arguments.build, arguments.label)
    groups = grouped([test for test in tests if re.search(arguments.only, test.name)])
    cases = run_all(groups, max(1, arguments.jobs))
    suite = ElementTree.Element("testsuite", name=" ".join(arguments.label), tests=str(len(cases)))
    suite.extend(cases)
    arguments.junit.parent.mkdir(parents=True, exist_ok=True)
    partial = arguments.junit.with_suffix(".partial")
    ElementTree.ElementTree(suite).write(partial, encoding="utf-8", xml_declaration=True)
    partial.replace(arguments.junit)
    failed = sum(case.find("failure") is not None for case in cases)
    print(f"{len(cases)} tests, {failed} failed")
    return 1 if failed or not cases else 0


if __name__ == "__main__":
    sys.exit(main())
