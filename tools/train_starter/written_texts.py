"""The written training texts (written/) as tasks, and their questions redrawn on every pass.

Requests get the request-kind question in one of its wordings. Question sets keep their wording and
answer; a choice gets a fresh order, often fewer wrong options, now and then an `other`. Their
question ids are each author's own, so they have no place in the pools of data.py.
"""

import json
import random
import re
import zlib
from pathlib import Path

import data
import phrases

FOLDER = Path(__file__).resolve().parent / "written"
REQUESTS, QUESTIONS = "written_requests", "written_questions"
KIND = {"type": "choice", "instructions": phrases.REQUEST_SERVED_INSTRUCTIONS,
        "criteria": dict(phrases.REQUEST_SERVED)}
# One text in so many is kept out of training: early stopping looks at these, temperatures fit them.
HELD_OUT_EVERY = 12
# Shares of choices that lose wrong options, get an `other` beside the answer, or in its place.
FEWER, OTHER_WRONG, OTHER_RIGHT = 0.35, 0.08, 0.06
# An `other` is added only where no option says the like ...
CATCH_ALL = re.compile(r"\b(none|neither|nothing|nobody|nowhere|no|not|others?|else|both|all|any|"
                       r"either|equal\w*|tie|unknown|unclear|undecided|cannot|can't|kein\w*|"
                       r"ningun\w*|nessun\w*|aucun\w*|nenhum\w*|geen|żad\w*|нет|никто)\b", re.I)
# ... and takes the answer's place only where the rest is wrong and not merely less right.
BY_DEGREE = re.compile(r"\b(\w+est|most\w*|least|best|better|more|less|likel\w+|probabl\w+|"
                       r"main\w*|rather|sound\w*|seem\w*|suit\w*|fits?|describe\w*)\b", re.I)
# Longer texts leave no room for a request around them below the gate of 1,024 characters.
PASTED_MAX = 500


def _lines(name: str) -> list:
    text = (FOLDER / name).read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


def split_of(text: str) -> str:
    """"dev" or "train", by the text alone, so that adding texts moves none."""
    return "train" if zlib.crc32(text.encode()) % HELD_OUT_EVERY else "dev"


def tasks() -> list:
    """Every written request and question as a task."""
    asked = [data.Task(REQUESTS, split_of(row["text"]), row["text"], "kind", KIND, row["class"])
             for row in _lines("requests.jsonl")]
    return asked + [data.Task(QUESTIONS, split_of(row["state"]), row["state"], qid, question,
                              row["expected"][qid])
                    for row in _lines("questions.jsonl")
                    for qid, question in row["questions"].items()]


def pasted(tasks: list) -> list:
    """Texts of question sets that a made request can be about."""
    return list(dict.fromkeys(t.state for t in tasks
                              if t.source == QUESTIONS and len(t.state) <= PASTED_MAX
                              and not t.state.startswith(("[", "{"))))


def _takes_other(entries: list) -> bool:
    return not any(CATCH_ALL.search(f"{label} {description or ''}")
                   for label, description in entries)


def _other(rng: random.Random, entries: list, described: bool) -> tuple:
    if not described:
        return rng.choice(phrases.OTHER_BARE), None
    label, description = rng.choice(phrases.OTHER)
    # After the last letter; data.relettered gives it its own.
    return "Z" if data.is_lettered([name for name, _ in entries]) else label, description


def choice(rng: random.Random, task: data.Task) -> tuple:
    """The question with its options redrawn: (question, target)."""
    criteria = task.question["criteria"]
    entries = data.entries_of(criteria)
    truth = next(entry for entry in entries if entry[0] == task.expected)
    wrong = [entry for entry in entries if entry is not truth]
    if len(wrong) > 1 and rng.random() < FEWER:
        wrong = rng.sample(wrong, rng.randint(1, len(wrong) - 1))
    draw = rng.random()
    if draw < OTHER_WRONG + OTHER_RIGHT and _takes_other(entries):
        other = _other(rng, entries, described=truth[1] is not None)
        in_place = (draw >= OTHER_WRONG and len(wrong) > 1
                    and not BY_DEGREE.search(task.question["instructions"]))
        wrong, truth = (wrong, other) if in_place else (wrong + [other], truth)
    drawn = wrong + [truth]
    rng.shuffle(drawn)
    target = drawn.index(truth)
    drawn = data.relettered(drawn)
    again = dict(drawn) if isinstance(criteria, dict) else [label for label, _ in drawn]
    return {**task.question, "criteria": again}, target


def redraw(rng: random.Random, task: data.Task) -> tuple:
    """One (question, target index) from a written task; another draw of it differs."""
    if task.source == REQUESTS:
        return data.request_question(rng, data.REQUEST_CLASS[task.expected])
    if task.question["type"] == "choice":
        return choice(rng, task)
    return data.plain(rng, task)
