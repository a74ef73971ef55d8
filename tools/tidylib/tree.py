"""What every check works on: the files of the project, and C++ text without comments."""

import dataclasses
import functools
import pathlib
import re
import subprocess

CPP_SUFFIXES = (".h", ".cc")
SKIPPED_FOLDERS = {".git", ".venv", "build", "__pycache__", ".cache", "node_modules"}
# Data, not prose or code: checked by the tests that read it.
DATA_FOLDERS = ("fuzz/corpus", "models")
TEXT_SUFFIXES = {
    ".h", ".cc", ".py", ".md", ".txt", ".cmake", ".json", ".jsonl", ".in", ".sh", ".yml", ".yaml",
    ".toml", ".dict", ".html", ".css", ".js", "",
}


@dataclasses.dataclass(frozen=True)
class Finding:
    """One broken rule. A warning is printed and does not fail the check."""

    path: str
    line: int
    message: str
    warning: bool = False

    def __str__(self):
        kind = "warning" if self.warning else "error"
        return f"{self.path}:{self.line}: {kind}: {self.message}"


class Tree:
    """The files under one root; paths are relative to it, with forward slashes."""

    def __init__(self, root, build=None):
        self.root = pathlib.Path(root).resolve()
        self.build = pathlib.Path(build).resolve() if build else None

    @functools.cached_property
    def files(self):
        """Every file that is or could be committed, sorted."""
        names = self._git_files() if (self.root / ".git").exists() else self._walked_files()
        return sorted(name for name in names if (self.root / name).is_file())

    def _git_files(self):
        listed = subprocess.run(
            ["git", "-C", str(self.root), "ls-files", "-z", "--cached", "--others",
             "--exclude-standard"],
            check=True, capture_output=True, text=True).stdout
        return {name for name in listed.split("\0") if name}

    def _walked_files(self):
        for path in self.root.rglob("*"):
            parts = path.relative_to(self.root).parts
            if not SKIPPED_FOLDERS.intersection(parts):
                yield "/".join(parts)

    @functools.lru_cache(maxsize=4096)
    def text(self, name):
        return (self.root / name).read_bytes().decode("utf-8", errors="replace")

    @functools.lru_cache(maxsize=4096)
    def code(self, name):
        """C++ text with comments and literals blanked; lines and columns stay where they were."""
        return strip_cpp(self.text(name))

    def cpp_files(self, *folders):
        """C++ files, all or those under the given folders."""
        return [name for name in self.files if name.endswith(CPP_SUFFIXES)
                and (not folders or name.startswith(tuple(f"{f}/" for f in folders)))]

    def text_files(self):
        """Files for people: sources and documents, without data."""
        return [name for name in self.files
                if pathlib.PurePosixPath(name).suffix in TEXT_SUFFIXES
                and not name.startswith(tuple(f"{f}/" for f in DATA_FOLDERS))
                and "/data/" not in name]

    def exists(self, name):
        return (self.root / name).exists()


def is_test(name):
    """Whether a C++ file is test, benchmark or fuzz code."""
    return (name.endswith("_test.cc") or "/testing/" in name or "/test_" in name
            or name.startswith(("tests/", "bench/", "fuzz/")))


def line_of(text, offset):
    return text.count("\n", 0, offset) + 1


def allowed(tree, name, line, check):
    """`// tidy: allow(Check): reason` on the line, or alone on the line before, lifts a rule."""
    lines = tree.text(name).split("\n")
    for candidate in (line, line - 1):
        if 1 <= candidate <= len(lines):
            found = re.search(r"tidy: allow\((\w+)\): \S+", lines[candidate - 1])
            if found and found.group(1) == check:
                return True
    return False


_CPP_TOKEN = re.compile(
    r"""//(?:[^\n\\]|\\(?:.|\n))*            # line comment, also continued with a backslash
      | /\*.*?\*/                            # block comment
      | (?:u8|[uUL])?R"(?P<d>[^()\\\s]{0,16})\(.*?\)(?P=d)"   # raw string
      | (?:u8|[uUL])?"(?:[^"\\\n]|\\.)*"     # string
      | (?<![0-9A-Za-z_])(?:u8|[uUL])?'(?:[^'\\\n]|\\.)+'     # character, not a digit separator
    """, re.DOTALL | re.VERBOSE)


def strip_cpp(text):
    """Blanks comments and the insides of literals, keeping every newline and column."""

    def blank(match):
        found = match.group(0)
        spaces = re.sub(r"[^\n]", " ", found)
        if found.startswith(("//", "/*")):
            return spaces
        return '""' + spaces[2:] if len(found) >= 2 else spaces  # still reads as an expression

    # Names in #include "..." are not literals to hide.
    kept = re.sub(r'^([ \t]*#[ \t]*include[ \t]*)"([^"\n]*)"', r"\1<\2>", text, flags=re.MULTILINE)
    return _CPP_TOKEN.sub(blank, kept)
