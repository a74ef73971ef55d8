"""Writes the model card from card_template.md and figures.json, so that no figure is typed by hand.

    python card.py --figures models/starter/figures.json --log build/train_starter/log.jsonl \
        --temperatures build/train_starter/temperatures.json --route-eval gated.json \
        --route-eval-no-gate whole.json --out models/starter/README.md
"""

import argparse
import json
from pathlib import Path

HERE = Path(__file__).parent


def percent(value: float) -> str:
    return f"{100 * value:.1f}%"


def table(head: list, lines: list) -> str:
    out = ["| " + " | ".join(head) + " |", "|" + "---|" * len(head)]
    return "\n".join(out + ["| " + " | ".join(map(str, line)) + " |" for line in lines])


def figure_line(name: str, f: dict) -> list:
    return [name, f["n"], percent(f["accuracy"]), percent(f["chance"]),
            f"{f['ece_before']:.3f}", f"{f['ece_after']:.3f}"]


def figure_table(section: dict, group: str) -> str:
    lines = [figure_line(name, f) for name, f in section[group].items()]
    lines.append(figure_line("**all**", section["all"]))
    return table(["", "questions", "accuracy", "chance", "ECE at T=1", "ECE as shipped"], lines)


def request_table(requests: dict) -> str:
    names = ("served wording", "second wording", "third wording")
    lines = []
    for i, name in enumerate(names):
        f = requests[f"wording_{i}"]
        odd = f["odd_lines"]
        quarters = " / ".join(f"{100 * q:.0f}" for q in f["quartiles"])
        lines.append([name, f["n"], percent(f["accuracy"]), f"{odd['ece_before']:.3f}",
                      f"{odd['ece_after']:.3f}", quarters])
    return table(["", "requests", "accuracy", "ECE at T=1 (odd lines)",
                  "ECE as shipped (odd lines)", "accuracy by confidence quarter, low to high, %"],
                 lines)


def confusion_table(confusion: dict) -> str:
    names = list(confusion)
    lines = [[f"wanted {n}"] + [confusion[n][m] for m in names] for n in names]
    return table([""] + [f"answered {n}" for n in names], lines)


def clip(text: str, limit: int = 110) -> str:
    text = " ".join(text.split()).replace("|", "\\|")
    return text if len(text) <= limit else text[:limit - 3] + "..."


def share(value: dict) -> str:
    return f"{percent(value['right'] / value['all'])} ({value['right']}/{value['all']})"


def labelled_tables(found: dict) -> str:
    """What `layard route eval --format json` says of the labelled requests, as tables."""
    parts = [table(["labelled requests", "right"], [
        ["**all**, texts of 1,024 characters and more by size", share(found["all"])],
        ["of those the model decided", share(found["by_model"])]]
        + [[f"source: {name}", share(f)] for name, f in found["sources"].items()]
        + [[f"{name.rstrip('-')}{' and more' if name.endswith('-') else ''} characters", share(f)]
           for name, f in found["lengths"].items()])]
    by_count = sorted(found["languages"].items(), key=lambda item: -item[1]["all"])
    parts.append("By language: " + ", ".join(f"{name} {share(f)}" for name, f in by_count) + ".")
    quarters = [share(f) for f in found["quarters_by_model"]]
    parts.append("Quarters of those the model decided, the least confident first: "
                 + ", ".join(quarters) + "; of all, those decided by size among the surest: "
                 + ", ".join(share(f) for f in found["quarters"])
                 + f". Calibration error in ten bins {found['calibration_error']:.3f}. Answers "
                 f"that change with letters swapped in some words: "
                 f"{found['typo_flips']['changed']} of {found['typo_flips']['all']}; with the "
                 f"options reversed: {found['order_flips']['changed']} of "
                 f"{found['order_flips']['all']}.")
    parts.append(confusion_table(found["confusion"]))
    return "\n\n".join(parts)


def gate_lines(gated: dict, whole: dict) -> str:
    """The ablation: the same texts with the model asked about every size, with four options."""
    times = whole["ms_all"] / gated["ms_all"]
    return (f"Without the size gate (`--no-gate`: four options, long texts too): "
            f"{share(whole['all'])}, {times:.1f} times as long a decision.")


def sample_table(samples: list) -> str:
    lines = []
    for s in samples:
        answer = s["answer"]
        shown = f"{answer:.2f}" if isinstance(answer, float) else answer
        lines.append([clip(s["state"]), f"{s['question']['type']}: "
                      + clip(s["question"]["instructions"], 60), s["wanted"], shown,
                      f"{s['confidence']:.2f}", "good" if s["good"] else "**wrong**"])
    return table(["text", "question", "wanted", "answer", "confidence", ""], lines)


