#!/usr/bin/env python3
"""Trains the tiny tokenizers of tests/fixtures/tokenizers and writes what the Rust package makes of
some texts: NAME.json is a tokenizer.json, NAME.jsonl has lines {"text", "ids", "decoded"}.

Run: .venv/test/bin/python tools/tokenizer_diff/make_fixtures.py
"""

import json
import pathlib

from texts import Texts
from tokenizers import (AddedToken, Regex, Tokenizer, decoders, models, normalizers, pre_tokenizers,
                        trainers)

FOLDER = pathlib.Path(__file__).resolve().parents[2] / "tests/fixtures/tokenizers"
GPT2 = r"'s|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+"
VECTORS = 40

# Training text, written for this purpose.
CORPUS = """
The customer asks for a refund because the order arrived late and the box was open. We answered the
message on the same day, but the parcel is still missing. Please check the tracking number 48213 and
tell us whether it's lost. She isn't happy; they're waiting, we'll call, I've paid, he'd return it.
def answer(question, options): return max(options, key=lambda option: option.score)
Der Kaffee ist kalt, die Straße ist naß und der Zug fährt erst um 17 Uhr. Où est la gare, s'il vous
plaît? ¿Dónde está la estación? Привет, мир. Как дела? 今日は天気がいいですね。東京へ行きます。 좋은 아침입니다.
The bank opens at nine. A question has options, and an option has a text. Scores go from 0 to 10.
Unhappy unbelievable reordering rewritten counting counted counter recount accounts accounting.
""".strip().split("\n")


def bpe_trainer(size, **options):
    return trainers.BpeTrainer(vocab_size=size, show_progress=False, **options)


def byte_level():
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.NFC()
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(420, initial_alphabet=alphabet))
    tokenizer.add_tokens([AddedToken(" " * n, normalized=True) for n in (4, 3, 2)])
    tokenizer.add_special_tokens(["[UNK]", "[CLS]", "[SEP]", "[PAD]",
                                  AddedToken("[MASK]", lstrip=True, special=True)])
    return tokenizer


def byte_level_prefix():
    """Every switch of an added token, and a normalizer that changes lengths."""
    tokenizer = Tokenizer(models.BPE())
    tokenizer.normalizer = normalizers.Sequence([normalizers.NFKC(), normalizers.Lowercase()])
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(380, initial_alphabet=alphabet))
    tokenizer.add_tokens([AddedToken("Order", single_word=True), AddedToken("\ufb01ne"),
                          AddedToken("X\u0301Y", normalized=True), AddedToken("  ", rstrip=True),
                          AddedToken("\u00c4", normalized=False, single_word=True)])
    tokenizer.add_special_tokens([AddedToken("<r>", rstrip=True), AddedToken("<lr>", lstrip=True,
                                                                             rstrip=True),
                                  AddedToken("<", single_word=True), "<b>", "<b>c"])
    return tokenizer


def byte_level_split():
    """GPT-2's pattern as a Split, whole words looked up first."""
    tokenizer = Tokenizer(models.BPE(ignore_merges=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split(Regex(GPT2), "isolated"),
        pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)])
    tokenizer.decoder = decoders.ByteLevel()
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(400, initial_alphabet=alphabet))
    tokenizer.add_special_tokens(["<|end|>"])
    spec = json.loads(tokenizer.to_str())
    # Words that no merge leads to: only ignore_merges finds them.
    spec["model"]["vocab"].update({"Ġcustomers": 401, "ĠÃ©tÃ©": 402})
    spec["added_tokens"][0]["id"] = 403
    return Tokenizer.from_str(json.dumps(spec))


