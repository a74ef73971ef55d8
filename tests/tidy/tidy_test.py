#!/usr/bin/env python3
"""Proves that every check of tools/tidy.py can fail, and passes what is right.

Each case is a small tree of files in a temporary folder, the check to run, and the words that its
findings must (or must not) contain.
"""

import json
import pathlib
import shutil
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))

import tidy  # noqa: E402
from tidylib.promises import Promises  # noqa: E402
from tidylib.sizes import functions_of  # noqa: E402
from tidylib.tree import Tree, strip_cpp  # noqa: E402

TABLE = (ROOT / "tools/include_table.json").read_text()
NOTES = {library["decision"]: "# Note\n" for library in json.loads(TABLE)["third_party"].values()
         if "decision" in library}


class TreeCase(unittest.TestCase):
    """Makes trees of files and runs checks on them."""

    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="tidy_test."))
        self.addCleanup(shutil.rmtree, self.folder)

    def tree(self, files):
        folder = pathlib.Path(tempfile.mkdtemp(dir=self.folder))
        for name, content in files.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return Tree(folder)

    def findings(self, check, files, registered=None):
        tree = self.tree(files)
        runner = (Promises(tree, registered) if check == "Promises" else tidy.CHECKS[check](tree))
        return [str(finding) for finding in runner.run()]

    def fails(self, check, files, *words):
        found = self.findings(check, files)
        for word in words:
            self.assertTrue(any(word in text for text in found), f"{word!r} not in {found}")

    def passes(self, check, files):
        self.assertEqual(self.findings(check, files), [])


class IncludesTest(TreeCase):
    def table_and(self, files):
        return {"tools/include_table.json": TABLE, **NOTES, **files}

    def test_rooms_point_one_way(self):
        self.fails("Includes", self.table_and({
            "src/base/x.h": '#include "runtime/model.h"\n'}),
            "src/base/x.h:1", "room 'base' may not include \"runtime/model.h\"")
        self.passes("Includes", self.table_and({
            "src/base/x.h": "#pragma once\n",
            "src/runtime/m.cc": '#include "base/json.h"\n#include "layard/model.h"\n'
                                "#include <vector>\n#include <sys/mman.h>\n"}))

    def test_only_value_headers_below_runtime(self):
        self.fails("Includes", self.table_and({
            "src/decision/d.cc": '#include "layard/error.h"\n#include "layard/model.h"\n'}),
            "src/decision/d.cc:2", "only the value headers")

    def test_artifacts_are_reached_from_npu_only(self):
        line = '#include "artifacts/store.h"\n'
        self.fails("Includes", self.table_and({"src/backends/cpu/a.cc": line}), "room 'backends'")
        self.passes("Includes", self.table_and({"src/backends/npu/a.cc": line}))

    def test_third_parties_stay_in_their_rooms_cc(self):
        self.fails("Includes", self.table_and({
            "src/decision/d.cc": "#include <simdjson.h>\n",
            "src/base/j.h": "#include <simdjson.h>\n",
            "src/base/k.cc": "#include <simdjson.h>\n",
            "src/tokenizer/t.cc": "#include <utf8proc.h>\n#include <boost/asio.hpp>\n",
            "src/checkpoint/h.cc": "#include <curl/curl.h>\n",
            "src/runtime/r.cc": "#include <curl/curl.h>\n#include <gtest/gtest.h>\n",
            "src/runtime/r_test.cc": '#include <gtest/gtest.h>\n#include "support/x.h"\n',
            "src/runtime/s.cc": '#include "support/x.h"\n',
            "src/encoder/e.cc": "#include <immintrin.h>\n",
            "apps/layard/main.cc": "#include <CLI/CLI.hpp>\n"}),
            "src/decision/d.cc:1: error: <simdjson.h> belongs to base",
            "src/base/j.h:1: error: <simdjson.h> in a header",
            "src/tokenizer/t.cc:2: error: <boost/asio.hpp> belongs to http",
            "src/runtime/r.cc:1: error: <curl/curl.h> belongs to checkpoint",
            "src/runtime/r.cc:2: error: <gtest/gtest.h> is for tests",
            "src/runtime/s.cc:1: error: \"support/x.h\" is for tests",
            "src/encoder/e.cc:1: error: <immintrin.h>")
        found = self.findings("Includes", self.table_and({}))
        self.assertFalse([text for text in found if "k.cc" in text or "main.cc" in text
                          or "h.cc" in text or "r_test.cc" in text])

    def test_front_door_has_std_only(self):
        self.fails("Includes", self.table_and({
            "include/layard/model.h": '#include <unistd.h>\n#include "base/json.h"\n'
                                      '#include <string>\n#include "layard/error.h"\n'}),
            "include/layard/model.h:1", "include/layard/model.h:2")
        many = {f"include/layard/h{number}.h": "#pragma once\n" for number in range(16)}
        self.fails("Includes", self.table_and(many), "at most 15")

    def test_paths_are_rooted(self):
        self.fails("Includes", self.table_and({
            "src/base/x.cc": '#include "x.h"\n#include "../tensor/tensor.h"\n'}),
            "has no room", "climbs out")

    def test_unknown_room_missing_note_and_cycle(self):
        self.fails("Includes", self.table_and({"src/attic/x.cc": "\n"}), "room 'attic'")
        self.fails("Includes", {"tools/include_table.json": TABLE}, "has no note")
        cycle = TABLE.replace('"base": {"rooms": []}', '"base": {"rooms": ["tensor"]}')
        self.fails("Includes", {**NOTES, "tools/include_table.json": cycle},
                   "cycle: base -> tensor -> base")

    def test_a_comment_is_no_include(self):
        self.passes("Includes", self.table_and({
            "src/base/x.cc": '// #include "runtime/model.h"\n'
                             '#include "runtime/x.h"  // tidy: allow(Includes): shown here\n'}))


