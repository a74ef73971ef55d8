"""Calls that rooms do not make: the world is reached through base, errors are values."""

import re

from tidylib.tree import Finding, allowed, is_test, line_of

# (pattern, what to do instead). Looked for in code without comments and literals.
BANNED = [
    (r"\bstd\s*::\s*(?:cout|cerr|clog|wcout|wcerr)\b",
     "rooms do not print; return a Result, or log to the injected sink of base/log.h"),
    (r"(?<![\w.>])(?:std\s*::\s*)?(?:v?f?printf|f?puts|putchar|perror)\s*\(",
     "rooms do not print; return a Result, or log to the injected sink of base/log.h"),
    (r"(?<![\w.>:])(?:std\s*::\s*)?(?:exit|_exit|_Exit|quick_exit|abort|terminate)\s*\(",
     "rooms do not end the process; return an Error (LAYARD_CHECK for programmer errors)"),
    (r"(?<![\w.>])(?:std\s*::\s*)?(?:getenv|secure_getenv|setenv|unsetenv|putenv)\s*\(",
     "the environment is read in base/env only, when default options are built"),
    (r"\w*[Cc]lock\s*::\s*now\s*\(|(?<![\w.>])(?:clock_gettime|gettimeofday|timespec_get)\s*\(",
     "time comes from the injected clock of base/clock.h"),
    (r"(?<![\w.>:])(?:std\s*::\s*)?(?:time|clock)\s*\(\s*(?:nullptr|NULL|0)?\s*\)",
     "time comes from the injected clock of base/clock.h"),
    (r"\bstd\s*::\s*(?:basic_)?[io]?fstream\b"
     r"|(?<![\w.>])(?:std\s*::\s*)?(?:fopen|freopen|fdopen)\s*\(",
     "files are read and written through base/filesystem.h"),
    (r"(?<![\w.>])(?:std\s*::\s*)?(?:rand|srand|drand48)\s*\(|\bstd\s*::\s*random_device\b",
     "randomness is injected; take a seed or the interface of base"),
    (r"\bthrow\b(?!\s*;|\s*std\s*::\s*bad_alloc\b)",  # memory is not an input error
     "rooms return errors as values; use Result and LAYARD_TRY"),
    (r"(?<![\w.>])(?:std\s*::\s*)?(?:stoi|stou?ll?|stof|stod|atoi|atol|atof|strtod)\s*\(",
     "these read the locale or throw; use std::from_chars"),
]
BANNED = [(re.compile(pattern), remedy) for pattern, remedy in BANNED]
FREE_FOLDERS = ("src/base/", "apps/")
# Result::value() is the one place that throws, for callers who ask for it.
THROWING_HEADER = "include/layard/error.h"
BACKEND_SWITCH = re.compile(
    r"^[ \t]*#[ \t]*(?:if|ifdef|ifndef|elif)\b[^\n]*\bLAYARD_", re.MULTILINE)
BACKEND_SWITCH_FOLDERS = ("src/backends/", "src/kernels/", "include/layard/export.h")


class Banned:
    name = "Banned"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        for name in self.tree.cpp_files("src", "include", "apps", "bindings"):
            code = self.tree.code(name)
            if not is_test(name) and not name.startswith(FREE_FOLDERS):
                yield from self._calls(name, code)
            if not name.startswith(BACKEND_SWITCH_FOLDERS):
                for match in BACKEND_SWITCH.finditer(code):
                    yield from self._report(
                        name, line_of(code, match.start()),
                        "#if LAYARD_: an absent backend is a room of the same symbols, "
                        "not a switch in its callers")

    def _calls(self, name, code):
        for pattern, remedy in BANNED:
            for match in pattern.finditer(code):
                word = re.sub(r"\s+", "", match.group(0)).rstrip("(")
                if word == "throw" and name == THROWING_HEADER:
                    continue
                yield from self._report(name, line_of(code, match.start()), f"{word}: {remedy}")

    def _report(self, name, line, message):
        if not allowed(self.tree, name, line, self.name):
            yield Finding(name, line, message)
