#!/usr/bin/env python3
"""Checks the rules of the house that a compiler does not. Standard library only.

usage: tools/tidy.py [--root DIR] [--build DIR] [Check ...]

Without names every check runs. Each check is also one test, Tidy.<Check>. Findings are printed as
`file:line: error: what is wrong, and what to do`. Exit status: 0 clean, 1 findings, 77 when a
named check cannot run here. A line ending in `// tidy: allow(Check): reason` is excused from that
check; whole files are excused in tools/tidy_allow.json.
"""

import argparse
import pathlib
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from tidylib.banned import Banned  # noqa: E402
from tidylib.docs import Docs, Text  # noqa: E402
from tidylib.formatting import Format, Skip  # noqa: E402
from tidylib.includes import Includes  # noqa: E402
from tidylib.names import Names  # noqa: E402
from tidylib.promises import Promises  # noqa: E402
from tidylib.sizes import Sizes  # noqa: E402
from tidylib.structure import MissingTests, Sources  # noqa: E402
from tidylib.tree import Tree  # noqa: E402

CHECKS = {check.name: check for check in
          (Includes, Sizes, Names, MissingTests, Sources, Banned, Docs, Text, Promises, Format)}
EXIT_SKIPPED = 77


def run_check(name, tree):
    """Prints the findings of one check; returns (errors, skipped)."""
    try:
        findings = list(CHECKS[name](tree).run())
    except Skip as reason:
        print(f"{name}: skipped: {reason}")
        return 0, True
    for finding in sorted(findings, key=lambda f: (f.path, f.line)):
        print(finding)
    errors = sum(not finding.warning for finding in findings)
    print(f"{name}: {errors} errors, {len(findings) - errors} warnings")
    return errors, False


def main():
    here = pathlib.Path(__file__).resolve().parent.parent
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("checks", nargs="*", metavar="Check", help=", ".join(CHECKS))
    parser.add_argument("--root", type=pathlib.Path, default=here)
    parser.add_argument("--build", type=pathlib.Path,
                        help="a built folder: Promises then asks ctest which tests exist")
    parser.add_argument("--list", action="store_true", help="print the checks' names")
    parser.add_argument("--fix", choices=["Format"], help="rewrite instead of checking")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(CHECKS))
        return 0
    unknown = [name for name in arguments.checks if name not in CHECKS]
    if unknown:
        parser.error(f"unknown check {', '.join(unknown)}; known: {', '.join(CHECKS)}")
    tree = Tree(arguments.root, arguments.build)
    if arguments.fix:
        Format(tree).fix()
        return 0
    names = arguments.checks or list(CHECKS)
    results = [run_check(name, tree) for name in names]
    if any(errors for errors, _ in results):
        return 1
    return EXIT_SKIPPED if all(skipped for _, skipped in results) else 0


if __name__ == "__main__":
    sys.exit(main())