class SizesTest(TreeCase):
    def test_lines_functions_files(self):
        long_body = "int f(int x) {\n" + "  ++x;\n" * 119 + "  return x;\n}\n"
        self.fails("Sizes", {
            "src/base/a.cc": "int x = 0;  //" + "x" * 100 + "\n",
            "src/base/b.cc": long_body,
            "src/base/c.cc": "\n" * 801,
            "tools/t.py": "#" * 101 + "\n"},
            "a.cc:1: error: 114 characters", "f has 122 lines", "c.cc:1: error: 801 lines",
            "t.py:1: error: 101 characters")
        self.fails("Sizes", {"src/base/d.cc": "int f() {\n" + "\n" * 80 + "}\n"},
                   "d.cc:1: warning: f has 82 lines")
        self.passes("Sizes", {
            "src/base/e.cc": "int f() {\n" + "\n" * 60 + "}\n",
            "src/base/u.h": "// " + "https://example.com/" + "x" * 100 + "\n"})

    def test_functions_are_found_where_they_are(self):
        code = strip_cpp(
            "namespace a {\n"
            'const char* kText = "{ not { a brace";\n'
            "int kRows[] = {1, 2, 3};\n"
            "struct S final : Base<int> {\n"
            " public:\n"
            "  explicit S(int x) : x_{x}, y_(2) {\n    ++x_;\n  }\n"
            "  int get() const noexcept { return x_; }\n"
            "  bool operator==(const S& other) const { return x_ == other.x_; }\n"
            "  int x_ = 1'000'000;\n"
            "};\n"
            "template <class T, class U = std::vector<T>>\n"
            "auto S2<T>::call(U u) -> Result<T> {\n"
            "  for (auto& v : u) { if (v) { f('{'); } }\n"
            "  auto g = [](int q) { return q; };\n"
            "}\n"
            "#if A\nint h() {\n#else\nint h(int) {\n#endif\n  return 1;\n}\n"
            'const char* kRaw = R"x(} } {)x";\n'
            "enum class E : int { kA, kB };\n"
            "TEST(Suite, Case) {\n  EXPECT_TRUE(true);\n}\n"
            "}  // namespace a\n")
        found = [(function.name, function.lines) for function in functions_of(code)]
        self.assertEqual(found, [
            ("S", 3), ("get", 1), ("operator==", 1), ("call", 5), ("h", 6),
            ("TEST(Suite, Case)", 3)])


    def test_many_macros_stay_quick(self):
        macros = "LAYARD_TARGET_BEGIN() LAYARD_" + "ABCDEFGHIJKLMNOPQRSTUVWXYZ_" * 20
        code = f"{macros}\nvoid run_all(long rounds) {{ f(rounds); }}\nint f() {macros} {{ }}\n"
        names = [function.name for function in functions_of(code)]
        self.assertEqual(names, ["run_all", "f"])


