"""The forward pass of a ModernBERT checkpoint with its decision head, in numpy, one row at a time.

For checking what number formats do to a checkpoint: `product` is replaceable, so that the matrix
products can be simulated in int8 while everything else stays in `dtype`.
"""

import math

import numpy as np

erf = np.vectorize(math.erf, otypes=[np.float64])


def exact_product(x: np.ndarray, w: np.ndarray) -> np.ndarray:
    """x [tokens, in], w [out, in] -> [tokens, out]."""
    return x @ w.T


def int8_product(per_row: bool):
    """A product of int8 numbers, symmetric. Either each activation row and each output channel has
    its own scale, or one scale serves the whole activation tensor and one the whole weight."""

    def steps(values: np.ndarray) -> np.ndarray:
        largest = np.max(np.abs(values), axis=1 if per_row else None, keepdims=True)
        return np.maximum(largest, 1e-30) / 127.0

    def product(x: np.ndarray, w: np.ndarray) -> np.ndarray:
        step_x, step_w = steps(x), steps(w)
        whole = np.rint(x / step_x) @ np.rint(w / step_w).T
        return whole * step_x * step_w.T

    return product


class Forward:
    """`weights`: tensors by published name. `dtype`: what everything is computed in."""

    def __init__(self, weights: dict, config: dict, dtype=np.float64, product=exact_product):
        self.config, self.dtype, self.product = config, dtype, product
        self.weights = {name: tensor.astype(dtype) for name, tensor in weights.items()}
        self.width, self.heads = config["hidden_size"], config["num_attention_heads"]

    def norm(self, x: np.ndarray, name: str) -> np.ndarray:
        centred = x - x.mean(-1, keepdims=True)
        scaled = centred / np.sqrt((centred * centred).mean(-1, keepdims=True)
                                   + self.dtype(self.config["norm_eps"]))
        bias = self.weights.get(f"{name}.bias")
        return scaled * self.weights[f"{name}.weight"] + (0 if bias is None else bias)

    def linear(self, x: np.ndarray, weight: str, bias: str = "") -> np.ndarray:
        out = self.product(x, self.weights[weight])
        return out + self.weights[bias] if bias else out

    def gelu(self, x: np.ndarray) -> np.ndarray:
        return (0.5 * x * (1.0 + erf(x / math.sqrt(2.0)))).astype(self.dtype)

    def split(self, x: np.ndarray, heads: int) -> list:
        """[tokens, 3 d] -> three of [heads, tokens, d / heads]."""
        parts = x.reshape(len(x), 3, heads, -1)
        return [parts[:, which].transpose(1, 0, 2) for which in range(3)]

    def rotate(self, x: np.ndarray, theta: float) -> np.ndarray:
        half = x.shape[-1] // 2
        frequencies = theta ** (-np.arange(half) / half)
        angles = np.outer(np.arange(x.shape[1]), frequencies)
        cos, sin = np.cos(angles).astype(self.dtype), np.sin(angles).astype(self.dtype)
        low, high = x[..., :half], x[..., half:]
        return np.concatenate([low * cos - high * sin, high * cos + low * sin], -1)

    def scores(self, q: np.ndarray, k: np.ndarray) -> np.ndarray:
        return q @ k.transpose(0, 2, 1) / self.dtype(math.sqrt(q.shape[-1]))

    def attend(self, scores: np.ndarray, v: np.ndarray) -> np.ndarray:
        weights = np.exp(scores - scores.max(-1, keepdims=True))
        mixed = (weights / weights.sum(-1, keepdims=True)) @ v
        return mixed.transpose(1, 0, 2).reshape(v.shape[1], -1)

    def sees_all(self, layer: int) -> bool:
        return layer % self.config["global_attn_every_n_layers"] == 0

    def layer_scores(self, x: np.ndarray, layer: int) -> tuple:
        """(scores before softmax, values) of one encoder layer whose input is x."""
        at = f"encoder.layers.{layer}"
        normed = x if layer == 0 else self.norm(x, f"{at}.attn_norm")
        q, k, v = self.split(self.linear(normed, f"{at}.attn.Wqkv.weight"), self.heads)
        which = "global" if self.sees_all(layer) else "local"
        theta = self.config[f"{which}_rope_theta"]
        scores = self.scores(self.rotate(q, theta), self.rotate(k, theta))
        if not self.sees_all(layer):
            positions = np.arange(len(x))
            far = np.abs(positions[:, None] - positions) > self.config["local_attention"] // 2
            scores = np.where(far, -np.inf, scores)
        return scores, v

    def mlp(self, x: np.ndarray, layer: int) -> np.ndarray:
        at = f"encoder.layers.{layer}"
        inner = self.linear(self.norm(x, f"{at}.mlp_norm"), f"{at}.mlp.Wi.weight")
        value, gate = np.split(inner, 2, -1)
        return self.linear(self.gelu(value) * gate, f"{at}.mlp.Wo.weight")

    def embed(self, ids: list) -> np.ndarray:
        table = self.weights["encoder.embeddings.tok_embeddings.weight"]
        return self.norm(table[ids], "encoder.embeddings.norm")

    def layer(self, x: np.ndarray, layer: int) -> np.ndarray:
        scores, v = self.layer_scores(x, layer)
        mixed = self.attend(scores, v)
        x = x + self.linear(mixed, f"encoder.layers.{layer}.attn.Wo.weight")
        return x + self.mlp(x, layer)

    def head_layer(self, x: np.ndarray, layer: int) -> np.ndarray:
        at = f"head.layers.{layer}"
        qkv = self.linear(self.norm(x, f"{at}.norm1"), f"{at}.self_attn.in_proj_weight",
                          f"{at}.self_attn.in_proj_bias")
        q, k, v = self.split(qkv, max(1, self.width // 64))
        mixed = self.attend(self.scores(q, k), v)
        x = x + self.linear(mixed, f"{at}.self_attn.out_proj.weight",
                            f"{at}.self_attn.out_proj.bias")
        inner = self.linear(self.norm(x, f"{at}.norm2"), f"{at}.linear1.weight",
                            f"{at}.linear1.bias")
        return x + self.linear(np.maximum(inner, 0), f"{at}.linear2.weight", f"{at}.linear2.bias")

    def logits(self, row: dict) -> np.ndarray:
        """One logit per marker of {"ids", "markers", "type"}."""
        x = self.embed(row["ids"])
        for layer in range(self.config["num_hidden_layers"]):
            x = self.layer(x, layer)
        x = self.norm(x, "encoder.final_norm") + self.weights["type_emb.weight"][row["type"]]
        for layer in range(2):
            x = self.head_layer(x, layer)
        scored = self.norm(x[row["markers"]], "scorer.0")
        scored = self.gelu(self.linear(scored, "scorer.1.weight", "scorer.1.bias"))
        return self.linear(scored, "scorer.3.weight", "scorer.3.bias")[:, 0]
