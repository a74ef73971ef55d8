"""Layard beside the runtimes a user could pick, on the same prompts and cores, in one run.

    scripts/bench-peers [--cases GLOB ...] [--peers NAME ...] [--dtype D ...] [--rounds N]

Makes the checkpoints, exports them for the peers, finds each peer's best batching and thread count,
then times all engines in turn, round after round, and prints medians, ratios and shares of the
measured peak. docs/benchmarks.md says how to read the result.
"""

import argparse
import datetime
import fnmatch
import json
import os
import re
import shlex
import statistics
import subprocess
import sys
from pathlib import Path

import measure
from engines import EngineError, Layard, Peer, Setting
from options import PEERS, ROOT, arguments_of
from prompts import PromptBuilder, make_cases

WORK = ROOT / "build/bench"
PRESETS = ("modernbert-large", "mmbert-base")
PEAK_SECONDS = "0.3"


def say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def cpu() -> dict:
    lines = Path("/proc/cpuinfo").read_text().splitlines()
    found = {}
    for line in lines:
        key, _, value = line.partition(":")
        found.setdefault(key.strip(), value.strip())
    return {"model": found.get("model name", os.uname().machine),
            "flags": found.get("flags") or found.get("Features", "")}


def slug(model: str) -> str:
    """`Intel(R) Xeon(R) Processor` -> `intel_xeon`."""
    plain = re.sub(r"\((?:r|tm)\)|\bcpu\b|\bprocessor\b|@.*", " ", model.lower())
    return re.sub(r"[^a-z0-9]+", "_", plain).strip("_")


def prepare(names: set) -> dict:
    """Checkpoint folders by name; random ones are made on first use."""
    folders = {"starter": ROOT / "models/starter"}
    for preset in PRESETS:
        folder = folders[preset] = WORK / "checkpoints" / preset
        if preset in names and not (folder / "complete").is_file():
            say(f"making {preset}")
            subprocess.run([sys.executable, ROOT / "tools/goldens/make_random_checkpoint.py",
                            "--preset", preset, "--out", folder, "--tokenizer",
                            ROOT / "models/starter/tokenizer"], check=True, stdout=sys.stderr)
            (folder / "complete").touch()
    return folders


def build_peak() -> Path:
    binary, source = WORK / "peak", Path(__file__).with_name("peak.cc")
    if not binary.is_file() or binary.stat().st_mtime < source.stat().st_mtime:
        binary.parent.mkdir(parents=True, exist_ok=True)
        subprocess.run(["g++", "-O2", "-std=c++20", "-pthread", source, "-o", binary], check=True)
    return binary


class Bench:
    def __init__(self, options: argparse.Namespace):
        self.options = options
        self.cores = ([int(core) for core in options.cores.split(",")] if options.cores
                      else sorted(os.sched_getaffinity(0)))
        os.sched_setaffinity(0, self.cores)
        self.threads = options.threads or sorted({1, len(self.cores)})
        self.peak_binary = build_peak()
        self.first_peak = self.peak()
        self.left_out, self.infos = {}, {}

    def peak(self) -> dict:
        command = [self.peak_binary, ",".join(map(str, self.cores)), PEAK_SECONDS]
        return json.loads(subprocess.run(command, check=True, capture_output=True).stdout)

    def settings(self) -> list:
        """Peers and number formats worth running on this machine, one thread count each."""
        flags = cpu()["flags"].split()
        found = []
        for peer in self.options.peers:
            formats = ["float16"] if peer == "llama" else ["float32"]
            if peer == "openvino" and "amx_bf16" in flags:
                formats.append("bfloat16")  # what it does unasked on such a machine
            if peer == "torch" and ("amx_bf16" in flags or "avx512_bf16" in flags):
                formats.append("bfloat16")
            found += [Setting(peer, each, self.threads[-1]) for each in formats]
        return found

    def leave_out(self, setting: Setting, folder: Path, error: EngineError) -> None:
        self.left_out[f"{setting.name} on {folder.name}"] = str(error)
        say(f"left out: {setting.name} on {folder.name}: {error}")

    def start_peer(self, setting: Setting, folder: Path):
        """The engine, or None with the reason noted."""
        files = WORK / "exports" / folder.name
        try:
            engine = Peer(setting, folder, files, WORK / "logs")
            self.infos.setdefault(setting.name, engine.info())
            return engine
        except EngineError as error:
            self.leave_out(setting, folder, error)
            return None

    def start_layard(self, folder: Path) -> list:
        engines = []
        for dtype in sorted(self.options.dtype, key=lambda name: name != "float32"):
            setting = Setting("layard", dtype, len(self.cores))
            try:
                engines.append(Layard(setting, folder, self.options.driver, WORK / "logs"))
                self.infos.setdefault(setting.name, engines[-1].info())
            except EngineError as error:
                self.leave_out(setting, folder, error)
        if not engines:
            raise SystemExit("no Layard engine could be started; see build/bench/logs")
        return engines


