"""`layard doctor`: what it looks at, what it says to do, and its exit status."""

import os
import re

from harness import case, check, check_equal

ROWS = ["processor", "kernels", "threads", "memory", "cache", "checkpoints", "network", "devices",
        "starter"]
STATES = ("ok", "warning", "failed")


def doctor(world, *options, **settings):
    """(exit status, {name: finding}, the whole result) of the JSON form."""
    run = world.run("doctor", "--format", "json", *options, **settings)
    check(run.code in (0, 1), f"exit\n{run}")
    result = run.any_json()
    check_equal(list(result), ["status", "findings"], "fields")
    for finding in result["findings"]:
        check_equal(list(finding), ["name", "status", "found", "remedy"], "fields of a finding")
        check(finding["status"] in STATES, f"status of {finding}")
        check_equal(finding["remedy"] is None, finding["status"] == "ok",
                    f"a remedy, exactly where there is something to mend: {finding}")
        check(finding["found"] and "\n" not in finding["found"], f"found is one line: {finding}")
    check_equal([finding["name"] for finding in result["findings"]], ROWS, "what was looked at")
    worst = max((finding["status"] for finding in result["findings"]), key=STATES.index)
    check_equal(result["status"], worst, "the status is the worst")
    check_equal(run.code, 1 if worst == "failed" else 0, f"exit\n{run}")
    return run.code, {finding["name"]: finding for finding in result["findings"]}, result


@case
def doctor_of_a_healthy_machine(world):
    del world.environment["LAYARD_CACHE_MAX"]
    code, findings, _ = doctor(world)
    check_equal(code, 0, f"exit of a healthy machine: {findings}")
    for name in ("threads", "checkpoints", "network", "devices", "starter"):
        check_equal(findings[name]["status"], "ok", f"{findings[name]}")
    check("starter" in findings["checkpoints"]["found"], f"{findings['checkpoints']}")
    check("laya-multilingual" in findings["checkpoints"]["found"], "what is not here is named")
    check(not list(world.folder.glob("cache/.doctor*")), "the file it tried with is gone")
    table = world.run("doctor")
    check_equal((table.code, table.stderr), (0, ""), f"exit and messages\n{table}")
    rows = [line.split() for line in table.stdout.splitlines() if not line.startswith(" ")]
    check_equal([row[1] for row in rows], ROWS, f"rows of\n{table}")
    # Free memory may cross its bound between the two runs; nothing else may differ.
    check_equal({row[1]: row[0] for row in rows if row[1] != "memory"},
                {name: one["status"] for name, one in findings.items() if name != "memory"},
                "the table and the JSON agree")
    world.run("doctor", "--format", "yaml").refused("InvalidRequestError", "table", "json")


@case
def doctor_findings_are_documented(world):
    """The table of docs/operations.md has a row for each, in the order they are printed."""
    page = (world.source / "docs/operations.md").read_text(encoding="utf-8")
    table = page.split("## layard doctor")[1].split("\n## ")[0]
    check_equal(re.findall(r"^\| `(\w+)` \|", table, re.MULTILINE), ROWS, "rows of the table")


@case
def doctor_says_what_is_broken(world):
    """Exit status 1, and below the row what to do; everything else is still looked at."""
    broken = world.write("models.json", '{"mine": ')
    code, findings, _ = doctor(world, environment={"LAYARD_MODELS": str(broken)})
    check_equal(code, 1, f"exit with a broken models file: {findings}")
    check_equal(findings["checkpoints"]["status"], "failed", f"{findings['checkpoints']}")
    check("models.json" in findings["checkpoints"]["found"], f"{findings['checkpoints']}")
    check("LAYARD_MODELS" in findings["checkpoints"]["remedy"], f"{findings['checkpoints']}")
    check("install" not in findings["starter"]["remedy"], f"wrong advice: {findings['starter']}")
    table = world.run("doctor", environment={"LAYARD_MODELS": str(broken)})
    check_equal(table.code, 1, f"exit\n{table}")
    lines = table.stdout.splitlines()
    (row,) = (i for i, line in enumerate(lines) if line.split()[:2] == ["failed", "checkpoints"])
    check_equal(lines[row + 1].strip(), f"-> {findings['checkpoints']['remedy']}", "the remedy")
    absent = world.write("absent.json", {"mine": str(world.folder / "no folder here")})
    code, findings, _ = doctor(world, environment={"LAYARD_MODELS": str(absent)})
    check_equal((code, findings["starter"]["status"]), (1, "ok"), "a folder that is not there")
    check("no folder here" in findings["checkpoints"]["found"], f"{findings['checkpoints']}")


@case
def doctor_warns_of_what_is_slower(world):
    """It works, so the exit status is 0."""
    threads = os.cpu_count() + 1
    for environment, name, found, remedy in (
            ({"LAYARD_THREADS": str(threads)}, "threads", f"{threads} in use", "LAYARD_THREADS"),
            ({"LAYARD_CACHE": str(world.write("file", "x"))}, "cache", "file", "LAYARD_CACHE"),
            ({"LAYARD_CACHE_MAX": "0"}, "cache", "LAYARD_CACHE_MAX", "unset LAYARD_CACHE_MAX")):
        code, findings, result = doctor(world, environment=environment)
        check_equal((code, result["status"], findings[name]["status"]), (0, "warning", "warning"),
                    f"{environment}: {findings[name]}")
        check(found in findings[name]["found"], f"{findings[name]}")
        check(remedy in findings[name]["remedy"], f"{findings[name]}")
    _, findings, _ = doctor(world, environment={"LAYARD_FORCE_ISA": "scalar"})
    check("scalar" in findings["kernels"]["found"], f"{findings['kernels']}")
    for options, environment in ((["--offline"], {}), ([], {"HF_HUB_OFFLINE": "1"})):
        run = world.run(*options, "doctor", "--format", "json", environment=environment)
        (network,) = (one for one in run.json()["findings"] if one["name"] == "network")
        check(network["found"].startswith("off"), f"{network}")


@case
def doctor_prints_no_control_characters(world):
    """A path may hold what a terminal would obey."""
    for variable, name in (("LAYARD_MODELS", "checkpoints"), ("LAYARD_CACHE", "cache")):
        path = world.write("bad\x1b[31m\r\x07\u202ename", "{")
        for form in ("table", "json"):
            run = world.run("doctor", "--format", form, environment={variable: str(path)})
            check(name in run.stdout and "name" in run.stdout, f"{variable}\n{run}")
            # What reorders text is told from letters in the table only; JSON keeps it for programs.
            unwanted = "\x7f\u202e" if form == "table" else "\x7f"
            raw = {c for c in run.stdout if (c < " " and c != "\n") or c in unwanted}
            check(not raw, f"{variable}, {form}: {raw!r} came out raw")
