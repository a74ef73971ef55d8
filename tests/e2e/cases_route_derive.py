"""`layard route derive`: policies from evidence, with reasons."""

import json

from harness import case, check, check_equal

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


def derived(world, content, *options, out="policy.json"):
    run = world.run("route", "derive", "--evidence", world.write("evidence.json", content),
                    "--out", out, *options)
    check_equal(run.code, 0, str(run))
    return run, json.loads((world.folder / out).read_text(encoding="utf-8"))


SEED = {"vulkan": (300, DFLASH2, 0), "vulkan-mtp": (300, MTP, 16e9), "hrx": (98, HRX, 0)}


@case
def route_derive_sends_every_class_to_vulkan(world):
    """As a measured result: with reasons, and evidence that the check takes."""
    run, policy = derived(world, evidence(**SEED))
    check_equal({name: row["device"] for name, row in policy["classes"].items()},
                dict.fromkeys(CLASSES, "vulkan"), "devices")
    check(all(row["why"] for row in policy["classes"].values()), "reasons")
    check_equal((policy["version"], policy["default"], policy["decide"]["when"]),
                (1, "vulkan", "useful"), "the policy")
    check("short     vulkan  stays: vulkan-mtp saves 331.5 ms" in run.stdout, str(run))
    checked = world.run("route", "check", "--strict", "policy.json")
    check_equal((checked.code, checked.stderr), (0, ""), str(checked))
    run, policy = derived(world, evidence(**SEED), "--decision-ms", "500")
    why = policy["classes"]["short"]["why"]
    check("breaks even at 24.1 tokens, and a reply has 16" in why and "16.0 GB" in why, why)


@case
def route_derive_moves_long_documents_and_moves_them_back(world):
    same = dict.fromkeys(CLASSES, 20)
    price = ["--memory-budget", "32GB", "--ms-per-gb", "100"]
    _, policy = derived(world, evidence(hrx=(98, same, 0), rocm=(352, same, 16e9)), *price)
    row = policy["classes"]["long_doc"]
    check_equal(row["device"], "rocm", "long documents")
    check("moved: rocm saves 15.1 s" in row["why"], row["why"])
    check_equal(policy["classes"]["code"]["device"], "hrx", "code")
    checked = world.run("route", "check", "policy.json")
    check_equal(checked.code, 0, str(checked))
    _, policy = derived(world, evidence(hrx=(310, same, 0), rocm=(352, same, 16e9)), *price,
                        "--base", "policy.json", out="back.json")
    row = policy["classes"]["long_doc"]
    check_equal(row["device"], "hrx", "long documents, later")
    check("less than the 100.0 asked" in row["why"], row["why"])


@case
def route_derive_reads_the_decision_log(world):
    """Shares, decisions' time and turns come from it; the same bytes twice."""
    lines = [{"ts": "2026-11-20T10:00:00Z", "class": kind, "source": "model", "confidence": 0.5,
              "decision_ms": 30, "prompt_tokens": 20, "completion_tokens": 17, "turns": 4,
              "status": 200, "cancelled": False, "later": [1]}
             for kind in ("short", "short", "short", "prose") for _ in range(25)]
    text = "\n".join(map(json.dumps, lines)) + "\n{\"class\": \"sho\nnot a line\n"
    log = world.write("decisions.jsonl", text)
    options = ["--log", log, "--memory-budget", "32GB", "--ms-per-gb", "10"]
    first, policy = derived(world, evidence(**SEED), *options)
    check_equal(policy["classes"]["short"]["device"], "vulkan-mtp", "with cheap questions")
    check("2 of 102 lines are broken: 101, 102" in first.stderr, str(first))
    check("(of 100 decisions)" in first.stdout and "short 75.0%" in first.stdout, str(first))
    check("no request of the traffic" in policy["classes"]["code"]["why"], str(policy))
    before = (world.folder / "policy.json").read_bytes()
    second, _ = derived(world, evidence(**SEED), *options)
    check_equal((second.stdout, (world.folder / "policy.json").read_bytes()),
                (first.stdout, before), "twice")
    # Most of what is read as short is prose, which loses there.
    confusion = world.write("eval.json", {"confusion": {"prose": {"prose": 10, "short": 40}}})
    run, policy = derived(world, evidence(**SEED), *options, "--eval", confusion)
    check("misroutes counted" in policy["classes"]["short"]["why"], str(run))


@case
def route_derive_keeps_what_it_does_not_derive(world):
    base = world.write("base.yaml", "\n".join([
        "version: 1", "default: vulkan", "min_confidence: 0.3", "sticky: {ttl_s: 60}",
        "classes:", "  code: {device: vulkan, alternates: [hrx]}",
        "devices:", "  vulkan: {url: 'http://127.0.0.1:1', queue_max: 3}", "  hrx: {}",
        "x-team: [1]", ""]))
    _, policy = derived(world, evidence(**SEED), "--base", base)
    check_equal((policy["min_confidence"], policy["sticky"], policy["x-team"]),
                (0.3, {"ttl_s": 60}, [1]), "members")
    check_equal(policy["devices"]["vulkan"], {"url": "http://127.0.0.1:1", "queue_max": 3},
                "a device")
    check_equal(policy["classes"]["code"]["alternates"], ["hrx"], "alternates")


@case
def route_derive_refuses_what_is_no_evidence(world):
    good = world.write("good.json", evidence(**SEED))

    def refused(word, *options, file=good, kind="InvalidRequestError"):
        world.run("route", "derive", "--evidence", file, "--out", "p.json",
                  *options).refused(kind, word)
        check(not (world.folder / "p.json").exists(), "no policy is written")

    for content, word in (("{", "evidence"), ({"version": 2}, "version 2"), ([], "object"),
                          ({"version": 1}, "date is missing"),
                          (evidence(**SEED) | {"requests": [{}]}, "requests[0]"),
                          (evidence(), "no device")):
        refused(word, file=world.write("bad.json", content))
    refused("absent.json", file="absent.json", kind="IoError")
    refused("--turns", "--turns", "0")
    refused("--decision-ms", "--decision-ms", "-1")
    refused("go together", "--ms-per-gb", "3")
    refused("'npu' was not measured", "--default", "npu")
    refused("no line", "--log", world.write("log.jsonl", "x\n"))
    refused("confusion", "--confusion", world.write("eval.json", "[]"))
    refused("route policy", "--base", world.write("base.json", "{}"))
