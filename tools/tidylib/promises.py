"""Promises: every row of docs/promises.md names a test that exists and runs."""

import fnmatch
import json
import re
import subprocess

from tidylib.tree import Finding

PAGE = "docs/promises.md"
ROW = re.compile(r"^\|\s*(M\d{3}|L\d{3})\s*\|(.*)\|\s*$")
CELL = re.compile(r"(?<!\\)\|")
TEST_NAME = re.compile(r"`([A-Za-z_][\w/]*\.(?:[\w/]+|\*))`")
STATUSES = ("done", "later", "skipped")
REASON_CHARS_MIN = 10


class Row:
    """One promise: id, text, the tests that show it, status and reason."""

    def __init__(self, number, identifier, cells):
        self.line, self.id = number, identifier
        self.promise, self.test_cell, status = (cells + ["", "", ""])[:3]
        self.tests = TEST_NAME.findall(self.test_cell)
        self.status, _, reason = status.partition(":")
        self.status, self.reason = self.status.strip(), reason.strip()


def read_rows(text):
    """The rows of the page, in order."""
    for number, line in enumerate(text.split("\n"), 1):
        match = ROW.match(line)
        if match:
            yield Row(number, match.group(1), [c.strip() for c in CELL.split(match.group(2))])


def registered_tests(build):
    """{name: whether it will really run} from ctest, without running anything."""
    listed = subprocess.run(
        ["ctest", "--test-dir", str(build), "--show-only=json-v1"],
        check=True, capture_output=True, text=True).stdout
    tests = {}
    for test in json.loads(listed)["tests"]:
        properties = {entry["name"]: entry["value"] for entry in test.get("properties", [])}
        disabled = bool(properties.get("DISABLED")) or ".DISABLED_" in test["name"]
        tests[test["name"]] = not disabled and "_NOT_BUILT" not in test["name"]
    return tests


class Promises:
    name = "Promises"

    def __init__(self, tree, registered=None):
        self.tree = tree
        self.registered = registered

    def run(self):
        if not self.tree.exists(PAGE):
            yield Finding(PAGE, 1, "missing")
            return
        text = self.tree.text(PAGE)
        rows = list(read_rows(text))
        yield from self._page_problems(text, rows)
        for row in rows:
            yield from self._row_problems(row)
        if self.registered is None and self.tree.build:
            self.registered = registered_tests(self.tree.build)
        if self.registered is not None:
            for row in rows:
                yield from self._test_problems(row)

    @staticmethod
    def _page_problems(text, rows):
        count = re.search(r"^Rows: (\d+)\.", text, re.MULTILINE)
        if not count or int(count.group(1)) != len(rows):
            yield Finding(PAGE, 1, f"{len(rows)} rows, but the page says "
                          f"{count.group(1) if count else 'nothing'} (`Rows: N.`)")
        seen = {}
        for row in rows:
            if row.id in seen:
                yield Finding(PAGE, row.line, f"{row.id} stands on line {seen[row.id]} already")
            seen[row.id] = row.line

    @staticmethod
    def _row_problems(row):
        if len(row.promise) < REASON_CHARS_MIN:
            yield Finding(PAGE, row.line, f"{row.id} says nothing")
        if row.status not in STATUSES:
            yield Finding(PAGE, row.line, f"{row.id}: status '{row.status}'; use "
                          "`done`, `later: reason` or `skipped: reason`")
        elif row.status == "done" and not row.tests:
            yield Finding(PAGE, row.line, f"{row.id} is done but names no test as `Suite.Case`")
        elif row.status != "done" and len(row.reason) < REASON_CHARS_MIN:
            yield Finding(PAGE, row.line, f"{row.id} is {row.status} without a reason")

    def _test_problems(self, row):
        if row.status != "done":
            return
        for test in row.tests:
            matches = [name for name in self.registered if fnmatch.fnmatchcase(name, test)]
            if not matches:
                yield Finding(PAGE, row.line, f"{row.id}: no test `{test}` is registered")
            elif not any(self.registered[name] for name in matches):
                yield Finding(PAGE, row.line, f"{row.id}: `{test}` is disabled or was not built")
