#!/usr/bin/env python3
"""What the gateway adds to a direct connection, on one machine in one run.

    bench/gateway/run.py --build build/release [--without-gateway] [--out FILE]

Starts mock_backend and `layard gateway` in front of it, and sends the same load both ways from one
process: directly, and through the gateway. Prints one JSON object and writes it to
bench/results/gateway-<cpu>.json: every round, the medians over the rounds, and the figures that the
gateway is held against (`checks`). Exit status 1 when one of these is not met.

`latency`: requests of one conversation, its class known. `first_turn`: a new conversation each,
with the model's decision. `streams`: event streams at once; requests of a known conversation go
beside them, both ways in turns. `memory`: of the gateway under that load, without a model and with
one.
--without-gateway sends both ways to the backend itself: what is left is the noise of this machine.
"""

import argparse
import contextlib
import json
import os
import pathlib
import platform
import re
import signal
import statistics
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
MODEL = "mock-model"
CLASSES = {"code": "source code, a script, a fix to a program, or an explanation of code",
           "prose": "several paragraphs of explanation, writing, advice or a story",
           "short": "one word, one number or one sentence"}
INSTRUCTIONS = "What kind of answer does this request need?"
MFLOP_PER_ROW_TOKEN = 25.4  # of the starter's forward pass
SHARE_OF_PEAK = 0.8
DECISION_BESIDE_MODEL_MS = 2
STICKY_P50_MS_MAX = 0.15
STICKY_P99_MS_MAX = 1
MEMORY_BYTES_MAX = 60e6
START_LIMIT_S = 60
STOP_LIMIT_S = 30


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def file_name(cpu):
    return "gateway-" + re.sub(r"[^a-z0-9]+", "-", cpu.lower()).strip("-") + ".json"


def say(text):
    print(f"gateway bench: {text}", file=sys.stderr, flush=True)


def output(command, **settings):
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          check=False, **settings)
    if done.returncode != 0:
        sys.exit(f"exit status {done.returncode} of {' '.join(map(str, command))}")
    return done.stdout


@contextlib.contextmanager
def running(command, **settings):
    """(process, URL) of a program whose first line on stdout says where it listens."""
    with subprocess.Popen([str(word) for word in command], stdout=subprocess.PIPE, text=True,
                          **settings) as process:
        try:
            line = process.stdout.readline()
            if not line:
                sys.exit(f"did not start: {' '.join(map(str, command))}")
            yield process, json.loads(line)["listening"]
        finally:
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(STOP_LIMIT_S)
            except subprocess.TimeoutExpired:
                process.kill()


def measure_peak(folder):
    """The processor's multiply-add roof with all cores, in GFLOP/s (bench/peers/peak.cc)."""
    binary = pathlib.Path(folder) / "peak"
    output(["g++", "-O2", "-std=c++20", "-pthread", HERE.parent / "peers/peak.cc", "-o", binary])
    cores = ",".join(map(str, sorted(os.sched_getaffinity(0))))
    return json.loads(output([binary, cores, "2", "64"]))


def policy(backend_url):
    """One device, always asked: the decision changes nothing, and is paid for all the same."""
    return {"version": 1, "default": "mock", "min_confidence": 0.16,
            "size_gate": {"min": 1024, "unit": "chars", "scope": "first_user",
                          "class": "long_doc"},
            "question": {"instructions": INSTRUCTIONS, "options": CLASSES},
            "classes": {name: {"device": "mock"} for name in (*CLASSES, "long_doc")},
            "decide": {"when": "always", "timeout_ms": 10000},
            "devices": {"mock": {"url": backend_url, "model": MODEL}}}


def medians(rounds):
    """The same shape as one round, with the median of every number."""
    first = rounds[0]
    if isinstance(first, dict):
        return {key: medians([one[key] for one in rounds if key in one]) for key in first}
    if isinstance(first, list):
        return [medians(list(values)) for values in zip(*rounds)]
    return statistics.median(rounds) if isinstance(first, (int, float)) else first


