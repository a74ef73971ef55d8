#!/usr/bin/env python3
"""End-to-end tests: each is one promise of docs/promises.md, shown on the built binary.

usage: run_e2e.py --layard BINARY --source DIR [--shared DIR] CASE ...
       run_e2e.py --list

Exit status: 0 all passed, 1 one failed, 77 all that did not pass were skipped (the reason is
printed). The folder with reference outputs is --shared, else LAYARD_SHARED, else ../shared beside
the source; without it the cases that need it are skipped.
"""

import argparse
import os
import pathlib
import sys
import time
import traceback

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import cases_cache  # noqa: E402, F401
import cases_cli  # noqa: E402, F401
import cases_dtypes  # noqa: E402, F401
import cases_input  # noqa: E402, F401
import cases_offline  # noqa: E402, F401
import cases_questions  # noqa: E402, F401
from harness import CASES, Failure, Skip, world_for  # noqa: E402

EXIT_SKIPPED = 77


def shared_folder(arguments):
    named = arguments.shared or os.environ.get("LAYARD_SHARED")
    path = pathlib.Path(named) if named else arguments.source / ".." / "shared"
    return path.resolve() if path.is_dir() else None


def run_case(name, arguments):
    """One of passed, failed, skipped; says which, and why."""
    began = time.monotonic()
    try:
        with world_for(arguments.layard.resolve(), arguments.source.resolve(),
                       shared_folder(arguments)) as world:
            CASES[name](world)
    except Skip as reason:
        print(f"skip: {name}: {reason}")
        return "skipped"
    except Failure as failure:
        print(f"FAILED: {name}: {failure}")
        return "failed"
    except Exception:  # pylint: disable=broad-except  (output of another shape than expected)
        print(f"FAILED: {name}:\n{traceback.format_exc()}")
        return "failed"
    print(f"passed: {name} in {time.monotonic() - began:.1f} s")
    return "passed"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--layard", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent.parent)
    parser.add_argument("--shared", type=pathlib.Path)
    parser.add_argument("--list", action="store_true", help="print the names of all cases")
    arguments = parser.parse_args()
    if arguments.list:
        print("\n".join(sorted(CASES)))
        return 0
    unknown = [name for name in arguments.cases if name not in CASES]
    if unknown or arguments.layard is None:
        parser.error(f"unknown case {unknown}" if unknown else "--layard is required")
    outcomes = {run_case(name, arguments) for name in arguments.cases or sorted(CASES)}
    if "failed" in outcomes:
        return 1
    return EXIT_SKIPPED if "skipped" in outcomes else 0


if __name__ == "__main__":
    sys.exit(main())
