"""`layard route measure`: devices of known speeds, over real sockets."""

import json
import signal
import subprocess
import time

from fake_backend import FakeBackend
from harness import case, check, check_equal

SECRET = "a sentence that nobody may find again"


def policy_file(world, **devices):
    names = list(devices)
    return world.write("policy.json", {
        "version": 1, "default": names[0], "classes": {"code": {"device": names[0]}},
        "devices": {name: {"url": backend.url, "model": f"{name}-model"}
                    for name, backend in devices.items()}})


def cases_file(world, per_class=5):
    lines = [{"class": name, "text": " ".join([SECRET] * (2 + i))}
             for name in ("code", "short") for i in range(per_class)]
    return world.write("cases.jsonl", "\n".join(map(json.dumps, lines)))


def measured(world, policy, *options, per_class=5, **settings):
    return world.run("route", "measure", "--policy", policy, "--cases",
                     cases_file(world, per_class), "--out", "evidence.json", "--timeout-s", "20",
                     *options, **settings)


SPEEDS = {"a": (20, 4000, 200), "b": (40, 2000, 500)}  # ms, prompt and output tokens a second


def check_evidence(world, sent):
    """What a run on both devices left: the form, the order, nothing of the texts."""
    text = (world.folder / "evidence.json").read_text(encoding="utf-8")
    check(SECRET not in text, "the prompts' texts")
    evidence = json.loads(text)
    check_equal((evidence["version"], evidence["model_sha256"]), (1, "c" * 64), "its head")
    check("thread" in evidence["profile"], evidence["profile"])
    check_equal(evidence["devices"][1]["resident_bytes"], 16 * 10**9, "memory")
    # Of each device three controls, ten cases, three lengths, three controls: A B B A.
    check_equal(len(evidence["requests"]), 2 * 19, "requests")
    order = "".join(one["device"] for one in evidence["requests"])
    check_equal(order[:-2].replace("baab", ""), "", f"turns of {order}")
    check_equal((sent["temperature"], sent["stream"], sent["stream_options"], sent["model"]),
                (0, True, {"include_usage": True}, "a-model"), "the body")


def speeds_off(world):
    """What `route derive` fits to the evidence, where it is over 10 % (10 ms) off."""
    explained = world.run("route", "derive", "--evidence", "evidence.json", "--out", "p.json",
                          "--format", "json").json()
    row = next(row for row in explained["rows"] if row["class"] == "code")
    out = [] if explained["speeds"]["usable"] else [str(explained["speeds"])]
    for speed, wanted in zip((row["default_speed"], row["other_speed"]), SPEEDS.values()):
        found = tuple(speed.values())
        close = [abs(value / right - 1) < 0.1 for value, right in zip(found[1:], wanted[1:])]
        if not all(close) or abs(found[0] - wanted[0]) > 10:
            out.append(f"expected {wanted}, found {found}")
    return out


@case
def route_measure_finds_the_speeds(world):
    """Within 10 %, of two devices. A busy machine may stall one run, hardly three."""
    with FakeBackend(*SPEEDS["a"]) as a, FakeBackend(*SPEEDS["b"]) as b:
        policy = policy_file(world, a=a, b=b)
        for attempt in range(3):
            run = measured(world, policy, "--devices", "a,b", "--rounds", "1", "--max-tokens",
                           "code=40,short=20", "--prompt-lengths", "300,600,900", "--drift-max",
                           "1000", "--resident", "b=16GB", "--model-sha256", "c" * 64)
            check_equal(run.code, 0, str(run))
            check("1 rounds kept, 0 discarded" in run.stdout, str(run))
            if attempt == 0:
                check_evidence(world, a.requests[0][1])
            off = speeds_off(world)
            if not off:
                return
    check(False, "\n".join(off))


