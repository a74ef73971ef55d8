#!/usr/bin/env python3
"""Writes a made-up byte-fallback BPE tokenizer.json of the size of Gemma's: 260,000 tokens, about
twice as many merges, indented as the Rust package writes it. For measuring how fast it loads.

usage: python3 tools/tokenizer_diff/make_large.py OUTPUT.json [TOKENS]
"""

import argparse
import json
import random


SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz"
             for b in ("a", "e", "i", "o", "u", "an", "er", "st")]
OTHER = [(0xA1, 0x180), (0x391, 0x3CA), (0x410, 0x450), (0x3041, 0x3097), (0x30A1, 0x30FB),
         (0x4E00, 0x5E00), (0xAC00, 0xB000)]


def grow(count):
    """Beginnings and ends of made-up words, so that most tokens can be made in several ways."""
    rng = random.Random(1)
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"]
    letters = ["▁"] + [chr(c) for low, high in [(0x21, 0x7F)] + OTHER for c in range(low, high)]
    tokens = special + [f"<0x{byte:02X}>" for byte in range(256)] + letters
    vocab = {token: i for i, token in enumerate(tokens)}
    joined = []
    while len(vocab) < count:
        if rng.random() < 0.8:
            word = "▁" + "".join(rng.choice(SYLLABLES) for _ in range(rng.randrange(2, 5)))
        else:
            low, high = rng.choice(OTHER)
            word = "".join(chr(rng.randrange(low, high)) for _ in range(rng.randrange(2, 5)))
        for i in range(2, len(word) + 1):
            for text in (word[:i], word[-i:]):
                if text not in vocab and len(vocab) < count:
                    vocab[text] = len(vocab)
                    joined.append(text)
    merges = []
    for text in joined:
        ways = [[text[:i], text[i:]] for i in range(1, len(text))
                if text[:i] in vocab and text[i:] in vocab]
        merges += ways if len(ways) < 3 else rng.sample(ways, 3)
    return vocab, merges, special


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("path", help="the tokenizer.json to write")
    parser.add_argument("tokens", type=int, nargs="?", default=260_000)
    arguments = parser.parse_args()
    vocab, merges, special = grow(arguments.tokens)
    added = [{"id": i, "content": t, "single_word": False, "lstrip": False, "rstrip": False,
              "normalized": False, "special": True} for i, t in enumerate(special)]
    spec = {
        "version": "1.0", "truncation": None, "padding": None, "added_tokens": added,
        "normalizer": {"type": "Replace", "pattern": {"String": " "}, "content": "▁"},
        "pre_tokenizer": {"type": "Split", "pattern": {"String": " "},
                          "behavior": "MergedWithPrevious", "invert": False},
        "post_processor": None,
        "decoder": {"type": "Sequence", "decoders": [
            {"type": "Replace", "pattern": {"String": "▁"}, "content": " "},
            {"type": "ByteFallback"}, {"type": "Fuse"}]},
        "model": {"type": "BPE", "dropout": None, "unk_token": "<unk>",
                  "continuing_subword_prefix": None, "end_of_word_suffix": None, "fuse_unk": True,
                  "byte_fallback": True, "ignore_merges": False, "vocab": vocab, "merges": merges},
    }
    with open(arguments.path, "w", encoding="utf-8") as file:
        json.dump(spec, file, ensure_ascii=False, indent=2)
    print(f"{len(vocab)} tokens, {len(merges)} merges")


if __name__ == "__main__":
    main()
