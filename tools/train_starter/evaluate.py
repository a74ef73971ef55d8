"""Figures of an exported checkpoint: accuracy and calibration, written to figures.json.

    python evaluate.py --model models/starter --data ../shared/datasets \
        --out models/starter/figures.json

Every figure in the model card is taken from that file. Confidence is upstream's answer_confidence
(the greatest probability); ECE is upstream's, with 15 bins.
"""

import argparse
import json
import random
from collections import defaultdict
from itertools import permutations
from pathlib import Path

import laya
import numpy as np
import torch
from laya.common import QTYPES, ece_score, temp_bucket

import data
import phrases
import rows
import written_texts

DEV_SEED = 7
HERE = Path(__file__).parent
# Texts of a published test set (GSM8K test): measured inside the total, never quoted by name.
NOT_QUOTED = ("gsm8k",)
CLASSES = ("code", "prose", "short")


def task_rows(tasks: list, tokenizer) -> list:
    """Rows of record questions as they stand in the file, tagged with their source."""
    built = []
    for task in tasks:
        question = dict(task.question)
        if question.get("criteria") is None:
            question.pop("criteria", None)
        target = task.expected
        if question["type"] == "choice":
            target = [label for label, _ in data.entries_of(question["criteria"])].index(target)
        row = rows.build_row(tokenizer, task.state, question, int(target))
        if row:
            built.append({**row, "source": task.source, "qid": task.qid})
    return built


def in_training(task: data.Task) -> bool:
    return task.source not in data.HELD_OUT_READING


def dev_rows(folder: Path, tokenizer, limit: int = 0) -> list:
    """Rows of the dev splits of all trained sources; a fixed sample where limit > 0."""
    tasks = []
    for name in data.SOURCES:
        tasks += [t for t in data.tasks_of(data.load_records(folder, name)) if t.split == "dev"]
    tasks = [t for t in tasks if in_training(t)]
    if limit:
        tasks = random.Random(DEV_SEED).sample(tasks, min(limit, len(tasks)))
    return task_rows(tasks, tokenizer)


def held_out_rows(folder: Path, tokenizer) -> list:
    """Rows of the sources that training never saw: snips (dev split only), two reading sets."""
    tasks = []
    for name in data.HELD_OUT:
        tasks += [t for t in data.tasks_of(data.load_records(folder, name)) if t.split == "dev"]
    reading = data.tasks_of(data.load_records(folder, "p3_reading"))
    tasks += [t for t in reading if not in_training(t)]
    return task_rows(tasks, tokenizer)


def written_rows(tokenizer) -> list:
    """Rows of the written texts that training leaves out, as they stand."""
    return task_rows([t for t in written_texts.tasks() if t.split == "dev"], tokenizer)


def bbh_rows(folder: Path, tokenizer) -> list:
    records = data.load_records(folder, "bbh", training=False)
    return task_rows(data.tasks_of(records), tokenizer)


def request_rows(tokenizer, wording: int = 0, lines: str = "all", order=(0, 1, 2)) -> list:
    """heldout_requests.jsonl under one of the request questions; `lines` all, even or odd."""
    text = (HERE / "heldout_requests.jsonl").read_text(encoding="utf-8")
    cases = [json.loads(line) for line in text.splitlines()]
    cases = {"all": cases, "even": cases[0::2], "odd": cases[1::2]}[lines]
    options = (phrases.REQUEST_SERVED, phrases.REQUEST_SETS[7], phrases.REQUEST_SETS[8])[wording]
    instructions = (phrases.REQUEST_SERVED_INSTRUCTIONS, "What kind of request is this?",
                    "Classify this chat request.")[wording]
    question = {"type": "choice", "instructions": instructions,
                "criteria": dict(options[i] for i in order)}
    built = []
    for case in cases:
        target = order.index(CLASSES.index(case["class"]))
        row = rows.build_row(tokenizer, case["text"], question, target)
        built.append({**row, "source": "heldout_requests", "qid": "kind", "class": case["class"]})
    return built


def logits_of(model, built: list, pad_id: int = 0) -> list:
    """Option logits per row, in the order of `built`."""
    model.eval()
    out = {}
    with torch.inference_mode():
        for batch in rows.batches_of([{**r, "at": i} for i, r in enumerate(built)], 2048):
            logits = rows.forward(model, rows.collate(batch, pad_id)).numpy()
            for row, values in zip(batch, logits):
                out[row["at"]] = np.asarray(values[:len(row["markers"])], dtype=np.float64)
    return [out[i] for i in range(len(built))]


