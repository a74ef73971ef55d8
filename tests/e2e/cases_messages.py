"""What is said about names: of files, lines, cases, models, commands; and what stands in their
place where they cannot be printed."""

import json
import os

from harness import CHARGED_TWICE, case, check, check_equal, json_lines

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
QUESTIONS = json.dumps(ONE)
LATIN_1 = os.fsdecode(b"caf\xe9")


@case
def paths_that_are_not_utf8_are_printed(world):
    """As U+FFFD: every command's JSON can be read, whatever bytes a folder's name has."""
    folder = world.make_folder(LATIN_1)
    model = world.copy_of(world.starter_folder, f"{LATIN_1}/model")
    lines = (world.starter_folder / "goldens.jsonl").read_text(encoding="utf-8").split("\n")
    goldens = world.write("goldens.jsonl", min(filter(None, lines), key=len) + "\n")
    models = world.write(f"{LATIN_1}/models.json", {"mine": "model", "laya": "model"})
    world.environment.update(LAYARD_CACHE=str(folder / "cache"), HF_HOME=str(folder / "hf"))
    del world.environment["LAYARD_CACHE_MAX"]  # so that there is something to list
    request = ["--context", "x", "--questions", QUESTIONS]
    batch = world.write("batch.jsonl", json.dumps({"state": "x", "questions": ONE,
                                                   "model": "laya"}) + "\n")
    for arguments in (["predict", model, *request], ["predict", model, "--questions", "{}",
                                                     "--context", "x"],
                      ["render", model, *request], ["info", model], ["info"],
                      ["--models", models, "info", "mine"], ["--models", models, "info", "auto"],
                      ["parity", model, "--goldens", goldens],
                      ["benchmark", model, "--lengths", "72", "--warmup", "0", "--iters", "1"],
                      ["predict", model, "--batch", batch], ["cache", "list"],
                      ["cache", "prune", "--max-bytes", "0"]):
        run = world.run(*arguments)
        try:
            text = run.stdout_bytes.decode("utf-8")
        except UnicodeDecodeError as error:
            raise AssertionError(f"{error}\n{run}") from error
        json.loads(text)
        named = arguments[0] not in ("render",) and arguments[:2] != ["cache", "prune"]
        named = named and arguments[-2:] != ["--max-bytes", "0"]
        check(("caf\ufffd" in text) == named, f"the folder's name\n{run}")


@case
def batch_lines_may_name_their_model(world):
    """The run's own, however it is spelt, and the interface's names; no other one is answered."""
    copy = world.copy_of(world.starter_folder)
    models = world.write("models.json", {"laya": str(copy), "mine": str(copy)})

    def outcomes(opened, *asked, before=("--models", models)):
        request = {"state": CHARGED_TWICE, "questions": ONE}
        lines = [request if name is None else request | {"model": name} for name in asked]
        run = world.run(*before, "predict", opened, "--batch", "-",
                        stdin="\n".join(map(json.dumps, lines)))
        results = json_lines(run.stdout)
        check_equal(run.code, int(any("error" in result for result in results)), f"exit\n{run}")
        for result in results:
            check("warnings" not in result, f"a warning\n{run}")
        return [result.get("error", {}).get("message", "answered") for result in results]

    same = ["laya", "english", " Default", "convaiinnovations/laya", str(copy), f"{copy}/.",
            "mine", "jev-latest", "jev-1.13.0", "laya-rl-agent", None]
    check_equal(outcomes("laya", *same), ["answered"] * len(same), "names of the run's model")
    check_equal(outcomes("auto", "auto", None), ["answered"] * 2, "names of auto")
    others = outcomes("starter", "starter", "laya", "auto", "laya", "layaa", "./nowhere", "")
    check_equal([message.split(":")[0] for message in others],
                ["answered", *(f"line {number}" for number in range(2, 8))], "other names")
    for message, *words in ((others[1], "'model' is 'laya'", "this run has 'starter'",
                             "layard predict laya --batch FILE"),
                            (others[2], "'model' is 'auto'"), (others[3], "'model' is 'laya'"),
                            (others[4], "unknown model 'layaa' (did you mean 'laya'?)"),
                            (others[5], "path not found: './nowhere'"), (others[6], "unknown")):
        for word in words:
            check(word in message, f"{word!r} in {message!r}")
    check("'model' is 'laya'" in outcomes("auto", "laya")[0], "a checkpoint that auto may choose")


