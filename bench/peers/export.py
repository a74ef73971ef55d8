"""Writes a checkpoint in the formats of the peers: ONNX, OpenVINO's, GGUF (encoder only).

    python export.py CHECKPOINT OUT

Everything comes from the upstream package's model (`laya`), with dynamic rows, tokens and options.
Writes OUT/export.json last; nothing is done when that file names the same weights and versions.
"""

import json
import sys
from importlib.metadata import version
from pathlib import Path

PACKAGES = ("torch", "laya", "transformers", "onnx", "openvino", "gguf")


def stamp_of(checkpoint: Path) -> dict:
    status = (checkpoint / "model.safetensors").stat()
    return {"bytes": status.st_size, "modified_ns": status.st_mtime_ns,
            "versions": {name: version(name) for name in PACKAGES}}


def export_onnx(checkpoint: Path, path: Path) -> None:
    import laya
    import torch
    model = laya.load(str(checkpoint.resolve()), device="cpu").model.eval()
    rows, tokens = 2, 40
    mask = torch.ones(rows, tokens, dtype=torch.long)
    mask[1, 30:] = 0  # a row with padding, so that the mask stays in the graph
    example = (torch.arange(rows * tokens).reshape(rows, tokens) + 1000, mask,
               torch.tensor([[5, 9]] * rows), torch.ones(rows, 2, dtype=torch.bool),
               torch.full((rows,), 2))
    n, length = torch.export.Dim("rows", max=64), torch.export.Dim("tokens", min=4, max=512)
    k = torch.export.Dim("options", min=2, max=255)
    with torch.no_grad():
        torch.onnx.export(model, example, path, dynamo=True, external_data=True, verbose=False,
                          opset_version=18, output_names=["logits", "act"],
                          input_names=["input_ids", "attention_mask", "marker_pos", "marker_mask",
                                       "qtype"],
                          dynamic_shapes=({0: n, 1: length}, {0: n, 1: length}, {0: n, 1: k},
                                          {0: n, 1: k}, {0: n}))


def export_openvino(onnx_path: Path, path: Path) -> None:
    import openvino
    openvino.save_model(openvino.convert_model(onnx_path), path, compress_to_fp16=False)


GGUF_NAMES = {"attn_norm": "attn_norm", "attn.Wqkv": "attn_qkv", "attn.Wo": "attn_output",
              "mlp_norm": "ffn_norm", "mlp.Wi": "ffn_up", "mlp.Wo": "ffn_down",
              "embeddings.tok_embeddings": "token_embd", "embeddings.norm": "token_embd_norm",
              "final_norm": "output_norm"}


def gguf_name(name: str) -> str:
    """`encoder.layers.3.attn.Wo.weight` -> `blk.3.attn_output.weight`."""
    body = name.removeprefix("encoder.").removesuffix(".weight")
    if body.startswith("layers."):
        _, layer, body = body.split(".", 2)
        return f"blk.{layer}.{GGUF_NAMES[body]}.weight"
    return f"{GGUF_NAMES[body]}.weight"


def export_gguf(checkpoint: Path, path: Path) -> None:
    import gguf
    from safetensors.numpy import load_file
    config = json.loads((checkpoint / "encoder/config.json").read_text())
    writer = gguf.GGUFWriter(path, "modern-bert")
    writer.add_context_length(config["max_position_embeddings"])
    writer.add_embedding_length(config["hidden_size"])
    writer.add_block_count(config["num_hidden_layers"])
    writer.add_feed_forward_length(config["intermediate_size"])
    writer.add_head_count(config["num_attention_heads"])
    writer.add_layer_norm_eps(config["norm_eps"])
    writer.add_causal_attention(False)
    writer.add_sliding_window(config["local_attention"])
    writer.add_sliding_window_pattern(config["global_attn_every_n_layers"])
    writer.add_rope_freq_base(config["global_rope_theta"])
    writer.add_rope_freq_base_swa(config["local_rope_theta"])
    writer.add_rope_scaling_type(gguf.RopeScalingType.NONE)
    writer.add_vocab_size(config["vocab_size"])
    writer.add_pooling_type(gguf.PoolingType.CLS)
    writer.add_tokenizer_model("none")  # ids are given; no text is read
    for name, tensor in sorted(load_file(checkpoint / "model.safetensors").items()):
        if name.startswith("encoder."):
            kept = tensor if tensor.ndim > 1 else tensor.astype("float32")
            writer.add_tensor(gguf_name(name), kept)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


def main() -> None:
    checkpoint, out = Path(sys.argv[1]), Path(sys.argv[2])
    stamp = out / "export.json"
    if stamp.is_file() and json.loads(stamp.read_text()) == stamp_of(checkpoint):
        return
    out.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    export_onnx(checkpoint, out / "model.onnx")
    export_openvino(out / "model.onnx", out / "model.xml")
    config = json.loads((checkpoint / "encoder/config.json").read_text())
    if config["model_type"] == "modernbert":
        export_gguf(checkpoint, out / "encoder-float16.gguf")
    stamp.write_text(json.dumps(stamp_of(checkpoint), indent=1) + "\n")


if __name__ == "__main__":
    main()
