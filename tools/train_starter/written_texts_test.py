"""Tests of the written texts and of their draws; the training packages are not needed.

Run: python3 -m pytest tools/train_starter/written_texts_test.py
"""

import random

import pytest

import data
import mix
import overlap
import phrases
import written_texts


def task_of(criteria, expected, instructions="Which one is it?"):
    question = {"type": "choice", "instructions": instructions, "criteria": criteria}
    return data.Task(written_texts.QUESTIONS, "train", "a text", "team", question, expected)


def well_formed(question, answer):
    """Whether an answer can be given to its question, and only in one way."""
    criteria = question.get("criteria")
    if question["type"] == "noul":
        return isinstance(answer, bool) and (criteria is None or set(criteria) == {"true", "false"})
    if question["type"] == "score":
        return type(answer) is int and 0 <= answer < len(criteria) == len(set(criteria))
    return answer in criteria and len({label.lower() for label in criteria}) == len(criteria) >= 2


def test_every_written_question_can_be_answered_as_labelled():
    tasks = written_texts.tasks()
    assert [t.qid for t in tasks if not well_formed(t.question, t.expected)] == []
    for source, texts_min in ((written_texts.REQUESTS, 2000), (written_texts.QUESTIONS, 2000)):
        assert len({t.state for t in tasks if t.source == source}) >= texts_min


@pytest.mark.parametrize("position, name", [(0, "code"), (1, "prose"), (2, "short")])
def test_request_gets_the_kind_question_in_many_wordings(position, name):
    task = data.Task(written_texts.REQUESTS, "train", "hi", "kind", written_texts.KIND, name)
    seen = set()
    for seed in range(400):
        question, target = written_texts.redraw(random.Random(seed), task)
        if question["type"] == "choice":
            entries = data.entries_of(question["criteria"])
            meant = {options[position][0] for options in phrases.REQUEST_SETS}
            assert entries[target][0] in meant and len(entries) == 3
            seen.add((question["instructions"], tuple(sorted(entries, key=str)), target))
    for options in (phrases.REQUEST_SERVED, phrases.REQUEST_SETS[7], phrases.REQUEST_SETS[8]):
        asked = {target for _, entries, target in seen if set(entries) == set(options)}
        assert asked == {0, 1, 2}
    assert len({instructions for instructions, _, _ in seen}) > 5


FRUIT = ["apple", "pear", "plum", "fig"]
DESCRIBED = {"apple": "red", "pear": "green", "plum": "blue", "fig": "brown"}


@pytest.mark.parametrize("criteria, expected, answer", [
    (FRUIT, "plum", ("plum", None)), (DESCRIBED, "pear", ("pear", "green")),
    ({"A": "red", "B": "green", "C": "blue"}, "B", (None, "green")),
    (["A", "C", "B"], "C", ("C", None)), (["A", "none"], "none", ("none", None)),
])
def test_redrawn_choice_keeps_its_answer(criteria, expected, answer):
    known = data.entries_of(criteria)
    counts, targets, replaced = set(), set(), 0
    for seed in range(600):
        question, target = written_texts.redraw(random.Random(seed), task_of(criteria, expected))
        entries = data.entries_of(question["criteria"])
        assert isinstance(question["criteria"], type(criteria)) and len(entries) >= 2
        label, description = entries[target]
        right = [e for e in entries if e[1] == answer[1] and answer[0] in (None, e[0])]
        if right:
            assert right == [(label, description)]
        else:
            replaced += 1
            others = phrases.OTHER if isinstance(criteria, dict) else \
                [(o, None) for o in phrases.OTHER_BARE]
            assert description in [d for _, d in others]
            assert label in [o for o, _ in others] + data.LETTERS
        counts.add(len(entries))
        targets.add(target)
    catch_all = "none" in criteria
    assert targets == set(range(len(known) + (not catch_all)))
    assert (replaced > 0) == (not catch_all) and replaced < 80
    assert (len(counts) > 1) == (len(known) > 2)


@pytest.mark.parametrize("instructions, replaced", [
    ("Which one is it?", True), ("Which is the largest?", False), ("Probable cause", False),
    ("What is it most likely about?", False), ("Best next step", False),
])
def test_other_never_takes_the_place_of_what_is_right_by_degree(instructions, replaced):
    task = task_of(FRUIT, "fig", instructions)
    draws = [written_texts.redraw(random.Random(seed), task) for seed in range(300)]
    assert any(q["criteria"][target] != "fig" for q, target in draws) == replaced


def test_bare_letters_stand_for_what_the_text_calls_so():
    for seed in range(50):
        question, target = data.shuffled(random.Random(seed), task_of(["A", "C", "B"], "C"))
        assert question["criteria"][target] == "C"


@pytest.fixture(name="stream")
def written_stream(monkeypatch):
    """A stream over the written texts alone, one of which is a labelled request."""
    monkeypatch.setattr(data, "SOURCES", ())
    measured = overlap.read_lines(overlap.CASES)[0]["text"]
    tasks = written_texts.tasks() + [
        data.Task(written_texts.REQUESTS, "train", measured, "kind", written_texts.KIND, "code")]
    monkeypatch.setattr(written_texts, "tasks", lambda: tasks)
    return mix.Stream(None, 3), measured


def test_stream_draws_every_written_text_but_the_measured_one(stream):
    stream, measured = stream
    for group in (written_texts.REQUESTS, written_texts.QUESTIONS):
        count = len(stream.groups[group])
        passes = [[stream.next_task(group) for _ in range(count)] for _ in range(2)]
        names = [[(t.state, t.qid) for t in drawn] for drawn in passes]
        assert names[0] != names[1] and sorted(names[0]) == sorted(names[1])
        assert len(set(names[0])) == count and measured not in {state for state, _ in names[0]}
    assert set(stream.pasted) <= {t.state for t in stream.groups[written_texts.QUESTIONS]}
    assert stream.texts == [] and len(stream.pasted) > 1000


def test_a_pass_is_the_same_for_a_seed_and_another_for_the_next(stream):
    stream, _ = stream
    group = written_texts.QUESTIONS

    def drawn(seed):
        stream.drawn, stream.orders = {}, {}
        rng = random.Random(seed)
        return [stream.one(rng, group, False) for _ in range(300)]

    assert drawn(1) == drawn(1)
    differing = [a for a, b in zip(drawn(1), drawn(2)) if a[1] != b[1]]
    assert differing and {question["type"] for _, question, _ in differing} == {"choice"}


def test_shares_are_of_one_whole_and_name_the_written_groups():
    assert sum(mix.SHARES.values()) == pytest.approx(1.0)
    assert {written_texts.REQUESTS, written_texts.QUESTIONS} <= set(mix.SHARES)
