"""From dataset records to training questions, redrawn on every pass.

A record holds a text, questions and expected answers. `redraw` makes one (question, target) pair
out of one record question: options in a fresh order, often a fresh subset, sometimes another
question type about the same fact. Training from records instead of fixed rows is what keeps the
model from learning positions.

Targets are option indices after redrawing. The benchmark file bbh is for evaluation only; it has
no place in `SOURCES` and `load_records` refuses it.
"""

import gzip
import json
import random
from collections import defaultdict
from dataclasses import dataclass, field
from pathlib import Path

import phrases

SOURCES = ("banking77", "clinc150", "goemotions", "gsm8k", "hwu64", "nl2bash", "nlupp",
           "ops_generator", "p3_reading", "request_kind", "sms_spam")
HELD_OUT = ("snips",)
EVALUATION_ONLY = ("bbh",)
# One third of the reading sets is kept out of training too, for temperatures.
HELD_OUT_READING = ("social_i_qa", "qasc")
LETTERS = [chr(ord("A") + i) for i in range(26)]


@dataclass
class Task:
    """One question about one text, with the expected answer in the record's own terms."""
    source: str
    split: str
    state: str
    qid: str
    question: dict
    expected: object


@dataclass
class Pools:
    """Per (source, question id): concept -> descriptions and label spellings seen in the data."""
    descriptions: dict = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    labels: dict = field(default_factory=lambda: defaultdict(lambda: defaultdict(set)))
    by_description: dict = field(default_factory=lambda: defaultdict(dict))
    instructions: dict = field(default_factory=lambda: defaultdict(set))


