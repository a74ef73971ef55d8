"""Random weights with what makes trained encoders hard to quantise: attention sinks and outliers.

What is built in, from layer SINK_LAYER on:
- the residual stream of the sink tokens ([CLS] and [SEP]) carries 1e4 in two channels, put there by
  one hidden unit of the layer before;
- the norms multiply these channels by a gain, so that the inputs of the products reach about 200
  for sink tokens and about 4 for all others;
- every score before softmax lies near 55: queries and keys share a constant part, which softmax
  forgets and rounding does not.
One scale per tensor then leaves nothing of the other tokens; one scale per row and channel does.
"""

import math

import numpy as np

from make_random_checkpoint import PRESETS, random_values, shapes
from numpy_forward import Forward

SIZES = {"small": {**PRESETS["modernbert-large"], "vocab_size": 30522, "hidden_size": 256,
                   "intermediate_size": 384, "num_hidden_layers": 14, "num_attention_heads": 4,
                   "pad_token_id": 0},
         "large": PRESETS["modernbert-large"]}
SINK_LAYER = 10
SINK_VALUE = 1e4
SINK_SHARES = np.array([1.0, -0.8], np.float32)
SCORE = 55.0
# Channels of the residual stream with a part to play; no random weight writes to them.
MARK, SINK, CONSTANT = 0, (1, 2), (3, 4, 5, 6)
RESERVED = [MARK, *SINK, *CONSTANT]
SIGNS = np.array([1, -1, 1, -1], np.float32)  # constants whose mean is zero
SINK_SIGNS = np.array([1, -1], np.float32)
CONSTANT_VALUE = 4.0
MARK_VALUE = 8.0
NORMED_SINK = 200.0  # what a norm gives for the sink channels of a sink token
# The same for the constants of other tokens: above all else in the row, so that int8 with one scale
# per row keeps them exactly and its other errors are what is seen.
NORMED_CONSTANT = 6.0
HIDDEN_UNIT = 0      # of the layer before SINK_LAYER
SCORER_GAIN = 3.0    # spreads the logits of two options about one apart


def rounded(value: float) -> float:
    """To one of 64 steps a doubling: the same on machines whose last bits differ."""
    return 2.0 ** (round(math.log2(value) * 64) / 64)


def random_weights(config: dict, seed: int) -> dict:
    random = np.random.Generator(np.random.PCG64(seed))
    return {name: random_values(random, shape, around_one).astype(np.float16).astype(np.float32)
            for name, shape, around_one in sorted(shapes(config))}


def reserve_channels(weights: dict, config: dict, sinks: list) -> None:
    """Marks sink tokens, sets the constants, and keeps the random weights off these channels."""
    table = weights["encoder.embeddings.tok_embeddings.weight"]
    table *= np.float32(math.sqrt(table.shape[1]))  # rows of unit variance
    table[:, RESERVED] = 0
    table[:, CONSTANT] = CONSTANT_VALUE * SIGNS
    table[sinks, MARK] = MARK_VALUE
    weights["encoder.embeddings.norm.weight"][RESERVED] = 1
    weights["encoder.final_norm.weight"][RESERVED] = 1
    for layer in range(config["num_hidden_layers"]):
        at = f"encoder.layers.{layer}"
        for name in (f"{at}.attn.Wo.weight", f"{at}.mlp.Wo.weight"):
            weights[name][RESERVED] = 0
        for name in (f"{at}.attn.Wqkv.weight", f"{at}.mlp.Wi.weight"):
            weights[name][:, RESERVED] = 0
        for name in (f"{at}.attn_norm.weight", f"{at}.mlp_norm.weight"):
            if name in weights:
                weights[name][RESERVED] = 1