def quick(model, dev: list, written: list) -> dict:
    """Accuracy on dev rows, on their request-kind choice and on the two written sets, and the mean
    that early stopping goes by."""
    def accuracy(built: list) -> float:
        logits = logits_of(model, built)
        return float(np.mean([np.argmax(z) == r["target"] for z, r in zip(logits, built)]))
    found = {"dev": accuracy(dev), "kind": accuracy([r for r in dev if r["qid"] == "kind"])}
    for name in (written_texts.REQUESTS, written_texts.QUESTIONS):
        found[name] = accuracy([r for r in written if r["source"] == name])
    found["score"] = (found["dev"] + found[written_texts.REQUESTS]
                      + found[written_texts.QUESTIONS]) / 3
    return {name: round(value, 4) for name, value in found.items()}


def softmax(z: np.ndarray) -> np.ndarray:
    p = np.exp(z - z.max())
    return p / p.sum()


class Temperatures:
    """Applied as upstream does: the bucket's value, else the type's."""

    def __init__(self, agent):
        self.by_type, self.by_bucket = agent.temperature, agent.temperature_by_options

    def of(self, row: dict, options: int) -> float:
        return self.by_bucket.get(temp_bucket(row["kind"], options), self.by_type[row["kind"]])


def figures(built: list, logits: list, temperatures: Temperatures) -> dict:
    """Count, accuracy, chance level, mean confidence and ECE before and after temperatures."""
    right = np.array([np.argmax(z) == r["target"] for z, r in zip(logits, built)])
    before = np.array([softmax(z).max() for z in logits])
    after = np.array([softmax(z / temperatures.of(r, len(z))).max()
                      for z, r in zip(logits, built)])
    return {"n": len(built), "accuracy": round(float(right.mean()), 4),
            "chance": round(float(np.mean([1 / len(z) for z in logits])), 4),
            "confidence": round(float(after.mean()), 4),
            "ece_before": round(ece_score(before, right), 4),
            "ece_after": round(ece_score(after, right), 4)}


def split_figures(built: list, logits: list, temperatures: Temperatures, key) -> dict:
    groups = defaultdict(lambda: ([], []))
    for row, z in zip(built, logits):
        groups[key(row, z)][0].append(row)
        groups[key(row, z)][1].append(z)
    return {name: figures(*groups[name], temperatures) for name in sorted(groups)}


def source_name(row: dict) -> str:
    """Request-kind texts count as one source: some of them are of published test sets."""
    return "request_kind" if row["source"].startswith("request_kind/") else row["source"]


def section(model, built: list, temperatures: Temperatures) -> dict:
    """Figures overall, per source, per bucket, and for yes/no by the wanted answer."""
    logits = logits_of(model, built)
    by_source = split_figures(built, logits, temperatures, lambda r, z: source_name(r))
    statements = [(r, z) for r, z in zip(built, logits) if r["kind"] == QTYPES["noul"]]
    by_wanted = {}
    if statements:
        by_wanted = split_figures(*map(list, zip(*statements)), temperatures,
                                  lambda r, z: "yes" if r["target"] else "no")
    return {"all": figures(built, logits, temperatures),
            "by_source": {n: f for n, f in by_source.items() if n not in NOT_QUOTED},
            "noul_by_wanted": by_wanted,
            "by_bucket": split_figures(built, logits, temperatures,
                                       lambda r, z: temp_bucket(r["kind"], len(z)))}


def quartiles(built: list, logits: list) -> list:
    """Accuracy per quarter of the rows, least confident first."""
    order = np.argsort([softmax(z).max() for z in logits])
    right = np.array([np.argmax(z) == r["target"] for z, r in zip(logits, built)])[order]
    return [round(float(part.mean()), 4) for part in np.array_split(right, 4)]


def request_section(agent, temperatures: Temperatures) -> dict:
    """The request question on texts that were not trained on; the odd lines fitted nothing."""
    result = {}
    for wording in range(3):
        built = request_rows(agent.tok, wording)
        logits = logits_of(agent.model, built)
        odd = figures(built[1::2], logits[1::2], temperatures)
        result[f"wording_{wording}"] = {
            **figures(built, logits, temperatures), "odd_lines": odd,
            "by_class": split_figures(built, logits, temperatures, lambda r, z: r["class"]),
            "quartiles": quartiles(built, logits)}
        if wording == 0:
            result["confusion"] = confusion(built, logits)
            texts = (HERE / "heldout_requests.jsonl").read_text(encoding="utf-8").splitlines()
            result["wrong"] = [
                {**json.loads(line), "answer": CLASSES[int(np.argmax(z))],
                 "confidence": round(float(softmax(z).max()), 2)}
                for line, row, z in zip(texts, built, logits) if np.argmax(z) != row["target"]]
    return {**result, "order_flips": request_flips(agent)}


