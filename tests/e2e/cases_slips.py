"""Slips of a newcomer: what is said about them, where it points to, and how often."""

import fcntl
import json
import os
import pty
import struct
import subprocess
import termios

from harness import case, check, check_equal, json_lines, without_times

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
REQUEST = ["--context", "x", "--questions", json.dumps(ONE)]


@case
def help_is_pointed_to_where_the_option_is(world):
    """An option that stands before the command is in the program's own help."""
    for arguments, topic in (
            (["--threads", "abc", "predict", *REQUEST], ""),
            (["--log-level", "foo", "info"], ""),
            (["--threads", "1", "--threads", "2", "cache", "list"], ""),
            (["--thread", "2", "predict", *REQUEST], ""),
            (["predict", "--threads", "2", *REQUEST], ""),
            (["info", "--thread", "2"], ""),
            (["xyzzy"], ""),
            (["predict", "--overflow", "foo", *REQUEST], "predict "),
            (["predict", "--contxt", "x"], "predict "),
            (["--dtype", "int8", "predict", *REQUEST], "predict "),
            (["predict", "--context"], "predict "),
            (["cache", "prune", "--max-bytes", "many"], "cache prune ")):
        run = world.run(*arguments).refused("InvalidRequestError")
        check_equal(run.stderr.splitlines()[-1], f"See: layard {topic}--help", f"{arguments}")


@case
def versions_are_asked_for_in_many_ways(world):
    hint = "hint: the version is printed by layard --version\n"
    for arguments in (["version"], ["-v"], ["-V"], ["info", "-v"]):
        run = world.run(*arguments).refused("InvalidRequestError", arguments[-1])
        check(hint in run.stderr, str(run))
    world.run("help", "version").refused("InvalidRequestError", "layard --version")
    world.run("help", "nonsense").refused("InvalidRequestError",
                                          "'nonsense'; its commands are predict, ")
    world.run("help", "info", "x").refused("InvalidRequestError", "see layard info --help")


@case
def instruction_sets_are_named_in_any_case(world):
    for before, environment in ((["--isa", "SCALAR"], {}), ([], {"LAYARD_FORCE_ISA": "Scalar"})):
        info = world.run(*before, "info", "starter", environment=environment).json()
        check_equal(info["environment"]["isa"], "scalar", f"{before}")


@case
def options_given_wrongly_are_told_in_words(world):
    for arguments, words in (
            (["predict", "--context", "a", "--context", "b"],
             "--context is given 2 times; give it once"),
            (["--threads", "1", "--threads", "2", "info"], "--threads is given 2 times"),
            (["predict", "--context"], "--context needs a value: TEXT|@FILE|-"),
            (["predict", "--dtype"], "--dtype needs a value: {float32,"),
            (["predict", "--questions", "Is it urgent?", "--context", "x"],
             "; --questions takes JSON: for a yes/no question write "),
            (["predict", "--questions", "null", "--context", "x"], "; --questions takes JSON: "),
            (["predict", "--batch", "f", "--context", "x"], "prints JSON; drop --context\n"),
            (["predict", "--batch", "f", "--questions", "{}", "--format", "table"],
             "prints JSON; drop --questions, --format table\n")):
        run = world.run(*arguments).refused("InvalidRequestError", words)
        check("At Most" not in run.stderr and "it is JSON" not in run.stderr, str(run))


@case
def members_that_are_a_slip_away_are_warned_about(world):
    """Other members are other programs' business, and no answer changes."""
    plain = world.run("predict", world.model, "--batch", "-",
                      stdin=json.dumps({"state": "x", "questions": ONE})).json()
    definition = ONE["refund"]
    for request, warnings in (
            ({"overfow": "error"},
             ['nothing reads the member "overfow"; did you mean "overflow"?']),
            ({"contxt": "y", "Question": {}},
             ['nothing reads the member "contxt"; did you mean "context"?',
              'nothing reads the member "Question"; did you mean "questions"?']),
            ({"questions": {"refund": definition | {"criterias": {"true": "t"}}}},
             ["question 'refund': nothing reads the member \"criterias\"; did you mean "
              '"criteria"?']),
            ({"id": 7, "user": "u", "temperature": 0, "states": 1},
             ['nothing reads the member "states"; did you mean "state"?']),
            ({"x_jev_confidence": True, "metadata": {}, "stream": False, "mod": 1,
              "questions": {"refund": definition | {"name": "n", "description": "d"}}}, [])):
        found = world.run("predict", world.model, "--batch", "-", stdin=json.dumps(
            {"state": "x", "questions": ONE} | request)).json()
        check_equal(found.pop("warnings", []), warnings, f"{request}")
        check_equal(without_times(json.dumps(found)), without_times(json.dumps(plain)),
                    f"the answer of {request}")
    typed = {"q": {"type": "noul", "instructions": "Late?", "label": {}}}
    run = world.predict(world.model, typed, "x")
    check_equal(len(run.json()["warnings"]), 1, f"warnings of predict\n{run}")
    empty = world.run("predict", world.model, "--batch", "-",
                      stdin=json.dumps({"state": "x", "questions": {}, "modl": "m"})).json()
    check_equal(len(empty["warnings"]), 1, "warnings without questions")
    for line, message in (
            ({"contxt": "x", "questions": ONE}, 'did you mean "context"?'),
            ({"state": "x", "question": ONE}, 'did you mean "questions"?'),
            ({"state": "x", "questions": {"q": {"type": "noul", "instruction": "?"}}},
             'did you mean "instructions"?')):
        run = world.run("predict", world.model, "--batch", "-", stdin=json.dumps(line))
        check(json_lines(run.stdout)[0]["error"]["message"].endswith(message), str(run))


