"""Writes a checkpoint with random weights in the published layout, for tests of size and speed.

    python tools/goldens/make_random_checkpoint.py --preset modernbert-large --out build/large

Needs numpy only. The tokenizer is taken from --tokenizer (default: models/starter); its ids must
lie below the preset's vocabulary. Same preset, seed and dtype give the same bytes.
"""

import argparse
import json
import shutil
import struct
from pathlib import Path

import numpy as np

MODERNBERT = {"model_type": "modernbert", "local_attention": 128, "global_attn_every_n_layers": 3,
              "max_position_embeddings": 8192, "norm_eps": 1e-5, "norm_bias": False,
              "attention_bias": False, "mlp_bias": False, "hidden_activation": "gelu"}
# Sizes of the published encoders (ModernBERT-large, mmBERT-base).
PRESETS = {
    "modernbert-large": {**MODERNBERT, "vocab_size": 50368, "hidden_size": 1024,
                         "intermediate_size": 2624, "num_hidden_layers": 28,
                         "num_attention_heads": 16, "global_rope_theta": 160000.0,
                         "local_rope_theta": 10000.0},
    "mmbert-base": {**MODERNBERT, "vocab_size": 256000, "hidden_size": 768,
                    "intermediate_size": 1152, "num_hidden_layers": 22, "num_attention_heads": 12,
                    "global_rope_theta": 160000.0, "local_rope_theta": 160000.0},
    "tiny": {**MODERNBERT, "vocab_size": 30522, "hidden_size": 64, "intermediate_size": 96,
             "num_hidden_layers": 4, "num_attention_heads": 4, "global_rope_theta": 160000.0,
             "local_rope_theta": 10000.0},
}
HEAD_LAYERS, ACT_OUTPUTS = 2, 2
NUMPY_TYPES = {"F16": np.float16, "F32": np.float32}


def head_shapes(d: int):
    """Tensors of the decision head; parameters of a norm are marked."""
    for j in range(HEAD_LAYERS):
        at = f"head.layers.{j}"
        yield f"{at}.self_attn.in_proj_weight", (3 * d, d), False
        yield f"{at}.self_attn.in_proj_bias", (3 * d,), False
        yield f"{at}.self_attn.out_proj.weight", (d, d), False
        yield f"{at}.self_attn.out_proj.bias", (d,), False
        yield f"{at}.linear1.weight", (4 * d, d), False
        yield f"{at}.linear1.bias", (4 * d,), False
        yield f"{at}.linear2.weight", (d, 4 * d), False
        yield f"{at}.linear2.bias", (d,), False
        for norm in ("norm1", "norm2"):
            yield f"{at}.{norm}.weight", (d,), True
            yield f"{at}.{norm}.bias", (d,), False
    yield "type_emb.weight", (3, d), False
    yield "scorer.0.weight", (d,), True
    yield "scorer.0.bias", (d,), False
    yield "scorer.1.weight", (d, d), False
    yield "scorer.1.bias", (d,), False
    yield "scorer.3.weight", (1, d), False
    yield "scorer.3.bias", (1,), False
    yield "act_head.0.weight", (256, d + 4), False
    yield "act_head.0.bias", (256,), False
    yield "act_head.2.weight", (ACT_OUTPUTS, 256), False
    yield "act_head.2.bias", (ACT_OUTPUTS,), False
    yield "temperature", (3,), True


def shapes(config: dict):
    """Every tensor: name, shape, whether its values lie around one."""
    d, f = config["hidden_size"], config["intermediate_size"]
    yield "encoder.embeddings.tok_embeddings.weight", (config["vocab_size"], d), False
    yield "encoder.embeddings.norm.weight", (d,), True
    for i in range(config["num_hidden_layers"]):
        at = f"encoder.layers.{i}"
        if i > 0:
            yield f"{at}.attn_norm.weight", (d,), True
        yield f"{at}.attn.Wqkv.weight", (3 * d, d), False
        yield f"{at}.attn.Wo.weight", (d, d), False
        yield f"{at}.mlp_norm.weight", (d,), True
        yield f"{at}.mlp.Wi.weight", (2 * f, d), False
        yield f"{at}.mlp.Wo.weight", (d, f), False
    yield "encoder.final_norm.weight", (d,), True
    yield from head_shapes(d)


def write_header(file, entries: list, dtype: str) -> int:
    """Begins a safetensors file; `entries` are (name, shape, ...) in file order. Returns how many
    parameters must follow."""
    size = np.dtype(NUMPY_TYPES[dtype]).itemsize
    header, offset = {}, 0
    for name, shape, *_ in entries:
        count = int(np.prod(shape)) * size
        header[name] = {"dtype": dtype, "shape": list(shape),
                        "data_offsets": [offset, offset + count]}
        offset += count
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    file.write(struct.pack("<Q", len(text)) + text)
    return offset // size


def random_values(random, shape: tuple, around_one: bool) -> np.ndarray:
    # 1/sqrt(inputs) keeps activations near one through all layers.
    scale = 0.1 if around_one else 1.0 / np.sqrt(shape[-1]) if len(shape) > 1 else 0.05
    values = random.standard_normal(shape, dtype=np.float32) * np.float32(scale)
    return values + np.float32(around_one)


def write_weights(path: Path, config: dict, dtype: str, seed: int) -> int:
    """Streams the tensors so that a large checkpoint needs little memory; returns parameters."""
    entries = sorted(shapes(config))
    random = np.random.Generator(np.random.PCG64(seed))
    with path.open("wb") as file:
        parameters = write_header(file, entries, dtype)
        for _, shape, around_one in entries:
            values = random_values(random, shape, around_one)
            file.write(values.astype(NUMPY_TYPES[dtype]).tobytes())
    return parameters


def write_folder(out: Path, name: str, config: dict, tokenizer: Path) -> None:
    """Everything of a checkpoint but its weights."""
    (out / "encoder").mkdir(parents=True, exist_ok=True)
    shutil.copytree(tokenizer, out / "tokenizer", dirs_exist_ok=True)
    (out / "encoder/config.json").write_text(json.dumps(config, indent=1) + "\n")
    agent = {"encoder": f"random/{name}", "head_layers": HEAD_LAYERS, "max_len": 512,
             "head_max_len": 192, "act_costs": {"escalate": 0.5}, "amp_dtype": "bf16",
             "temperature": [1.0, 1.0, 1.0], "temperature_by_options": {},
             "weights": "random"}
    (out / "rl_agent_config.json").write_text(json.dumps(agent, indent=1) + "\n")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--preset", choices=sorted(PRESETS), default="modernbert-large")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--tokenizer", type=Path, default=Path("models/starter/tokenizer"))
    parser.add_argument("--dtype", choices=("F16", "F32"), default="F16")
    parser.add_argument("--seed", type=int, default=1)
    arguments = parser.parse_args()
    config = PRESETS[arguments.preset]
    out = arguments.out
    write_folder(out, arguments.preset, config, arguments.tokenizer)
    parameters = write_weights(out / "model.safetensors", config, arguments.dtype, arguments.seed)
    print(f"{out}: {parameters:,} parameters, {arguments.dtype}")


if __name__ == "__main__":
    main()
