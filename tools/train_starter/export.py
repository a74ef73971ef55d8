"""Writes a checkpoint in upstream's published layout, in float16.

    python export.py --weights build/train_starter/best.pt --out models/starter
    python export.py --untrained --out /tmp/shape-only
"""

import argparse
import json
from pathlib import Path

import torch
from safetensors.torch import save_file

import model as starter


def decision_config(temperature, by_options, training) -> dict:
    """rl_agent_config.json: the keys upstream's loader reads, then notes it ignores."""
    return {
        "encoder": "sentence-transformers/all-MiniLM-L6-v2",
        "head_layers": starter.HEAD_LAYERS,
        "max_len": starter.MAX_LEN,
        "head_max_len": starter.HEAD_MAX_LEN,
        "act_costs": starter.ACT_COSTS,
        "amp_dtype": "bf16",
        "option_layout": "sequential",
        "temperature": temperature,
        "temperature_by_options": by_options,
        "model_name": "layard-starter",
        "training": training,
    }


def export(model, out: Path, temperature=(1.0, 1.0, 1.0), by_options=None, training=None) -> None:
    """Writes every file the loader needs under `out`, weights last and by rename."""
    out.mkdir(parents=True, exist_ok=True)
    starter.write_tokenizer(out / "tokenizer")
    (out / "encoder").mkdir(exist_ok=True)
    text = json.dumps(starter.ENCODER_CONFIG, indent=2) + "\n"
    (out / "encoder" / "config.json").write_text(text, encoding="utf-8")
    config = decision_config(list(temperature), dict(by_options or {}), dict(training or {}))
    text = json.dumps(config, indent=2) + "\n"
    (out / "rl_agent_config.json").write_text(text, encoding="utf-8")

    state = {name: value.detach() for name, value in model.state_dict().items()}
    state["temperature"] = torch.tensor(list(temperature))
    # Buffers that only index positions are not parameters and not part of the layout.
    state = {name: value.to(torch.float16).contiguous() for name, value in state.items()
             if value.is_floating_point()}
    part = out / "model.safetensors.part"
    save_file(state, str(part), metadata={"format": "pt"})
    part.chmod(0o644)
    part.rename(out / "model.safetensors")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--weights", type=Path, help="checkpoint written by train.py")
    parser.add_argument("--untrained", action="store_true", help="export fresh weights")
    parser.add_argument("--temperatures", type=Path, help="file written by calibrate.py")
    parser.add_argument("--out", type=Path, required=True)
    args = parser.parse_args()
    if bool(args.weights) == args.untrained:
        parser.error("give exactly one of --weights and --untrained")
    torch.manual_seed(20261130)
    model = starter.build_model()
    training = {"untrained": True}
    if args.weights:
        saved = torch.load(args.weights, map_location="cpu", weights_only=True)
        model.load_state_dict(saved["model"])
        training = saved["summary"]
    fitted = {"temperature": [1.0, 1.0, 1.0], "temperature_by_options": {}}
    if args.temperatures:
        fitted = json.loads(args.temperatures.read_text(encoding="utf-8"))
    export(model, args.out, fitted["temperature"], fitted["temperature_by_options"], training)
    print(f"wrote {args.out}")


if __name__ == "__main__":
    main()
