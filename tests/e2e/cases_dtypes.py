"""Number formats: the parity gate's records, `--dtype auto`, and near ties decided in float32."""

import json
import os

from harness import Skip, case, check, check_equal, json_lines, without_times

ROWS_MIN = 200
QUESTION = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}


def use_fastest_kernels(world):
    """The portable kernels would take minutes for what these cases run."""
    isas = world.run("info").json()["environment"]["isas"]
    world.environment["LAYARD_FORCE_ISA"] = next(iter(isas))
    return world.environment["LAYARD_FORCE_ISA"]


def starter_cases(world):
    """The recorded cases of the starter."""
    return json_lines((world.starter_folder / "goldens.jsonl").read_text(encoding="utf-8"))


def trained_model(world):
    """A checkpoint stored in float16 whose config counts training steps, and its recorded cases: a
    small one, whose rows take no time; the starter where there are no reference outputs."""
    try:
        folder = world.copy_of(world.golden("english"), "trained")
        cases = [case for case in world.golden_cases("english") if case.get("rows")]
    except Skip:
        return world.starter, starter_cases(world)
    change_config(folder, training={"steps": 1})
    return folder, cases


def change_config(folder, **changes):
    path = folder / "rl_agent_config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps({**config, **changes}), encoding="utf-8")


def shortest(cases, rows):
    """The shortest of recorded cases, at least `rows` different rows together, and the count of all
    their rows."""
    cases = sorted(cases, key=lambda c: sum(len(r["input_ids"]) for r in c["rows"]))
    chosen, different = [], set()
    while len(different) < rows:
        chosen.append(cases[len(chosen)])
        different |= {(tuple(r["input_ids"]), tuple(r["markers"])) for r in chosen[-1]["rows"]}
    return chosen, sum(len(case["rows"]) for case in chosen)


def write_lines(world, name, cases):
    return world.write(name, "".join(json.dumps(c, ensure_ascii=False) + "\n" for c in cases))


def parity(world, model, goldens, dtype):
    return world.run("parity", model, "--goldens", goldens, "--dtype", dtype)


def runtime_of_auto(world, model):
    """The runtime block and the log of a request with --dtype auto."""
    run = world.run("--log-level", "info", "predict", model, "--context", "Money back!",
                    "--questions", json.dumps(QUESTION), "--dtype", "auto")
    return run.json()["runtime"], run.stderr


def write_record(path, record):
    path.write_text(json.dumps(record), encoding="utf-8")
    path.chmod(0o600)


def failed_gate(world, model, cases, rows):
    """A small gate that fails, for a reference that is wrong in one row."""
    cases = [c for c in cases if len(c["rows"][0]["logits"]) > 1]
    wrong = json.loads(json.dumps(shortest(cases, rows)[0]))
    wrong[-1]["rows"][0]["logits"][0] += 3.0
    return parity(world, model, write_lines(world, "wrong.jsonl", wrong), "float16")


def passing_record(world, model, cases):
    """A record of this machine and build without 200 rows being run: a small gate that failed left
    it, and it was made to pass. Returns its path and content."""
    run = failed_gate(world, model, cases, 2)
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
    runtime, log = runtime_of_auto(world, world.starter)
    check_equal(runtime["dtype"], "float32", "dtype")
    check(runtime["artifact_revision"].endswith(":float32"), runtime["artifact_revision"])
    check("rechecked" not in runtime, f"nothing can be rechecked in float32: {runtime}")
    for word in ("parity starter --dtype", isa, "float32 is used"):
        check(word in log, f"the log must say {word!r}\n{log}")
    said = world.predict(world.starter, QUESTION, "Money back!", "--dtype", "auto").stderr
    check(said.startswith("warning: dtype auto: ") and said.count("\n") == 1, f"one note\n{said}")
    quiet = world.run("--log-level", "error", "predict", world.starter, "--context", "x",
                      "--questions", json.dumps(QUESTION), "--dtype", "auto")
    check_equal(quiet.stderr, "", "with --log-level error")


