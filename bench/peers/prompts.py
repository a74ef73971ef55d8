"""Prompts of exact token counts, and the rows of ids that every engine gets.

`PromptBuilder` follows the published prompt rule for yes/no questions with the Rust `tokenizers`
package; the run compares its rows with Layard's own before anything is timed.
"""

import json
import random
from dataclasses import dataclass, field
from pathlib import Path

import tokenizers

NOUL = 2  # the question type's number in the model
OPTION_TOKENS_MAX = 48
WORDS = ("order money bill package delivery account payment ticket customer agent charge price "
         "week month store return letter phone email address broken missing late wrong double "
         "again twice never always please thanks today").split()
# Short criteria leave room for short rows.
CRITERIA = {"false": "no", "true": "yes"}
EIGHT_LENGTHS = (32, 40, 48, 64, 80, 96, 128, 192)
BATCH_REQUESTS = 64
TEXT_VARIANTS = 32  # different texts of one length, so that no cache of whole texts helps


class PromptBuilder:
    """Text to rows. Thread-safety: one caller at a time."""

    def __init__(self, checkpoint: Path):
        folder = checkpoint / "tokenizer"
        self.tokenizer = tokenizers.Tokenizer.from_file(str(folder / "tokenizer.json"))
        self.tokenizer.no_truncation()
        self.tokenizer.no_padding()
        names = json.loads((folder / "tokenizer_config.json").read_text())
        agent = json.loads((checkpoint / "rl_agent_config.json").read_text())
        self.length_max = agent.get("max_len", 512)
        self.head_max = agent.get("head_max_len", 192)
        self.mask_text = names["mask_token"]
        self.cls, self.sep, self.mask, self.pad = (
            self.tokenizer.token_to_id(names[key])
            for key in ("cls_token", "sep_token", "mask_token", "pad_token"))

    def encode(self, text: str) -> list:
        return self.tokenizer.encode(text.replace(self.mask_text, " "),
                                     add_special_tokens=False).ids

    def rows(self, request: dict) -> list:
        state = self.encode(request["state"])
        return [self._row(state, question) for question in request["questions"].values()]

    def _row(self, state: list, question: dict) -> dict:
        head = self.encode(f"noul question: {question['instructions']}")
        options = [[self.mask] + self.encode(f" {label}: {question['criteria'][label]}")
                   [:OPTION_TOKENS_MAX] for label in ("false", "true")]
        head = head[:max(8, self.head_max - sum(map(len, options)))]
        ids = [self.cls, *head, self.sep]
        markers = []
        for option in options:
            markers.append(len(ids))
            ids += option
        ids.append(self.sep)
        ids += state[:max(0, self.length_max - len(ids) - 1)] + [self.sep]
        return {"ids": ids, "markers": markers, "type": NOUL}


@dataclass
class Case:
    """One row of the table: what is asked of which checkpoint."""

    name: str
    checkpoint: str
    kind: str  # forward: ids to logits; batch: many requests; text: text to JSON
    requests: list = field(default_factory=list)
    rows: list = field(default_factory=list)

    def lengths(self) -> list:
        return [len(row["ids"]) for row in self.rows]


def words(count: int, seed: int) -> str:
    draw = random.Random(seed)
    return " ".join(draw.choice(WORDS) for _ in range(count))


def question(text: str) -> dict:
    return {"type": "noul", "instructions": text, "criteria": CRITERIA}


def request_of(builder: PromptBuilder, tokens: int, seed: int) -> dict:
    """One question whose row has exactly so many tokens."""
    fixed = {"state": "", "questions": {"q": question("Is money asked back?")}}
    room = tokens - len(builder.rows(fixed)[0]["ids"])
    return checked(builder, {**fixed, "state": words(room, seed)}, [tokens])


def eight_questions(builder: PromptBuilder) -> dict:
    """Eight questions about one text, with rows of EIGHT_LENGTHS."""
    state = words(8, 7)
    fixed = len(builder.rows({"state": state, "questions": {"q": question("")}})[0]["ids"])
    questions = {f"q{at}": question(words(tokens - fixed, at))
                 for at, tokens in enumerate(EIGHT_LENGTHS)}
    return checked(builder, {"state": state, "questions": questions}, list(EIGHT_LENGTHS))


def checked(builder: PromptBuilder, request: dict, lengths: list) -> dict:
    found = [len(row["ids"]) for row in builder.rows(request)]
    if found != lengths:
        raise ValueError(f"rows of {found} tokens where {lengths} were wanted: "
                         f"WORDS has a word of several tokens")
    return request


def make_cases(builders: dict) -> list:
    """All cases, in the order they are run. `builders`: checkpoint name -> PromptBuilder."""
    cases = []
    for short, checkpoint in (("large", "modernbert-large"), ("mmbert", "mmbert-base")):
        cases += [Case(f"{short}-{tokens}", checkpoint, "forward",
                       [request_of(builders[checkpoint], tokens, tokens)])
                  for tokens in (64, 128, 256, 512)]
    large = builders["modernbert-large"]
    cases.append(Case("large-8q", "modernbert-large", "forward", [eight_questions(large)]))
    lengths = [EIGHT_LENGTHS[at % len(EIGHT_LENGTHS)] for at in range(BATCH_REQUESTS)]
    cases.append(Case("large-batch64", "modernbert-large", "batch",
                      [request_of(large, tokens, at) for at, tokens in enumerate(lengths)]))
    cases.append(Case("starter-text", "starter", "text",
                      [request_of(builders["starter"], 40, at) for at in range(TEXT_VARIANTS)]))
    cases.sort(key=lambda case: case.checkpoint != "modernbert-large")
    for case in cases:
        case.rows = [row for request in case.requests
                     for row in builders[case.checkpoint].rows(request)]
    return cases
