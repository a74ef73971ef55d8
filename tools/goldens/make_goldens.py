"""Records what the upstream package answers, row by row, as JSON Lines for `layard parity`.

    python tools/goldens/make_goldens.py --checkpoint models/starter \
        --out models/starter/goldens.jsonl

Needs the packages of tools/train_starter/requirements.txt (PyTorch and laya, float32 on the CPU).
"""

import argparse
import json
from pathlib import Path

import laya
import torch

from make_cases import cases


def record(agent, case: dict) -> dict:
    """One case with upstream's rows and its answer; the rows are caught on their way through."""
    rows, forward, encode = [], agent._infer, agent._encode_state

    def infer(batch):
        logits, act = forward(batch)
        for at, row in enumerate(rows):
            row["logits"] = [float(v) for v in logits[at].float()[: len(row["markers"])]]
            row["act"] = [float(v) for v in torch.softmax(act[at].float(), -1)]
        return logits, act

    def encode_state(state, ids, internal, **overrides):
        items = encode(state, ids, internal, **overrides)
        for qid, item in zip(ids, items):
            rows.append({"question": qid, "input_ids": [int(i) for i in item["ids"]],
                         "markers": [int(m) for m in item["markers"]], "type": int(item["qtype"])})
        return items

    agent._infer, agent._encode_state = infer, encode_state
    try:
        response = agent.system_one(case["state"], case["questions"])
    finally:
        agent._infer, agent._encode_state = forward, encode
    return {**case, "rows": rows, "response": response}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--checkpoint", type=Path, required=True)
    parser.add_argument("--limit", type=int, default=0, help="only the first N cases")
    parser.add_argument("--out", type=Path, required=True)
    arguments = parser.parse_args()
    agent = laya.load(str(arguments.checkpoint.resolve()), device="cpu")
    lines = [record(agent, case) for case in cases()[: arguments.limit or None]]
    text = "".join(json.dumps(line, ensure_ascii=False) + "\n" for line in lines)
    arguments.out.write_text(text, encoding="utf-8")
    print(f"{len(lines)} cases, {sum(len(line['rows']) for line in lines)} rows -> {arguments.out}")


if __name__ == "__main__":
    main()
