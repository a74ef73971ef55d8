#!/usr/bin/env python3
"""What the server adds to the library, and what it reaches under load, on one machine in one run.

    bench/server/run.py --build build/release [--model starter] [--out FILE]

Prints one JSON object: `latency` (one connection and Model::predict in turn: the difference of the
medians is what HTTP, JSON and the queue add), `load` (64 connections) beside `batch` (the same
requests through `layard predict --batch`). The answer cache is off and no text is asked twice.
"""

import argparse
import json
import os
import pathlib
import platform
import subprocess
import tempfile
import time


def cpu_name():
    for line in pathlib.Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines():
        if line.startswith("model name"):
            return line.split(":", 1)[1].strip()
    return platform.processor()


def output(command, **settings):
    return subprocess.run(command, check=True, capture_output=True, text=True, **settings).stdout


def batch_rate(layard, bench, model, count, environment, folder):
    """Requests a second of `predict --batch`, without its start."""
    lines = output([bench, "texts", str(count)])
    first = pathlib.Path(folder) / "one.jsonl"
    first.write_text(lines.split("\n", 1)[0] + "\n", encoding="utf-8")
    every = pathlib.Path(folder) / "all.jsonl"
    every.write_text(lines, encoding="utf-8")
    seconds = []
    for path in (first, every):
        began = time.monotonic()
        output([layard, "predict", model, "--batch", str(path)], env=environment)
        seconds.append(time.monotonic() - began)
    return (count - 1) / (seconds[1] - seconds[0])


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--model", default="starter")
    parser.add_argument("--count", type=int, default=2000, help="requests of each part")
    parser.add_argument("--connections", type=int, default=64)
    parser.add_argument("--out", type=pathlib.Path)
    arguments = parser.parse_args()
    layard = str(arguments.build / "bin/layard")
    bench = str(arguments.build / "bench/server/bench_server")
    result = {"machine": {"cpu": cpu_name(), "cores": len(os.sched_getaffinity(0)),
                          "load_before": os.getloadavg()[0]},
              "model": arguments.model, "count": arguments.count}
    with tempfile.TemporaryDirectory(prefix="layard_bench.") as folder:
        environment = {**os.environ, "LAYARD_CACHE": folder,
                       "LAYARD_DATA_DIR": str(arguments.build / "share/layard/models")}
        command = [layard, "serve", "--port", "0", "--model", arguments.model,
                   "--answer-cache-max", "0", "--queue-requests-max", "4096"]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True,
                              env=environment) as server:
            try:
                port = json.loads(server.stdout.readline())["listening"].rsplit(":", 1)[1]
                result["latency"] = json.loads(output(
                    [bench, "latency", port, arguments.model, str(arguments.count)],
                    env=environment))
                result["load"] = {"connections": arguments.connections, **json.loads(output(
                    [bench, "load", port, str(arguments.connections), str(arguments.count)]))}
            finally:
                server.terminate()
        result["batch"] = {"requests_per_s": batch_rate(layard, bench, arguments.model,
                                                        arguments.count, environment, folder)}
    result["load_over_batch"] = (result["load"]["requests_per_s"]
                                 / result["batch"]["requests_per_s"])
    text = json.dumps(result, indent=1) + "\n"
    print(text, end="")
    if arguments.out:
        arguments.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
