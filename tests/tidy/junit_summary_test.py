#!/usr/bin/env python3
"""tools/junit_summary.py: counts are honest, skips carry reasons, nothing run is a failure."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent

GTEST_SKIP = ("[ RUN      ] A.B\n/x/a_test.cc:3: Skipped\nno goldens beside the checkout\n\n"
              "[  SKIPPED ] A.B (0 ms)\n")


def suite(*cases):
    return f"<testsuite>{''.join(cases)}</testsuite>"


def case(name, inner="", status="run"):
    return f'<testcase name="{name}" classname="{name}" status="{status}">{inner}</testcase>'


class JunitSummaryTest(unittest.TestCase):
    def check(self, files, status, *words, closing=None):
        with tempfile.TemporaryDirectory(prefix="junit_summary_test.") as folder:
            paths = []
            for number, text in enumerate(files):
                paths.append(pathlib.Path(folder) / f"r{number}.xml")
                paths[-1].write_text(text)
            done = subprocess.run(
                [sys.executable, "-B", ROOT / "tools/junit_summary.py", "--closing-line", *paths],
                capture_output=True, text=True)
        self.assertEqual(done.returncode, status, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stdout)
        if closing:
            self.assertEqual(done.stdout.splitlines()[-1], closing)

    def test_sums_over_files(self):
        self.check([suite(case("A.A"), case("A.B")), suite(case("B.A"))], 0,
                   closing="3 passed, 0 failed, 0 skipped")

    def test_failure(self):
        self.check([suite(case("A.A"), case("A.B", "<failure/>", "fail"))], 1, "FAILED A.B",
                   closing="1 passed, 1 failed, 0 skipped")

    def test_skips_need_a_reason(self):
        by_ctest = f'<skipped message="SKIP_RETURN_CODE=77"/><system-out>{{}}</system-out>'
        self.check([suite(case("A.A"), case("A.B", by_ctest.format("skip: no goldens\n"),
                                            "notrun"))], 0, "skipped A.B: skip: no goldens",
                   closing="1 passed, 0 failed, 1 skipped")
        self.check([suite(case("A.A"), case("A.B", by_ctest.format(GTEST_SKIP), "notrun"))], 0,
                   "skipped A.B: no goldens beside the checkout")
        self.check([suite(case("A.A"), case("A.B", by_ctest.format(""), "notrun"))], 1,
                   "FAILED A.B: skipped without a reason")

    def test_googletest_xml(self):
        self.check(['<testsuites><testsuite name="S"><testcase name="A" classname="S" '
                    'status="run" result="completed"/><testcase name="B" classname="S" '
                    'status="run" result="skipped"><skipped message="f.cc:1&#x0A;no weights"/>'
                    "</testcase></testsuite></testsuites>"], 0, "skipped S.B: no weights",
                   closing="1 passed, 0 failed, 1 skipped")

    def test_nothing_run_is_a_failure(self):
        self.check([suite()], 1, "no test ran", closing="0 passed, 0 failed, 0 skipped")
        self.check([], 1, "no test ran")

    def test_not_built_disabled_unreadable(self):
        missing = '<skipped message="Unable to find executable: x"/>'
        self.check([suite(case("A.A"), case("B_NOT_BUILT", missing, "notrun"))], 1, "not built")
        self.check([suite(case("A.A"), case("A.B", "", "disabled"))], 1, "disabled")
        self.check([suite(case("A.A")), "<testsuite>"], 1, "unreadable")


if __name__ == "__main__":
    unittest.main(verbosity=1)
