#!/usr/bin/env python3
"""`layard serve` beside upstream's own server, on one machine, in one run, on the same checkpoint.

    python3 -m venv .venv/peer_server && .venv/peer_server/bin/pip install 'laya[serve]==0.4.15'
    bench/server/peer.py --build build/release --peer .venv/peer_server/bin/laya-serve

The peer is the script `laya-serve` of the package `laya`, as its users install it (PyTorch's own
defaults for threads). Both servers run at once but are asked in turns: one connection (`latency`),
then several (`load`), each `--rounds` times. No text is asked twice of one server, and layard's
answer cache is off. Prints one JSON object with every round, the medians, and their ratios.
"""

import argparse
import contextlib
import json
import os
import pathlib
import socket
import statistics
import subprocess
import tempfile
import time
import urllib.request

from run import cpu_name, output

START_S_MAX = 180
NAME = "starter"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def wait_until_healthy(port, process):
    end = time.monotonic() + START_S_MAX
    while time.monotonic() < end:
        if process.poll() is not None:
            raise SystemExit(f"peer.py: the peer ended with status {process.returncode}")
        with contextlib.suppress(OSError):
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/health", timeout=2) as reply:
                if reply.status == 200:
                    return
        time.sleep(0.5)
    raise SystemExit(f"peer.py: the peer was not healthy within {START_S_MAX} s")


@contextlib.contextmanager
def peer(script, model, log):
    port = free_port()
    environment = {**os.environ, "LAYA_HOST": "127.0.0.1", "LAYA_PORT": str(port),
                   "LAYA_EXTRA_MODELS": json.dumps({NAME: str(model)}), "LAYA_MODELS": NAME,
                   "LAYA_DEFAULT_MODEL": NAME, "LAYA_DEVICE": "cpu", "HF_HUB_OFFLINE": "1",
                   # Else more than 16 connections are refused.
                   "LAYA_MAX_CONCURRENT": "1024", "LAYA_LOG_LEVEL": "warning"}
    with open(log, "wb") as out, subprocess.Popen([script], stdout=out, stderr=out,
                                                  env=environment) as process:
        try:
            wait_until_healthy(port, process)
            yield port
        finally:
            process.terminate()


@contextlib.contextmanager
def ours(layard, models, folder):
    environment = {**os.environ, "LAYARD_CACHE": folder, "LAYARD_DATA_DIR": str(models)}
    command = [layard, "serve", "--port", "0", "--model", NAME, "--answer-cache-max", "0",
               "--queue-requests-max", "4096"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            yield int(json.loads(process.stdout.readline())["listening"].rsplit(":", 1)[1])
        finally:
            process.terminate()


def medians(rounds):
    return {"requests_per_s": statistics.median(one["requests_per_s"] for one in rounds),
            **{key: statistics.median(one["served"][key] for one in rounds)
               for key in ("p50_ms", "p90_ms", "p99_ms")}}


def measured(bench, ports, connections, count, rounds, first):
    """Rounds in turns; each asks texts that were not asked before."""
    found = {name: [] for name in ports}
    for number in range(rounds):
        for name, port in ports.items() if number % 2 == 0 else reversed(ports.items()):
            found[name].append(json.loads(output(
                [bench, "load", str(port), str(connections), str(count),
                 str(first + number * count), NAME])))
    out = {name: {"rounds": each, "median": medians(each)} for name, each in found.items()}
    layard, other = out["layard"]["median"], out["laya-serve"]["median"]
    out["ratio"] = {"requests_per_s": layard["requests_per_s"] / other["requests_per_s"],
                    "p50_ms": layard["p50_ms"] / other["p50_ms"],
                    "p99_ms": layard["p99_ms"] / other["p99_ms"]}
    return out


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--peer", default=".venv/peer_server/bin/laya-serve")
    parser.add_argument("--model", type=pathlib.Path, default=pathlib.Path("models/starter"),
                        help="a folder called starter")
    parser.add_argument("--count", type=int, default=200, help="requests of a round")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    model = arguments.model.resolve()
    bench = str(arguments.build / "bench/server/bench_server")
    result = {"machine": {"cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)),
                          "load_before": os.getloadavg()[0]},
              "model": arguments.model.name, "count": arguments.count, "rounds": arguments.rounds}
    with tempfile.TemporaryDirectory(prefix="layard_bench.") as folder, \
            peer(arguments.peer, model, pathlib.Path(folder) / "peer.log") as theirs, \
            ours(str(arguments.build / "bin/layard"), model.parent, folder) as mine:
        ports = {"layard": mine, "laya-serve": theirs}
        measured(bench, ports, 1, 20, 1, 0)  # warm
        result["latency"] = measured(bench, ports, 1, arguments.count, arguments.rounds, 1000)
        result["load"] = {"connections": arguments.connections,
                          **measured(bench, ports, arguments.connections, arguments.count,
                                     arguments.rounds, 1_000_000)}
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