def runs(setting: Setting, case) -> bool:
    """Whether a runtime can do a case at all."""
    return setting.peer != "llama" or (case.kind != "text" and case.checkpoint != "starter")


def ways_of(case) -> dict:
    return {"single": [[0]]} if case.kind == "text" else measure.groupings(case.lengths())


def trial(engine, case, groups: list) -> list:
    """A few samples of one way; one is enough where a pass is long."""
    samples = engine.measure(case, groups, 1)["ms"]
    return samples if samples[0] > 2000 else samples + engine.measure(case, groups, 2)["ms"]


def tune(bench: Bench, folder: Path, cases: list) -> dict:
    """(case, engine name) -> (Setting, grouping, milliseconds): each peer's best way."""
    found = {}
    for base in bench.settings():
        for threads in bench.threads:
            setting = Setting(base.peer, base.precision, threads)
            mine = [case for case in cases if runs(setting, case)]
            engine = bench.start_peer(setting, folder) if mine else None
            if engine is None:
                continue
            try:
                for case in mine:
                    ways = found.setdefault((case.name, setting.name), {})
                    for grouping, groups in ways_of(case).items():
                        ways[setting, grouping] = trial(engine, case, groups)
            except EngineError as error:
                bench.leave_out(setting, folder, error)
            engine.stop()
    return {key: (*measure.best(ways), statistics.median(ways[measure.best(ways)]))
            for key, ways in found.items() if ways}