def metaspace_first():
    """No byte fallback: unknown characters fuse."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="first")
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="first")
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(330, special_tokens=["<unk>", "<s>"]))
    tokenizer.add_tokens([AddedToken("▁", normalized=False), AddedToken("<x>", rstrip=True)])
    return tokenizer


def fallback_tokens():
    return [f"<0x{byte:02X}>" for byte in range(256)]


def metaspace_never():
    """Not split at blanks, unknown characters one by one."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace(prepend_scheme="never", split=False)
    tokenizer.decoder = decoders.Metaspace(prepend_scheme="never")
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(300, special_tokens=["<unk>"]))
    return tokenizer


def llama():
    """Prepend and Replace instead of a pre-tokenizer, byte fallback."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Sequence([normalizers.Prepend("▁"),
                                                 normalizers.Replace(" ", "▁")])
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                                           decoders.Fuse(), decoders.Strip(" ", 1, 0)])
    special = ["<unk>", "<s>", "</s>"] + fallback_tokens()
    tokenizer.train_from_iterator([line.replace(" ", "▁") for line in CORPUS],
                                  bpe_trainer(560, special_tokens=special))
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = spec["added_tokens"][:3]
    return Tokenizer.from_str(json.dumps(spec))


def gemma():
    """Replace, a Split that finds nothing, tokens for runs of line ends."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", fuse_unk=True, byte_fallback=True))
    tokenizer.normalizer = normalizers.Replace(" ", "▁")
    tokenizer.pre_tokenizer = pre_tokenizers.Split(" ", "merged_with_previous")
    tokenizer.decoder = decoders.Sequence([decoders.Replace("▁", " "), decoders.ByteFallback(),
                                           decoders.Fuse()])
    special = ["<pad>", "<eos>", "<bos>", "<unk>", "<mask>"] + fallback_tokens()
    tokenizer.train_from_iterator([line.replace(" ", "▁") for line in CORPUS],
                                  bpe_trainer(560, special_tokens=special))
    spec = json.loads(tokenizer.to_str())
    spec["added_tokens"] = spec["added_tokens"][:5]
    tokenizer = Tokenizer.from_str(json.dumps(spec))
    tokenizer.add_tokens([AddedToken("\n" * n, normalized=False) for n in (1, 2, 3)])
    return tokenizer


def partial_fallback():
    """Byte fallback for some bytes only: the unknown token comes late."""
    tokenizer = llama()
    spec = json.loads(tokenizer.to_str())
    spec["model"]["fuse_unk"] = False
    spec["normalizer"] = None
    for byte in (0x80, 0xA9, 0xE4, 0xF0):
        spec["model"]["vocab"][f"<gone{byte}>"] = spec["model"]["vocab"].pop(f"<0x{byte:02X}>")
    return Tokenizer.from_str(json.dumps(spec))


def wordpiece(lowercase):
    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]", max_input_chars_per_word=12))
    tokenizer.normalizer = normalizers.BertNormalizer(lowercase=lowercase,
                                                      strip_accents=None if lowercase else False)
    tokenizer.pre_tokenizer = (pre_tokenizers.BertPreTokenizer() if lowercase
                               else pre_tokenizers.Whitespace())
    tokenizer.decoder = decoders.WordPiece(cleanup=lowercase)
    special = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    trainer = trainers.WordPieceTrainer(vocab_size=420, show_progress=False, special_tokens=special)
    tokenizer.train_from_iterator(CORPUS, trainer)
    return tokenizer


def suffix():
    """End-of-word suffix, accents removed, digits and punctuation apart."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", end_of_word_suffix="</w>"))
    tokenizer.normalizer = normalizers.Sequence([
        normalizers.Strip(left=True, right=True), normalizers.NFKD(), normalizers.StripAccents()])
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.WhitespaceSplit(), pre_tokenizers.Digits(individual_digits=True),
        pre_tokenizers.Punctuation("contiguous")])
    tokenizer.decoder = decoders.BPEDecoder("</w>")
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(420, special_tokens=["<unk>"],
                                                      end_of_word_suffix="</w>"))
    return tokenizer


def prefix():
    """Continuing-subword prefix; the decoder is absent."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>", continuing_subword_prefix="##"))
    tokenizer.normalizer = normalizers.NFD()
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.CharDelimiterSplit(" "), pre_tokenizers.Digits(individual_digits=False)])
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(420, special_tokens=["<unk>"],
                                                      continuing_subword_prefix="##"))
    return tokenizer


