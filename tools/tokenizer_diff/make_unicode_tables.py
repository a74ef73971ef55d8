#!/usr/bin/env python3
"""Writes src/tokenizer/unicode/*.inc: what the Rust `tokenizers` package thinks of every
code point.

The package mixes tables of several Unicode versions (its normal forms are of version 9, its
categories of version 8, its regular expressions of version 16 and later). Byte-exact ids need the
same answers, so every answer is asked of the package itself, one code point at a time.

Run: .venv/test/bin/python tools/tokenizer_diff/make_unicode_tables.py
"""

import pathlib
import sys

import tokenizers
from tokenizers import Regex, normalizers, pre_tokenizers

# Order and names equal enum CharClass in src/tokenizer/unicode/char_classes.h.
FLAGS = [
    "letter", "number", "numeric", "space", "word", "punctuation", "other", "nonspacing",
    "combining", "non_starter", "canonical", "compatible", "nfc_inert", "lowers",
]


def removed(pre_tokenizer):
    """Whether a one-character text leaves nothing behind."""
    return lambda text: not pre_tokenizer.pre_tokenize_str(text)


def joined(pre_tokenizer, count):
    """Whether `a` plus the character falls into `count` pieces."""
    return lambda text: len(pre_tokenizer.pre_tokenize_str("a" + text)) == count


def predicates():
    whitespace = pre_tokenizers.Whitespace()
    clean = normalizers.BertNormalizer(True, False, False, False)
    nfd = normalizers.NFD().normalize_str
    nfkd = normalizers.NFKD().normalize_str
    strip = normalizers.BertNormalizer(False, False, True, False)
    accents = normalizers.StripAccents()
    lower = normalizers.Lowercase()
    space = removed(pre_tokenizers.WhitespaceSplit())
    # U+0334 has class 1, U+0345 has class 240: any other class but 0 moves around one of them.
    non_starter = lambda c: nfd(c) == c and (
        nfd("a" + c + "\u0334") == "a\u0334" + c != "a" + c + "\u0334"
        or nfd("a\u0345" + c) == "a" + c + "\u0345" != "a\u0345" + c
        or c in "\u0334\u0345"
    )
    return {
        "letter": removed(pre_tokenizers.Split(Regex(r"\p{L}"), "removed")),
        "number": removed(pre_tokenizers.Split(Regex(r"\p{N}"), "removed")),
        "numeric": joined(pre_tokenizers.Digits(False), 2),
        "space": space,
        "word": lambda c: not space(c) and len(whitespace.pre_tokenize_str("a" + c)) == 1,
        "punctuation": removed(pre_tokenizers.Punctuation("removed")),
        "other": lambda c: clean.normalize_str(c) == "",
        "nonspacing": lambda c: nfd(c) == c and strip.normalize_str(c) == "",
        "combining": lambda c: accents.normalize_str(c) == "",
        "non_starter": non_starter,
        "canonical": lambda c: nfd(c) != c,
        "compatible": lambda c: nfkd(c) != c,
        "lowers": lambda c: lower.normalize_str(c) != c,
    }


def classify():
    """Flag bits of every code point; surrogates have none."""
    tests = predicates()
    nfc = normalizers.NFC().normalize_str
    nfd = normalizers.NFD().normalize_str
    code_points = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
    seconds = set()  # every character that may join one before it
    for c in code_points:
        text = chr(c)
        if nfc(text) == text:
            seconds.update(nfd(text)[1:])
    flags = [0] * 0x110000
    for c in code_points:
        text = chr(c)
        value = sum(1 << i for i, name in enumerate(FLAGS) if name in tests and tests[name](text))
        starter = not value & 1 << FLAGS.index("non_starter")
        if starter and text not in seconds and nfc(text) == text:
            value |= 1 << FLAGS.index("nfc_inert")
        flags[c] = value
    return flags


def check_spaces(flags):
    """The package's three notions of white space must agree: one flag stands for all."""
    onig = removed(pre_tokenizers.Split(Regex(r"\s"), "removed"))
    rust = removed(pre_tokenizers.Whitespace())
    bit = 1 << FLAGS.index("space")
    for c in range(0x110000):
        if not 0xD800 <= c <= 0xDFFF:
            space = bool(flags[c] & bit)
            if onig(chr(c)) != space or rust(chr(c)) != space:
                sys.exit(f"U+{c:04X}: notions of white space differ")


def lower_exceptions(flags):
    """(first, last, difference) of lower-case pairs; the expanding one is in code."""
    lower = normalizers.Lowercase().normalize_str
    pairs = [(c, ord(lower(chr(c)))) for c in range(0x110000)
             if flags[c] & 1 << FLAGS.index("lowers") and len(lower(chr(c))) == 1]
    if [c for c in range(0x110000)
            if flags[c] & 1 << FLAGS.index("lowers") and len(lower(chr(c))) != 1] != [0x130]:
        sys.exit("another code point than U+0130 has a longer lower case")
    runs = []  # first, last, step, difference
    for c, target in pairs:
        if runs:
            first, last, step, difference = runs[-1]
            if target - c == difference and (c - last == step or (first == last and c - last <= 2)):
                runs[-1] = (first, c, c - last, difference)
                continue
        runs.append((c, c, 1, target - c))
    return runs


def pack(entries):
    """Lines of at most 100 columns."""
    lines, line = [], ""
    for entry in entries:
        if line and len(line) + 1 + len(entry) > 100:
            lines.append(line)
            line = ""
        line += (" " if line else "") + entry
    return "\n".join(lines + [line])


def main():
    folder = pathlib.Path(__file__).resolve().parents[2] / "src/tokenizer/unicode"
    flags = classify()
    check_spaces(flags)
    runs = [c for c in range(0x110000) if c == 0 or flags[c] != flags[c - 1]]
    head = (f"// Generated by tools/tokenizer_diff/make_unicode_tables.py from tokenizers "
            f"{tokenizers.__version__}; do not edit.\n// clang-format off\n")
    sets = sorted({flags[c] for c in runs})
    text = head + "// The combinations of flags that occur.\n"
    text += pack(f"0x{value:x}," for value in sets) + "\n"
    (folder / "class_sets.inc").write_text(text)
    lengths = [after - c for c, after in zip(runs, runs[1:] + [0x110000])]
    text = head + "// {code points in the run, index into class_sets.inc}, from U+0000 on.\n"
    text += pack(f"{{{n},{sets.index(flags[c])}}}," for c, n in zip(runs, lengths)) + "\n"
    (folder / "class_runs.inc").write_text(text)
    lower = lower_exceptions(flags)
    text = head + "// {first, last, step, what to add} for lower case.\n"
    text += pack(f"{{0x{a:x},0x{b:x},{s},{d}}}," for a, b, s, d in lower) + "\n"
    (folder / "lower_runs.inc").write_text(text)
    print(f"{len(runs)} class runs, {len(lower)} lower-case runs")


if __name__ == "__main__":
    main()
