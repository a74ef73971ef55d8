"""The Dockerfile without a container runtime: its run stage carried out in a folder, and what it
starts run there. Only the instructions that our file uses are known; others are a failure."""

import contextlib
import fnmatch
import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess

import clean_root
from clean_root import call, check

BASE = "debian:12-slim"
LIMIT_S = 60
KEY = "a-word-for-this-test"
QUESTION = {"state": "I was charged twice.", "questions": ["Is this about money?"]}


def parse(text):
    """[(instruction, arguments)], continued lines joined, comments left out."""
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    joined = re.sub(r"\\\n\s*", " ", lines)
    return [tuple(line.split(None, 1)) for line in joined.splitlines() if line.strip()]


class Dockerfile:
    """Two stages: one that builds, one that runs."""

    def __init__(self, path):
        stages = []
        for instruction, words in parse(path.read_text(encoding="utf-8")):
            if instruction == "FROM":
                stages.append([])
                check(words.split()[0] == BASE, f"FROM {words}: expected {BASE}")
            stages[-1].append((instruction, words))
        check(len(stages) == 2, f"{len(stages)} stages, expected 2")
        self.build, self.last = stages

    def check_build_stage(self, source, cmake, folder):
        """What it copies can be configured, and has every file that the program is built from."""
        commands = " && ".join(words for instruction, words in self.build if instruction == "RUN")
        for wanted in ("scripts/bootstrap --build", "make build install BOOTSTRAP=true"):
            check(wanted in commands, f"the build stage does not run {wanted}")
        context = folder / "context"
        ignored = [line for line in (source / ".dockerignore").read_text().splitlines()
                   if line and not line.startswith("#")]
        for name in call(["git", "ls-files", "-z"], cwd=source).split("\0"):
            if name and not is_ignored(name, ignored):
                (context / name).parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(source / name, context / name)
        call([cmake, "-S", context, "-B", folder / "configured", "-G", "Ninja",
              "-DCMAKE_BUILD_TYPE=Release", "-DLAYARD_DEVELOPER=OFF"])
        call(["ninja", "-C", folder / "configured", "-n", "layard_app", "layard"])

    def check_libraries(self, readme):
        """Image and README name the same packages."""
        (block,) = re.findall(r"^apt-get install (lib.*?)^```", readme, re.M | re.S)
        promised = set(block.replace("\\", " ").split())
        commands = " ".join(words for instruction, words in self.last if instruction == "RUN")
        (found,) = re.findall(r"apt-get install -y --no-install-recommends (.*?) &&", commands)
        check(set(found.split()) == promised,
              f"the image installs {sorted(found.split())}, README names {sorted(promised)}")

    def run_stage(self, root, tree):
        """Carries out the last stage in `root`; `tree` is what the build stage leaves in /image."""
        image = Image(root)
        for instruction, words in self.last[1:]:
            if instruction == "RUN":
                clean_root.inside(root, ["/bin/sh", "-c", words], image.environment, network=True)
            elif instruction == "COPY":
                copy(words, root, tree)
            elif instruction == "ENV":
                image.environment.update(word.split("=", 1) for word in shlex.split(words))
            elif instruction in ("ENTRYPOINT", "CMD", "VOLUME"):
                setattr(image, instruction.lower(), json.loads(words))
            elif instruction == "USER":
                image.user = words
            else:
                check((instruction, words) in (("EXPOSE", "8642"), ("STOPSIGNAL", "SIGTERM")),
                      f"{instruction} {words}: not known to this test")
        check(re.fullmatch(r"[1-9]\d*:[1-9]\d*", image.user or ""),
              f"USER {image.user}: expected numbers other than root's")
        return image


def is_ignored(name, patterns):
    """Whether a file or a folder above it is in .dockerignore."""
    parts = pathlib.PurePosixPath(name).parts
    places = ["/".join(parts[:i + 1]) for i in range(len(parts))]
    return any(fnmatch.fnmatch(place, pattern.replace("**/", "*"))
               for place in places for pattern in patterns)