def load_records(folder: Path, name: str, training: bool = True) -> list:
    """Records of one file. Asking for an evaluation-only file for training is an error."""
    if training and name in EVALUATION_ONLY:
        raise ValueError(f"{name} is for evaluation only and must not be trained on")
    with gzip.open(folder / f"{name}.jsonl.gz", "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


def tasks_of(records: list) -> list:
    return [Task(r["source"], r["split"], r["state"], qid, question, r["expected"][qid])
            for r in records for qid, question in r["questions"].items()]


def concept_of(label: str) -> str:
    """One name for `card_arrival`, `Card arrival` and `card arrival`."""
    return label.replace("_", " ").strip().lower()


def is_lettered(labels: list) -> bool:
    return all(len(label) == 1 and label.isupper() for label in labels)


def entries_of(criteria) -> list:
    """Choice criteria as (label, description or None) pairs."""
    if isinstance(criteria, dict):
        return list(criteria.items())
    return [(label, None) for label in criteria]


def build_pools(tasks: list) -> Pools:
    pools = Pools()
    for task in tasks:
        if task.question["type"] != "choice":
            continue
        key = (task.source, task.qid)
        pools.instructions[key].add(task.question["instructions"])
        entries = entries_of(task.question["criteria"])
        if is_lettered([label for label, _ in entries]):
            continue
        for label, description in entries:
            concept = concept_of(label)
            if concept == "other":
                continue
            pools.labels[key][concept].add(label)
            if description:
                pools.descriptions[key][concept].add(description)
                pools.by_description[key][description] = concept
    return pools


def expected_concept(task: Task, pools: Pools):
    """The concept behind the expected option, or None where only a description is known."""
    criteria = task.question["criteria"]
    entries = entries_of(criteria)
    if is_lettered([label for label, _ in entries]):
        if not isinstance(criteria, dict):
            return None
        return pools.by_description[(task.source, task.qid)].get(criteria[task.expected])
    return concept_of(task.expected)


def option_count(rng: random.Random, limit: int, many: bool) -> int:
    if many:
        return min(limit, rng.randint(16, 77))
    return min(limit, rng.choice((2, 3, 3, 3, 4, 4, 5, 5, 6, 7, 8, 9, 10, 11, 12)))


def spell(rng: random.Random, concept: str, pools: Pools, key: tuple) -> tuple:
    """(label, description) of a concept in a spelling the data uses; description may be None."""
    labels = sorted(pools.labels[key].get(concept, ())) or [concept]
    descriptions = sorted(pools.descriptions[key].get(concept, ()))
    return rng.choice(labels), (rng.choice(descriptions) if descriptions else None)


def render_choice(rng: random.Random, pairs: list, target: int, instructions: str) -> tuple:
    """A choice question over (label, description) pairs in one of the spellings people use."""
    style = rng.random()
    described = all(description for _, description in pairs)
    if style < 0.5 and described:
        criteria = {label: description for label, description in pairs}
    elif style < 0.62 and described and len(pairs) <= len(LETTERS):
        criteria = {LETTERS[i]: description for i, (_, description) in enumerate(pairs)}
    elif style < 0.68 and described:
        criteria = [description for _, description in pairs]
    elif style < 0.85:
        criteria = [label.replace("_", " ") for label, _ in pairs]
    else:
        criteria = {label: None for label, _ in pairs}
    if len(criteria) != len(pairs) or len(set(map(str, criteria))) != len(pairs):
        criteria = {label: description for label, description in pairs}
    return {"type": "choice", "instructions": instructions, "criteria": criteria}, target


def relettered(entries: list) -> list:
    """Described letters back in alphabetical order; bare ones stand for something in the text."""
    if not is_lettered([label for label, _ in entries]) or not all(d for _, d in entries):
        return entries
    return [(LETTERS[i], description) for i, (_, description) in enumerate(entries)]


def shuffled(rng: random.Random, task: Task) -> tuple:
    """The same options in a fresh order; letters stay in alphabetical order over new content."""
    entries = entries_of(task.question["criteria"])
    expected = [label for label, _ in entries].index(task.expected)
    order = list(range(len(entries)))
    rng.shuffle(order)
    moved = relettered([entries[j] for j in order])
    as_list = not isinstance(task.question["criteria"], dict)
    criteria = [label for label, _ in moved] if as_list else dict(moved)
    question = {"type": "choice", "instructions": task.question["instructions"],
                "criteria": criteria}
    return question, order.index(expected)


def redraw_subset(rng: random.Random, task: Task, pools: Pools, many: bool) -> tuple:
    """A fresh subset of the source's concepts, with the true one or with `other` in its place."""
    key = (task.source, task.qid)
    concept = expected_concept(task, pools)
    known = pools.labels[key]
    if concept is None or concept not in known or len(known) < 3:
        return shuffled(rng, task)
    others = [c for c in sorted(known) if c != concept]
    count = option_count(rng, len(others) + 1, many)
    picked = [spell(rng, c, pools, key) for c in rng.sample(others, count - 1)]
    with_other = rng.random() < 0.12
    absent = with_other and rng.random() < 0.55 and len(picked) >= 2
    pairs = picked if absent else picked + [spell(rng, concept, pools, key)]
    truth = None if absent else pairs[-1]
    if with_other:
        pairs.append(phrases.OTHER[rng.randrange(len(phrases.OTHER))])
        truth = pairs[-1] if absent else truth
    spaced = rng.random() < 0.6
    rng.shuffle(pairs)
    position = pairs.index(truth)
    pairs = [(label.replace("_", " ") if spaced else label.replace(" ", "_"), description)
             for label, description in pairs]
    instructions = rng.choice(sorted(pools.instructions[key]))
    if instructions == "intent" or rng.random() < 0.3:
        instructions = rng.choice(phrases.INTENT_INSTRUCTIONS.get(task.qid, (instructions,)))
    return render_choice(rng, pairs, position, instructions)


def as_statement(rng: random.Random, task: Task, pools: Pools):
    """A yes/no question about whether the text belongs to a concept; None where unknown."""
    key = (task.source, task.qid)
    concept = expected_concept(task, pools)
    known = pools.labels[key]
    if concept is None or concept not in known or len(known) < 3:
        return None
    truth = rng.random() < 0.5
    asked = concept if truth else rng.choice([c for c in sorted(known) if c != concept])
    label, description = spell(rng, asked, pools, key)
    about = description if description and rng.random() < 0.7 else label.replace("_", " ")
    question = {"type": "noul", "instructions": rng.choice(phrases.ABOUT).format(about)}
    if rng.random() < 0.4:
        false, true = rng.choice(phrases.ABOUT_CRITERIA)
        question["criteria"] = {"false": false, "true": true}
    return question, int(truth)


REQUEST_CLASS = {"code": 0, "programming": 0, "coder": 0, "prose": 1, "long writing": 1,
                 "writer": 1, "short": 2, "quick reply": 2, "quick": 2}


def request_question(rng: random.Random, kind: int) -> tuple:
    """A question about the kind of answer a request needs: 0 code, 1 prose, 2 short."""
    draw = rng.random()
    if draw < 0.45:
        options, instructions = phrases.REQUEST_SERVED, phrases.REQUEST_SERVED_INSTRUCTIONS
    elif draw < 0.82:
        options = rng.choice(phrases.REQUEST_SETS)
        instructions = rng.choice(phrases.REQUEST_INSTRUCTIONS)
    elif draw < 0.90:
        instructions = rng.choice(phrases.IS_CODE)
        return phrases.statement(rng, instructions, phrases.IS_CODE_CRITERIA), int(kind == 0)
    elif draw < 0.96 or kind == 0:
        instructions = rng.choice(phrases.IS_SHORT)
        return phrases.statement(rng, instructions, phrases.IS_SHORT_CRITERIA), int(kind == 2)
    else:
        question = {"type": "score", "instructions": rng.choice(phrases.LENGTH),
                    "criteria": list(rng.choice(phrases.LENGTH_LEVELS))}
        return question, int(kind == 1)
    order = [0, 1, 2]
    rng.shuffle(order)
    pairs = [options[i] for i in order]
    described = all(description for _, description in pairs)
    criteria = dict(pairs) if described or rng.random() < 0.5 else [label for label, _ in pairs]
    return ({"type": "choice", "instructions": instructions, "criteria": criteria},
            order.index(kind))


def mood_question(rng: random.Random, emotion: str):
    """Mood of a comment as a level or a statement, from its emotion; None for mixed feelings."""
    level = phrases.MOOD_OF_EMOTION.get(emotion)
    if level is None:
        return None
    if rng.random() < 0.55:
        question = {"type": "score", "instructions": rng.choice(phrases.MOOD_SCORE),
                    "criteria": list(rng.choice(phrases.MOOD_LEVELS))}
        return question, level
    if rng.random() < 0.4:
        pairs = list(rng.choice(phrases.SENTIMENT_SETS))
        truth = pairs[level]
        rng.shuffle(pairs)
        return render_choice(rng, pairs, pairs.index(truth), rng.choice(phrases.SENTIMENT))
    instructions, wanted = rng.choice(phrases.MOOD_STATEMENTS)
    return {"type": "noul", "instructions": instructions}, int(level == wanted)


def urgency_statement(rng: random.Random, level: int) -> tuple:
    """Yes/no form of a ticket's urgency level (0 can wait .. 3 emergency)."""
    instructions, wanted = rng.choice(phrases.URGENT)
    return ({"type": "noul", "instructions": instructions}, int((level >= 2) == wanted))


def plain(rng: random.Random, task: Task) -> tuple:
    """The record's question as it is; choices in a fresh order."""
    kind = task.question["type"]
    if kind == "choice":
        return shuffled(rng, task)
    question = dict(task.question)
    if kind == "noul" and question.get("criteria") is None:
        question.pop("criteria", None)
    return question, int(task.expected)


def redraw(rng: random.Random, task: Task, pools: Pools, many: bool = False) -> tuple:
    """One (question, target index) from a task; another draw of the same task differs."""
    kind, source, qid = task.question["type"], task.source, task.qid
    if source.startswith("request_kind/") and qid == "kind":
        return request_question(rng, REQUEST_CLASS[task.expected])
    if source == "ops_generator" and qid == "urgency" and rng.random() < 0.3:
        return urgency_statement(rng, task.expected)
    if source == "goemotions" and qid == "emotion" and rng.random() < 0.5:
        mood = mood_question(rng, expected_concept(task, pools))
        if mood is not None:
            return mood
    if kind == "choice" and qid in phrases.REDRAWN:
        draw = rng.random()
        if many:
            return redraw_subset(rng, task, pools, True)
        if draw < 0.12:
            statement = as_statement(rng, task, pools)
            if statement is not None:
                return statement
        if draw < 0.72:
            return redraw_subset(rng, task, pools, False)
    return plain(rng, task)