class Bench:
    """One run."""

    def __init__(self, arguments, folder):
        self.arguments, self.folder = arguments, pathlib.Path(folder)
        self.programs = arguments.build / "bench/gateway"
        self.layard = arguments.build / "bin/layard"
        self.environment = {**os.environ, "LAYARD_CACHE": str(folder),
                            "LAYARD_DATA_DIR": str(arguments.build / "share/layard/models")}

    def generator(self, mode, *options):
        return json.loads(output([self.programs / "bench_gateway", mode, *options]))

    def backend(self):
        return running([self.programs / "mock_backend", "--model", MODEL,
                        "--events", 10_000_000, "--events-per-s", self.arguments.events_per_s])

    @contextlib.contextmanager
    def gateway(self, backend, with_model):
        """(process, URL) of the gateway, or of the backend where there is to be none."""
        process, url = backend
        if self.arguments.without_gateway:
            yield process, url
            return
        path = self.folder / "policy.json"
        path.write_text(json.dumps(policy(url)), encoding="utf-8")
        command = [self.layard, "gateway", "--policy", path, "--port", 0]
        if with_model:
            command += ["--laya", "--model", self.arguments.model]
        with running(command, env=self.environment) as found:
            yield found

    def both_ways(self, backend, gateway):
        return ["--direct", backend[1], "--proxied", gateway[1], "--model", MODEL]

    def streams(self, url, backend, gateway, probes):
        return self.generator(
            "streams", "--url", url, "--streams", self.arguments.streams, "--seconds",
            self.arguments.seconds, "--model", MODEL, "--pid", gateway[0].pid, backend[0].pid,
            "--probe", *probes)

    def stream_rounds(self, backend, gateway):
        """Direct, proxied, proxied, direct: a drift of the machine meets both."""
        found = {"direct": [], "proxied": []}
        for way in ("direct", "proxied", "proxied", "direct"):
            say(f"{self.arguments.streams} streams, {way}")
            direct, through = backend[1], gateway[1]
            probes = (direct, through) if way == "proxied" else (direct, direct)
            found[way].append(self.streams(through if way == "proxied" else direct, backend,
                                           gateway, probes))
        return found

    def row_tokens(self):
        """Tokens of the row that a decision of `first_turn` is made from: the median."""
        texts = self.folder / "texts.jsonl"
        lines = output([self.programs / "bench_gateway", "texts", "--count", 50])
        questions = {"cls": {"type": "choice", "instructions": INSTRUCTIONS, "criteria": CLASSES}}
        texts.write_text("".join(
            json.dumps({"state": json.loads(line)["text"], "questions": questions}) + "\n"
            for line in lines.splitlines()), encoding="utf-8")
        answers = output([self.layard, "predict", self.arguments.model, "--batch", texts],
                         env=self.environment)
        return statistics.median(json.loads(line)["usage"]["input_tokens"]
                                 for line in answers.splitlines())

    def run(self):
        arguments, rounds = self.arguments, range(self.arguments.rounds)
        result = {"latency": [], "first_turn": [], "memory": {}}
        with self.backend() as backend:
            with self.gateway(backend, with_model=True) as gateway:
                ways = self.both_ways(backend, gateway)
                for number in rounds:
                    say(f"requests, round {number + 1} of {arguments.rounds}")
                    result["latency"].append(self.generator(
                        "latency", *ways, "--count", arguments.count))
                    # No text is asked twice in a run, warm-up included.
                    result["first_turn"].append(self.generator(
                        "first_turn", *ways, "--count", arguments.first_turns, "--warm-up", 40,
                        "--first-text", 1000 + number * (arguments.first_turns + 40)))
                result["streams"] = self.stream_rounds(backend, gateway)
                result["memory"]["with_model"] = self.generator("rss", gateway[0].pid)
            with self.gateway(backend, with_model=False) as gateway:
                say("memory without a model")
                self.streams(gateway[1], backend, gateway, (backend[1], gateway[1]))
                result["memory"]["without_model"] = self.generator("rss", gateway[0].pid)
        result["medians"] = {"latency": medians(result["latency"]),
                             "first_turn": medians(result["first_turn"]),
                             **{f"streams_{way}": medians(found)
                                for way, found in result["streams"].items()}}
        return result