class NamesTest(TreeCase):
    def test_each_kind_of_name(self):
        self.fails("Names", {
            "src/base/BadFile.cc": "\n",
            "src/base/a.cpp": "\n",
            "src/base/a.h": "using namespace std;\n",
            "src/base/b.h": "#pragma once\n#define MAX 1\nclass bad_type {};\n"
                            "enum class E { kGood, bad };\nconstexpr int limit = 3;\n",
            "src/base/c.cc": "int badName(int x) { return x; }\nint Worse() { return 1; }\n"},
            "BadFile.cc:1: error: file names", "a.cpp:1: error", "a.h:1: error: a header opens",
            "using namespace", "macro MAX", "type bad_type", "enumerator bad", "constant limit",
            "function badName", "function Worse")

    def test_good_names_pass(self):
        self.passes("Names", {
            "src/base/good_name.h":
                "#pragma once\n#define LAYARD_X 1\nclass LAYARD_EXPORT Good : public Base {\n"
                " public:\n  Good() {}\n  explicit Good(int x) : x_(x) {}\n  ~Good() {}\n"
                "  bool operator()() const { return true; }\n  int value() { return x_; }\n"
                "  explicit operator bool() const { return true; }\n};\n"
                "enum class Kind : unsigned char { kOne = 1, kTwo };\n"
                "constexpr int kLimit = 3;\nconstexpr int twice(int x) { return 2 * x; }\n",
            "src/base/good_name.cc": "Good::Good() {}\nGood::~Good() { f(); }\n",
            "src/base/good_name_test.cc":
                "struct Fixture : testing::Test {\n  void SetUp() override { f(); }\n};\n"})


class BannedTest(TreeCase):
    def test_each_call(self):
        calls = {
            'std::cout << "x";': "std::cout", 'printf("x");': "printf",
            'std::fprintf(stderr, "x");': "std::fprintf", "exit(1);": "exit",
            "std::abort();": "std::abort", 'getenv("X");': "getenv",
            "auto t = std::chrono::steady_clock::now();": "steady_clock::now",
            'std::ifstream in("x");': "std::ifstream", 'fopen("x", "r");': "fopen",
            "rand();": "rand", "throw 1;": "throw", 'std::stoi("1");': "std::stoi",
            "time(nullptr);": "time"}
        body = "void f() {\n" + "".join(f"  {call}\n" for call in calls) + "}\n"
        found = self.findings("Banned", {"src/runtime/x.cc": body})
        self.assertEqual(len(found), len(calls), found)
        for number, word in enumerate(calls.values(), 2):
            self.assertTrue(any(f"x.cc:{number}:" in text and word in text for text in found),
                            (number, word, found))

    def test_where_and_what_is_free(self):
        self.passes("Banned", {
            "src/base/env.cc": 'auto x = getenv("X");\n',
            "apps/layard/main.cc": 'std::cout << "x";\n',
            "src/runtime/x_test.cc": 'std::cout << "x";\n',
            "src/runtime/x.cc": '// std::cout\nconst char* k = "printf(";\n'
                                "std::snprintf(b, 1, k);\nclock_.now();\nint at_exit(int);\n"
                                "runtime.exit(1);\nint timeout(int);\n"
                                'f(); getenv("X");  // tidy: allow(Banned): shown\n'})

    def test_backend_switches_stay_in_backends(self):
        line = "#if LAYARD_GPU\n#endif\n"
        self.fails("Banned", {"src/runtime/x.cc": line}, "x.cc:1")
        self.passes("Banned", {"src/backends/gpu/x.cc": line, "include/layard/export.h": line})


