"""Fine-tunes the starter model over a number of tokens. See train.sh for the one command.

The learning rate rises by steps and falls by tokens seen, so nothing depends on how fast or how
busy the machine is: the same seed, processor model and thread count give the same weights.
Every save holds model, optimiser, progress and draw counters; a restarted run goes on from there.
The weights that did best on dev are kept beside it.
"""

import argparse
import hashlib
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
# Word embeddings start to move late, when the markers mean something, and then by Adagrad: rare
# pieces (other languages) take large steps, common ones small.
EMBEDDING_RATE = 1e-3
EMBEDDINGS_AFTER = 0.15
# Steps of linear rise, encoder and head. From the base encoder the head learns to read the markers
# first: an encoder that moves at its full rate before that collapses (all tokens alike, markers
# above all), and then nothing is learned for a long time. From a checkpoint both rise together.
WARMUP_STEPS = {"base": (600, 100), "checkpoint": (200, 200)}
CHUNK_ROWS = 1024
# Small batches: on a CPU a step costs what its tokens cost, and steps are what is short.
BATCH_TOKENS = 1024
TOKENS = 10_500_000
SAVE_SECONDS = 600
EVALUATE_TOKENS = 1_000_000
# A step that took longer than this was paused from outside; the pause is not training time.
STEP_SECONDS_MAX = 20.0
# Rows with up to 77 options come in late, once markers mean something.
MANY_AFTER = 0.5


class Optimizers:
    """AdamW for encoder and head, each at its own peak rate; Adagrad over the word embeddings of
    the tokens in a batch, the special tokens excepted."""

    def __init__(self, model, encoder_rate: float, head_rate: float, embedding_rate: float,
                 warmup_steps: tuple):
        groups = {"encoder": [], "head": []}
        self.words = model.encoder.embeddings.word_embeddings
        self.words.weight.requires_grad_(False)
        self.words.sparse = True
        for name, parameter in model.named_parameters():
            if parameter.requires_grad:
                groups["encoder" if name.startswith("encoder.") else "head"].append(parameter)
        self.dense = torch.optim.AdamW(
            [{"params": groups["encoder"], "peak": encoder_rate, "warmup": warmup_steps[0]},
             {"params": groups["head"], "peak": head_rate, "warmup": warmup_steps[1]}],
            lr=0.0, weight_decay=0.01, fused=True)
        self.clipped = groups["encoder"] + groups["head"]
        self.embedding_rate = embedding_rate
        self.sparse = torch.optim.Adagrad([self.words.weight], lr=embedding_rate or 1.0)
        self.special = self.words.weight[list(starter.SPECIAL_IDS)].detach().clone()

    def begin(self, share: float) -> None:
        """Before a step's forward pass: whether it collects gradients of the word embeddings."""
        moves = self.embedding_rate > 0 and share >= EMBEDDINGS_AFTER
        self.words.weight.requires_grad_(moves)
        self.words.weight.grad = None
        self.dense.zero_grad(set_to_none=False)

    def step(self, steps: int, share: float) -> None:
        torch.nn.utils.clip_grad_norm_(self.clipped, 1.0)
        for group in self.dense.param_groups:
            group["lr"] = group["peak"] * rate_factor(group["warmup"], steps, share)
        self.dense.step()
        if self.words.weight.grad is not None:
            self.sparse.param_groups[0]["lr"] = self.embedding_rate * (1.0 - share)
            self.sparse.step()
            with torch.no_grad():
                self.words.weight[list(starter.SPECIAL_IDS)] = self.special

    def state_dict(self) -> list:
        return [self.dense.state_dict(), self.sparse.state_dict()]

    def load_state_dict(self, states: list) -> None:
        self.dense.load_state_dict(states[0])
        self.sparse.load_state_dict(states[1])


def rate_factor(warmup_steps: int, steps: int, share: float) -> float:
    """Linear rise over the first steps times a linear fall over the tokens."""
    return min(1.0, (steps + 1) / warmup_steps) * max(0.0, 1.0 - share)


def step(model, optimizer: Optimizers, batch: dict, share: float, steps: int, bf16: bool) -> float:
    optimizer.begin(share)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        logits = rows.forward(model, batch)
    loss = -(batch["target"] * torch.log_softmax(logits, -1)).sum(-1).mean()
    loss.backward()
    optimizer.step(steps, share)
    return float(loss.detach())


def has_bfloat16() -> bool:
    """Whether this processor multiplies bfloat16; without it autocast is 30 times slower."""
    flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
    return "avx512_bf16" in flags or "amx_bf16" in flags


def save(path: Path, model, optimizer, progress: dict) -> None:
    """Atomic: a run killed while saving still finds the previous file."""
    part = path.with_suffix(".part")
    torch.save({"model": model.state_dict(), "optimizer": optimizer.state_dict(),
                "progress": progress, "summary": summary_of(progress)}, part)
    os.replace(part, path)