@case
def auto_takes_what_parity_recorded(world):
    """A pass leaves a private record; auto takes the fastest of those that passed."""
    isa = use_fastest_kernels(world)
    model, cases = trained_model(world)
    cases, rows = shortest(cases, ROWS_MIN)
    goldens = write_lines(world, "goldens.jsonl", cases)
    # The weights are stored in float16, so this format passes on any machine.
    report = parity(world, model, goldens, "float16").json()
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
    runtime, log = runtime_of_auto(world, model)
    check_equal(runtime["dtype"], "float16", f"dtype\n{log}")
    check("warning" not in log, f"nothing to warn about\n{log}")
    check(runtime["artifact_revision"].endswith(":float16"), runtime["artifact_revision"])
    # A faster float32 beside it is taken instead.
    record.update(dtype="float32", row_ms_median=record["row_ms_median"] / 2)
    record.update(prob_max_abs=min(record["prob_max_abs"], 1e-5))
    faster = path.with_name(f"{isa}-float32.json")
    write_record(faster, record)
    check_equal(runtime_of_auto(world, model)[0]["dtype"], "float32",
                "dtype beside a faster float32")


@case
def unusable_records_are_ignored(world):
    """Tampered, foreign, exposed and broken records leave float32, and the log says which."""
    isa = use_fastest_kernels(world)
    model, cases = trained_model(world)
    path, record = passing_record(world, model, cases)
    good = path.read_bytes()
    check_equal(runtime_of_auto(world, model)[0]["dtype"], "float16", "the record as it is")

    def ignored(what, word):
        runtime, log = runtime_of_auto(world, model)
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
    check_equal(runtime_of_auto(world, model)[0]["dtype"], "float16",
                f"the record as it was ({isa})")


@case
def failing_gate_is_recorded(world):
    """Exit 1, `passed` false in the record, and auto does not take that format any more."""
    use_fastest_kernels(world)
    model, cases = trained_model(world)
    path, _ = passing_record(world, model, cases)
    check_equal(runtime_of_auto(world, model)[0]["dtype"], "float16", "dtype before")
    # A few rows are no match for the many that passed.
    run = failed_gate(world, model, cases, 4)
    check_equal(run.code, 1, f"exit code\n{run}")
    report = run.any_json()
    check_equal((report["passed"], report["record"]["written"]), (False, False), "few rows")
    for word in ("stays in force", "at least 200", "--goldens"):
        check(word in report["record"]["note"], f"the note must say {word!r}: {report['record']}")
    check_equal(runtime_of_auto(world, model)[0]["dtype"], "float16", "dtype after a few rows")
    run = failed_gate(world, model, cases, ROWS_MIN)
    check_equal(run.code, 1, f"exit code\n{run}")
    report = run.any_json()
    check_equal((report["passed"], report["record"]["written"]), (False, True), "report")
    check_equal(report["record"]["path"], str(path), "path of the record")
    record = json.loads(path.read_text(encoding="utf-8"))
    check_equal(record["passed"], False, "record")
    runtime, log = runtime_of_auto(world, model)
    check_equal(runtime["dtype"], "float32", "dtype after")
    check("warning: dtype auto: " in log and "(recorded: float16 failed)" in log, log)


@case
def failed_format_is_warned_about(world):
    """A format asked for by name whose gate failed: one warning naming the record, same answers."""
    use_fastest_kernels(world)
    model, cases = trained_model(world)
    plain = world.predict(model, QUESTION, "Money back!", "--dtype", "float16")
    check_equal(plain.stderr, "", "without a record")
    failed_gate(world, model, cases, 2)
    (path,) = record_files(world)
    run = world.predict(model, QUESTION, "Money back!", "--dtype", "float16")
    check_equal(without_times(run.stdout), without_times(plain.stdout), "the answers")
    for word in ("warning: dtype float16: ", str(path), "failed: a probability is off by ",
                 "where 0.02 is allowed", f"parity {model} --dtype float16"):
        check(word in run.stderr, f"the warning must say {word!r}\n{run}")
    check_equal(run.stderr.count("\n"), 1, f"lines of\n{run}")
    line = json.dumps({"state": "Money back!", "questions": QUESTION}) + "\n"
    batch = world.run("predict", model, "--dtype", "float16", "--batch", "-", stdin=line * 100)
    check_equal(batch.stderr, run.stderr, "once for many lines")
    for quiet in (world.predict(model, QUESTION, "Money back!"),
                  world.predict(model, QUESTION, "Money back!", "--dtype", "int8"),
                  failed_gate(world, model, cases, 2)):
        check("warning" not in quiet.stderr, f"another format, and the gate itself\n{quiet}")


