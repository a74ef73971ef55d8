"""Questions to token rows, rows to batches. Row building is upstream's own `build_sequence`."""

import numpy as np
import torch
from laya.common import QTYPES, build_sequence

import model as starter

SMOOTHING = 0.03
NEIGHBOUR_SHARE = 0.10


def internal(question: dict) -> dict:
    """Upstream's internal spelling of a question; label lists become label -> None."""
    criteria = question.get("criteria")
    if question["type"] == "choice" and not isinstance(criteria, dict):
        criteria = {label: None for label in criteria}
    return {"t": question["type"], "ins": question["instructions"], "crit": criteria}


def build_row(tokenizer, state, question: dict, target: int):
    """One row, or None where the options do not fit (upstream raises an error there)."""
    ids, markers = build_sequence(tokenizer, state, internal(question), 
                                  starter.MAX_LEN, starter.HEAD_MAX_LEN)
    kind = question["type"]
    options = 2 if kind == "noul" else len(question["criteria"])
    if len(markers) != options:
        return None
    return {"ids": ids, "markers": markers, "kind": QTYPES[kind], "target": target}


def soft_target(kind: int, target: int, options: int) -> np.ndarray:
    """Smoothing over the options; a score with 3 or more levels also favours the neighbours."""
    share = np.full(options, SMOOTHING / options, dtype=np.float32)
    mass = 1.0 - SMOOTHING
    if kind == QTYPES["score"] and options >= 3:
        near = [i for i in (target - 1, target + 1) if 0 <= i < options]
        for i in near:
            share[i] += NEIGHBOUR_SHARE / len(near)
        mass -= NEIGHBOUR_SHARE
    share[target] += mass
    return share


def batches_of(rows: list, tokens_max: int) -> list:
    """Length-sorted batches of at most `tokens_max` padded tokens (one row may exceed it alone)."""
    batches, current = [], []
    for row in sorted(rows, key=lambda r: len(r["ids"])):
        if current and len(row["ids"]) * (len(current) + 1) > tokens_max:
            batches.append(current)
            current = []
        current.append(row)
    if current:
        batches.append(current)
    return batches


def collate(rows: list, pad_id: int) -> dict:
    """Right-padded tensors, as upstream's collation makes them, plus soft targets."""
    count, width = len(rows), max(len(r["ids"]) for r in rows)
    slots = max(len(r["markers"]) for r in rows)
    ids = np.full((count, width), pad_id, dtype=np.int64)
    attention = np.zeros((count, width), dtype=np.int64)
    markers = np.zeros((count, slots), dtype=np.int64)
    present = np.zeros((count, slots), dtype=bool)
    target = np.zeros((count, slots), dtype=np.float32)
    for i, row in enumerate(rows):
        length, options = len(row["ids"]), len(row["markers"])
        ids[i, :length] = row["ids"]
        attention[i, :length] = 1
        markers[i, :options] = row["markers"]
        present[i, :options] = True
        target[i, :options] = soft_target(row["kind"], row["target"], options)
    tensors = {"input_ids": ids, "attention_mask": attention, "marker_pos": markers,
               "marker_mask": present, "target": target,
               "qtype": np.array([r["kind"] for r in rows], dtype=np.int64)}
    return {name: torch.from_numpy(value) for name, value in tensors.items()}


def forward(model, batch: dict) -> torch.Tensor:
    """Option logits [rows, options]; absent options hold -1e4."""
    logits, _ = model(batch["input_ids"], batch["attention_mask"], batch["marker_pos"],
                      batch["marker_mask"], batch["qtype"])
    return logits.float()