def bound_ms(row_tokens, peak_gflops):
    """What a first turn may add: the forward pass at 0.8 of the roof, and 2 ms."""
    return row_tokens * MFLOP_PER_ROW_TOKEN / (SHARE_OF_PEAK * peak_gflops) + \
        DECISION_BESIDE_MODEL_MS


def others(rounds, wanted):
    """Proxied requests whose X-Layard-Decision was another one; none said so without a gateway."""
    return sum(count for one in rounds for decision, count in one["decisions"].items()
               if decision not in ("", wanted))


def checks(result, row_tokens, peak_gflops):
    """[{what, found, limit, passed}] of what the gateway is held against."""
    middle, memory = result["medians"], result["memory"]["without_model"]
    through, direct = middle["streams_proxied"], middle["streams_direct"]
    beside = through["probes"]["added"]
    found = [
        ("a known conversation adds, p50 ms", middle["latency"]["added"]["round_p50_ms"],
         STICKY_P50_MS_MAX),
        ("a known conversation adds beside the streams, p50 ms", beside["p50_ms"],
         STICKY_P50_MS_MAX),
        ("a known conversation adds beside the streams, p99 ms", beside["p99_ms"],
         STICKY_P99_MS_MAX),
        ("an event takes longer, p50 ms",
         through["latency"]["p50_ms"] - direct["latency"]["p50_ms"], STICKY_P50_MS_MAX),
        ("an event takes longer, p99 ms",
         through["latency"]["p99_ms"] - direct["latency"]["p99_ms"], STICKY_P99_MS_MAX),
        ("bytes held back behind a later event", through["held_back_bytes"],
         direct["held_back_bytes"]),
        ("events lost or repeated", through["lost_events"] + through["repeated_events"], 0),
        ("known conversations that were decided anew",
         others(result["latency"], "sticky"), 0),
        ("new conversations that the model did not decide",
         others(result["first_turn"], "model"), 0),
        ("a first turn adds, p50 ms", middle["first_turn"]["added"]["p50_ms"],
         bound_ms(row_tokens, peak_gflops)),
        ("resident bytes beside the model", memory["resident_bytes"], MEMORY_BYTES_MAX),
    ]
    return [{"what": what, "found": value, "limit": limit, "passed": value <= limit}
            for what, value, limit in found]


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--model", default="starter", help="who decides")
    parser.add_argument("--rounds", type=int, default=3, help="of `latency` and `first_turn`")
    parser.add_argument("--count", type=int, default=4000, help="requests of a round")
    parser.add_argument("--first-turns", type=int, default=400, help="first turns of a round")
    parser.add_argument("--streams", type=int, default=1000)
    parser.add_argument("--events-per-s", type=float, default=10)
    parser.add_argument("--seconds", type=float, default=20, help="of a round of streams")
    parser.add_argument("--without-gateway", action="store_true",
                        help="both ways are the direct one")
    parser.add_argument("--out", type=pathlib.Path, help="instead of bench/results/")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    cpu = cpu_name()
    result = {"command": sys.argv[1:], "machine": {
        "cpu": cpu, "cores": len(os.sched_getaffinity(0)), "load_before": os.getloadavg()[0]}}
    with tempfile.TemporaryDirectory(prefix="layard_bench.") as folder:
        bench = Bench(arguments, folder)
        peak = measure_peak(folder)
        result["machine"]["peak"] = peak
        result["row_tokens"] = 0 if arguments.without_gateway else bench.row_tokens()
        result.update(bench.run())
    result["checks"] = checks(result, result["row_tokens"], peak["fma_gflops"]["best"])
    text = json.dumps(result, indent=1) + "\n"
    out = arguments.out or HERE.parent / "results" / file_name(cpu)
    if arguments.out or not arguments.without_gateway:
        out.write_text(text, encoding="utf-8")
    print(text, end="")
    for check in result["checks"]:
        say(f"{'met' if check['passed'] else 'NOT MET'}: {check['what']}: "
            f"{check['found']:.3f}, at most {check['limit']:.3f}")
    return 0 if all(check["passed"] for check in result["checks"]) else 1


if __name__ == "__main__":
    sys.exit(main())
