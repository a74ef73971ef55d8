"""The page in a test: who answers it, the stand-in or the built binary, and the browser it is in.

The page's cases that need no scripted reply run against `layard serve`, unless
`run_e2e.py --page-server stub` says else; the others keep the stand-in, since no server answers 503
on demand.
"""

import contextlib
import json
import re
import subprocess
import threading

from browser import browser_for
from harness import Failure, check, check_equal
from page_stub import stub_server

SERVERS = ("stub", "serve")
START_S = 60
ADDRESS = re.compile(r"http://[0-9a-z.\[\]:]+:[0-9]+")

QUIET = "document.getElementById('answers-card').getAttribute('aria-busy') !== 'true'"
ANSWERED = f"document.querySelectorAll('.answer').length > 0 && {QUIET}"
FAILED = f"document.querySelector('#error .failure') !== null && {QUIET}"

choice = "serve"  # set by run_e2e.py


def web_folder(world):
    return world.source / "src" / "server" / "web"


@contextlib.contextmanager
def scripted(world):
    """A Stub (page_stub.py), whatever was chosen."""
    with stub_server(web_folder(world)) as stub:
        yield stub


@contextlib.contextmanager
def page_server(world):
    """The address of the page: of the stand-in, or of `layard serve` with the starter."""
    if choice == "stub":
        with scripted(world) as stub:
            yield stub.url
        return
    process = subprocess.Popen(
        [str(world.binary), "serve", "--model", world.starter, "--port", "0"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        env=world.environment, cwd=world.folder)
    try:
        yield announced_address(process, START_S * world.slow)
    finally:
        process.terminate()
        try:
            process.wait(30 * world.slow)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        process.stdout.close()


def announced_address(process, limit_s):
    """The first address the server prints; what it prints later is read and dropped."""
    timer = threading.Timer(limit_s, process.kill)
    timer.start()
    printed = []
    try:
        for line in process.stdout:
            printed.append(line.decode(errors="replace"))
            found = ADDRESS.search(printed[-1])
            if found:
                threading.Thread(target=process.stdout.read, daemon=True).start()
                return found.group(0) + "/"
    finally:
        timer.cancel()
    check(process.wait() is not None, "still running")
    raise Failure(f"layard serve printed no address: {''.join(printed)[-2000:]}")


@contextlib.contextmanager
def opened(world, url):
    """A browser with the page in it; the page must not have made it complain in the end."""
    with browser_for(world) as browser:
        browser.window(1280, 900)
        load(browser, url)
        yield browser
        check_equal(browser.complaints(), [], "complaints of the browser")


@contextlib.contextmanager
def stub_page(world):
    """(browser, stub) of a page whose server is scripted."""
    with scripted(world) as stub, opened(world, stub.url) as browser:
        yield browser, stub


def load(browser, url):
    """The page as a visitor first sees it."""
    browser.open(url)
    browser.wait("document.querySelectorAll('.question').length > 0", "the form")


def set_questions(browser, questions):
    """Questions through the JSON view."""
    browser.click("#tab-json")
    text = questions if isinstance(questions, str) else json.dumps(questions, ensure_ascii=False)
    browser.fill("#question-json", text)


def run_and_wait(browser, until=ANSWERED):
    browser.run("document.querySelectorAll('#answers > *').forEach(element => element.remove())")
    browser.run("document.querySelectorAll('#error > *').forEach(element => element.remove())")
    browser.click("#run")
    browser.wait(until)


def json_value(browser):
    return json.loads(browser.run("document.getElementById('question-json').value"))
