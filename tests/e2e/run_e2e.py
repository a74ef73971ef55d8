#!/usr/bin/env python3
"""End-to-end tests: each is one promise of docs/promises.md, shown on the built binary.

usage: run_e2e.py --layard BINARY --source DIR [--shared DIR] [--from MODULE]
                  [--page-server stub|serve] [--junit FILE] CASE ...
       run_e2e.py --list

Exit status: 0 all passed, 1 one failed, 77 all that did not pass were skipped (the reason is
printed; with --junit it is 0, since the file says so). The folder with reference outputs is
--shared, else LAYARD_SHARED, else ../shared beside the source; without it the cases that need it
are skipped.
"""

import argparse
import importlib
import os
import pathlib
import sys
import time

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from harness import AT_END, CASES, Failure, Skip, world_for  # noqa: E402

EXIT_SKIPPED = 77


def load_cases(only):
    """Fills CASES. A test loads the one module it needs: a third of its time would be imports."""
    for path in sorted(HERE.glob("cases_*.py")):
        if only in (None, path.stem):
            importlib.import_module(path.stem)


def shared_folder(arguments):
    named = arguments.shared or os.environ.get("LAYARD_SHARED")
    path = pathlib.Path(named) if named else arguments.source / ".." / "shared"
    return path.resolve() if path.is_dir() else None


def run_case(name, arguments):
    """(passed, failed or skipped; why; seconds); prints them."""
    began = time.monotonic()
    outcome, reason = judge(name, arguments)
    seconds = time.monotonic() - began
    print({"passed": f"passed: {name} in {seconds:.1f} s", "failed": f"FAILED: {name}: {reason}",
           "skipped": f"skip: {name}: {reason}"}[outcome], flush=True)
    return outcome, reason, seconds


def judge(name, arguments):
    """(passed, failed or skipped; why)."""
    try:
        with world_for(arguments.layard.resolve(), arguments.source.resolve(),
                       shared_folder(arguments)) as world:
            CASES[name](world)
    except Skip as reason:
        return "skipped", str(reason)
    except Failure as failure:
        return "failed", str(failure)
    except Exception:  # pylint: disable=broad-except  (output of another shape than expected)
        import traceback  # pylint: disable=import-outside-toplevel  (slow, and seldom needed)
        return "failed", traceback.format_exc()
    return "passed", ""


def write_junit(path, results):
    """`results`: {case: (outcome, reason, seconds)}; names as ctest has them."""
    import xml.etree.ElementTree as xml  # pylint: disable=import-outside-toplevel  (seldom needed)
    suite = xml.Element("testsuite", name="E2e", tests=str(len(results)))
    for name, (outcome, reason, seconds) in results.items():
        case = xml.SubElement(suite, "testcase", name=f"E2e.{name}", classname=f"E2e.{name}",
                              time=f"{seconds:.3f}")
        printable = "".join(c if c in "\n\t" or " " <= c < "\ud800" else "?" for c in reason)
        if outcome == "failed":
            xml.SubElement(case, "failure").text = printable
        elif outcome == "skipped":
            xml.SubElement(case, "skipped", message=printable)
    partial = path.with_suffix(".partial")
    xml.ElementTree(suite).write(partial, encoding="utf-8", xml_declaration=True)
    partial.replace(path)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("cases", nargs="*", metavar="CASE")
    parser.add_argument("--layard", type=pathlib.Path)
    parser.add_argument("--source", type=pathlib.Path,
                        default=pathlib.Path(__file__).resolve().parent.parent.parent)
    parser.add_argument("--shared", type=pathlib.Path)
    parser.add_argument("--from", dest="module", metavar="MODULE", help="the only file to load")
    parser.add_argument("--junit", type=pathlib.Path, help="write the results there")
    parser.add_argument("--list", action="store_true", help="print `MODULE CASE` of all cases")
    parser.add_argument("--page-server", choices=["stub", "serve"], default="serve",
                        help="who answers the page's cases: a stand-in, or the binary (default)")
    arguments = parser.parse_args()
    if arguments.page_server != "serve":
        import page_server  # pylint: disable=import-outside-toplevel  (only cases_page needs it)
        page_server.choice = arguments.page_server
    load_cases(arguments.module)
    if arguments.list:
        print("\n".join(f"{CASES[name].__module__} {name}" for name in sorted(CASES)))
        return 0
    unknown = [name for name in arguments.cases if name not in CASES]
    if unknown or arguments.layard is None:
        parser.error(f"unknown case {unknown}" if unknown else "--layard is required")
    results = {name: run_case(name, arguments) for name in arguments.cases or sorted(CASES)}
    if arguments.junit:
        write_junit(arguments.junit, results)
    outcomes = {outcome for outcome, _, _ in results.values()}
    for end in AT_END:
        try:
            end()
        except Failure as failure:
            print(f"FAILED: after the last case: {failure}")
            outcomes.add("failed")
    if "failed" in outcomes:
        return 1
    return EXIT_SKIPPED if "skipped" in outcomes and not arguments.junit else 0


if __name__ == "__main__":
    sys.exit(main())