@case
def route_measure_discards_rounds_that_drift(world):
    """The control takes half as long again at the end of the first round."""
    def slower(backend, body):
        text = body["messages"][0]["content"]
        backend.controls = getattr(backend, "controls", 0) + text.startswith("[1] Name the days")
        return 1.6 if text.startswith("[1] Name the days") and backend.controls > 4 else 1

    with FakeBackend(5, 5000, 400, slower=slower) as a:
        run = measured(world, policy_file(world, a=a), "--rounds", "1", "--max-tokens", "4",
                       "--prompt-lengths", "64", "--drift-max", "40", per_class=1)
        check_equal(run.code, 0, str(run))
    check("1 rounds kept, 1 discarded" in run.stdout, str(run))
    check("round 1: the control drifted" in run.stderr and "discarded" in run.stderr, str(run))
    evidence = json.loads((world.folder / "evidence.json").read_text(encoding="utf-8"))
    check_equal([(one["round"], one["device"]) for one in evidence["discarded_rounds"]],
                [(1, "a")], "in the file")
    check(0.4 < evidence["discarded_rounds"][0]["drift"] < 1, "its drift")
    with FakeBackend(1, 50000, 4000) as a:
        run = measured(world, policy_file(world, a=a), "--rounds", "1", "--max-tokens", "2",
                       "--prompt-lengths", "8", "--drift-max", "0", per_class=1)
        check_equal(run.code, 1, str(run))
        check("2 discarded" in run.stdout and "check failed: " in run.stderr, str(run))


@case
def route_measure_names_the_device_that_fails(world):
    with FakeBackend(1, 50000, 4000) as good, FakeBackend(status=503) as bad:
        policy = policy_file(world, good=good, bad=bad)
        measured(world, policy, "--rounds", "1", per_class=1).refused(
            "BackendUnavailableError", "'bad'", "status 503")
    check(not (world.folder / "evidence.json").exists(), "no file is left")
    run = measured(world, policy, "--rounds", "1", per_class=1)
    run.refused("BackendUnavailableError", "'good'", "refused")
    for options, word in ((["--devices", "good,other"], "'other' has no url"),
                          (["--max-tokens", "poem=3"], "'poem'"),
                          (["--max-tokens", "x"], "--max-tokens"),
                          (["--prompt-lengths", "0"], "length"),
                          (["--resident", "good=much"], "much"),
                          (["--model-sha256", "abc"], "hash"),
                          (["--drift-max", "-1"], "--drift-max"),
                          (["--timeout-s", "0"], "--timeout-s")):
        measured(world, policy, *options, per_class=1).refused("InvalidRequestError", word)


@case
def route_measure_sends_each_device_its_own_key(world):
    """From the variable that the policy names; events are counted where there is no usage."""
    with FakeBackend(1, 50000, 4000, usage=False) as a, FakeBackend(1, 50000, 4000) as b:
        path = policy_file(world, a=a, b=b)
        policy = json.loads(path.read_text(encoding="utf-8"))
        policy["devices"]["b"]["api_key_env"] = "B_KEY"
        path = world.write("policy.json", policy)
        options = ["--rounds", "1", "--max-tokens", "3", "--prompt-lengths", "8", "--drift-max",
                   "1000"]
        measured(world, path, *options, per_class=1).refused("InvalidRequestError", "B_KEY")
        run = measured(world, path, *options, per_class=1,
                       environment={"B_KEY": "sesame-sesame"})
        check_equal(run.code, 0, str(run))
        check("sesame" not in run.stdout + run.stderr, "the key is not shown")
        check_equal({headers.get("Authorization") for headers, _, _ in a.requests}, {None}, "of a")
        check_equal({headers.get("Authorization") for headers, _, _ in b.requests},
                    {"Bearer sesame-sesame"}, "of b")
    text = (world.folder / "evidence.json").read_text(encoding="utf-8")
    check("sesame" not in text, "the key is not kept")
    found = {(one["device"], one["tokens_from"], one["prompt_tokens"] is None)
             for one in json.loads(text)["requests"]}
    check_equal(found, {("a", "events", True), ("b", "usage", False)}, "where tokens come from")


@case
def route_measure_interrupted_leaves_no_file(world):
    with FakeBackend(20, 5000, 50) as a:
        process = subprocess.Popen(
            [str(world.binary), "route", "measure", "--policy", policy_file(world, a=a), "--cases",
             cases_file(world), "--out", "evidence.json"], cwd=world.folder,
            env=world.environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        deadline = time.monotonic() + 20 * world.slow
        while len(a.requests) < 3 and time.monotonic() < deadline:
            time.sleep(0.02)
        process.send_signal(signal.SIGINT)
        check_equal(process.wait(20), -signal.SIGINT, "how it ended")
    left = [path.name for path in world.folder.iterdir() if "evidence" in path.name]
    check_equal(left, [], "files")