def inject_sink(weights: dict, config: dict, sample: Forward, x: np.ndarray,
                plain: np.ndarray) -> None:
    """One hidden unit that fires on marked tokens only and writes the sink value."""
    at = f"encoder.layers.{SINK_LAYER - 1}.mlp"
    normed = sample.norm(x, f"{at}_norm")
    mark = float(normed[~plain, MARK].mean())
    constant = float((normed[:, CONSTANT] @ SIGNS).mean())
    value, gate = HIDDEN_UNIT, config["intermediate_size"] + HIDDEN_UNIT
    fires = 20.0
    inner, outer = weights[f"{at}.Wi.weight"], weights[f"{at}.Wo.weight"]
    inner[[value, gate]] = 0
    # A threshold from the constant: without the mark the unit is at -8, where GELU is zero.
    inner[value, MARK] = rounded((fires + 8.0) / mark)
    inner[value, CONSTANT] = -rounded(8.0 / constant) * SIGNS
    inner[gate, MARK] = rounded(fires / mark)
    hidden = (normed[~plain] @ inner[[value, gate]].T).prod(-1)  # GELU is the identity at +20
    outer[:, HIDDEN_UNIT] = 0
    outer[list(SINK), HIDDEN_UNIT] = rounded(SINK_VALUE / hidden.mean()) * SINK_SHARES


def raise_gains(weights: dict, config: dict, sample: Forward, x: np.ndarray, plain: np.ndarray,
                layer: int) -> None:
    """Sets what the norms of a layer give for the sink channels and the constants."""
    at = f"encoder.layers.{layer}"
    sink = math.sqrt(config["hidden_size"] / float(SINK_SHARES @ SINK_SHARES))
    for norm in ("attn_norm", "mlp_norm"):
        weights[f"{at}.{norm}.weight"][list(SINK)] = rounded(NORMED_SINK / sink)
    constant = sample.norm(x, f"{at}.attn_norm")[plain][:, CONSTANT] @ SIGNS / len(CONSTANT)
    weights[f"{at}.attn_norm.weight"][list(CONSTANT)] = rounded(
        NORMED_CONSTANT / float(np.median(constant)))


def raise_scores(weights: dict, config: dict, sample: Forward, x: np.ndarray, plain: np.ndarray,
                 layer: int) -> None:
    """Gives queries and keys of a layer their constant part, in the two slowest rotary pairs: one
    for the keys of plain tokens, one for those of sinks, so that no key mixes small weights with
    large ones."""
    at = f"encoder.layers.{layer}"
    d, heads = config["hidden_size"], config["num_attention_heads"]
    slowest = np.arange(heads) * (d // heads) + d // heads // 2 - 1
    normed = sample.norm(x, f"{at}.attn_norm")
    constant = float(np.median(normed[plain][:, CONSTANT] @ SIGNS))
    sink = float(np.median(normed[~plain][:, SINK] @ SINK_SIGNS))
    size = math.sqrt(SCORE * math.sqrt(d // heads))
    qkv = weights[f"{at}.attn.Wqkv.weight"]
    queries = np.concatenate([slowest, slowest - 1])
    plain_keys, sink_keys = d + slowest, d + slowest - 1
    qkv[np.concatenate([queries, plain_keys, sink_keys])] = 0
    for rows in (queries, plain_keys):
        qkv[np.ix_(rows, CONSTANT)] = rounded(size / constant) * SIGNS
    for rows in (queries, sink_keys):
        qkv[np.ix_(rows, SINK)] = rounded(size / sink) * SINK_SIGNS
    found = sample.layer_scores(x, layer)[0]
    correction = rounded(math.sqrt(SCORE / float(np.median(found[np.isfinite(found)]))))
    qkv[np.concatenate([queries, plain_keys, sink_keys])] *= correction


def build(size: str, seed: int, sample_row: dict, sinks: list) -> tuple:
    """(weights as float16, config). `sample_row` sets the gains: activations are measured on it."""
    config = SIZES[size]
    weights = random_weights(config, seed)
    reserve_channels(weights, config, sinks)
    weights["scorer.3.weight"] *= np.float32(SCORER_GAIN)
    sample = Forward({}, config, np.float32)
    sample.weights = weights  # the same arrays: changes below are seen
    ids = np.array(sample_row["ids"])
    plain = ~np.isin(ids, sinks)
    x = sample.embed(ids)
    for layer in range(config["num_hidden_layers"]):
        if layer == SINK_LAYER - 1:
            scores, v = sample.layer_scores(x, layer)
            middle = x + sample.linear(sample.attend(scores, v),
                                       f"encoder.layers.{layer}.attn.Wo.weight")
            inject_sink(weights, config, sample, middle, plain)
        if layer >= SINK_LAYER:
            raise_gains(weights, config, sample, x, plain, layer)
            raise_scores(weights, config, sample, x, plain, layer)
        x = sample.layer(x, layer)
    return {name: tensor.astype(np.float16) for name, tensor in weights.items()}, config
