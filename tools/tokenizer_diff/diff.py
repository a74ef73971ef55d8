#!/usr/bin/env python3
"""Compares our tokenizers with the Rust `tokenizers` package on random texts.

usage: .venv/test/bin/python tools/tokenizer_diff/diff.py --dump build/.../tokenizer_dump
           [--count N] [--seed S] [--start N] TOKENIZER.JSON ...
Ids and decoded texts must be equal. Exit 0: no difference; 1: differences, the shortest shown;
2: a tokenizer was refused.
"""

import argparse
import json
import struct
import subprocess
import sys
import threading

from texts import Texts
from tokenizers import Tokenizer

BATCH = 4000
SHOWN = 5


class Ours:
    """A running tokenizer_dump."""

    def __init__(self, program, path):
        self.process = subprocess.Popen([program, path], stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE)

    def _write(self, texts):
        for text in texts:
            self.process.stdin.write(struct.pack("=I", len(text)) + text)
        self.process.stdin.flush()

    def _read(self, size):
        data = self.process.stdout.read(size)
        if len(data) != size:
            sys.exit(f"{self.process.args}: ended with {self.process.wait()}")
        return data

    def __call__(self, texts):
        writer = threading.Thread(target=self._write, args=(texts,))
        writer.start()
        results = []
        for _ in texts:
            (count,) = struct.unpack("=I", self._read(4))
            ids = list(struct.unpack(f"={count}i", self._read(4 * count)))
            (size,) = struct.unpack("=I", self._read(4))
            results.append((ids, self._read(size).decode("utf-8", "surrogateescape")))
        writer.join()
        return results

    def close(self):
        self.process.stdin.close()
        return self.process.wait()


def load(path):
    """The package's tokenizer, and what its file offers to texts."""
    with open(path, encoding="utf-8") as file:
        spec = json.load(file)
    reference = Tokenizer.from_file(path)
    reference.no_truncation()
    reference.no_padding()
    vocabulary = list(spec["model"]["vocab"])
    pieces = [t.replace("\u2581", " ").replace("Ġ", " ").replace("##", "") for t in vocabulary]
    return reference, [t["content"] for t in spec.get("added_tokens", [])], pieces[:20000]


def compare(path, program, count, seed):
    reference, tokens, pieces = load(path)
    source = Texts(f"{seed}", tokens, pieces)
    ours = Ours(program, path)
    failures = []
    characters = 0
    for begin in range(0, count, BATCH):
        texts = [source.text() for _ in range(min(BATCH, count - begin))]
        characters += sum(map(len, texts))
        encodings = reference.encode_batch(texts, add_special_tokens=False)
        ids = [encoding.ids for encoding in encodings]
        decoded = reference.decode_batch(ids, skip_special_tokens=False)
        for text, want, want_text, got in zip(
                texts, ids, decoded, ours([t.encode() for t in texts])):
            if got != (want, want_text):
                failures.append((text, want, want_text, got))
    if ours.close() != 0:
        failures.append(("", [], "", "tokenizer_dump failed"))
    print(f"{path}: {count} texts, {characters} characters, {len(failures)} differences")
    for text, want, want_text, got in sorted(failures, key=lambda f: len(f[0]))[:SHOWN]:
        print(f"  text {ascii(text)}\n    want {want} {ascii(want_text)}\n    got  {ascii(got)}")
    return not failures


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--dump", required=True, help="the tokenizer_dump to test")
    parser.add_argument("--count", type=int, default=2000, help="texts for each tokenizer")
    parser.add_argument("--seed", default="1")
    parser.add_argument("tokenizers", nargs="+", metavar="TOKENIZER.JSON")
    options = parser.parse_args()
    print(f"seed {options.seed}")
    good = [compare(path, options.dump, options.count, options.seed)
            for path in options.tokenizers]
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
