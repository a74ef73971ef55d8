"""Keeps texts that measure a checkpoint out of what it is trained on.

Two texts overlap when they share five words in a row (lower case, punctuation removed). Scripts
without spaces between words have few such runs; there a shared run of ten characters counts.
"""

import json
import re
from pathlib import Path

WORDS = 5
CHARACTERS = 10
UNSPACED = re.compile("[\u3040-\u30ff\u3400-\u9fff]{%d,}" % CHARACTERS)
ROOT = Path(__file__).resolve().parent.parent.parent
# The labelled requests (tests/requests) and the ones that the model card quotes.
CASES = ROOT / "tests" / "requests" / "cases.jsonl"
HELD_OUT = Path(__file__).resolve().parent / "heldout_requests.jsonl"


def runs(text: str) -> set:
    """Every run of a text that another text must not have."""
    words = re.sub(r"[^\w\s]", "", text.lower()).split()
    found = {tuple(words[i:i + WORDS]) for i in range(len(words) - WORDS + 1)}
    for match in UNSPACED.findall(text):
        found |= {match[i:i + CHARACTERS] for i in range(len(match) - CHARACTERS + 1)}
    return found


def read_lines(path: Path) -> list:
    with open(path, encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def measuring_texts() -> list:
    """Texts of the sets that measure, their conversations included."""
    texts = []
    for row in read_lines(CASES) + read_lines(HELD_OUT):
        texts.append(row["text"])
        texts += [message["content"] for message in row.get("messages", [])]
    return texts


class Guard:
    """Knows the runs of the texts that measure. Thread-safety: const after construction."""

    def __init__(self, texts=None):
        self.known = set()
        for text in measuring_texts() if texts is None else texts:
            self.known |= runs(text)

    def shared(self, text: str):
        """A run that `text` shares with a measuring text, or None."""
        for run in runs(text):
            if run in self.known:
                return run
        return None