@case
def faults_in_lines_name_the_line_of_the_file(world):
    """And never a line of the line's own JSON."""
    lines = '{"state": "a", "questions": {}}\n\n{"state": "a"\n[1}\n{"state": "a" "b"}\n'
    run = world.run("predict", "--batch", "-", stdin=lines)
    messages = [line["error"]["message"] for line in json_lines(run.stdout)[1:]]
    for message, start in zip(messages, (
            "line 3: JSON at column 14 (/state): the text ends here, but the '{' of column 1 is",
            "line 4: JSON at column 3 (/0): the '[' of column 1 is closed by '}'",
            "line 5: JSON at column 15 (/state): a comma is missing"), strict=True):
        check(message.startswith(start), message)
        check("line 1" not in message, message)


@case
def goldens_errors_name_file_and_case(world):
    row = {"input_ids": [1, 2], "markers": [0], "type": 2, "logits": [1], "act": [0.5, 0.5]}
    good = {"name": "own", "state": "s", "questions": ["q"], "rows": [row]}
    for wrong, words in (
            ("{", "line 3: JSON at column 2"),
            (json.dumps(good | {"rows": [row | {"type": 9}]}), "line 3.rows[0].type: must be"),
            (json.dumps(good | {"rows": [row | {"input_ids": [10**6, 1]}]}),
             "case 'own' (line 3): "),
            (json.dumps(good | {"rows": [row | {"act": [1]}]}),
             "case 'own' (line 3): row 0: 'act' has 1 numbers"),
            (json.dumps(good | {"questions": [5]}), "case 'own' (line 3): questions must be"),
            (json.dumps({**good, "questions": {"q": {"type": "no"}}, "name": 5}),
             "case '5' (line 3): question 'q'")):
        path = world.write("the goldens.jsonl", f"{json.dumps(good)}\n\n{wrong}\n")
        world.run("parity", world.starter, "--goldens", path).refused(
            "InvalidRequestError", f"--goldens '{path}': goldens {words}")
    folder = world.copy_of(world.starter_folder)
    (folder / "goldens.jsonl").write_text("[]\n")
    world.run("parity", folder).refused("InvalidRequestError",
                                        f"'{folder}/goldens.jsonl': goldens line 1: must be")


@case
def models_file_errors_name_file_and_entry(world):
    world.make_folder("empty")
    for content, error_type, words in (
            ('{"a": "x", "mine": "empty", "a": "y"}', "InvalidRequestError",
             " has the name 'a' twice"),
            ('{"mine": {"path": "empty", "path": "x"}}', "InvalidRequestError",
             " has 'path' of 'mine' twice"),
            ({"mine": 5}, "InvalidRequestError", ": 'mine' is neither"),
            ({"mine": {"path": "empty", "sha265": "a" * 64}}, "InvalidRequestError",
             ": 'mine' has the field 'sha265' (did you mean 'sha256'?)"),
            ({"mine": "absent"}, "IoError", ": 'mine': "),
            ({"mine": "empty"}, "UnsupportedModelError", ": 'mine': Incompatible model"),
            ({"mine": {"path": str(world.starter_folder), "sha256": "a" * 64}},
             "ArtifactRevisionError", ": 'mine': ")):
        models = world.write("models.json", content)
        world.run("--models", models, "predict", "mine", "--context", "x", "--questions",
                  QUESTIONS).refused(error_type, f"models file '{models}'{words}")
    absent = str(world.folder / "none.json")
    for before, environment in (((), {"LAYARD_MODELS": absent}), (("--models", absent), {})):
        world.run(*before, "info", environment=environment).refused(
            "IoError", f"models file '{absent}' cannot be read", "--models or LAYARD_MODELS")


