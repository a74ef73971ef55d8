"""Number formats: the parity gate's records, `--dtype auto`, and near ties decided in float32."""

import json
import os

from harness import Skip, case, check, check_equal, json_lines

ROWS_MIN = 200
QUESTION = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}


def use_fastest_kernels(world):
    """The portable kernels would take minutes for what these cases run."""
    isas = world.run("info").json()["environment"]["isas"]
    world.environment["LAYARD_FORCE_ISA"] = next(iter(isas))
    return world.environment["LAYARD_FORCE_ISA"]


def golden_lines(world, rows):
    """The shortest recorded cases of the starter, at least `rows` rows together."""
    text = (world.starter_folder / "goldens.jsonl").read_text(encoding="utf-8")
    cases = sorted(json_lines(text), key=lambda c: sum(len(r["input_ids"]) for r in c["rows"]))
    chosen, count = [], 0
    while count < rows:
        chosen.append(cases[len(chosen)])
        count += len(chosen[-1]["rows"])
    return chosen, count


def write_lines(world, name, cases):
    return world.write(name, "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in cases))


def parity(world, goldens, dtype):
    return world.run("parity", world.starter, "--goldens", goldens, "--dtype", dtype)


def runtime_of_auto(world):
    """The runtime block and the log of a request with --dtype auto."""
    run = world.run("--log-level", "info", "predict", world.starter, "--context", "Money back!",
                    "--questions", json.dumps(QUESTION), "--dtype", "auto")
    return run.json()["runtime"], run.stderr


def write_record(path, record):
    path.write_text(json.dumps(record), encoding="utf-8")
    path.chmod(0o600)


def passing_record(world):
    """A record of this machine and build without 200 rows being run: a small gate that failed left
    it, and it was made to pass. Returns its path and content."""
    cases = golden_lines(world, 2)[0]
    cases[0]["rows"][0]["logits"][0] += 3.0
    run = parity(world, write_lines(world, "wrong.jsonl", cases), "float16")
    check_equal(run.code, 1, f"exit code\n{run}")
    (path,) = record_files(world)
    record = json.loads(path.read_text(encoding="utf-8"))
    record.update(passed=True, rows=ROWS_MIN, hard_mismatches=0, prob_max_abs=1e-6)
    write_record(path, record)
    return path, record


def record_files(world):
    folder = world.folder / "cache" / "parity"
    return sorted(folder.rglob("*.json")) if folder.exists() else []


@case
def auto_without_records_is_float32(world):
    isa = use_fastest_kernels(world)
    runtime, log = runtime_of_auto(world)
    check_equal(runtime["dtype"], "float32", "dtype")
    check(runtime["artifact_revision"].endswith(":float32"), runtime["artifact_revision"])
    check("rechecked" not in runtime, f"nothing can be rechecked in float32: {runtime}")
    for word in ("parity starter --dtype", isa, "float32 is used"):
        check(word in log, f"the log must say {word!r}\n{log}")
    quiet = world.predict(world.starter, QUESTION, "Money back!", "--dtype", "auto")
    check_equal(quiet.stderr, "", "without --log-level info")


@case
def auto_takes_what_parity_recorded(world):
    """A pass leaves a private record; auto takes the fastest of those that passed."""
    isa = use_fastest_kernels(world)
    cases, rows = golden_lines(world, ROWS_MIN)
    goldens = write_lines(world, "goldens.jsonl", cases)
    # The starter is stored in float16, so this format passes on any machine.
    report = parity(world, goldens, "float16").json()
    check_equal(report["passed"], True, "the gate")
    check_equal(report["weights"], "trained", "weights")
    check_equal(report["record"]["written"], True, f"record {report['record']}")
    (path,) = record_files(world)
    check_equal(str(path), report["record"]["path"], "path of the record")
    check_equal(path.name, f"{isa}-float16.json", "name of the record")
    check_equal(path.stat().st_mode & 0o777, 0o600, "mode of the record")
    check_equal(path.parent.stat().st_mode & 0o777, 0o700, "mode of its folder")
    record = json.loads(path.read_text(encoding="utf-8"))
    check_equal((record["rows"], record["dtype"], record["isa"], record["passed"]),
                (rows, "float16", isa, True), "the record")
    runtime, log = runtime_of_auto(world)
    check_equal(runtime["dtype"], "float16", f"dtype\n{log}")
    check(runtime["artifact_revision"].endswith(":float16"), runtime["artifact_revision"])
    # A faster float32 beside it is taken instead.
    record.update(dtype="float32", row_ms_median=record["row_ms_median"] / 2)
    record.update(prob_max_abs=min(record["prob_max_abs"], 1e-5))
    faster = path.with_name(f"{isa}-float32.json")
    write_record(faster, record)
    check_equal(runtime_of_auto(world)[0]["dtype"], "float32", "dtype beside a faster float32")


@case
def unusable_records_are_ignored(world):
    """Tampered, foreign, exposed and broken records leave float32, and the log says which."""
    isa = use_fastest_kernels(world)
    path, record = passing_record(world)
    good = path.read_bytes()
    check_equal(runtime_of_auto(world)[0]["dtype"], "float16", "the record as it is")

    def ignored(what, word):
        runtime, log = runtime_of_auto(world)
        check_equal(runtime["dtype"], "float32", what)
        check(word in log and path.name in log, f"{what}: the log must say {word!r}\n{log}")

    for change, word in (({"rows": ROWS_MIN - 1}, "'rows'"), ({"passed": "yes"}, "'passed'"),
                         ({"hard_mismatches": 1}, "'hard_mismatches'"),
                         ({"prob_max_abs": 0.5}, "'prob_max_abs'"),
                         ({"weights_sha256": "0" * 64}, "another weights_sha256"),
                         ({"isa": "other"}, "another isa"), ({"dtype": "int8"}, "another dtype"),
                         ({"kernels": "0" * 16}, "another kernels"),
                         ({"build": "0.0.1+0"}, "another build"),
                         ({"processor": "another one"}, "another processor")):
        path.write_text(json.dumps({**record, **change}), encoding="utf-8")
        ignored(change, word)
    path.write_bytes(b"{")
    ignored("not JSON", "ignored")
    path.write_bytes(good)
    for part in (path, path.parent, path.parent.parent):
        mode = part.stat().st_mode & 0o777
        part.chmod(mode | 0o002)
        ignored(f"{part} open to others", "of this user alone")
        part.chmod(mode)
    if os.geteuid() == 0:
        os.chown(path, 4711, 4711)
        ignored("another user's", "of this user alone")
        os.chown(path, 0, 0)
    check_equal(runtime_of_auto(world)[0]["dtype"], "float16", f"the record as it was ({isa})")


@case
def failing_gate_is_recorded(world):
    """Exit 1, `passed` false in the record, and auto does not take that format any more."""
    use_fastest_kernels(world)
    path, _ = passing_record(world)
    check_equal(runtime_of_auto(world)[0]["dtype"], "float16", "dtype before")
    cases = golden_lines(world, 4)[0]
    cases[3]["rows"][0]["logits"][0] += 3.0
    run = parity(world, write_lines(world, "goldens.jsonl", cases), "float16")
    check_equal(run.code, 1, f"exit code\n{run}")
    report = run.any_json()
    check_equal((report["passed"], report["record"]["written"]), (False, True), "report")
    check_equal(report["record"]["path"], str(path), "path of the record")
    record = json.loads(path.read_text(encoding="utf-8"))
    check_equal(record["passed"], False, "record")
    check_equal(runtime_of_auto(world)[0]["dtype"], "float32", "dtype after")


@case
def few_rows_leave_no_record(world):
    use_fastest_kernels(world)
    cases, rows = golden_lines(world, 20)
    report = parity(world, write_lines(world, "few.jsonl", cases), "float16").json()
    check_equal((report["passed"], report["rows"]), (True, rows), "the gate")
    check_equal(report["record"]["written"], False, "record")
    for word in (f"{rows} rows", "at least 200", "--goldens"):
        check(word in report["record"]["note"], f"the note must say {word!r}: {report['record']}")
    check_equal(record_files(world), [], "files")


@case
def random_weights_leave_no_record(world):
    """The tools that draw weights say so in the config; such a checkpoint vouches for nothing."""
    use_fastest_kernels(world)
    copy = world.copy_of(world.starter_folder)
    config = json.loads((copy / "rl_agent_config.json").read_text(encoding="utf-8"))
    config["weights"] = "random"
    (copy / "rl_agent_config.json").write_text(json.dumps(config), encoding="utf-8")
    goldens = write_lines(world, "goldens.jsonl", golden_lines(world, 4)[0])
    report = world.run("parity", copy, "--goldens", goldens, "--dtype", "float16").json()
    check_equal((report["passed"], report["weights"]), (True, "random"), "report")
    check_equal(report["record"]["written"], False, "record")
    check("random" in report["record"]["note"], str(report["record"]))
    check_equal(record_files(world), [], "files")


@case
def parity_of_auto_is_refused(world):
    use_fastest_kernels(world)
    goldens = write_lines(world, "few.jsonl", golden_lines(world, 2)[0])
    parity(world, goldens, "auto").refused("InvalidRequestError", "--dtype", "bfloat16")


def batch_rows(world, batch, *options):
    """Raw rows of every line, and how many were rechecked."""
    run = world.run("predict", world.starter, "--batch", batch, "--raw", *options)
    check_equal(run.code, 0, f"exit code\n{run}")
    results = json_lines(run.stdout)
    rows = [row for result in results for row in result["rows"].values()]
    return [(row["logits"], row["act"]) for row in rows], [r["runtime"] for r in results]


@case
def near_ties_are_decided_by_float32(world):
    """Rows that are run again have float32's bits; all others keep the reduced format's."""
    use_fastest_kernels(world)
    cases = golden_lines(world, 90)[0]
    batch = write_lines(world, "batch.jsonl",
                        [{"state": c["state"], "questions": c["questions"]} for c in cases])
    exact, exact_runtime = batch_rows(world, batch)
    reduced, reduced_runtime = batch_rows(world, batch, "--dtype", "int8", "--no-tie-recheck")
    checked, checked_runtime = batch_rows(world, batch, "--dtype", "int8")
    check(all("rechecked" not in r for r in exact_runtime + reduced_runtime),
          "rechecked is printed only where rows could be rechecked")
    rechecked = sum(r["rechecked"] for r in checked_runtime)
    if exact == reduced:
        raise Skip("int8 gives float32's bits with these kernels")
    changed = sum(a != b for a, b in zip(checked, reduced))
    for at, (found, low, high) in enumerate(zip(checked, reduced, exact)):
        check(found in (low, high), f"row {at} is neither int8's nor float32's")
    check(0 < changed <= rechecked < len(checked),
          f"{rechecked} of {len(checked)} rows rechecked, {changed} changed")
    check(all(next(reversed(r)) == "rechecked" for r in checked_runtime), "the last field")
    again, _ = batch_rows(world, batch, "--dtype", "int8")
    check_equal(again, checked, "a second run")
    # Alone, as in the batch: whether a row is rechecked depends on that row.
    at = next(i for i, r in enumerate(checked_runtime) if r["rechecked"] > 0)
    alone = write_lines(world, "alone.jsonl", [{"state": cases[at]["state"],
                                                "questions": cases[at]["questions"]}])
    rows, runtime = batch_rows(world, alone, "--dtype", "int8")
    first = sum(len(c["rows"]) for c in cases[:at])
    check_equal(rows, checked[first:first + len(rows)], "alone")
    check_equal(runtime[0]["rechecked"], checked_runtime[at]["rechecked"], "count alone")