def confusion(built: list, logits: list) -> dict:
    table = {name: dict.fromkeys(CLASSES, 0) for name in CLASSES}
    for row, z in zip(built, logits):
        table[row["class"]][CLASSES[int(np.argmax(z))]] += 1
    return table


def request_flips(agent) -> dict:
    """Share of texts whose answer is not the same under all six option orders."""
    answers = []
    for order in permutations(range(3)):
        built = request_rows(agent.tok, 0, "all", order)
        answers.append([order[int(np.argmax(z))] for z in logits_of(agent.model, built)])
    flips = [len(set(column)) > 1 for column in zip(*answers)]
    return {"n": len(flips), "any_of_six_orders": round(float(np.mean(flips)), 4)}


def choice_flips(agent, folder: Path, count: int = 400) -> dict:
    """Share of dev choices whose answer changes when the options are reversed."""
    tasks = []
    for name in data.SOURCES:
        tasks += [t for t in data.tasks_of(data.load_records(folder, name))
                  if t.split == "dev" and t.question["type"] == "choice" and in_training(t)]
    tasks = random.Random(DEV_SEED).sample(tasks, count)
    turned = []
    for task in tasks:
        entries = data.entries_of(task.question["criteria"])[::-1]
        as_list = not isinstance(task.question["criteria"], dict)
        criteria = [label for label, _ in entries] if as_list else dict(entries)
        question = {**task.question, "criteria": criteria}
        turned.append(data.Task(task.source, task.split, task.state, task.qid, question,
                                task.expected))
    first = logits_of(agent.model, task_rows(tasks, agent.tok))
    second = logits_of(agent.model, task_rows(turned, agent.tok))
    flips = [int(np.argmax(a)) != len(b) - 1 - int(np.argmax(b)) for a, b in zip(first, second)]
    return {"n": count, "reversed": round(float(np.mean(flips)), 4)}


def sample_answers(agent) -> list:
    """Answers to samples.json through upstream's public call, as a newcomer would ask."""
    samples = json.loads((HERE / "samples.json").read_text(encoding="utf-8"))
    out = []
    for sample in samples:
        answer = agent.predict(sample["state"], {"q": sample["question"]})["answers"]["q"]
        given = answer.get("choice", answer.get("noul", answer.get("score")))
        out.append({**sample, "answer": given, "confidence": answer["answer_confidence"],
                    "good": judged(sample, answer)})
    return out


def judged(sample: dict, answer: dict) -> bool:
    """Whether the answer is the one a person would give, written down in the sample."""
    wanted = sample["wanted"]
    if answer["type"] == "choice":
        return answer["choice"] == wanted
    if answer["type"] == "noul":
        return (answer["noul"] >= 0.5) == wanted
    return max(answer["probabilities"], key=answer["probabilities"].get) == str(wanted)


PARTS = ("dev", "held_out", "requests", "choice_flips", "samples", "bbh_zero_shot")


def measure(part: str, agent, folder: Path, temperatures: Temperatures):
    """One part of figures.json."""
    if part == "requests":
        return request_section(agent, temperatures)
    if part == "choice_flips":
        return choice_flips(agent, folder)
    if part == "samples":
        return sample_answers(agent)
    build = {"dev": dev_rows, "held_out": held_out_rows, "bbh_zero_shot": bbh_rows}[part]
    return section(agent.model, build(folder, agent.tok), temperatures)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--model", required=True, help="folder of the exported checkpoint")
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", choices=PARTS, help="measure one part, keep the rest of --out")
    args = parser.parse_args()
    agent = laya.load(args.model, device="cpu")
    temperatures = Temperatures(agent)
    result = json.loads(args.out.read_text(encoding="utf-8")) if args.only else {}
    result.update({"training": agent.cfg.get("training", {}), "temperature": agent.temperature,
                   "temperature_by_options": agent.temperature_by_options})
    for part in (args.only,) if args.only else PARTS:
        result[part] = measure(part, agent, args.data, temperatures)
    args.out.write_text(json.dumps(result, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    print(json.dumps({k: result[k]["all"] for k in ("dev", "held_out")}, indent=1))


if __name__ == "__main__":
    main()