class StructureTest(TreeCase):
    def test_missing_tests(self):
        self.fails("MissingTests", {"src/base/x.cc": "\n"}, "no x_test.cc")
        self.fails("MissingTests", {
            "src/base/json.h": "", "src/base/json_test.cc": "",
            "src/base/json_parse.h": "", "src/base/json_parse.cc": ""}, "no json_parse_test.cc")

    def test_parts_and_allow_list(self):
        self.passes("MissingTests", {
            "src/base/x.cc": "", "src/base/x_test.cc": "",
            "src/base/json.h": "", "src/base/json_test.cc": "", "src/base/json_parse.cc": "",
            "src/base/y.cc": "",
            "tools/tidy_allow.json":
                '{"MissingTests": {"src/base/y.cc": "held by the tests of x"}}'})

    def test_allow_list_stays_honest(self):
        self.fails("MissingTests", {
            "src/base/x.cc": "", "src/base/x_test.cc": "", "src/base/y.cc": "",
            "tools/tidy_allow.json":
                '{"MissingTests": {"src/base/x.cc": "no longer needed", "src/base/y.cc": "-"}}'},
            "excuses nothing", "gives no reason")

    def test_sources(self):
        self.fails("Sources", {"src/tokenizer/x.h": "#pragma once\n"}, "no `Source:` line")
        self.passes("Sources", {"src/tokenizer/x.h": "/// Source: tokenizers 0.23.3\n",
                                "src/base/y.h": "#pragma once\n"})


class DocsTest(TreeCase):
    GOOD = {"README.md": "# L\nanswer_confidence, make demo, make test\n",
            "CONTRIBUTING.md": "# C\nmake test, tools/pick-mutants\n",
            "ARCHITECTURE.md": "# A\n`base/` holds the ground.\n", "src/base/x.h": ""}

    def test_good(self):
        self.passes("Docs", {
            **self.GOOD, "docs/x.md": "# X\n```\n# a comment\n```\n[r](../README.md)\n"})

    def test_room_heading_link_words(self):
        self.fails("Docs", {
            **self.GOOD, "src/tensor/x.h": "", "docs/none.md": "text\n",
            "docs/two.md": "# A\n# B\n", "docs/link.md": "# L\n[x](missing.md)\n",
            "README.md": "# L\n"},
            "does not name the room src/tensor/", "none.md:1: error: 0 headings",
            "two.md:2: error: 2 headings", "link.md:2: error: link to missing.md",
            "README.md:1: error: must mention `make demo`")

    def test_variables(self):
        page = "# E\n| variable | |\n|---|---|\n| `LAYARD_A`, `HF_HOME` | see `LAYARD_ELSE` |\n"
        code = {"src/base/x.cc": 'f("LAYARD_A"); g("HF_HOME"); h("LAYARD_A is wrong");\n',
                "src/base/x_test.cc": 'f("LAYARD_TEST");\n'}
        self.passes("Docs", {**self.GOOD, **code, "docs/environment.md": page})
        self.fails("Docs", {**self.GOOD, **code},
                   "src/base/x.cc:1: error: reads LAYARD_A, which has no row")
        self.fails("Docs", {
            **self.GOOD, **code, "scripts/go": 'echo "${LAYARD_B:-0}"\n', "ci.sh": "$LAYARD_C\n",
            "tools/t.py": 'os.environ.get("LAYARD_D")\n', "x.cmake": "$ENV{LAYARD_E}\n",
            "docs/environment.md": page + "| `LAYARD_F` | |\n"},
            "scripts/go:1: error: reads LAYARD_B", "ci.sh:1: error: reads LAYARD_C",
            "tools/t.py:1: error: reads LAYARD_D", "x.cmake:1: error: reads LAYARD_E",
            "docs/environment.md:1: error: explains LAYARD_F, which nothing reads")


