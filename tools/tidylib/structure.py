"""Structure: tests beside sources, sources named where behaviour must equal upstream's."""

import fnmatch
import json

from tidylib.tree import Finding

# Rooms whose behaviour must equal another program's: each header says which.
UPSTREAM_ROOMS = ("tokenizer", "decision", "language", "server", "artifacts")
ALLOW_LIST = "tools/tidy_allow.json"


def allow_list(tree, check):
    """{path or pattern: reason} of one check."""
    if not tree.exists(ALLOW_LIST):
        return {}
    return json.loads(tree.text(ALLOW_LIST)).get(check, {})


def listed(tree, check, candidates):
    """Splits candidates by the allow list; also yields findings for entries that lost their use."""
    entries = allow_list(tree, check)
    used, left = set(), []
    for name in candidates:
        matches = [pattern for pattern in entries if fnmatch.fnmatchcase(name, pattern)]
        used.update(matches)
        if not matches:
            left.append(name)
    stale = [Finding(ALLOW_LIST, 1, f"{check}: '{pattern}' excuses nothing any more; remove it")
             for pattern in entries if pattern not in used]
    stale += [Finding(ALLOW_LIST, 1, f"{check}: '{pattern}' gives no reason")
              for pattern, reason in entries.items() if len(reason.strip()) < 10]
    return left, stale


class MissingTests:
    name = "MissingTests"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        files = set(self.tree.files)
        untested = [name for name in sorted(files)
                    if name.startswith("src/") and name.endswith(".cc")
                    and not name.endswith("_test.cc") and "/testing/" not in name
                    and not self._tested(name.removesuffix(".cc"), files)]
        left, stale = listed(self.tree, self.name, untested)
        yield from stale
        for name in left:
            yield Finding(name, 1, f"no {name.removesuffix('.cc').rsplit('/', 1)[-1]}_test.cc "
                                   f"beside it (exceptions with reasons: {ALLOW_LIST})")

    @staticmethod
    def _tested(stem, files):
        """x_test.cc for x.cc; json_test.cc for json_parse.cc, a part of json.h without a header."""
        if stem + "_test.cc" in files:
            return True
        if stem + ".h" in files:
            return False
        folder, _, words = stem.rpartition("/")
        parts = words.split("_")
        return any(f"{folder}/{whole}.h" in files and f"{folder}/{whole}_test.cc" in files
                   for whole in ("_".join(parts[:count]) for count in range(1, len(parts))))


class Sources:
    name = "Sources"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        headers = [name for name in self.tree.cpp_files(*(f"src/{r}" for r in UPSTREAM_ROOMS))
                   if name.endswith(".h") and "/testing/" not in name
                   and "Source:" not in self.tree.text(name)]
        left, stale = listed(self.tree, self.name, headers)
        yield from stale
        for name in left:
            yield Finding(name, 1, "no `Source:` line; say which program and version this must "
                                   "equal, and where it departs")
