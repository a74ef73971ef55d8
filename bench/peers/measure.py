"""The pure parts of the peer benchmark: groupings, choices, medians, work, the printed table."""

import statistics

STEADY_SPREAD = 0.05  # peaks of one case that differ by more make it void
SORTED_GROUP_ROWS = (2, 4, 8, 16)
SLICE_MS = 300.0  # what one turn of an engine should last, so that short cases are not all start-up
REPEATS_MAX = 40
# Which measured roof a number format is held against, and its key in the output of `peak`.
ROOF_KEYS = {"float32": "fma_gflops", "float16": "fma_gflops", "bfloat16": "tile_bf16_gflops",
             "int8": "tile_int8_gops"}
DIFFERENCES = (("logits_max_difference", "logits"), ("answer_difference", "answer"),
               ("hidden_max_difference", "hidden"))


def groupings(lengths: list) -> dict:
    """Ways to run rows of these lengths: name -> groups of row numbers, each group one batch."""
    count = len(lengths)
    if count == 1:
        return {"single": [[0]]}
    by_length = sorted(range(count), key=lambda row: (lengths[row], row))
    ways = {"padded": [list(range(count))], "single": [[row] for row in range(count)]}
    for size in SORTED_GROUP_ROWS:
        if size < count:
            ways[f"sorted:{size}"] = [by_length[at:at + size] for at in range(0, count, size)]
    return ways


def padded_tokens(lengths: list, groups: list) -> int:
    """Tokens a runtime works on that pads each group to its longest row."""
    return sum(len(group) * max(lengths[row] for row in group) for group in groups)


def repeats_for(one_ms: float) -> int:
    """Timed passes in one turn."""
    return max(1, min(REPEATS_MAX, round(SLICE_MS / max(one_ms, 1e-3))))


def best(samples: dict):
    """The key with the smallest median; ties go to the first."""
    return min(samples, key=lambda key: statistics.median(samples[key]))


def order_of_round(count: int, round_number: int) -> list:
    """Engines take turns in another order each round: rotated, every other round backwards."""
    order = [(at + round_number) % count for at in range(count)]
    return order[::-1] if round_number % 2 else order


def spread(values: list) -> float:
    """How far apart the values lie, as a share of the smallest; 0 for fewer than two."""
    return max(values) / min(values) - 1.0 if len(values) > 1 and min(values) > 0 else 0.0


def peaks_spread(peaks: list) -> float:
    """The largest spread of the arithmetic roofs' medians over the readings of one case."""
    keys = [key for key in ("fma_gflops", "tile_bf16_gflops") if key in peaks[0]]
    return max(spread([peak[key]["median"] for peak in peaks]) for key in keys)


def roof(peaks: list, key: str):
    """The best reading of one roof, or None where the machine has none."""
    values = [peak[key]["best"] for peak in peaks if key in peak]
    return max(values) if values else None


def layer_types(config: dict) -> list:
    """Whether each encoder layer sees everything."""
    count = config["num_hidden_layers"]
    every = config.get("global_attn_every_n_layers", 1)
    return [at % every == 0 for at in range(count)]


def row_gflop(config: dict, tokens: int) -> float:
    """Arithmetic of one row: products with weights, and attention within what a layer sees.

    The last head layer counts in full, as peers run it, so that all engines share one numerator.
    """
    d, f = config["hidden_size"], config["intermediate_size"]
    modern = config["model_type"] == "modernbert"
    layer = 4 * d * d + (3 if modern else 2) * d * f  # gate and value, or one inner product
    head_layer = 4 * d * d + 8 * d * d
    heads = config.get("head_layers", 2)
    weights = config["num_hidden_layers"] * layer + heads * head_layer
    window = config.get("local_attention", tokens) + 1
    seen = sum(tokens if sees_all else min(tokens, window) for sees_all in layer_types(config))
    attention = 4 * d * tokens * (seen + heads * tokens)
    return (2.0 * weights * tokens + attention) / 1e9


def summary(samples: list) -> dict:
    ordered = sorted(samples)
    return {"median_ms": round(statistics.median(ordered), 4), "min_ms": round(ordered[0], 4),
            "max_ms": round(ordered[-1], 4), "samples": len(ordered)}


def case_table(record: dict) -> list:
    """Lines of one case: engine, how it ran, median, ratio to Layard, share of its roof."""
    ours = {name: engine for name, engine in record["engines"].items()
            if engine["peer"] == "layard"}
    reference = ours.get("layard float32") or next(iter(ours.values()), None)
    lines = [f"{record['case']}: {record['rows']} rows, {record['tokens']} tokens, "
             f"{record['gflop']:.1f} GFLOP{'' if record['steady'] else '   PEAKS UNSTEADY'}"]
    for name, engine in sorted(record["engines"].items(), key=lambda e: e[1]["median_ms"]):
        ratio = engine["median_ms"] / reference["median_ms"] if reference else float("nan")
        share = f"{engine['of_roof']:7.1%}" if engine.get("of_roof") is not None else "      -"
        lines.append(f"  {name:22} {engine['median_ms']:10.2f} ms  {ratio:6.2f}x  {share} of peak"
                     f"  {engine['threads']} threads, {engine['grouping']}"
                     + "".join(f", {what} within {engine[key]:.1e}" for key, what in DIFFERENCES
                               if key in engine)
                     + (f", {engine['note']}" if engine.get("note") else ""))
    return lines


def peak_line(peaks: list) -> str:
    parts = [f"{key.rsplit('_', 1)[0] if key != 'read_gb_s' else 'read'} {roof(peaks, key):.0f}"
             for key in ("fma_gflops", "tile_bf16_gflops", "tile_int8_gops", "read_gb_s")
             if roof(peaks, key) is not None]
    return "peaks (GFLOP/s, GB/s): " + ", ".join(parts)
