"""A headless Chromium driven over a pipe with its own debugging protocol; standard library only.

One Browser has one page. Every wait has a limit, and what the page complained about (exceptions,
console errors, violations of its content security policy) is kept for the case to look at.
"""

import base64
import contextlib
import fcntl
import json
import os
import select
import shutil
import signal
import time

from harness import Failure, Skip

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
WAIT_S = 15
START_S = 60
POLL_S = 0.02
# Descriptors the browser reads commands from and writes replies to, by its own convention.
READ_FD, WRITE_FD, FIRST_FREE_FD = 3, 4, 20
KEYS = {"Enter": 13, "Tab": 9, "Escape": 27, "ArrowLeft": 37, "ArrowUp": 38, "ArrowRight": 39,
        "ArrowDown": 40, "Home": 36, "End": 35, "Backspace": 8}
ALT, CTRL, META, SHIFT = 1, 2, 4, 8


def chromium():
    """Path of the browser; skips where this machine has none."""
    for name in NAMES:
        path = shutil.which(name, path="/usr/bin:/usr/local/bin:/snap/bin")
        if path:
            return path
    raise Skip("no Chromium on this machine (Debian: apt-get install chromium)")


def start(folder):
    """(pid, descriptor to write to, descriptor to read from) of a browser of its own group."""
    command = [chromium(), "--headless=new", "--remote-debugging-pipe", "--no-first-run",
               f"--user-data-dir={folder}/profile", "--disable-gpu", "--disable-dev-shm-usage",
               "--disable-background-networking", "--disable-component-update", "--disable-sync",
               "--disable-extensions", "--no-default-browser-check", "--mute-audio",
               "--force-color-profile=srgb", "--lang=en-US", "about:blank"]
    if os.geteuid() == 0:
        command.insert(1, "--no-sandbox")  # Chromium refuses its sandbox to root
    pairs = [os.pipe(), os.pipe()]
    # Out of the way of 3 and 4, which the child gets.
    ends = [[fcntl.fcntl(fd, fcntl.F_DUPFD_CLOEXEC, FIRST_FREE_FD) for fd in pair]
            for pair in pairs]
    for fd in (fd for pair in pairs for fd in pair):
        os.close(fd)
    (child_read, our_write), (our_read, child_write) = ends
    log = os.open(f"{folder}/browser.log", os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600)
    environment = {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "HOME": str(folder), "LANG": "C.UTF-8",
                   "TMPDIR": str(folder), "XDG_RUNTIME_DIR": str(folder)}
    pid = os.posix_spawn(command[0], command, environment, setpgroup=0, file_actions=[
        # The log first: its own number may be one of those that are overwritten next.
        (os.POSIX_SPAWN_DUP2, log, 1), (os.POSIX_SPAWN_DUP2, log, 2),
        (os.POSIX_SPAWN_DUP2, child_read, READ_FD), (os.POSIX_SPAWN_DUP2, child_write, WRITE_FD)])
    for fd in (child_read, child_write, log):
        os.close(fd)
    return pid, our_write, our_read