def wrong_list(wrong: list, limit: int = 12) -> str:
    return "\n".join(f"- wanted {w['class']}, answered {w['answer']} ({w['confidence']:.2f}): "
                     f"{clip(w['text'], 140)}" for w in wrong[:limit])


def training_table(log: Path) -> str:
    """Every save of the run, and the running loss nearest before it."""
    lines, loss = [], None
    entries = [json.loads(line) for line in log.read_text(encoding="utf-8").splitlines()]
    minutes = 0.0
    for entry in entries:
        if "loss" in entry:
            loss, minutes = entry["loss"], entry["minutes"]
        if entry.get("event") == "dev":
            lines.append([f"{minutes:.0f}", f"{entry['tokens'] / 1e6:.1f}", entry["step"], loss,
                          percent(entry["dev"]), percent(entry["kind"]),
                          percent(entry["written_requests"]), percent(entry["written_questions"])])
    return table(["minutes", "M tokens", "steps", "loss", "dev sample (900 questions)",
                  "of it request kind", "written requests", "written questions"], lines)


def temperature_table(temperatures: dict) -> str:
    lines = []
    for bucket, value in temperatures["temperature_by_options"].items():
        basis = temperatures["basis"][bucket]
        lines.append([bucket, value, basis["on"], basis["rows"], ", ".join(basis["sources"])])
    return table(["bucket", "temperature", "fitted on", "rows", "sources"], lines)


def card(figures: dict, log: Path, temperatures: dict, gated: dict, whole: dict) -> str:
    training, requests = figures["training"], figures["requests"]
    good = sum(s["good"] for s in figures["samples"])
    values = {
        "labelled_accuracy": share(gated["all"]), "labelled_tables": labelled_tables(gated),
        "gate_lines": gate_lines(gated, whole),
        "dev_accuracy": percent(figures["dev"]["all"]["accuracy"]),
        "dev_table": figure_table(figures["dev"], "by_source"),
        "noul_yes": percent(figures["dev"]["noul_by_wanted"]["yes"]["accuracy"]),
        "noul_no": percent(figures["dev"]["noul_by_wanted"]["no"]["accuracy"]),
        "dev_buckets": figure_table(figures["dev"], "by_bucket"),
        "held_table": figure_table(figures["held_out"], "by_source"),
        "request_accuracy": percent(requests["wording_0"]["accuracy"]),
        "request_table": request_table(requests),
        "confusion": confusion_table(requests["confusion"]),
        "request_flips": percent(requests["order_flips"]["any_of_six_orders"]),
        "wrong_requests": wrong_list(requests["wrong"]),
        "choice_flips": percent(figures["choice_flips"]["reversed"]),
        "bbh_table": figure_table(figures["bbh_zero_shot"], "by_source"),
        "samples": sample_table(figures["samples"]),
        "samples_good": f"{good} of {len(figures['samples'])}",
        "training_table": training_table(log),
        "steps": training["steps"], "rows": training["rows"],
        "tokens": f"{training['tokens'] / 1e6:.1f}", "seed": training["seed"],
        "minutes": f"{training['seconds'] / 60:.0f}", "base_sha256": training["base_sha256"],
        "start_sha256": training["start_sha256"],
        "temperature_table": temperature_table(temperatures),
        "temperature": ", ".join(map(str, temperatures["temperature"]))}
    text = (HERE / "card_template.md").read_text(encoding="utf-8")
    for name, value in values.items():
        text = text.replace("{{" + name + "}}", str(value))
    if "{{" in text:
        raise SystemExit("card.py: unfilled field " + text[text.index("{{"):][:40])
    return text


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figures", type=Path, required=True)
    parser.add_argument("--log", type=Path, required=True)
    parser.add_argument("--temperatures", type=Path, required=True)
    parser.add_argument("--route-eval", type=Path, required=True,
                        help="of `layard route eval --format json` on the labelled requests")
    parser.add_argument("--route-eval-no-gate", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    figures = json.loads(args.figures.read_text(encoding="utf-8"))
    temperatures = json.loads(args.temperatures.read_text(encoding="utf-8"))
    gated, whole = (json.loads(path.read_text(encoding="utf-8"))
                    for path in (args.route_eval, args.route_eval_no_gate))
    args.out.write_text(card(figures, args.log, temperatures, gated, whole), encoding="utf-8")
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
