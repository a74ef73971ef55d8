"""Evidence of measurements for cases, from a simulated fleet with the seed's speeds."""

CLASSES = ("code", "prose", "short", "long_doc")
PROMPTS = {"code": 40, "prose": 30, "short": 20, "long_doc": 2048}
OUTPUTS = {"code": 201, "prose": 201, "short": 17, "long_doc": 101}
# Decode tokens/s of the seed's table, Qwen3.8-27B on Strix Halo: DFlash2, MTP.
DFLASH2 = {"code": 45.7, "prose": 28.3, "short": 17.8, "long_doc": 28.3}
MTP = {"code": 31.7, "prose": 25.8, "short": 28.2, "long_doc": 25.8}
HRX = {"code": 12.2, "prose": 12.0, "short": 12.0, "long_doc": 12.0}


def evidence(date="2026-11-20", **devices):
    """devices: name=(prefill tokens/s, decode tokens/s by class, resident bytes)."""
    out = {"version": 1, "profile": "simulated", "date": date, "model_sha256": "5" * 64,
           "devices": [], "cases": [], "discarded_rounds": [], "requests": []}
    for name, (_, _, resident) in devices.items():
        out["devices"].append({"name": name, "url": "http://127.0.0.1:9001",
                               "resident_bytes": resident})
    for kind in CLASSES:
        for i in range(24):
            prompt, output = PROMPTS[kind] + i % 3, OUTPUTS[kind]
            out["cases"].append({"id": f"{kind}-{i}", "class": kind, "chars": 4 * prompt})
            for name, (prefill, decode, _) in devices.items():
                ttft = 80 + prompt / prefill * 1000
                total = ttft + (output - 1) / decode[kind] * 1000
                out["requests"].append({
                    "kind": "case", "class": kind, "device": name, "prompt": f"{kind}-{i}",
                    "round": 1, "status": 200, "ttft_ms": ttft, "total_ms": total,
                    "prompt_tokens": prompt, "output_tokens": output, "tokens_from": "usage"})
    return out


SEED = {"vulkan": (300, DFLASH2, 0), "vulkan-mtp": (300, MTP, 16e9), "hrx": (98, HRX, 0)}
