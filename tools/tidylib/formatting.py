"""Format: clang-format 14 has nothing to change."""

import re
import shutil
import subprocess

from tidylib.tree import Finding

VERSION = 14
FILES_PER_RUN = 64


class Skip(Exception):
    """The check cannot run here; the text says why."""


def find_formatter():
    for program in (f"clang-format-{VERSION}", "clang-format"):
        path = shutil.which(program)
        if path:
            version = subprocess.run([path, "--version"], capture_output=True, text=True).stdout
            if re.search(rf"version {VERSION}\.", version):
                return path
    raise Skip(f"clang-format {VERSION} is not installed (scripts/bootstrap brings it)")


class Format:
    name = "Format"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        program = find_formatter()
        for files in self._batches():
            done = subprocess.run(
                [program, "--style=file", "--dry-run", *files], cwd=self.tree.root,
                capture_output=True, text=True)
            seen = set()
            for path, line in re.findall(r"^(.+?):(\d+):\d+: warning: code should be",
                                         done.stderr, re.MULTILINE):
                if path not in seen:  # the first place in each file is enough
                    seen.add(path)
                    yield Finding(path, int(line), "not in the house format; run: make format")
            if done.returncode != 0:
                yield Finding(files[0], 1, f"clang-format failed: {done.stderr[:200]}")

    def fix(self):
        program = find_formatter()
        for files in self._batches():
            subprocess.run([program, "--style=file", "-i", *files], cwd=self.tree.root, check=True)

    def _batches(self):
        files = self.tree.cpp_files()
        for start in range(0, len(files), FILES_PER_RUN):
            yield files[start:start + FILES_PER_RUN]
