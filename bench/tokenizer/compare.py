#!/usr/bin/env python3
"""Speed of our tokenizers against the Rust `tokenizers` package, one thread each, taken in turns.

usage: .venv/test/bin/python bench/tokenizer/compare.py --bench BUILD/.../tokenizer_bench
           [--rounds N] [--output FILE.json] NAME=TOKENIZER.JSON ...
Times are processor time for one call, medians over the rounds, so that a busy machine disturbs both
sides alike. The package is measured twice: encode() and encode_batch_fast() of one text, which
leaves out offsets; the faster one is what we are compared with.
"""

import argparse
import datetime
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"

import tokenizers  # noqa: E402  (reads the environment above)

SIZES = {"1KB": 1000, "100KB": 100_000}
SECONDS = 0.15  # for one measurement of one side


def cpu_us(call):
    """Processor time of one call in microseconds."""
    call()
    count = 0
    begin = time.process_time()
    while (spent := time.process_time() - begin) < SECONDS:
        call()
        count += 1
    return spent / count * 1e6


def package_round(loaded, texts, samples):
    for name, tokenizer in loaded.items():
        for size, text in texts.items():
            row = samples[name, size]
            row["encode"].append(cpu_us(lambda: tokenizer.encode(text, add_special_tokens=False)))
            row["fast"].append(
                cpu_us(lambda: tokenizer.encode_batch_fast([text], add_special_tokens=False)))


def our_round(bench, paths, files, samples):
    command = [bench, "--benchmark_format=json", "--benchmark_filter=encode/",
               f"--benchmark_min_time={SECONDS}"]
    command += [f"--tokenizer={name}={path}" for name, path in paths.items()]
    command += [f"--text={size}={path}" for size, path in files.items()]
    report = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    for run in report["benchmarks"]:
        _, name, size = run["name"].split("/")
        samples[name, size]["ours"].append(run["cpu_time"])  # the benchmark's unit is us


def machine():
    with open("/proc/cpuinfo", encoding="utf-8") as file:
        model = next(line.split(":")[1].strip() for line in file if line.startswith("model name"))
    return {"cpu": model, "cores": os.cpu_count(), "load_average": list(os.getloadavg())}


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bench", required=True, help="the tokenizer_bench to measure")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--output", help="write the result as JSON")
    parser.add_argument("tokenizers", nargs="+", metavar="NAME=TOKENIZER.JSON")
    options = parser.parse_args()
    paths = dict(item.split("=", 1) for item in options.tokenizers)
    loaded = {}
    for name, path in paths.items():
        loaded[name] = tokenizers.Tokenizer.from_file(path)
        loaded[name].no_truncation()
        loaded[name].no_padding()
    samples = {(n, s): {"ours": [], "encode": [], "fast": []} for n in paths for s in SIZES}
    begin = machine()
    with tempfile.TemporaryDirectory() as folder:
        files, texts = {}, {}
        for size, count in SIZES.items():
            files[size] = os.path.join(folder, size)
            text = subprocess.run([options.bench, f"--write-text={count}"], capture_output=True,
                                  check=True).stdout
            with open(files[size], "wb") as file:
                file.write(text)
            texts[size] = text.decode()
        for _ in range(options.rounds):
            our_round(options.bench, paths, files, samples)
            package_round(loaded, texts, samples)
    rows = []
    for (name, size), row in samples.items():
        median = {side: round(statistics.median(times), 1) for side, times in row.items()}
        package = min(median["encode"], median["fast"])
        rows.append({"tokenizer": name, "text": size, "ours_us": median["ours"],
                     "package_encode_us": median["encode"], "package_fast_us": median["fast"],
                     "ours_to_package": round(median["ours"] / package, 3)})
        print(f"{name:12} {size:6} ours {median['ours']:9.1f} us   encode "
              f"{median['encode']:10.1f} us   fast {median['fast']:10.1f} us   "
              f"{rows[-1]['ours_to_package']:.3f} of the package's time")
    result = {"benchmark": "tokenizer", "date": datetime.date.today().isoformat(),
              "machine": begin, "rounds": options.rounds,
              "unit": "microseconds of processor time for one call, median",
              "package": f"tokenizers {tokenizers.__version__}", "rows": rows}
    if options.output:
        with open(options.output, "w", encoding="utf-8") as file:
            json.dump(result, file, indent=1)
            file.write("\n")
    return 0 if all(row["ours_to_package"] <= 1.0 for row in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
