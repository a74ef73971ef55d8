#!/usr/bin/env python3
"""tools/pick-mutants: the same seed gives the same rows, only done rows, ten of them."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent


class PickMutantsTest(unittest.TestCase):
    def run_tool(self, *arguments, rows=30, done=20):
        with tempfile.TemporaryDirectory(prefix="pick_mutants_test.") as folder:
            page = pathlib.Path(folder) / "promises.md"
            page.write_text("# Promises\n" + "".join(
                f"| M{number:03d} | Promise number {number} | `Suite.Case{number}` | "
                f"{'done' if number <= done else 'later: not built yet'} |\n"
                for number in range(1, rows + 1)))
            return subprocess.run(
                [sys.executable, "-B", ROOT / "tools/pick-mutants", *arguments, "--page", page],
                capture_output=True, text=True)

    def test_ten_done_rows_the_same_each_time(self):
        first, again = self.run_tool("spring"), self.run_tool("spring")
        self.assertEqual(first.stdout, again.stdout)
        self.assertEqual(first.returncode, 0)
        lines = first.stdout.splitlines()
        self.assertEqual(len(set(lines)), 10)
        for line in lines:
            number = int(line[1:4])
            self.assertLessEqual(number, 20)
            self.assertIn(f"`Suite.Case{number}`".strip("`"), line)

    def test_another_seed_gives_other_rows(self):
        self.assertNotEqual(self.run_tool("spring").stdout, self.run_tool("summer").stdout)

    def test_too_few_rows_is_said(self):
        result = self.run_tool("spring", done=4)
        self.assertEqual(result.returncode, 1)
        self.assertIn("only 4", result.stderr)


if __name__ == "__main__":
    unittest.main(verbosity=1)
