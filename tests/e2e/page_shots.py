#!/usr/bin/env python3
"""Pictures of the server's page, to be looked at: before a run, after it, with the order checked.

usage: page_shots.py --out DIR [--url URL]

Without --url a stand-in answers (page_stub.py).
"""

import argparse
import contextlib
import pathlib
import sys
import types

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

from browser import browser_for  # noqa: E402
from page_stub import stub_server  # noqa: E402

WEB = HERE.parent.parent / "src" / "server" / "web"
WIDE, NARROW = (1360, 900), (360, 780)
STABLE = "!document.querySelector('#answers-card[aria-busy=true]')"


def world_in(folder):
    def make_folder(name):
        path = folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path
    return types.SimpleNamespace(make_folder=make_folder)


def run_example(browser, name):
    browser.run("""name => [...document.querySelectorAll('#examples button')]
        .find(button => button.textContent === name).click()""", name)
    browser.run("document.getElementById('run').click()")
    browser.wait("document.querySelectorAll('.answer').length > 0 && " + STABLE)


def take(browser, url, out):
    for scheme in ("light", "dark"):
        browser.window(*WIDE, scheme=scheme, reduced_motion=True)
        browser.open(url)
        browser.wait("document.querySelectorAll('#queue dd, #queue p').length > 0")
        browser.screenshot(out / f"1-before-{scheme}.png")
        for _ in range(8):
            run_example(browser, "Support message")
        browser.screenshot(out / f"2-answers-{scheme}.png")
        run_example(browser, "Mixed review")
        browser.run("document.getElementById('check-order').click()")
        browser.wait("document.querySelector('.order') !== null")
        browser.run("document.querySelector('.order details').open = true")
        browser.screenshot(out / f"3-order-{scheme}.png")
        run_example(browser, "Long text")
        browser.run("document.getElementById('tab-json').click()")
        browser.screenshot(out / f"4-cut-{scheme}.png")
        browser.window(*NARROW, scheme=scheme, reduced_motion=True)
        browser.run("document.getElementById('tab-form').click()")
        run_example(browser, "Support message")
        browser.screenshot(out / f"5-narrow-{scheme}.png")


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--url")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with contextlib.ExitStack() as stack:
        url = arguments.url
        if url is None:
            stub = stack.enter_context(stub_server(WEB))
            stub.order_bias = {"mood": 0.9, "stars": 0.2}
            url = stub.url
        browser = stack.enter_context(browser_for(world_in(arguments.out)))
        take(browser, url, arguments.out)
        print("\n".join(browser.complaints(network=True)) or "no complaints of the browser")


if __name__ == "__main__":
    main()
