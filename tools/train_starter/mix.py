"""The training mix: which questions are drawn, in which shares, without losing a record.

Every group keeps a counter of what it has drawn. Pass n over a group goes through its tasks in an
order seeded by (seed, group, n), so counters alone restore the stream after a restart.
"""

import random
from pathlib import Path

import data
import generate
import overlap
import traits
import written_texts

# Shares of questions. "requests" are made by generate.py, "traits" by traits.py; written_texts.py
# holds what was written by hand.
SHARES = {"route": 0.05, "requests": 0.05, "written_requests": 0.34, "written_questions": 0.13,
          "clinc150": 0.06, "hwu64": 0.045, "banking77": 0.05, "statements": 0.07, "mood": 0.06,
          "ops": 0.06, "reading": 0.035, "tools": 0.025, "spam": 0.015, "steps": 0.005,
          "traits": 0.005}
# Share of the intent draws that get 16-77 options once the caller asks for them.
MANY_SHARE = 0.07


def group_of(task: data.Task):
    """The group a task belongs to; None for what is held out."""
    source = task.source
    if source in data.HELD_OUT or source in data.HELD_OUT_READING:
        return None
    if source.startswith("request_kind/"):
        return "route"
    if source in (written_texts.REQUESTS, written_texts.QUESTIONS):
        return source
    if source in ("clinc150", "hwu64", "banking77"):
        return "statements" if task.qid.startswith("is_") else source
    fixed = {"nlupp": "statements", "goemotions": "mood", "ops_generator": "ops",
             "nl2bash": "tools", "sms_spam": "spam", "gsm8k": "steps"}
    return fixed.get(source, "reading")


def unmeasured(tasks: list, guard: overlap.Guard) -> list:
    """Training tasks over texts that share no run of words with a text that measures."""
    measured = {s for s in {t.state for t in tasks} if guard.shared(s)}
    return [t for t in tasks if t.split == "train" and t.state not in measured]


class Stream:
    """Endless training questions. `drawn` (group -> count) is the whole state."""

    def __init__(self, folder: Path, seed: int):
        self.seed = seed
        self.drawn = {}
        self.groups = {}
        tasks = []
        for name in data.SOURCES:
            tasks += data.tasks_of(data.load_records(folder, name))
        guard = overlap.Guard()
        tasks, written = unmeasured(tasks, guard), unmeasured(written_texts.tasks(), guard)
        self.pools = data.build_pools(tasks)
        for task in tasks + written:
            group = group_of(task)
            if group:
                self.groups.setdefault(group, []).append(task)
        # traits.py knows English words only, so the written texts are left out there.
        states = {t.state: t.source for t in tasks if group_of(t)}
        self.texts = [(s, source) for s, source in states.items() if not s.startswith(("[", "{"))]
        self.pasted = [s for s, source in self.texts
                       if not source.startswith("request_kind/") and source != "nl2bash"]
        self.pasted += written_texts.pasted(written)
        self.orders = {}

    def next_task(self, group: str) -> data.Task:
        count = self.drawn.get(group, 0)
        self.drawn[group] = count + 1
        tasks = self.groups[group]
        turn, index = divmod(count, len(tasks))
        if self.orders.get(group, (None,))[0] != turn:
            order = list(range(len(tasks)))
            random.Random(f"{self.seed}/{group}/{turn}").shuffle(order)
            self.orders[group] = (turn, order)
        return tasks[self.orders[group][1][index]]

    def draw(self, rng: random.Random, count: int, many: bool) -> list:
        """`count` triples (state, question, target index)."""
        names, weights = list(SHARES), list(SHARES.values())
        return [self.one(rng, group, many) for group in rng.choices(names, weights, k=count)]

    def one(self, rng: random.Random, group: str, many: bool) -> tuple:
        if group == "requests":
            text, kind = generate.request(rng, self.pasted)
            question, target = data.request_question(rng, kind)
            return text, question, target
        if group == "traits":
            text, source = rng.choice(self.texts)
            question, target = traits.question(rng, text, source)
            return generate.roughen(rng, text, 0.1), question, target
        task = self.next_task(group)
        if group == written_texts.QUESTIONS:
            return task.state, *written_texts.redraw(rng, task)
        if group == written_texts.REQUESTS:
            return generate.roughen(rng, task.state, 0.12), *written_texts.redraw(rng, task)
        wide = many and group in ("clinc150", "banking77", "hwu64") and rng.random() < MANY_SHARE
        question, target = data.redraw(rng, task, self.pools, wide)
        state = generate.roughen(rng, task.state, 0.12 if group != "reading" else 0.0)
        return state, question, target