class TextTest(TreeCase):
    def test_each_rule(self):
        host = "py" + "pi.org"
        self.fails("Text", {
            "a.md": "# A\r\n", "b.cc": "int x;\u0007\n", "c.cc": "int x;", "d.cc": b"\xff\n",
            "e.md": "see /" + "work/main\n", "f.py": f"# {host}\n",
            "g.cc": "// TO" + "DO: later\n",
            "h.cc": "int\tx;\n", "i.md": "a\u202eb\n", "j.sh": "cd /ho" + "me/someone\n"},
            "a.md:1: error: CRLF", "b.cc:1: error: control character U+0007",
            "c.cc:1: error: no newline",
            "d.cc:1: error: not UTF-8", "e.md:1: error: a path of one machine",
            "f.py:1: error: a package registry's host", "g.cc:1: error: open work",
            "h.cc:1: error: control character U+0009", "i.md:1", "j.sh:1")

    def test_what_is_fine(self):
        self.passes("Text", {
            "Makefile": "all:\n\ttrue\n", "a.cc": "// TO" + "DO(#12): later\n",
            "b.md": "Größe, 字, ~/.cache/layard, build/work/x\n",
            "c.md": "open work is named in issues\n", "models/x/data.json": "\u0007",
            "tools/train_starter/written/x.jsonl": '{"text": "ls /ho' + 'me/anna"}\n'})


class PromisesTest(TreeCase):
    HEAD = "# Promises\n\nRows: {}.\n\n| id | promise | test | status |\n|---|---|---|---|\n"
    TESTS = {"Suite.Runs": True, "Suite.Disabled": False, "Group.One": True}

    def page(self, *rows):
        return {"docs/promises.md": self.HEAD.format(len(rows)) + "".join(r + "\n" for r in rows)}

    def check(self, rows, *words):
        found = self.findings("Promises", self.page(*rows), self.TESTS)
        for word in words:
            self.assertTrue(any(word in text for text in found), f"{word!r} not in {found}")
        if not words:
            self.assertEqual(found, [])

    def test_good_rows(self):
        self.check(["| M001 | Answers keep their order | `Suite.Runs`, `Group.*` | done |",
                    "| M002 | Needs the \\| published weights | - | later: no weights here yet |"])

    def test_bad_rows(self):
        self.check(["| M001 | Answers keep their order | `Suite.Gone` | done |"],
                   "no test `Suite.Gone` is registered")
        self.check(["| M001 | Answers keep their order | `Suite.Disabled` | done |"], "disabled")
        self.check(["| M001 | Answers keep their order | `Nothing.*` | done |"], "`Nothing.*`")
        self.check(["| M001 | Answers keep their order | words only | done |"], "names no test")
        self.check(["| M001 | Answers keep their order | `Suite.Runs` | later |"],
                   "later without a reason")
        self.check(["| M001 | Answers keep their order | `Suite.Runs` | maybe |"], "status 'maybe'")
        self.check(["| M001 | short | `Suite.Runs` | done |"], "says nothing")
        row = "| M001 | Answers keep their order | `Suite.Runs` | done |"
        self.check([row, row], "stands on line")

    def test_page(self):
        self.assertIn("missing", self.findings("Promises", {}, self.TESTS)[0])
        page = {"docs/promises.md": self.HEAD.format(7)}
        self.assertIn("the page says 7", self.findings("Promises", page, self.TESTS)[0])


@unittest.skipUnless(shutil.which("clang-format-14"), "clang-format-14 is not installed")
class FormatTest(TreeCase):
    STYLE = {".clang-format": (ROOT / ".clang-format").read_text()}

    def test_both_ways(self):
        self.fails("Format", {**self.STYLE, "src/base/x.cc": "int  x ;\n"}, "x.cc:1")
        self.passes("Format", {**self.STYLE, "src/base/x.cc": "int x;\n"})


class StripTest(unittest.TestCase):
    def test_comments_and_literals_go_columns_stay(self):
        for source, expected in [
                ('a = "b//c"; // d', 'a = ""    ;     '),
                ("x = 1'000; y", "x = 1'000; y"),
                ("f('\"'); g", 'f("" ); g'),
                ('R"(a"b)" z', '""       z'),
                ("/* a\nb */ c", "    \n     c"),
                ('"a\\"b" c', '""     c')]:
            self.assertEqual(strip_cpp(source), expected, source)
            self.assertEqual(len(strip_cpp(source)), len(source))


if __name__ == "__main__":
    unittest.main(verbosity=1)