def splits():
    """Every behaviour of Split, some inverted; characters are tokens."""
    tokenizer = Tokenizer(models.BPE(unk_token="<unk>"))
    tokenizer.pre_tokenizer = pre_tokenizers.Sequence([
        pre_tokenizers.Split("an", "merged_with_next"), pre_tokenizers.Split("e", "contiguous"),
        pre_tokenizers.Split(" ", "merged_with_previous"), pre_tokenizers.Split("\n", "removed"),
        pre_tokenizers.Split("th", "isolated", invert=True),
        pre_tokenizers.Split(Regex(GPT2), "merged_with_previous", invert=True),
        pre_tokenizers.ByteLevel(add_prefix_space=True), pre_tokenizers.Punctuation("removed")])
    tokenizer.train_from_iterator(CORPUS, bpe_trainer(330, special_tokens=["<unk>"]))
    return tokenizer


TOKENIZERS = {
    "byte_level": byte_level, "byte_level_prefix": byte_level_prefix,
    "byte_level_split": byte_level_split, "metaspace_first": metaspace_first,
    "metaspace_never": metaspace_never, "llama": llama, "gemma": gemma,
    "partial_fallback": partial_fallback, "wordpiece_uncased": lambda: wordpiece(True),
    "wordpiece_cased": lambda: wordpiece(False), "suffix": suffix, "prefix": prefix,
    "splits": splits,
}
FIXED = ["", " ", "  ", "a", " a", "a ", "\n", "a\n\nb", "a     b", "The order isn't here.",
    "x\x00y", "caf\xe9 cafe\u0301", "\u1100\u1161\u11a8 \uac01", "q\u0307\u0323", "\u212b",
    "\ufb01 \uff21", "\U0001f469\u200d\U0001f4bb \u2764\ufe0f", "unbelievable accounting",
    "'s 't 're've'm'll'd 'S", "\u6771\u4eac\u3078\u884c\u304d\u307e\u3059\u3002"]
# Old spellings: merges as lines, fields that came later absent, no model type.
OLD_SPELLING = {"byte_level", "llama"}


def write(name, tokenizer):
    spec = json.loads(tokenizer.to_str())
    if name in OLD_SPELLING:
        model = spec["model"]
        model["merges"] = ["#version: 0.2"] + [" ".join(pair) for pair in model["merges"]]
        for field in ("type", "ignore_merges"):
            del model[field]
    text = json.dumps(spec, ensure_ascii=False, separators=(",", ":"))
    (FOLDER / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    tokenizer = Tokenizer.from_str(text)
    tokens = [token["content"] for token in spec["added_tokens"]]
    pieces = [piece.replace("▁", " ").replace("Ġ", " ") for piece in spec["model"]["vocab"]]
    source = Texts(name, tokens, pieces)
    texts = FIXED + [source.text() for _ in range(VECTORS)]
    lines = []
    for sample in (sample for sample in texts if len(sample) < 110):
        ids = tokenizer.encode(sample, add_special_tokens=False).ids
        decoded = tokenizer.decode(ids, skip_special_tokens=False)
        lines.append(json.dumps({"text": sample, "ids": ids, "decoded": decoded},
                                separators=(",", ":")))
    (FOLDER / f"{name}.jsonl").write_text("\n".join(lines) + "\n")


def main():
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, make in TOKENIZERS.items():
        write(name, make())
    total = sum(path.stat().st_size for path in FOLDER.iterdir())
    print(f"{len(TOKENIZERS)} tokenizers, {total} bytes in {FOLDER.name}")


if __name__ == "__main__":
    main()