def copy(words, root, tree):
    """COPY --from=build /image/... PLACE"""
    option, origin, place = words.split()
    check(option == "--from=build" and origin.startswith("/image/"), f"COPY {words}: not known")
    origin, place = tree / origin.removeprefix("/image/"), root / place.lstrip("/")
    check(origin.exists(), f"COPY {words}: the build leaves no such file")
    place.parent.mkdir(parents=True, exist_ok=True)
    if origin.is_dir():
        shutil.copytree(origin, place, dirs_exist_ok=True)
    else:
        shutil.copy2(origin, place)


class Image:
    """The root with what the file says about running it."""

    def __init__(self, root):
        self.root, self.environment, self.user = root, {}, None
        self.entrypoint, self.cmd, self.volume = [], [], []

    def run(self, words):
        """As `docker run -e LAYARD_API_KEY=... IMAGE words...`."""
        return clean_root.inside(self.root, [*self.entrypoint, *words],
                                 {**self.environment, "LAYARD_API_KEY": KEY}, self.user)

    @contextlib.contextmanager
    def started(self, **environment):
        """The process of `docker run IMAGE`."""
        words = clean_root.command_line(self.root, [*self.entrypoint, *self.cmd], self.user)
        with subprocess.Popen(
                clean_root.in_own_mounts(self.root, words), text=True, stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                env=clean_root.settings({**self.environment, **environment})) as process:
            try:
                yield process
            finally:
                if process.poll() is None:
                    process.kill()

    def check_needs_a_key(self):
        """Without one it ends at once and says what is missing."""
        with self.started() as process:
            _, log = process.communicate(timeout=LIMIT_S)
            check(process.returncode == 2 and "LAYARD_API_KEY" in log,
                  f"without a key: exit {process.returncode}\n{log}")

    def check_serves(self):
        """With the key, to its end by SIGTERM; on a free port, as 8642 may be taken."""
        with self.started(LAYARD_API_KEY=KEY, LAYARD_SERVE_PORT="0") as process:
            line = process.stdout.readline()
            check(line, f"it did not start: {'' if line else process.stderr.read()[-2000:]}")
            port = int(json.loads(line)["listening"].rsplit(":", 1)[1])
            check(ask(port, "GET", "/ready")[0] == 200, "/ready does not answer 200")
            status, _ = ask(port, "POST", "/v1/systemone", QUESTION)
            check(status == 401, f"{status} without the key")
            status, body = ask(port, "POST", "/v1/systemone", QUESTION, KEY)
            check(status == 200 and len(json.loads(body)["answers"]) == 1, f"{status} {body}")
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=LIMIT_S)
            check(process.returncode == 0, f"exit {process.returncode} after SIGTERM\n{log}")
            for entry in log.splitlines():
                check("event" in json.loads(entry), f"a line of the log: {entry}")

    def check_written(self):
        """It keeps its weights in the volume, as its own user."""
        (volume,) = self.volume
        uid = int(self.user.split(":")[0])
        written = [path for path in (self.root / volume.lstrip("/")).rglob("*") if path.is_file()]
        check(written, f"nothing is kept in {volume}")
        check(all(os.stat(path).st_uid == uid for path in written), "the files are another user's")
        elsewhere = [path for name in ("usr", "etc", "opt", "home", "tmp")
                     for path in (self.root / name).rglob("*") if path.lstat().st_uid == uid]
        check(not elsewhere, f"written outside of {volume}: {elsewhere}")


def ask(port, method, path, body=None, key=None):
    """(status, body) of one request to 127.0.0.1."""
    headers = {"Content-Type": "application/json"} if body else {}
    if key:
        headers["Authorization"] = f"Bearer {key}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
    with contextlib.closing(connection):
        connection.request(method, path, json.dumps(body) if body else None, headers)
        response = connection.getresponse()
        return response.status, response.read()
