"""Sizes: small files, small functions, short lines."""

import dataclasses
import re

from tidylib.tree import Finding, allowed, line_of

FILE_LINES_WARN, FILE_LINES_MAX = 500, 800
FUNCTION_LINES_WARN, FUNCTION_LINES_MAX = 70, 120
LINE_CHARS_MAX = 100
LINE_SUFFIXES = (".h", ".cc", ".py", ".cmake", "CMakeLists.txt", ".sh")
# A line that only holds an address or an include cannot be broken.
UNBREAKABLE = re.compile(r"https?://\S{60,}|^\s*#\s*include\b")


@dataclasses.dataclass(frozen=True)
class Function:
    """A function with a body: its first and last line, and its head without the body."""

    head: str
    first_line: int
    last_line: int

    @property
    def lines(self):
        return self.last_line - self.first_line + 1

    @property
    def name(self):
        """`Class::function`, `operator==`, or `TEST(Suite, Case)`."""
        test = re.search(r"\b(TEST(?:_[FP])?|BENCHMARK\w*)\s*\([^)]*\)", self.head)
        if test:
            return re.sub(r"\s+", " ", test.group(0))
        found = re.search(r"(operator\s*[^\s\w(]+|operator\s*\(\s*\)|[~\w:]+)\s*\(", self.head)
        return found.group(1).lstrip(":") if found else re.sub(r"\s+", " ", self.head)[:40]


CONTROL = re.compile(r"^\s*(?:\w+:\s*)?(?:else\s+)?(?:if|for|while|switch|catch|do|else|return)\b")
TEMPLATE_HEAD = re.compile(r"^\s*(?:template\s*<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*>\s*)+")
SCOPE = re.compile(r"\b(?:namespace|class|struct|union|enum|extern)\b[^()]*(?:\([^()]*\)[^()]*)?$")
AFTER_PARAMETERS = re.compile(
    r"\)\s*(?:(?:const|noexcept|override|final|mutable|volatile|try|&&|&|\b[A-Z][A-Z0-9_]+\b)\s*"
    r"(?:\([^()]*\)\s*)?)*(?:->\s*[\w:<>,&*\s\[\]]+)?$")
INITIALISERS = re.compile(r"\)\s*(?:noexcept\s*(?:\([^()]*\))?\s*)?:(?!:)", re.DOTALL)


def without_directives(code):
    """Blanks preprocessor lines, and all but the first branch of each #if, so braces balance."""
    result, depth_in_else, stack, continued = [], 0, [], False
    for line in code.split("\n"):
        directive = re.match(r"\s*#\s*(\w+)", line)
        if continued or directive:
            word = directive.group(1) if directive and not continued else ""
            if word in ("if", "ifdef", "ifndef"):
                stack.append(False)
            elif word in ("else", "elif") and stack and not stack[-1]:
                stack[-1] = True
                depth_in_else += 1
            elif word == "endif" and stack and stack.pop():
                depth_in_else -= 1
            continued = line.endswith("\\")
            result.append("")
        else:
            result.append("" if depth_in_else else line)
    return "\n".join(result)


def _kind(head):
    """What a brace after `head` opens: function, scope, initialiser, or other."""
    bare = TEMPLATE_HEAD.sub("", head).strip()
    if not bare or CONTROL.match(bare):
        return "other"
    if INITIALISERS.search(bare):  # a constructor with initialisers
        return "function" if bare.endswith((")", "}")) else "initialiser"
    if AFTER_PARAMETERS.search(bare):
        return "function"
    return "scope" if SCOPE.search(bare) else "other"


def functions_of(code):
    """Every function body at namespace or class scope, by matching braces."""
    text = without_directives(code)
    stack, head_start = [], 0
    for match in re.finditer(r"[{};]", text):
        at, symbol = match.start(), match.group(0)
        inside = bool(stack) and stack[-1][0] in ("function", "body")
        if symbol == "{":
            kind = "body" if inside else _kind(_head(text, head_start, at))
            stack.append((kind, head_start))
            head_start = at + 1
        elif symbol == "}":
            if not stack:
                head_start = at + 1
                continue
            kind, began = stack.pop()
            if kind == "function":
                head = _head(text, began, text.index("{", began))
                first = began + len(head) - len(head.lstrip())
                yield Function(head.strip(), line_of(text, first), line_of(text, at))
            head_start = began if kind == "initialiser" else at + 1
        elif not inside and (not stack or stack[-1][0] != "initialiser"):
            head_start = at + 1


def _head(text, start, end):
    """The text before a brace, with access labels and macros in front of it blanked."""
    return re.sub(r"\b(?:public|private|protected)\s*:(?!:)|\bLAYARD_[A-Z0-9_]+\b(?:\([^()]*\))?",
                  lambda found: re.sub(r"[^\n]", " ", found.group(0)), text[start:end])


class Sizes:
    name = "Sizes"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        for name in self.tree.cpp_files():
            yield from self._file(name)
            for function in functions_of(self.tree.code(name)):
                yield from self._function(name, function)
        for name in self.tree.text_files():
            if name.endswith(LINE_SUFFIXES) or name.startswith("scripts/"):
                yield from self._lines(name)

    def _file(self, name):
        lines = self.tree.text(name).count("\n")
        if lines > FILE_LINES_WARN:
            yield Finding(name, 1, f"{lines} lines; files stay under {FILE_LINES_WARN} and never "
                          f"pass {FILE_LINES_MAX}: split it", warning=lines <= FILE_LINES_MAX)

    def _function(self, name, function):
        if function.lines > FUNCTION_LINES_WARN:
            yield Finding(
                name, function.first_line,
                f"{function.name} has {function.lines} lines; functions stay under "
                f"{FUNCTION_LINES_WARN} and never pass {FUNCTION_LINES_MAX}: take a part out",
                warning=function.lines <= FUNCTION_LINES_MAX)

    def _lines(self, name):
        for number, line in enumerate(self.tree.text(name).split("\n"), 1):
            if len(line) > LINE_CHARS_MAX and not UNBREAKABLE.search(line):
                if not allowed(self.tree, name, number, self.name):
                    yield Finding(name, number, f"{len(line)} characters; at most {LINE_CHARS_MAX}")