class CaseRun:
    """All rounds of one case: turns taken, and the record made of them."""

    def __init__(self, bench: Bench, case, config: dict, engines: list):
        """`engines`: (engine, grouping name, milliseconds it took before), Layard's first."""
        self.bench, self.case, self.config = bench, case, config
        self.engines = [(engine, way) for engine, way, _ in engines]
        self.repeats = [measure.repeats_for(before) for _, _, before in engines]
        self.raw = self.engines[0][0].raw(case)
        self.check_rows()

    def check_rows(self) -> None:
        ours = [row for result in self.raw for row in result["rows"].values()]
        same = [a["input_ids"] == b["ids"] and a["markers"] == b["markers"]
                for a, b in zip(ours, self.case.rows, strict=True)]
        if not all(same):
            raise SystemExit(f"{self.case.name}: Layard reads other ids than the peers are given")

    def take_turns(self) -> tuple:
        """(samples by engine, last replies, peak readings) of one try."""
        groups = ways_of(self.case)
        samples, replies = [[] for _ in self.engines], [None] * len(self.engines)
        peaks = [self.bench.peak()]
        for number in range(self.bench.options.rounds):
            for at in measure.order_of_round(len(self.engines), number):
                engine, way = self.engines[at]
                replies[at] = engine.measure(self.case, groups[way], self.repeats[at])
                samples[at] += replies[at]["ms"]
            if number == self.bench.options.rounds // 2:
                peaks.append(self.bench.peak())
        peaks.append(self.bench.peak())
        return samples, replies, peaks

    def record(self) -> dict:
        for attempt in range(1, self.bench.options.tries + 1):
            samples, replies, peaks = self.take_turns()
            moved = measure.peaks_spread(peaks)
            if moved <= measure.STEADY_SPREAD:
                break
            say(f"{self.case.name}: peaks moved by {moved:.0%}, try {attempt} is void")
        lengths = self.case.lengths() if self.case.kind != "text" else self.case.lengths()[:1]
        gflop = sum(measure.row_gflop(self.config, length) for length in lengths)
        result = {"case": self.case.name, "checkpoint": self.case.checkpoint,
                  "kind": self.case.kind, "rows": len(lengths), "tokens": sum(lengths),
                  "gflop": round(gflop, 3), "steady": moved <= measure.STEADY_SPREAD,
                  "peaks_spread": round(moved, 4), "tries": attempt, "peaks": peaks,
                  "engines": {}}
        ours = [sample for sample, (engine, _) in zip(samples, self.engines)
                if engine.setting.peer == "layard"][0]
        for sample, reply, (engine, way) in zip(samples, replies, self.engines):
            entry = {"peer": engine.setting.peer, "precision": engine.setting.precision,
                     "threads": engine.setting.threads,
                     "grouping": "ragged" if engine.setting.peer == "layard" else way,
                     **measure.summary(sample)}
            top = measure.roof(peaks, measure.ROOF_KEYS[engine.setting.precision])
            if top is not None:
                entry["of_roof"] = round(gflop / (entry["median_ms"] / 1e3) / top, 4)
            entry["ratio_to_layard"] = round(entry["median_ms"] / statistics.median(ours), 4)
            entry.update(self.agreement(engine, reply))
            result["engines"][engine.setting.name] = entry
        return result

    def agreement(self, engine, reply: dict) -> dict:
        """How far an engine's outputs lie from Layard's, so that the same work was timed."""
        if engine is self.engines[0][0]:
            return {}
        if engine.setting.peer == "layard":
            outputs = logits_of(engine.raw(self.case))
        elif self.case.kind == "text":
            answers = [result["answers"]["q"]["noul"] for result in self.raw]
            mine = reply["answer"]["answers"]["q"]["noul"]
            return {"answer_difference": min(abs(mine - answer) for answer in answers)}
        elif engine.setting.peer == "llama":
            return self.hidden_agreement(reply["outputs"])
        else:
            outputs = reply["outputs"]
        return {"logits_max_difference": largest_difference(outputs, logits_of(self.raw))}

    def hidden_agreement(self, outputs: list) -> dict:
        note = {"note": "encoder only"}
        torch = [engine for engine, _ in self.engines if engine.setting.name == "torch float32"]
        if not torch:
            return note
        wanted = torch[0].call({"op": "hidden", "row": self.case.rows[0]})["hidden"]
        return {**note, "hidden_max_difference": largest_difference([outputs[0]], [wanted]),
                "hidden_max": max(map(abs, wanted))}


def logits_of(raw: list) -> list:
    return [row["logits"] for result in raw for row in result["rows"].values()]


def largest_difference(one: list, other: list) -> float:
    return max(abs(a - b) for x, y in zip(one, other, strict=True)
               for a, b in zip(x, y, strict=True))


def export(folder: Path) -> None:
    log = WORK / "logs" / f"export_{folder.name}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    say(f"exporting {folder.name} for the peers (once; {os.path.relpath(log)})")
    with log.open("w") as file:
        done = subprocess.run([sys.executable, Path(__file__).with_name("export.py"), folder,
                               WORK / "exports" / folder.name], stdout=file, stderr=file,
                              env={**os.environ, "HF_HUB_OFFLINE": "1"})
    if done.returncode != 0:
        raise SystemExit(f"the export failed: {log.read_text().strip().splitlines()[-1]}")


def run_case(bench: Bench, case, config: dict, engines: list) -> dict:
    """The record of one case; a peer that dies is left out of it and the case begun again."""
    while True:
        try:
            return CaseRun(bench, case, config, engines).record()
        except EngineError as error:
            dead = [engine for engine, *_ in engines if engine.process.child.poll() is not None]
            if not dead or any(engine.setting.peer == "layard" for engine in dead):
                raise
            for engine in dead:
                bench.leave_out(engine.setting, Path(case.name), error)
            engines = [pair for pair in engines if pair[0] not in dead]


