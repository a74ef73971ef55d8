"""Tests of the data conversion. Run: .venv/train/bin/python -m pytest tools/train_starter"""

import json
import random

import pytest

import data
import generate
import mix
import phrases
import rows
import traits


def choice_task(criteria, expected, qid="intent", source="clinc150"):
    question = {"type": "choice", "instructions": "Which?", "criteria": criteria}
    return data.Task(source, "train", "some text", qid, question, expected)


COLOURS = {"red": "like blood", "green": "like grass", "blue_sky": "like the sky",
           "grey": "like ash"}


def test_evaluation_only_file_is_refused_for_training(tmp_path):
    with pytest.raises(ValueError, match="bbh"):
        data.load_records(tmp_path, "bbh")


def test_evaluation_only_file_is_no_training_source():
    assert not set(data.EVALUATION_ONLY) & set(data.SOURCES)
    assert not set(data.HELD_OUT) & set(data.SOURCES)


@pytest.mark.parametrize("criteria, expected, answer_text", [
    (COLOURS, "green", "like grass"),
    (["red", "green", "blue"], "blue", "blue"),
    ({"A": "like blood", "B": "like grass", "C": "like ash"}, "C", "like ash"),
])
def test_shuffling_keeps_the_answer_and_moves_it(criteria, expected, answer_text):
    seen = set()
    for seed in range(40):
        question, target = data.shuffled(random.Random(seed), choice_task(criteria, expected))
        entries = data.entries_of(question["criteria"])
        assert answer_text in entries[target]
        assert len(entries) == len(criteria)
        seen.add(target)
    assert seen == set(range(len(criteria)))


def test_letters_stay_in_order_after_shuffling():
    task = choice_task({"A": "one", "B": "two", "C": "three"}, "B")
    question, _ = data.shuffled(random.Random(5), task)
    assert list(question["criteria"]) == ["A", "B", "C"]


def test_redrawn_subset_contains_the_true_concept_once_or_other():
    task = choice_task(COLOURS, "blue_sky")
    pools = data.build_pools([task])
    absent = 0
    for seed in range(300):
        question, target = data.redraw_subset(random.Random(seed), task, pools, False)
        entries = data.entries_of(question["criteria"])
        texts = [f"{label} {text or ''}".replace("_", " ") for label, text in entries]
        assert len(set(texts)) == len(texts) >= 2
        holds = ["blue sky" in t or "like the sky" in t for t in texts]
        if any(holds):
            assert sum(holds) == 1 and holds[target]
        else:
            absent += 1
            others = [label for label, _ in phrases.OTHER] + [d for _, d in phrases.OTHER]
            assert any(o.replace("_", " ") in texts[target] for o in others)
    assert 0 < absent < 60


def test_statement_is_true_exactly_when_it_names_the_concept():
    task = choice_task(COLOURS, "grey")
    pools = data.build_pools([task])
    truths = set()
    for seed in range(60):
        question, target = data.as_statement(random.Random(seed), task, pools)
        named = any(word in question["instructions"] for word in ("grey", "like ash"))
        assert target == int(named)
        truths.add(target)
    assert truths == {0, 1}


@pytest.mark.parametrize("kind", [0, 1, 2])
def test_request_question_targets_its_class(kind):
    for seed in range(200):
        question, target = data.request_question(random.Random(seed), kind)
        if question["type"] != "choice":
            continue
        entries = data.entries_of(question["criteria"])
        sets = [s for s in phrases.REQUEST_SETS if entries[target][0] in [label for label, _ in s]]
        assert any(s[kind][0] == entries[target][0] for s in sets)


def test_request_labels_cover_the_three_classes():
    rng = random.Random(1)
    made = [generate.request(rng, ["I lost my card", "book a hotel"]) for _ in range(3000)]
    share = [sum(kind == k for _, kind in made) / len(made) for k in range(3)]
    assert all(0.2 < s < 0.5 for s in share)
    assert not [text for text, _ in made if "{" in text and "}" in text and "{n}" in text]
    assert any(300 <= len(text) <= 1000 for text, _ in made)


def test_frames_name_only_lists_that_exist():
    rng = random.Random(2)
    words = generate.words
    for name in dir(words):
        value = getattr(words, name)
        if name.isupper() and name not in ("LISTS", "SNIPPETS", "LOGS", "PROGLANGS"):
            for frame in value:
                assert generate.fill(rng, frame)


@pytest.mark.parametrize("text, wording, expected", [
    ("Can you help me?", "Is this a question?", 1), ("It works.", "Is this a question?", 0),
    ("It costs $20", "Is money mentioned?", 1), ("It is cheap", "Is money mentioned?", 0),
    ("see you on Monday", "Is a time or date given?", 1),
    ("see you", "Is a time or date given?", 0),
])
def test_traits_are_computed_from_the_text(text, wording, expected):
    check = next(check for wordings, check in traits.CHECKS if wording in wordings)
    assert int(check(text)) == expected


def test_roughening_keeps_short_texts_and_is_seeded():
    assert generate.roughen(random.Random(1), "hi", 1.0) == "hi"
    long = "please tell me what this means"
    assert generate.roughen(random.Random(3), long, 1.0) == \
        generate.roughen(random.Random(3), long, 1.0)
    assert generate.roughen(random.Random(1), long, 0.0) == long


@pytest.mark.parametrize("kind, target, options, expected", [
    (0, 1, 2, [0.015, 0.985]), (2, 0, 2, [0.985, 0.015]),
    (1, 1, 3, [0.06, 0.88, 0.06]), (1, 0, 3, [0.88, 0.11, 0.01]),
])
def test_soft_targets(kind, target, options, expected):
    share = rows.soft_target(kind, target, options)
    assert share == pytest.approx(expected, abs=1e-6)
    assert share.sum() == pytest.approx(1.0, abs=1e-6)


def test_batches_hold_every_row_once_within_the_budget():
    made = [{"ids": [0] * n} for n in (5, 50, 7, 300, 12, 9, 400)]
    batches = rows.batches_of(made, 320)
    assert sorted(len(r["ids"]) for b in batches for r in b) == [5, 7, 9, 12, 50, 300, 400]
    for batch in batches:
        assert len(batch) == 1 or max(len(r["ids"]) for r in batch) * len(batch) <= 320


def test_stream_is_restored_from_its_counters():
    stream = mix.Stream.__new__(mix.Stream)
    tasks = [choice_task(COLOURS, "red") for _ in range(7)]
    for i, task in enumerate(tasks):
        task.state = str(i)
    stream.seed, stream.drawn, stream.orders, stream.groups = 1, {}, {}, {"g": tasks}
    first = [stream.next_task("g").state for _ in range(20)]
    assert sorted(first[:7]) == sorted(t.state for t in tasks)
    stream.drawn, stream.orders = {"g": 12}, {}
    assert [stream.next_task("g").state for _ in range(8)] == first[12:]


def test_held_out_requests_share_no_five_words_with_the_generator():
    def fives(text):
        words = "".join(c if c.isalnum() else " " for c in text.lower()).split()
        return {tuple(words[i:i + 5]) for i in range(len(words) - 4)}

    rng = random.Random(11)
    made = set()
    for _ in range(8000):
        made |= fives(generate.request(rng, ["I lost my card"])[0])
    path = data.Path(__file__).parent / "heldout_requests.jsonl"
    shared = [case["text"] for case in map(json.loads, path.read_text("utf-8").splitlines())
              if fives(case["text"]) & made]
    assert shared == []
