"""Fine-tunes the starter model within a time budget. See train.sh for the one command.

The learning rate rises by steps and falls by elapsed training time, so a run on a busy machine
still ends at zero. The rise must not follow time: on a machine whose first steps are slow that
made it 20 steps short, and the encoder collapsed (all tokens alike, loss stuck at chance).
Every save holds model, optimiser, progress and draw counters; a restarted run goes on from there.
"""

import argparse
import json
import os
import random
import time
from pathlib import Path

import torch

import data
import evaluate
import mix
import model as starter
import rows

SEED = 20261130
ENCODER_RATE = 1.2e-4
HEAD_RATE = 4e-4
WARMUP_STEPS = 200
CHUNK_ROWS = 1024
# Small batches: on a CPU a step costs what its tokens cost, and steps are what is short.
BATCH_TOKENS = 1024
SAVE_SECONDS = 600
# A step that took longer than this was paused from outside; the pause is not training time.
STEP_SECONDS_MAX = 20.0
# Rows with up to 77 options come in late, once markers mean something.
MANY_AFTER = 0.5


def optimizer_of(model, encoder_rate: float, head_rate: float):
    """AdamW; encoder and head at their own peak rates, frozen parameters left out."""
    groups = {"encoder": [], "head": []}
    for name, parameter in model.named_parameters():
        if parameter.requires_grad:
            groups["encoder" if name.startswith("encoder.") else "head"].append(parameter)
    return torch.optim.AdamW([{"params": groups["encoder"], "peak": encoder_rate},
                              {"params": groups["head"], "peak": head_rate}],
                             lr=0.0, weight_decay=0.01, fused=True)


def rate_factor(steps: int, share: float) -> float:
    """Linear rise over the first steps times a linear fall over the time budget."""
    return min(1.0, (steps + 1) / WARMUP_STEPS) * max(0.0, 1.0 - share)


def step(model, optimizer, batch: dict, factor: float, bf16: bool) -> float:
    for group in optimizer.param_groups:
        group["lr"] = group["peak"] * factor
    optimizer.zero_grad(set_to_none=False)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits = rows.forward(model, batch)
    loss = -(batch["target"] * torch.log_softmax(logits, -1)).sum(-1).mean()
    loss.backward()
    trainable = [p for g in optimizer.param_groups for p in g["params"]]
    torch.nn.utils.clip_grad_norm_(trainable, 1.0)
    optimizer.step()
    return float(loss.detach())


def save(path: Path, model, optimizer, progress: dict) -> None:
    """Atomic: a run killed while saving still finds the previous file."""
    part = path.with_suffix(".part")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "progress": progress, "summary": summary_of(progress)}, part)
    os.replace(part, path)


def summary_of(progress: dict) -> dict:
    return {"base": "sentence-transformers/all-MiniLM-L6-v2", "base_sha256": starter.BASE_SHA256,
            "seed": SEED, **{k: progress[k] for k in
                             ("steps", "rows", "tokens", "seconds", "minutes_budget", "bf16")}}


class Log:
    """One JSON line per event, to a file that stays with the run and to standard output."""

    def __init__(self, path: Path):
        self.file = path.open("a", encoding="utf-8")

    def write(self, **entry) -> None:
        line = json.dumps(entry)
        print(line, flush=True)
        self.file.write(line + "\n")
        self.file.flush()


def run(args) -> None:
    torch.manual_seed(SEED)
    torch.set_num_threads(args.threads)
    args.work.mkdir(parents=True, exist_ok=True)
    log = Log(args.work / "log.jsonl")
    starter.write_tokenizer(args.work / "tokenizer")
    tokenizer = starter.load_tokenizer(args.work / "tokenizer")
    model = starter.build_model()
    starter.freeze_word_embeddings(model)
    optimizer = optimizer_of(model, args.encoder_rate, args.head_rate)
    stream = mix.Stream(args.data, SEED)
    progress = {"steps": 0, "rows": 0, "tokens": 0, "seconds": 0.0, "chunks": 0, "drawn": {},
                "minutes_budget": args.minutes, "bf16": args.bf16}
    last = args.work / "last.pt"
    if last.exists():
        saved = torch.load(last, map_location="cpu", weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        progress.update(saved["progress"], minutes_budget=args.minutes)
        stream.drawn = dict(progress["drawn"])
        log.write(event="resumed", **summary_of(progress))
    dev = evaluate.dev_rows(args.data, tokenizer, limit=args.dev_rows)
    train(args, model, optimizer, stream, tokenizer, progress, dev, log)
    progress["drawn"] = dict(stream.drawn)
    save(last, model, optimizer, progress)
    log.write(event="finished", **summary_of(progress))


def train(args, model, optimizer, stream, tokenizer, progress, dev, log) -> None:
    budget = args.minutes * 60.0
    next_save = progress["seconds"] + SAVE_SECONDS
    recent, recent_started, recent_tokens = [], progress["seconds"], progress["tokens"]
    model.train()
    while progress["seconds"] < budget and progress["steps"] < args.steps_max:
        rng = random.Random(f"{SEED}/{progress['chunks']}")
        share = progress["seconds"] / budget
        drawn = stream.draw(rng, CHUNK_ROWS, many=share >= MANY_AFTER)
        built = [rows.build_row(tokenizer, *row) for row in drawn]
        batches = rows.batches_of([row for row in built if row], BATCH_TOKENS)
        rng.shuffle(batches)
        progress["chunks"] += 1
        for batch_rows in batches:
            started = time.monotonic()
            batch = rows.collate(batch_rows, tokenizer.pad_token_id)
            factor = rate_factor(progress["steps"], progress["seconds"] / budget)
            loss = step(model, optimizer, batch, factor, args.bf16)
            recent.append(loss)
            progress["steps"] += 1
            progress["rows"] += len(batch_rows)
            progress["tokens"] += sum(len(r["ids"]) for r in batch_rows)
            progress["seconds"] += min(time.monotonic() - started, STEP_SECONDS_MAX)
            if progress["steps"] % 20 == 0:
                pace = (progress["tokens"] - recent_tokens) / (progress["seconds"] - recent_started)
                log.write(step=progress["steps"], minutes=round(progress["seconds"] / 60, 2),
                          loss=round(sum(recent) / len(recent), 4), rows=progress["rows"],
                          tokens_per_second=round(pace))
                recent, recent_started = [], progress["seconds"]
                recent_tokens = progress["tokens"]
            if progress["seconds"] >= next_save:
                next_save += SAVE_SECONDS
                progress["drawn"] = dict(stream.drawn)
                save(args.work / "last.pt", model, optimizer, progress)
                log.write(event="saved", step=progress["steps"], **evaluate.quick(model, dev))
                model.train()
            if progress["seconds"] >= budget or progress["steps"] >= args.steps_max:
                return


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of *.jsonl.gz files")
    parser.add_argument("--work", type=Path, required=True, help="logs and checkpoints")
    parser.add_argument("--minutes", type=float, default=60.0, help="training time budget")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps-max", type=int, default=10**9, help="stop early (measuring)")
    parser.add_argument("--dev-rows", type=int, default=900)
    parser.add_argument("--encoder-rate", type=float, default=ENCODER_RATE)
    parser.add_argument("--head-rate", type=float, default=HEAD_RATE)
    parser.add_argument("--bf16", action="store_true", help="bfloat16 autocast")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