@case
def mapped_names_say_so_everywhere(world):
    """A registered name, and the starter's, that a models file leads elsewhere."""
    copy = world.copy_of(world.starter_folder)
    models = world.write("models.json", {"laya": str(copy), "starter": str(copy), "own": str(copy)})
    lines = (copy / "goldens.jsonl").read_text(encoding="utf-8").split("\n")
    goldens = world.write("goldens.jsonl", min(filter(None, lines), key=len) + "\n")
    request = ["--context", "This is the end of it.", "--questions", QUESTIONS]

    def said(block):
        check(block.get("remapped", True) is True, f"true or absent: {block}")
        return "remapped" in block

    for name, mapped in (("laya", True), ("english", True), ("starter", True), ("auto", True),
                         ("own", False), (copy, False)):
        run = world.run("--models", models, "predict", name, *request)
        check_equal(said(run.json()["runtime"]), mapped, f"predict {name}\n{run}")
        empty = world.run("--models", models, "predict", name, "--context", "This is the end.",
                          "--questions", "{}")
        check_equal(said(empty.json()["runtime"]), mapped, f"no questions for {name}\n{empty}")
        if name == "auto":
            continue
        info = world.run("--models", models, "info", name).json()["models"]
        check_equal([said(block) for block in info.values()], [mapped], f"info {name}")
        parity = world.run("--models", models, "parity", name, "--goldens", goldens).json()
        check_equal(said(parity), mapped, f"parity {name}")
        record = world.run("--models", models, "benchmark", name, "--lengths", "72", "--warmup",
                           "0", "--iters", "1").json()
        check_equal(said(record), mapped, f"benchmark {name}")
    remote = world.write("remote.json", {"laya": {
        "repo": "org/other", "revision": "0" * 40, "sha256": "a" * 64}})
    block = world.run("--models", remote, "info").json()["models"]["laya"]
    check_equal((block["repo"], said(block)), ("org/other", True), "another repository")


@case
def benchmark_stops_when_nobody_can_read(world):
    """Closed or left by its reader; but a file keeps the records."""
    long = ["benchmark", world.starter, "--lengths", "512", "--iters", "50000"]
    closed = world.run(*long, prefix=("/bin/sh", "-c", 'exec "$@" >&-', "sh"))
    check_equal(closed.code, 2, f"exit\n{closed}")
    check(closed.stderr.splitlines()[-1].startswith("error: IoError: cannot write to standard"),
          str(closed))
    # The reader leaves while the first length warms up.
    world.run("benchmark", world.starter, "--lengths", "72", "512", "--iters", "1", "--warmup",
              "50000", prefix=("/bin/sh", "-c", '"$@" | true', "sh"))
    kept = world.run("benchmark", world.starter, "--lengths", "72", "--iters", "1", "--warmup", "0",
                     "--output", "kept.jsonl", prefix=("/bin/sh", "-c", 'exec "$@" >&-', "sh"))
    check_equal(kept.code, 2, f"exit\n{kept}")
    records = json_lines((world.folder / "kept.jsonl").read_text())
    check_equal(len(records), 1, "records in the file")


@case
def misspelt_words_are_told_what_was_meant(world):
    request = ["--context", "x", "--questions", QUESTIONS]
    for arguments, meant in (
            (["predictt"], "predict"), (["cahce", "list"], "cache"), (["cache", "lst"], "list"),
            (["benchmrk", "--itres", "3"], "benchmark"),
            (["predict", "--contxt", "x", "--questions", "[]"], "--context"),
            (["render", "--context", "x", "--question=[]"], "--questions"),
            (["predict", *request, "-fromat", "table"], "--format"),
            (["cache", "prune", "--maxbytes", "1"], "--max-bytes"),
            (["--ofline", "info"], "--offline"),
            (["info", "--thread", "2"],
             "--threads? It is a global option and stands before the command")):
        run = world.run(*arguments).refused("InvalidRequestError")
        end = "" if "?" in meant else "?"
        check(f"\nhint: did you mean {meant}{end}\n" in run.stderr, f"{meant}\n{run}")
    for arguments in (["xyzzy"], ["predict", *request, "--xyzzy"], ["cache", "xyzzy"]):
        run = world.run(*arguments).refused("InvalidRequestError", "xyzzy")
        check("did you mean" not in run.stderr, str(run))
    nested = world.run("cache", "lst").refused("InvalidRequestError", "unknown command 'lst'")
    check("the commands of cache are list, prune" in nested.stderr, str(nested))
    models = world.write("models.json", {"mine": "x"})
    unknown = world.run("--models", models, "predict", "laya-multilingal", *request).refused(
        "UnsupportedModelError", "(did you mean 'laya-multilingual'?)", "auto (in predict", "typed",
        "multi", ", mine, ")
    check_equal(len(unknown.stderr.splitlines()), 1, f"lines\n{unknown}")