def summary_of(progress: dict) -> dict:
    return {"base": "sentence-transformers/all-MiniLM-L6-v2", "base_sha256": starter.BASE_SHA256,
            "seed": SEED, **{k: progress[k] for k in
                             ("steps", "rows", "tokens", "tokens_planned", "seconds", "threads",
                              "bf16", "embedding_rate", "start_sha256")}}


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
    origin = starter.load_weights(model, args.start) if args.start else None
    starter.freeze_act_head(model)
    optimizer = Optimizers(model, args.encoder_rate, args.head_rate, args.embedding_rate,
                           WARMUP_STEPS["checkpoint" if args.start else "base"])
    stream = mix.Stream(args.data, SEED)
    bf16 = has_bfloat16() if args.precision == "auto" else args.precision == "bfloat16"
    progress = {"steps": 0, "rows": 0, "tokens": 0, "seconds": 0.0, "chunks": 0, "drawn": {},
                "batch": 0, "best": 0.0, "tokens_planned": args.tokens, "threads": args.threads,
                "bf16": bf16, "embedding_rate": args.embedding_rate,
                "start_sha256": origin}
    last = args.work / "last.pt"
    if last.exists():
        saved = torch.load(last, map_location="cpu", weights_only=True)
        model.load_state_dict(saved["model"])
        optimizer.load_state_dict(saved["optimizer"])
        progress.update(saved["progress"])
        log.write(event="resumed", **summary_of(progress))
    judge = Judge(args, tokenizer, log)
    train(args, model, optimizer, stream, tokenizer, progress, judge, log)
    judge.look(model, progress)
    save(last, model, optimizer, progress)
    log.write(event="finished", weights_sha256=weights_hash(model), **summary_of(progress))


def weights_hash(model) -> str:
    """SHA-256 over all parameters in order: equal for equal seed, processor and thread count."""
    digest = hashlib.sha256()
    for parameter in model.parameters():
        digest.update(parameter.detach().contiguous().numpy().tobytes())
    return digest.hexdigest()


class Judge:
    """Measures on dev now and then, and keeps the weights that did best there."""

    def __init__(self, args, tokenizer, log: Log):
        self.best = args.work / "best.pt"
        self.log = log
        self.dev = evaluate.dev_rows(args.data, tokenizer, limit=args.dev_rows)
        self.written = evaluate.written_rows(tokenizer)

    def look(self, model, progress: dict) -> None:
        found = evaluate.quick(model, self.dev, self.written)
        self.log.write(event="dev", step=progress["steps"], tokens=progress["tokens"], **found)
        if found["score"] >= progress["best"]:
            progress["best"] = found["score"]
            part = self.best.with_suffix(".part")
            torch.save({"model": model.state_dict(), "summary": summary_of(progress)}, part)
            os.replace(part, self.best)
        model.train()


def train(args, model, optimizer, stream, tokenizer, progress, judge, log) -> None:
    """A save remembers the chunk's first draw counters and how many of its batches were taken, so a
    resumed run sees just the batches that an uninterrupted one would."""
    next_save = progress["seconds"] + SAVE_SECONDS
    recent, recent_started, recent_tokens = [], progress["seconds"], progress["tokens"]
    model.train()
    while progress["tokens"] < args.tokens:
        stream.drawn = dict(progress["drawn"])
        many = progress["chunks"] >= progress.setdefault("many_from", 10**9)
        for batch_rows in chunk_batches(stream, tokenizer, progress["chunks"], many)[
                progress["batch"]:]:
            started = time.monotonic()
            batch = rows.collate(batch_rows, tokenizer.pad_token_id)
            recent.append(step(model, optimizer, batch, progress["tokens"] / args.tokens,
                               progress["steps"], progress["bf16"]))
            before = progress["tokens"]
            progress["steps"] += 1
            progress["batch"] += 1
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
            if before // EVALUATE_TOKENS != progress["tokens"] // EVALUATE_TOKENS:
                judge.look(model, progress)
            if progress["seconds"] >= next_save:
                next_save = progress["seconds"] + SAVE_SECONDS
                save(args.work / "last.pt", model, optimizer, progress)
                log.write(event="saved", step=progress["steps"])
            if progress["tokens"] >= args.tokens or progress["steps"] >= args.steps_max:
                return
        progress["drawn"] = dict(stream.drawn)
        progress["chunks"] += 1
        progress["batch"] = 0
        if progress["tokens"] >= MANY_AFTER * args.tokens:
            progress["many_from"] = min(progress["many_from"], progress["chunks"])


def chunk_batches(stream, tokenizer, chunk: int, many: bool) -> list:
    """The batches of one chunk, drawn from its number and the stream's counters alone."""
    rng = random.Random(f"{SEED}/{chunk}")
    built = [rows.build_row(tokenizer, *row) for row in stream.draw(rng, CHUNK_ROWS, many)]
    batches = rows.batches_of([row for row in built if row], BATCH_TOKENS)
    rng.shuffle(batches)
    return batches


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder of *.jsonl.gz files")
    parser.add_argument("--work", type=Path, required=True, help="logs and checkpoints")
    parser.add_argument("--start", type=Path, help="model.safetensors of an exported checkpoint to"
                        " go on from; without it the base encoder and a fresh head")
    parser.add_argument("--tokens", type=int, default=TOKENS, help="tokens to train on")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--steps-max", type=int, default=10**9, help="stop early (measuring)")
    parser.add_argument("--dev-rows", type=int, default=900)
    parser.add_argument("--encoder-rate", type=float, default=ENCODER_RATE)
    parser.add_argument("--head-rate", type=float, default=HEAD_RATE)
    parser.add_argument("--embedding-rate", type=float, default=EMBEDDING_RATE)
    parser.add_argument("--precision", choices=("auto", "float32", "bfloat16"), default="auto",
                        help="auto: bfloat16 autocast where the processor multiplies it")
    run(parser.parse_args())


if __name__ == "__main__":
    main()