class Browser:
    """One browser with one page."""

    def __init__(self, folder):
        self.pid, self.write_fd, self.read_fd = start(folder)
        self.buffer, self.number, self.events = bytearray(), 0, []
        self.session = None
        target = self.call("Target.createTarget", {"url": "about:blank"}, limit_s=START_S)
        self.session = self.call("Target.attachToTarget", {"targetId": target["targetId"],
                                                           "flatten": True})["sessionId"]
        for domain in ("Page", "Runtime", "Log", "Accessibility", "DOM"):
            self.call(f"{domain}.enable")

    def close(self):
        for fd in (self.write_fd, self.read_fd):
            os.close(fd)
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)

    def call(self, method, parameters=None, limit_s=WAIT_S):
        """The result of one command."""
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters or {}}
        if self.session:
            message["sessionId"] = self.session
        data = memoryview(json.dumps(message).encode() + b"\0")
        while data:
            data = data[os.write(self.write_fd, data):]
        deadline = time.monotonic() + limit_s
        while True:
            reply = self._next_message(deadline, method)
            if reply.get("id") == self.number:
                if "error" in reply:
                    raise Failure(f"browser: {method}: {reply['error']}")
                return reply["result"]
            self.events.append(reply)

    def _next_message(self, deadline, what):
        while b"\0" not in self.buffer:
            left_s = deadline - time.monotonic()
            if left_s <= 0 or not select.select([self.read_fd], [], [], left_s)[0]:
                raise Failure(f"browser: no reply to {what}")
            data = os.read(self.read_fd, 1 << 16)
            if not data:
                raise Failure(f"browser: it ended during {what}")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def open(self, url):
        """Loads a page and waits for its load event."""
        self.call("Page.navigate", {"url": url})
        self.wait("document.readyState === 'complete'", f"{url} to load")

    def run(self, expression, *arguments):
        """Value of a JavaScript expression, or of a function applied to the arguments; promises
        are waited for."""
        if arguments:
            expression = f"({expression})({', '.join(json.dumps(one) for one in arguments)})"
        result = self.call("Runtime.evaluate", {"expression": expression, "awaitPromise": True,
                                                "returnByValue": True, "userGesture": True})
        if "exceptionDetails" in result:
            detail = result["exceptionDetails"]
            text = detail.get("exception", {}).get("description", detail["text"])
            raise Failure(f"browser: {expression[:300]}: {text}")
        return result["result"].get("value")

    def wait(self, expression, what=None, limit_s=WAIT_S):
        """Waits until an expression is true."""
        deadline = time.monotonic() + limit_s
        while not self.run(expression):
            if time.monotonic() > deadline:
                raise Failure(f"browser: waited {limit_s} s for {what or expression}")
            time.sleep(POLL_S)

    def text(self, selector):
        """What a person reads in an element, with blanks joined."""
        return self.run("s => document.querySelector(s)?.innerText.replace(/\\s+/g, ' ').trim()"
                        " ?? null", selector)

    def click(self, selector):
        """A real click with the mouse in the middle of an element, once it stands still and nothing
        covers it."""
        deadline = time.monotonic() + WAIT_S
        at, before = None, None
        while at is None or at != before:
            if time.monotonic() > deadline:
                raise Failure(f"browser: {selector} cannot be clicked: absent, covered or moving")
            before, at = at, self.run("""s => {
              const element = document.querySelector(s);
              if (!element) return null;
              element.scrollIntoView({block: 'center', behavior: 'instant'});
              const box = element.getBoundingClientRect();
              const [x, y] = [box.x + box.width / 2, box.y + box.height / 2];
              return element.contains(document.elementFromPoint(x, y)) ? {x, y} : null;
            }""", selector)
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", {"type": kind, **at, "button": "left",
                                                   "clickCount": 1})

    def press(self, key, modifiers=0):
        code = KEYS[key]
        common = {"key": key, "code": key, "windowsVirtualKeyCode": code, "modifiers": modifiers}
        text = "\r" if key == "Enter" and not modifiers else None
        self.call("Input.dispatchKeyEvent", {"type": "keyDown", **common,
                                             **({"text": text} if text else {})})
        self.call("Input.dispatchKeyEvent", {"type": "keyUp", **common})

    def fill(self, selector, text):
        """Replaces a field's text as a person would: select all, type."""
        self.run("""s => {
          const field = document.querySelector(s);
          field.focus();
          field.select();
        }""", selector)
        if text:
            self.call("Input.insertText", {"text": text})
        else:
            self.press("Backspace")

    def choose(self, selector, value):
        """Chooses an entry of a list."""
        self.run("""(s, value) => {
          const list = document.querySelector(s);
          list.value = value;
          list.dispatchEvent(new Event('change', {bubbles: true}));
        }""", selector, value)

    def window(self, width, height, scheme="light", reduced_motion=False):
        self.call("Emulation.setDeviceMetricsOverride", {
            "width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 500})
        self.call("Emulation.setEmulatedMedia", {"features": [
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion",
             "value": "reduce" if reduced_motion else "no-preference"}]})

    def screenshot(self, path, whole=True):
        """A picture of the whole page, or of what the window shows."""
        data = self.call("Page.captureScreenshot", {"format": "png",
                                                    "captureBeyondViewport": whole})["data"]
        path.write_bytes(base64.b64decode(data))

    def accessible(self):
        """(role, name) of everything a screen reader meets."""
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [(node.get("role", {}).get("value"), node.get("name", {}).get("value", ""))
                for node in nodes if not node.get("ignored")]

    def complaints(self, network=False):
        """Exceptions, console errors and warnings, policy violations; failed requests, which the
        browser logs by itself, only with `network`."""
        self.run("1")  # whatever was logged before this has arrived then
        found = []
        for event in self.events:
            name, parameters = event.get("method"), event.get("params", {})
            if name == "Runtime.exceptionThrown":
                found.append(str(parameters["exceptionDetails"]))
            elif name == "Runtime.consoleAPICalled" and parameters["type"] in ("error", "warning"):
                found.append(str(parameters["args"]))
            elif name == "Log.entryAdded":
                entry = parameters["entry"]
                if entry["level"] in ("error", "warning") and (
                        network or entry["source"] != "network"):
                    found.append(f"{entry['source']}: {entry['text']}")
        return found


@contextlib.contextmanager
def browser_for(world):
    """A Browser in the case's folder, ended afterwards."""
    browser = Browser(world.make_folder("browser"))
    try:
        yield browser
    finally:
        browser.close()
