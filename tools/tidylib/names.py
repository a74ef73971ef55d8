"""Names: files, types, constants, macros and functions spelled the one way."""

import re

from tidylib.sizes import functions_of
from tidylib.tree import Finding, allowed, line_of

FILE_NAME = re.compile(r"^[a-z0-9]+(?:_[a-z0-9]+)*(?:-inl)?\.(?:h|cc)$")
FOREIGN_SUFFIXES = (".cpp", ".cxx", ".hpp", ".hh", ".C", ".c++")
TYPE = re.compile(
    r"\b(?:class|struct|enum(?:\s+(?:class|struct))?|union)\s+"
    r"(?:\[\[\w+\]\]\s*|[A-Z][A-Z0-9_]{4,}(?:\([^)]*\))?\s+|alignas\s*\([^)]*\)\s*)*"
    r"([A-Za-z_]\w*)\s*(?:final\s*)?(?:[{]|:(?!:))")
ENUM_BODY = re.compile(r"\benum\s+(?:class|struct)\s+\w+[^{;]*\{([^}]*)\}")
MACRO = re.compile(r"^[ \t]*#[ \t]*define[ \t]+(\w+)", re.MULTILINE)
CONSTANT = re.compile(
    r"^(?:static\s+|inline\s+)*constexpr\s+[\w:<>,\s*&]+?\b(\w+)(?:\[[^\]]*\])*\s*[={]",
    re.MULTILINE)
PASCAL = re.compile(r"^[A-Z][A-Za-z0-9]*$")
SNAKE = re.compile(r"^~?[a-z_][a-z0-9_]*$")
K_PASCAL = re.compile(r"^k[A-Z0-9]\w*$")
# Names that other libraries chose: test fixtures, the fuzzer's and the standard's entry points,
# handlers.
FOREIGN_FUNCTIONS = {
    "SetUp", "TearDown", "SetUpTestSuite", "TearDownTestSuite", "LLVMFuzzerTestOneInput",
    "LLVMFuzzerCustomMutator", "LLVMFuzzerInitialize", "PrintTo", "INSTANTIATE_TEST_SUITE_P",
    # of yaml-cpp's event handler
    "OnDocumentStart", "OnDocumentEnd", "OnNull", "OnAlias", "OnScalar",
    "OnSequenceStart", "OnSequenceEnd", "OnMapStart", "OnMapEnd",
}
MACRO_PREFIX = "LAYARD_"
C_HEADER = "include/layard/c.h"


class Names:
    name = "Names"

    def __init__(self, tree):
        self.tree = tree

    def run(self):
        for name in self.tree.files:
            if name.endswith(FOREIGN_SUFFIXES):
                yield Finding(name, 1, "C++ files end in .h and .cc")
        for name in self.tree.cpp_files():
            if not FILE_NAME.match(name.rsplit("/", 1)[-1]):
                yield Finding(name, 1, "file names are snake_case.h, snake_case.cc, "
                                       "snake_case_test.cc")
            code = self.tree.code(name)
            for line, message in self._problems(name, code):
                if not allowed(self.tree, name, line, self.name):
                    yield Finding(name, line, message)

    def _problems(self, name, code):
        if name.endswith(".h") and name != C_HEADER:
            if not re.search(r"^#pragma once$", code, re.MULTILINE):
                yield 1, "a header opens with #pragma once"
            for match in re.finditer(r"\busing\s+namespace\b", code):
                yield line_of(code, match.start()), "using namespace in a header leaks to everyone"
        for match in MACRO.finditer(code):
            if not match.group(1).startswith(MACRO_PREFIX):
                yield (line_of(code, match.start(1)),
                       f"macro {match.group(1)}: macros start with {MACRO_PREFIX}")
        if name != C_HEADER:
            yield from self._types(code)
            yield from self._functions(code)

    def _types(self, code):
        for match in TYPE.finditer(code):
            if not PASCAL.match(match.group(1)):
                yield line_of(code, match.start(1)), f"type {match.group(1)}: types are PascalCase"
        for match in CONSTANT.finditer(code):
            if "(" not in match.group(0) and not K_PASCAL.match(match.group(1)):
                yield (line_of(code, match.start(1)),
                       f"constant {match.group(1)}: constants are kPascal")
        for match in ENUM_BODY.finditer(code):
            for entry in match.group(1).split(","):
                word = re.match(r"\s*(\w+)", entry)
                if word and not K_PASCAL.match(word.group(1)):
                    yield (line_of(code, match.start(1)),
                           f"enumerator {word.group(1)}: enumerators are kPascal")

    def _functions(self, code):
        for function in functions_of(code):
            if function.name.startswith(("TEST", "BENCHMARK", "operator")):
                continue
            parts = [part for part in function.name.split("::") if part]
            last = parts[-1] if parts else ""
            if not last or SNAKE.match(last) or last in FOREIGN_FUNCTIONS or "operator" in last:
                continue
            if PASCAL.match(last) and self._is_constructor(function.head, function.name, parts):
                continue
            if re.search(rf"~\s*{re.escape(last.lstrip('~'))}\s*\(", function.head):
                continue
            yield function.first_line, f"function {function.name}: functions are snake_case"

    @staticmethod
    def _is_constructor(head, full_name, parts):
        """No return type before the name, or `Type::Type`."""
        if len(parts) > 1 and parts[-1] == parts[-2]:
            return True
        before = head[:head.index(full_name)] if full_name in head else head
        words = re.sub(r"template\s*<.*>|\[\[\w+\]\]", " ", before, flags=re.DOTALL).split()
        return all(word in ("explicit", "constexpr", "inline") or word.startswith(MACRO_PREFIX)
                   for word in words)