@case
def failure_of_the_act_head_alone_is_named(world):
    """The warning says what failed also where every answer's probability was right."""
    use_fastest_kernels(world)
    model, cases = trained_model(world)
    wrong = json.loads(json.dumps(shortest(cases, 2)[0]))
    wrong[0]["rows"][0]["act"][0] += 0.25
    report = parity(world, model, write_lines(world, "act.jsonl", wrong), "float16").any_json()
    check(report["action_prob_max_abs"] > 0.2 and report["prob_max_abs"] < 0.02, str(report))
    (path,) = record_files(world)
    record = json.loads(path.read_text(encoding="utf-8"))
    check_equal(record["action_prob_max_abs"], report["action_prob_max_abs"], "in the record")
    said = world.predict(model, QUESTION, "Money back!", "--dtype", "float16").stderr
    check("failed: a probability of the act head is off by 0.25 where 0.02 is allowed (" in said,
          said)


@case
def few_rows_leave_no_record(world):
    use_fastest_kernels(world)
    cases, rows = shortest(starter_cases(world), 4)
    report = parity(world, world.starter, write_lines(world, "few.jsonl", cases), "float16").json()
    check_equal((report["passed"], report["rows"]), (True, rows), "the gate")
    check_equal(report["weights"], "trained", "weights of the starter")
    check_equal(report["record"]["written"], False, "record")
    for word in ("different rows", "at least 200", "--goldens"):
        check(word in report["record"]["note"], f"the note must say {word!r}: {report['record']}")
    check_equal(record_files(world), [], "files")


@case
def repeated_rows_count_once(world):
    """A pass needs 200 different rows, not one row 200 times."""
    use_fastest_kernels(world)
    model, cases = trained_model(world)
    chosen, rows = shortest(cases, 1)
    goldens = write_lines(world, "same.jsonl", chosen * (200 // rows + 1))
    report = parity(world, model, goldens, "float16").json()
    check(report["passed"] and report["rows"] >= 200, str(report))
    check_equal(report["record"]["written"], False, "record")
    check("different rows" in report["record"]["note"], str(report["record"]))


@case
def goldens_of_another_shape_leave_no_record(world):
    use_fastest_kernels(world)
    model, cases = trained_model(world)
    chosen, _ = shortest(cases, 1)
    chosen[0]["rows"][0]["act"] = [1.0]
    goldens = write_lines(world, "act.jsonl", chosen)
    parity(world, model, goldens, "float16").refused(
        "InvalidRequestError", "'act' has 1 numbers", chosen[0]["name"])
    check_equal(record_files(world), [], "files")


@case
def warnings_do_not_steer_the_terminal(world):
    """A checkpoint's own words in a warning: one printable line."""
    model, _ = trained_model(world)
    if model == world.starter:
        model = world.copy_of(world.starter_folder)
    change_config(model, temperature_by_options={"\u001b[31mX\u0007\u202e\nerror: Fake: y": "x"})
    run = world.predict(model, QUESTION, "Money back!")
    check(run.code != 0 or run.stderr != "", f"something must be said\n{run}")
    for character in "\x1b\x07\u202e":
        check(character not in run.stderr, f"{character!r} on the terminal\n{run}")
    check("\nerror: Fake" not in run.stderr, f"a line of the checkpoint's own\n{run}")


@case
def random_weights_leave_no_record(world):
    """The tools that draw weights say so in the config; such a checkpoint vouches for nothing."""
    use_fastest_kernels(world)
    model, cases = trained_model(world)
    if model == world.starter:
        model = world.copy_of(world.starter_folder)
    change_config(model, weights="random")
    goldens = write_lines(world, "goldens.jsonl", shortest(cases, 4)[0])
    report = parity(world, model, goldens, "float16").json()
    check_equal((report["passed"], report["weights"]), (True, "random"), "report")
    check_equal(report["record"]["written"], False, "record")
    check("random" in report["record"]["note"], str(report["record"]))
    check_equal(record_files(world), [], "files")


@case
def parity_of_auto_is_refused(world):
    use_fastest_kernels(world)
    goldens = write_lines(world, "few.jsonl", shortest(starter_cases(world), 2)[0])
    run = parity(world, world.starter, goldens, "auto")
    run.refused("InvalidRequestError", "--dtype", "bfloat16")
    check_equal(run.stderr.count("\n"), 1, f"and nothing is warned about before\n{run}")


def tied_and_clear(world):
    """Some cases that the reference nearly ties, and some that it decides."""
    def margin(recorded):
        best = [sorted(row["logits"])[-2:] for row in recorded["rows"] if row["type"] != 1]
        return min((two[1] - two[0] for two in best if len(two) > 1), default=9.0)

    cases = starter_cases(world)
    tied = shortest([c for c in cases if margin(c) < 0.05], 2)[0]
    return tied + shortest([c for c in cases if margin(c) > 1.0], 8)[0]


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
    cases = tied_and_clear(world)
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
