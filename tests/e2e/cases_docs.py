"""Documents that show output: every example is run and compared, every field is explained."""

import json
import re
import shlex

from harness import case, check, check_equal, json_lines

EXAMPLE = re.compile(r"```console\n\$ layard ([^\n]*)\n```\n```json\n(.*?)```", re.DOTALL)
RUNTIME = re.compile(r'```json\n("runtime": \{.*?\n\})\n```', re.DOTALL)
FENCED = re.compile(r"```.*?```", re.DOTALL)
# Their members are names: of questions, models, instruction sets.
BY_NAME = ("answers", "rows", "questions", "models", "isas")


def page(world, name):
    return (world.source / "docs" / name).read_text(encoding="utf-8")


def kind(value):
    number = isinstance(value, (int, float)) and not isinstance(value, bool)
    return "number" if number else type(value)


def check_same_shape(found, shown, where):
    """The same fields in the same order with values of the same kind; null stands for any."""
    if found is None or shown is None:
        return
    check_equal(kind(found), kind(shown), f"kind of {where}")
    if isinstance(found, dict):
        if not where.endswith("/isas"):
            check_equal(list(found), list(shown), f"fields of {where}")
        for key in set(found) & set(shown):
            check_same_shape(found[key], shown[key], f"{where}/{key}")
    elif isinstance(found, list) and found and shown:
        check_same_shape(found[0], shown[0], f"{where}/0")


def fields(value, named=False):
    """All field names in a value, without those that are names of somebody's."""
    if isinstance(value, list):
        return set().union(*map(fields, value)) if value else set()
    if not isinstance(value, dict):
        return set()
    out = set() if named else set(value)
    for key, part in value.items():
        out |= fields(part, key in BY_NAME and not named)
    return out


def explained(*texts):
    """What stands between backticks outside of examples; of `a.b` both parts."""
    quoted = re.findall(r"`([^`\n]+)`", FENCED.sub("", "".join(texts)))
    return {part for name in quoted for part in name.split(".")}


@case
def documented_outputs_are_real(world):
    del world.environment["LAYARD_CACHE_MAX"]  # so that there is something to list
    lines = (world.starter_folder / "goldens.jsonl").read_text(encoding="utf-8").split("\n")
    goldens = world.write("goldens.jsonl", min(filter(None, lines), key=len) + "\n")
    words = explained(*(page(world, f"{name}.md") for name in ("output", "runtime", "answers")))
    seen = []
    for command, example in EXAMPLE.findall(page(world, "output.md") + page(world, "runtime.md")):
        arguments = shlex.split(command)
        seen.append(arguments[0])
        if arguments[0] == "parity":  # all recorded rows would take seconds
            arguments += ["--goldens", goldens]
        run = world.run(*arguments)
        check_equal(run.code, 0, f"exit\n{run}")
        found = json.loads(run.stdout)
        if arguments[0] == "parity":
            found["record"].pop("note")
        check_same_shape(found, json.loads(example), command)
        missing = fields(found) - words
        check(not missing, f"docs do not explain {sorted(missing)} of {command}")
    check_equal(sorted(set(seen)), ["benchmark", "cache", "info", "parity", "predict", "render",
                                    "tokenize"], "commands with an example")


@case
def runtime_fields_are_documented(world):
    """The block in the document is the one that is printed, down to the last optional field."""
    text = page(world, "runtime.md")
    (block,) = RUNTIME.findall(text)
    questions = json.dumps(["Is it late?"])
    plain = world.run("predict", "--context", "It is late.", "--questions", questions).json()
    check_same_shape(plain["runtime"], json.loads("{" + block + "}")["runtime"], "runtime")
    rechecked = world.run("predict", "--context", "It is late.", "--questions", questions,
                          "--dtype", "bfloat16").json()["runtime"]
    table = {name for row in re.findall(r"^\| ((?:`\w+`(?:, )?)+) \|", text, re.MULTILINE)
             for name in re.findall(r"`(\w+)`", row)}
    check_equal(list(rechecked), [*plain["runtime"], "rechecked"], "fields with a reduced format")
    check(set(rechecked) <= table, f"no row for {set(rechecked) - table}")
    reasons = {plain["runtime"]["routing_reason"]}
    for options in (["--questions", "{}"], ["--questions", questions, "--device", "cpu"]):
        run = world.run("predict", "--context", "x", *options)
        reasons.add(run.json()["runtime"]["routing_reason"])
    check_equal(reasons, reasons & table, "routing reasons have a row")


@case
def documented_batch_error_is_real(world):
    shown = re.search(r'^\{"error".*$', page(world, "output.md"), re.MULTILINE).group(0)
    run = world.run("predict", "--batch", "-", stdin='{"state": "a", "questions": {}}\nxx\n')
    check_equal(json_lines(run.stdout)[1], json.loads(shown), "the error of line 2")