def run_checkpoint(bench: Bench, folder: Path, cases: list) -> list:
    if bench.options.peers:
        export(folder)
    say(f"finding each peer's best way on {folder.name}")
    ways = tune(bench, folder, cases)
    agent = json.loads((folder / "rl_agent_config.json").read_text())
    config = {**json.loads((folder / "encoder/config.json").read_text()),
              "head_layers": agent["head_layers"]}
    layard = bench.start_layard(folder)
    peers, records = {}, []
    try:
        for case in cases:
            wanted = [way for (name, _), way in ways.items() if name == case.name]
            for setting in {way[0] for way in wanted} - set(peers):
                peers[setting] = bench.start_peer(setting, folder)
            way = next(iter(ways_of(case).items()))
            engines = [(engine, way[0], statistics.median(trial(engine, case, way[1])))
                       for engine in layard]
            engines += [(peers[setting], grouping, before) for setting, grouping, before in wanted
                        if peers[setting] is not None
                        and peers[setting].process.child.poll() is None]
            records.append(run_case(bench, case, config, engines))
            print("\n".join(measure.case_table(records[-1])), flush=True)
    finally:
        for engine in [*layard, *filter(None, peers.values())]:
            engine.stop()
    return records


def revision() -> str:
    done = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty"],
                          capture_output=True, text=True)
    return done.stdout.strip() or "unknown"


def write_result(bench: Bench, records: list, complete: bool, load_before: tuple) -> Path:
    machine = cpu()
    isa = bench.first_peak["isa"]
    peaks = [bench.first_peak] + [peak for record in records for peak in record["peaks"]]
    result = {"benchmark": "peers", "date": datetime.date.today().isoformat(),
              "command": shlex.join(["scripts/bench-peers", *sys.argv[1:]]),
              "revision": revision(), "cpu": machine["model"], "isa": isa,
              "flags": machine["flags"],
              "cores": bench.cores, "threads_tried": bench.threads,
              "rounds": bench.options.rounds, "load_average_before": load_before,
              "load_average_after": os.getloadavg(),
              "peaks_unsteady": not all(record["steady"] for record in records),
              "roofs": {key: measure.roof(peaks, key) for key in
                        ("fma_gflops", "fma_one_core_gflops", "tile_bf16_gflops",
                         "tile_int8_gops", "read_gb_s")},
              "engines": bench.infos, "left_out": bench.left_out, "cases": records}
    folder = ROOT / "bench/results" / ("" if complete else "local")
    path = bench.options.out or folder / f"peers_{slug(machine['model'])}_{isa}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    # Texts of engines may name files: a record names none of this machine's folders.
    path.write_text(json.dumps(result, indent=1).replace(f"{ROOT}/", "") + "\n")
    return path


def main() -> None:
    options = arguments_of()
    if options.isa:
        os.environ["LAYARD_FORCE_ISA"] = options.isa
    if not options.driver.is_file():
        raise SystemExit(f"{options.driver} is not built; run: make bench")
    folders = prepare(set(PRESETS))
    builders = {name: PromptBuilder(folder) for name, folder in folders.items()}
    every = make_cases(builders)
    cases = [case for case in every
             if any(fnmatch.fnmatch(case.name, pattern) for pattern in options.cases)]
    if not cases:
        raise SystemExit("no such case; known: " + ", ".join(case.name for case in every))
    load_before = os.getloadavg()
    bench = Bench(options)
    records = []
    for name in dict.fromkeys(case.checkpoint for case in cases):
        records += run_checkpoint(bench, folders[name],
                                  [case for case in cases if case.checkpoint == name])
        complete = len(records) == len(every) and set(options.peers) == set(PEERS)
        path = write_result(bench, records, complete, load_before)  # so that little is lost
    print(measure.peak_line([peak for record in records for peak in record["peaks"]]))
    if not all(record["steady"] for record in records):
        print("peaks moved by more than 5% in every try of some case: do not use these figures")
    print(f"written to {os.path.relpath(path)}")


if __name__ == "__main__":
    main()
