"""Documents and plain text: what every file and every Markdown page keeps to."""

import pathlib
import re
import unicodedata

from tidylib.tree import CPP_SUFFIXES, Finding, allowed

CODE_SUFFIXES = (".h", ".cc", ".py", ".cmake", ".sh", "CMakeLists.txt", "Makefile")
LINK = re.compile(r"\[[^\]]*\]\((?!https?:|mailto:|#)([^)\s#]+)[^)]*\)")
FENCE = re.compile(r"^\s*(?:```|~~~)")
# Characters that reorder what a reader sees.
REORDERING = set("\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069")
# Written in pieces, so that this file does not break its own rule.
MACHINE_PATHS = ["/" + folder for folder in ("wor" "k/", "roo" "t/", "hom" "e/[a-z]", "User" "s/")]
REGISTRY_HOSTS = [("py" + "pi", "org"), ("python" + "hosted", "org"), ("deb", "debian", "org"),
                  ("npm" + "js", "org"), ("npm" + "js", "com"), ("crates", "io"),
                  ("proxy", "golang", "org"), ("repo1", "maven", "org")]
FORBIDDEN = [(re.compile(r"(?<![\w.~$}])" + path), "a path of one machine")
             for path in MACHINE_PATHS]
FORBIDDEN += [(re.compile(r"\b" + r"\.".join(host) + r"\b"), "a package registry's host")
              for host in REGISTRY_HOSTS]
# Requests as people type them, their own folders included.
PEOPLES_TEXTS = "tools/train_starter/written/"
UNTRACKED_WORK = re.compile(r"\b(?:TO" + r"DO|FIX" + r"ME|XX" + r"X|HA" + r"CK)\b(?!\(#\d+\))")
# What readers were promised to find, and where.
REQUIRED_WORDS = {
    "README.md": ["answer_confidence", "make demo", "make test"],
    "CONTRIBUTING.md": ["make test", "tools/pick-mutants"],
}
# Where environment variables are explained, and how each language reads them.
VARIABLES_PAGE = "docs/environment.md"
CPP_VARIABLE = re.compile(
    r'"((?:LAYARD|HF|HUGGINGFACE|TRANSFORMERS|XDG)_[A-Z_]+|HOME)"')
READS = {
    ".py": re.compile(r'environ(?:\.get\(|\[)"(LAYARD_[A-Z_]+)"'),
    ".cmake": re.compile(r"\$ENV\{(LAYARD_[A-Z_]+)\}"),
    ".txt": re.compile(r"\$ENV\{(LAYARD_[A-Z_]+)\}"),
    ".sh": re.compile(r"\$\{?(LAYARD_[A-Z_]+)"),
    "": re.compile(r"\$\{?(LAYARD_[A-Z_]+)|environ(?:\.get\(|\[)\"(LAYARD_[A-Z_]+)\""),
}
VARIABLE_ROW = re.compile(r"^\|([^|]*)\|", re.MULTILINE)
VARIABLE_NAME = re.compile(r"`([A-Z][A-Z_]+)`")


class Text:
    name = "Text"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        for name in self.tree.text_files():
            raw = (self.tree.root / name).read_bytes()
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                yield Finding(name, raw.count(b"\n", 0, error.start) + 1, "not UTF-8")
                continue
            if text and not text.endswith("\n"):
                yield Finding(name, text.count("\n") + 1, "no newline at the end of the file")
            for number, line in enumerate(text.split("\n"), 1):
                for problem in self._line_problems(name, line):
                    if not allowed(self.tree, name, number, self.name):
                        yield Finding(name, number, problem)

    @staticmethod
    def _line_problems(name, line):
        if line.endswith("\r"):
            yield "CRLF line end"
        for character in line.rstrip("\r"):
            if character == "\t" and name.endswith(("Makefile", ".mk")):
                continue
            if unicodedata.category(character) == "Cc" or character in REORDERING:
                yield f"control character U+{ord(character):04X}; write it as an escape"
                break
        for pattern, what in FORBIDDEN:
            if pattern.search(line) and not name.startswith(PEOPLES_TEXTS):
                yield f"{what}: {pattern.search(line).group(0)}"
        if name.endswith(CODE_SUFFIXES) and UNTRACKED_WORK.search(line):
            yield "open work is an issue: write it as the word, then (#number)"


class Docs:
    name = "Docs"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        yield from self._rooms_are_explained()
        yield from self._variables_are_explained()
        for name in self.tree.files:
            if name.endswith(".md"):
                yield from self._page(name)
        for name, words in REQUIRED_WORDS.items():
            text = self.tree.text(name) if self.tree.exists(name) else ""
            for word in words:
                if word not in text:
                    yield Finding(name, 1, f"must mention `{word}`")

    def _rooms_are_explained(self):
        page = "ARCHITECTURE.md"
        text = self.tree.text(page) if self.tree.exists(page) else ""
        rooms = sorted({name.split("/")[1] for name in self.tree.files
                        if name.startswith("src/") and name.count("/") > 1})
        for room in rooms:
            if not re.search(rf"(?<![\w-]){re.escape(room)}/|`{re.escape(room)}`", text):
                yield Finding(page, 1, f"does not name the room src/{room}/")

    def _variables_read(self):
        """{variable: (file, line) of one place that reads it}."""
        found = {}
        for name in self.tree.files:
            suffix = pathlib.PurePosixPath(name).suffix
            if suffix in CPP_SUFFIXES and not name.endswith("_test.cc"):
                pattern = CPP_VARIABLE
            elif suffix in READS and self._is_script(name):
                pattern = READS[suffix]
            else:
                continue
            for number, line in enumerate(self.tree.text(name).split("\n"), 1):
                for match in pattern.finditer(line):
                    found.setdefault(next(filter(None, match.groups())), (name, number))
        return found

    @staticmethod
    def _is_script(name):
        # The checks and their test hold examples of what they look for.
        return not name.startswith(("tools/tidylib/", "tests/tidy/", "models/", "docs/"))

    def _variables_are_explained(self):
        read = self._variables_read()
        page = self.tree.text(VARIABLES_PAGE) if self.tree.exists(VARIABLES_PAGE) else ""
        named = {variable for cell in VARIABLE_ROW.findall(page)
                 for variable in VARIABLE_NAME.findall(cell)}
        for variable, (name, number) in sorted(read.items()):
            if variable not in named:
                yield Finding(name, number,
                              f"reads {variable}, which has no row in {VARIABLES_PAGE}")
        for variable in sorted(named - set(read)):
            yield Finding(VARIABLES_PAGE, 1, f"explains {variable}, which nothing reads")

    def _page(self, name):
        headings, fenced = [], False
        front_matter = self.tree.text(name).startswith("---\n")
        for number, line in enumerate(self.tree.text(name).split("\n"), 1):
            if front_matter and number > 1 and line == "---":
                front_matter = False
            if FENCE.match(line):
                fenced = not fenced
            if fenced or front_matter:
                continue
            if re.match(r"# \S", line):
                headings.append(number)
            for target in LINK.findall(line):
                base = name.rsplit("/", 1)[0] + "/" if "/" in name else ""
                if not (self.tree.root / (base + target)).exists():
                    yield Finding(name, number, f"link to {target}, which does not exist")
        if len(headings) != 1:
            yield Finding(name, headings[1] if len(headings) > 1 else 1,
                          f"{len(headings)} headings of level one; a page has exactly one")
