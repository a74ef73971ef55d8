#!/usr/bin/env python3
"""tools/run_tests.py: every registered test gets one result, whatever its process does."""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
# Stands for a GoogleTest program; what a test does follows from its name.
PROGRAM = '''#!/usr/bin/env python3
import os, sys, time
names = sys.argv[1].split("=", 1)[1].split(":")
report = sys.argv[2].split(":", 1)[1]
with open(__file__ + ".runs", "a") as log:
    log.write(f"{len(names)}\\n")
cases = ""
for name in names:
    group, test = name.split(".")
    inner = ""
    if test == "Dies":
        os.kill(os.getpid(), 11)
    if test == "Hangs":
        time.sleep(60)
    if test == "Fails":
        inner = '<failure message="it is 3, not 4"/>'
    if test == "Skips":
        inner = '<skipped message="a.cc:1&#10;no weights"/>'
    cases += f'<testcase name="{test}" classname="{group}" status="run">{inner}</testcase>'
open(report, "w").write(f"<testsuites><testsuite>{cases}</testsuite></testsuites>")
print("leaked 3 bytes")
sys.exit(23 if any(n.endswith("Leaks") for n in names) else "Fails" in sys.argv[1])
'''


class RunTestsTest(unittest.TestCase):
    def run_tests(self, tests, programs=("a",)):
        """`tests`: (name, command, properties). Returns (exit status, output, {name: outcome})."""
        with tempfile.TemporaryDirectory(prefix="run_tests_test.") as name:
            folder = pathlib.Path(name)
            for program in programs:
                (folder / program).write_text(PROGRAM)
                (folder / program).chmod(0o755)
            lines = []
            for test, command, properties in tests:
                words = [json.dumps(str(word).replace("@", str(folder))) for word in command]
                lines.append(f"add_test({test} {' '.join(words)})")
                lines.append(f"set_tests_properties({test} PROPERTIES {properties})")
            (folder / "CTestTestfile.cmake").write_text("\n".join(lines) + "\n")
            done = subprocess.run(
                [sys.executable, "-B", ROOT / "tools/run_tests.py", "--build", folder, "--label",
                 "fast", "--junit", folder / "out.xml"], capture_output=True, text=True)
            outcomes = {}
            for case in ElementTree.parse(folder / "out.xml").getroot().iter("testcase"):
                self.assertNotIn(case.get("name"), outcomes)
                outcomes[case.get("name")] = ("failed" if case.find("failure") is not None else
                                              "skipped" if case.find("skipped") is not None else
                                              "passed")
            self.runs = {p: (folder / f"{p}.runs").read_text().split() for p in programs
                         if (folder / f"{p}.runs").exists()}
        return done.returncode, done.stdout + done.stderr, outcomes

    def gtest(self, *names, program="a", properties="LABELS fast"):
        return [(name, [f"@/{program}", f"--gtest_filter={name}"], properties) for name in names]

    def test_one_process_for_a_program(self):
        tests = self.gtest("A.One", "A.Two", "B.Skips") + self.gtest("C.One", program="b")
        code, _, outcomes = self.run_tests(tests, ("a", "b"))
        self.assertEqual(outcomes, {"A.One": "passed", "A.Two": "passed", "B.Skips": "skipped",
                                    "C.One": "passed"})
        self.assertEqual((code, self.runs), (0, {"a": ["3"], "b": ["1"]}))

    def test_failures_are_named_and_shown(self):
        code, output, outcomes = self.run_tests(self.gtest("A.One", "A.Fails"))
        self.assertEqual((code, outcomes), (1, {"A.One": "passed", "A.Fails": "failed"}))
        self.assertIn("it is 3, not 4", output)

    def test_a_death_costs_only_its_own_test(self):
        code, output, outcomes = self.run_tests(self.gtest("A.One", "A.Dies", "A.Two"))
        self.assertEqual((code, outcomes),
                         (1, {"A.One": "passed", "A.Dies": "failed", "A.Two": "passed"}))
        self.assertIn("died of signal 11", output)

    def test_a_process_that_fails_after_its_tests(self):
        code, output, outcomes = self.run_tests(self.gtest("A.One", "A.Leaks"))
        self.assertEqual(outcomes, {"A.One": "passed", "A.Leaks": "passed",
                                    "a.ExitStatus": "failed"})
        self.assertEqual(code, 1)
        self.assertIn("leaked 3 bytes", output)

    def test_time_limits(self):
        code, output, outcomes = self.run_tests(
            self.gtest("A.Hangs", properties="LABELS fast TIMEOUT 0.5"))
        self.assertEqual((code, outcomes), (1, {"A.Hangs": "failed"}))
        self.assertIn("time limit", output)

    def test_other_commands_and_labels(self):
        python = [sys.executable, "-c"]
        tests = [("Good", [*python, "pass"], "LABELS fast"),
                 ("Bad", [*python, "import sys; sys.exit('it is so')"], "LABELS fast"),
                 ("Skipped", [*python, "print('skip: no net'); raise SystemExit(77)"],
                  "LABELS fast SKIP_RETURN_CODE 77"),
                 ("Alone", [*python, "pass"], "LABELS fast RUN_SERIAL ON"),
                 ("Slow", [*python, "raise SystemExit(1)"], "LABELS slow")]
        code, output, outcomes = self.run_tests(tests, ())
        self.assertEqual((code, outcomes), (1, {"Good": "passed", "Bad": "failed",
                                                "Skipped": "skipped", "Alone": "passed"}))
        self.assertIn("it is so", output)

    def test_no_test_is_a_failure(self):
        self.assertEqual(self.run_tests([])[0], 1)


if __name__ == "__main__":
    unittest.main(verbosity=1)