@case
def help_is_a_command(world):
    for words in ([], ["predict"], ["cache"], ["cache", "prune"], ["help"]):
        check_equal(world.run("help", *words).stdout, world.run(*words, "--help").stdout,
                    f"help {words}")
    check_equal(world.run("--offline", "help", "info").stdout, world.run("info", "--help").stdout,
                "behind a global option")
    world.run("help", "cahce").refused("InvalidRequestError", "'cahce' (did you mean 'cache'?)")
    world.run("help", "cache", "lst").refused(
        "InvalidRequestError", "'layard cache' has no command 'lst' (did you mean 'list'?)")
    world.run("help", "info", "x").refused("InvalidRequestError", "'layard info' has no command")


@case
def empty_texts_are_answered_with_a_warning(world):
    warning = "the text is empty: the answers follow from the questions alone"
    for text, warned in (("", True), (" \n", True), ("x", False), ("[]", False)):
        run = world.predict(world.model, ONE, text)
        check_equal(run.json().get("warnings", []), [warning] * warned, f"{text!r}")
        table = world.predict(world.model, ONE, text, "--format", "table")
        check_equal(f"warning: {warning}\n" in table.stdout, warned, f"table of {text!r}\n{table}")
    batch = world.run("predict", world.model, "--batch", "-",
                      stdin=json.dumps({"state": "", "questions": ONE}))
    check_equal(batch.json()["warnings"], [warning], "a line of a batch")


@case
def tables_show_the_window(world):
    text = " ".join(f"Parcel {number} came late." for number in range(160))
    options = ["--overflow", "windows"]
    window = world.predict(world.starter, ONE, text, *options).json()["answers"]["refund"]["window"]
    shown = (f"window {window['index'] + 1} of {window['count']}: tokens {window['token_start']} "
             f"to {window['token_end']})")
    check(window["count"] > 2, f"windows: {window}")
    table = world.predict(world.starter, ONE, text, *options, "--format", "table")
    check(shown in table.stdout.splitlines()[0], f"{shown}\n{table}")
    short = world.predict(world.starter, ONE, "Late.", *options, "--format", "table")
    check("window" not in short.stdout, str(short))
    world.predict(world.starter, ONE, "x", "--format", "table", "--raw").refused(
        "InvalidRequestError", "--raw", "--format table")


@case
def zero_threads_are_the_default(world):
    def threads(*before, **environment):
        info = world.run(*before, "info", "starter", environment=environment).json()
        return info["environment"]["threads"]

    default = threads()
    check_equal(threads("--threads", "0"), default, "--threads 0")
    check_equal(threads(LAYARD_THREADS="0"), default, "LAYARD_THREADS=0")
    check_equal(threads("--threads", "0", LAYARD_THREADS="7"), default, "the option wins")
    check_equal(threads("--threads", "5", LAYARD_THREADS="7"), 5, "the option wins")
    check_equal(threads(LAYARD_THREADS="7"), 7, "LAYARD_THREADS=7")
    for number in ("-1", "1025", "x"):
        world.run(f"--threads={number}", "info").refused("InvalidRequestError", "--threads", number)
        world.run("info", environment={"LAYARD_THREADS": number}).refused(
            "InvalidRequestError", "LAYARD_THREADS", number)


@case
def hints_do_not_lead_in_a_circle(world):
    """What to do about a command that failed is not the same command."""
    for before, environment in ((["--offline"], {}), ([], {"HF_HUB_OFFLINE": "1"})):
        run = world.run(*before, "download", "laya", environment=environment).refused(
            "BackendUnavailableError", "--offline", "HF_HUB_OFFLINE", "offline")
        check("layard download" not in run.stderr, str(run))