@case
def warnings_come_once_for_one_cause(world):
    cache = world.make_folder("open")
    (cache / "stamps").mkdir()
    (cache / "stamps").chmod(0o755)
    run = world.run("predict", world.starter, *REQUEST, environment={
        "LAYARD_CACHE": str(cache), "LAYARD_CACHE_MAX": "1GB"})
    check_equal(run.stderr.count("is not remembered"), 1, str(run))


@case
def debug_messages_say_what_runs(world):
    """Kernels, threads, folder, and whether packed weights were there; no texts."""
    environment = {"LAYARD_CACHE_MAX": "1GB"}

    def said(level):
        run = world.run("--log-level", level, "--isa", "scalar", "--threads", "1", "predict",
                        world.starter, "--context", "secret words", "--questions",
                        json.dumps(ONE), environment=environment)
        check("secret" not in run.stderr and "refund" not in run.stderr, str(run))
        run.json()
        return run.stderr

    check_equal(said("warning"), "", "by default")
    check_equal(said("info"), "", "of interest to few")
    first = said("debug")
    for word in ("debug: model 'starter' from '", "models/starter'", "float32", "scalar (forced)",
                 "1 thread\n"):
        check(word in first, f"{word!r} in {first!r}")
    check("mapped from the cache" in first, "the third start")
    environment["LAYARD_CACHE"] = str(world.make_folder("empty"))
    check("not in the cache, packed and kept" in said("debug"), "a first start")
    environment["LAYARD_CACHE_MAX"] = "0"
    check("in memory, not kept" in said("debug"), "without a cache")


def in_terminal(world, columns, *arguments):
    """What a command prints to a terminal of that width."""
    terminal, side = pty.openpty()
    fcntl.ioctl(side, termios.TIOCSWINSZ, struct.pack("HHHH", 40, columns, 0, 0))
    with subprocess.Popen([str(world.binary), *map(str, arguments)], stdout=side,
                          stdin=subprocess.DEVNULL, cwd=world.folder, env=world.environment,
                          stderr=subprocess.PIPE) as process:
        os.close(side)
        output = b""
        try:
            while piece := os.read(terminal, 65536):
                output += piece
        except OSError:  # the end, on Linux
            pass
        process.communicate()
    os.close(terminal)
    return output.decode().replace("\r\n", "\n")


@case
def tables_fit_the_terminal(world):
    """Long labels are shortened there, at neither end; they are whole anywhere else."""
    start, end = "A label that begins like others and ", "ends on its own"
    labels = [start + "goes on and on " * 12 + end, "short"]
    arguments = ["predict", world.model, "--context", "x", "--format", "table", "--questions",
                 json.dumps({"q": {"type": "choice", "instructions": "?", "criteria": labels}})]

    def bars(text):
        return [line for line in text.splitlines() if line.endswith("%") and line[:2] == "  "]

    whole = bars(world.run(*arguments).stdout)
    check(len(whole) == 2 and labels[0] in whole[0], f"{whole}")
    for columns in (60, 80, 120):
        lines = bars(in_terminal(world, columns, *arguments))
        check_equal([len(line) for line in lines], [columns, columns], f"{columns}: {lines}")
        check(lines[0].startswith("  A label") and "\u2026" in lines[0], f"{lines}")
        check(" own  " in lines[0], f"{lines}")
    check_equal(bars(in_terminal(world, 400, *arguments))[0], whole[0], "a wide terminal")
    check_equal(len(bars(in_terminal(world, 10, *arguments))), 2, "a narrow terminal")
