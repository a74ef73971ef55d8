"""The command line: its forms of input and output, information, errors and help."""

import json
import re

from harness import (CHARGED_TWICE, THREE_KINDS, case, check, check_equal, json_lines,
                     spoil_weights, without_times)

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
COMMANDS = ["predict", "render", "tokenize", "info", "download", "parity", "cache",
            "benchmark"]
RUNTIME_FIRST = ["backend", "device", "model", "model_revision", "sequence_length",
                 "question_count", "routing_reason"]


@case
def version_and_help(world):
    version = world.run("--version")
    check(version.code == 0 and re.search(r"\d+\.\d+\.\d+", version.stdout), str(version))
    text = world.run("--help")
    check_equal(text.code, 0, f"exit of --help\n{text}")
    for command in COMMANDS:
        check(command in text.stdout, f"--help must name {command}\n{text}")
        page = world.run(command, "--help")
        check(page.code == 0 and len(page.stdout) > 100, f"{command} --help\n{page}")
    wrong = world.run("predictt")
    wrong.refused("InvalidRequestError", "'predictt'", "predict, ")


@case
def usage_errors_are_one_line(world):
    """The first line is the whole error, whatever the words on the command line hold; hints
    follow."""
    for arguments, word in (
            ([], "subcommand"), ([], "predict, render"), (["cache"], "list, prune"),
            (["cache", "clear"], "'clear'; the commands of cache are list, prune"),
            (["cache", "--all"], "'--all'; the commands of cache are list, prune"),
            (["no such\ncommand"], "no such command"),
            (["predict", "--format", "x\ny"], "--format"), (["predict", "--context"], "--context"),
            (["predict", "--nope"], "--nope"), (["--nope"], "--nope"), (["render"], "--context"),
            (["tokenize", "a", "b"], "b"), (["completion", "ksh"], "ksh"),
            (["--threads", "1025", "info"], "--threads"),
            (["predict", "laya", "--model", "x"], "--model"),
            (["info", "--offline"], "--offline")):
        run = world.run(*arguments).refused("InvalidRequestError", word)
        first = run.stderr.splitlines()[0]
        check(first.startswith("error: InvalidRequestError: ") and word in first,
              f"the first line must say it all\n{run}")


@case
def lost_output_is_an_error(world):
    """No command succeeds whose output did not arrive."""
    request = ["--context", CHARGED_TWICE, "--questions", json.dumps(ONE)]
    good = world.write("good.jsonl", json.dumps({"state": "a", "questions": ONE}) + "\n")
    texts = world.write("texts.jsonl", '{"text": "a"}\n' * 3)
    model = world.model
    for arguments in (["--help"], ["--version"], ["predict", "--help"], ["completion", "bash"],
                      ["completion", "zsh"], ["completion", "fish"], ["info"],
                      ["tokenize", "--text", "hi"], ["tokenize", "--batch", texts],
                      ["render", model, *request], ["predict", model, *request],
                      ["predict", model, *request, "--format", "table"],
                      ["predict", model, "--batch", good]):
        for redirection in (">&-", "> /dev/full"):
            shell = ("/bin/sh", "-c", f'exec "$@" {redirection}', "sh")
            run = world.run(*arguments, prefix=shell)
            check(run.code == 2, f"expected exit 2 with {redirection}\n{run}")
            last = run.stderr.splitlines()[-1]
            check(last.startswith("error: IoError: "), f"{redirection}\n{run}")
    # A closed standard stream is not taken by a file that is opened later.
    closed = world.run("predict", "--context", "-", "--questions", json.dumps(ONE),
                       prefix=("/bin/sh", "-c", 'exec "$@" <&-', "sh"))
    closed.refused("IoError", "--context")


@case
def batch_stops_when_nobody_reads(world):
    """A batch whose output cannot be written ends; it does not answer the rest for nobody."""
    line = json.dumps({"text": "some words"}) + "\n"
    path = world.write("many.jsonl", line * 200_000)
    run = world.run("tokenize", "--batch", path,
                    prefix=("/bin/sh", "-c", 'exec "$@" > /dev/full', "sh"))
    check(run.code == 2 and "IoError" in run.stderr, str(run))
    all_of_it = world.run("tokenize", "--batch", path)
    check(run.seconds < all_of_it.seconds, f"{run.seconds} s, the whole {all_of_it.seconds} s")


@case
def predict_flags(world):
    questions = world.write("q.json", ONE)
    result = world.predict(world.starter, f"@{questions}", CHARGED_TWICE, "--dtype", "float32",
                           "--device", "cpu").json()
    check_equal(result["runtime"]["dtype"], "float32", "runtime.dtype")
    check_equal(result["runtime"]["device"], "cpu", "runtime.device")
    world.predict(world.starter, ONE, CHARGED_TWICE, "--dtype", "float12").refused(
        "InvalidRequestError", "float12")
    world.predict(world.starter, ONE, CHARGED_TWICE, "--device", "toaster").refused(
        "InvalidRequestError", "toaster")


@case
def default_model_is_starter(world):
    named = world.run("predict", "starter", "--context", CHARGED_TWICE, "--questions",
                      json.dumps(ONE)).json()
    default = world.run("predict", "--context", CHARGED_TWICE, "--questions",
                        json.dumps(ONE)).json()
    check_equal(default["answers"], named["answers"], "answers without a model name")
    check_equal(default["runtime"]["model"], "starter", "runtime.model")


@case
def inline_file_stdin(world):
    model, text = world.model, json.dumps(ONE)
    context = world.write("context.txt", CHARGED_TWICE)
    questions = world.write("questions.json", text)
    outputs = [without_times(run.stdout) for run in (
        world.predict(model, text, CHARGED_TWICE),
        world.predict(model, f"@{questions}", f"@{context}"),
        world.predict(model, "-", CHARGED_TWICE, stdin=text),
        world.predict(model, text, "-", stdin=CHARGED_TWICE))]
    check(outputs[0].startswith("{"), f"no JSON: {outputs[0]!r}")
    for output in outputs[1:]:
        check_equal(output, outputs[0], "the same request in another form")
    turns = '[{"role":"user","content":"hi"}]'
    path = world.write("turns.json", turns)
    check_equal(without_times(world.predict(model, text, f"@{path}").stdout),
                without_times(world.predict(model, text, turns).stdout), "a conversation")
    world.predict(model, text, "@" + str(world.folder / "absent.txt")).refused(
        "IoError", "absent.txt")


@case
def offline_comes_first(world):
    check_equal(world.run("--offline", "predict", "starter", "--context", "x", "--questions",
                          json.dumps(ONE)).code, 0, "exit of --offline predict")
    late = world.run("predict", "--offline", "starter", "--context", "x", "--questions",
                     json.dumps(ONE))
    check(late.code == 2 and late.stdout == "", str(late))
    check("before" in late.stderr and "--offline" in late.stderr, f"no hint\n{late}")


@case
def table_format(world):
    table = world.predict(world.model, THREE_KINDS, CHARGED_TWICE, "--format", "table")
    check_equal(table.code, 0, f"exit\n{table}")
    for word in THREE_KINDS:
        check(word in table.stdout, f"the table must name {word}\n{table}")
    check(not table.stdout.lstrip().startswith("{"), f"a table is not JSON\n{table}")


@case
def batch_keeps_good_lines(world):
    lines = [{"state": "hello", "questions": ONE}, {"context": "hello", "questions": ONE},
             {"state": "a", "context": "b", "questions": ONE}, {"questions": ONE},
             {"state": "late", "questions": {"q": {"type": "oracle"}}},
             {"state": "last", "questions": ONE}]
    text = "\n".join(json.dumps(line) for line in lines[:4]) + "\nnot json\n"
    text += "\n".join(json.dumps(line) for line in lines[4:]) + "\n"
    run = world.run("predict", world.model, "--batch", "-", stdin=text)
    check_equal(run.code, 1, f"exit with bad lines\n{run}")
    results = json_lines(run.stdout)
    check_equal(["error" in result for result in results],
                [False, False, True, True, True, True, False], "which lines failed")
    for result in results:
        if "error" in result:
            check_equal(sorted(result["error"]), ["message", "type"], "fields of an error")
            check_equal(result["error"]["type"], "InvalidRequestError", "type of the error")
    check_equal([result["error"]["message"].split(":")[0] for result in results
                 if "error" in result], ["line 3", "line 4", "line 5", "line 6"],
                "each error names its line")
    check_equal(results[0]["answers"], results[1]["answers"], "state and context are synonyms")
    good = world.run("predict", world.model, "--batch",
                     world.write("good.jsonl", json.dumps(lines[0]) + "\n"))
    check_equal(good.code, 0, f"exit without bad lines\n{good}")


@case
def batch_errors_count_every_line(world):
    """Lines are counted as an editor counts them: blank ones too."""
    texts = world.run("tokenize", "--batch", "-", stdin='{"text": "a"}\n\n\n{"text": 5}\n[]\n')
    check_equal(texts.code, 1, f"exit\n{texts}")
    results = json_lines(texts.stdout)
    check_equal([line["error"]["message"].split(":")[0] for line in results[1:]],
                ["line 4", "line 5"], "lines of tokenize --batch")
    long_state = {"state": "word " * 3000, "questions": ONE, "overflow": "error"}
    lines = "\n" + json.dumps(long_state) + "\n" + json.dumps({"state": "a", "questions": ONE})
    run = world.run("predict", world.model, "--batch", "-", stdin=lines)
    first, second = json_lines(run.stdout)
    check(first["error"]["message"].startswith("line 2: "), f"found when it was read\n{run}")
    check("answers" in second, f"the other line\n{run}")


@case
def input_errors_name_flag_and_file(world):
    bad = world.write("q.json", '{"q": [1, {"a": zz}]}')
    wrong = world.write("wrong.json", {"q": {"type": "noul"}})
    latin = world.write("latin.txt", b"caf\xe9")
    deep = world.write("deep.json", "[" * 600 + "]" * 600)
    for command in ("predict", "render"):
        def run(context, questions, command=command, **settings):
            return world.run(command, world.model, "--context", context, "--questions", questions,
                             **settings)
        run("x", f"@{bad}").refused("InvalidRequestError", "--questions", str(bad), "/q/1/a")
        run("x", f"@{wrong}").refused("InvalidRequestError", "--questions", str(wrong), "'q'")
        run("x", "-", stdin="{").refused("InvalidRequestError", "--questions -: ")
        run("x", "{").refused("InvalidRequestError", "--questions: ")
        run("x", "Is it?").refused("InvalidRequestError", "--questions: ", "--questions takes JSON")
        run("x", str(bad)).refused("InvalidRequestError", "--questions: ", f"write @{bad}")
        run(f"@{latin}", '["x?"]').refused("InvalidRequestError", "--context", str(latin), "UTF-8")
        run(f"@{deep}", '["x?"]').refused("InvalidRequestError", "--context", str(deep), "512")


@case
def unknown_kernels_are_refused(world):
    """By every command that would run or describe them, before anything is loaded."""
    for before, environment in ((["--isa", "sse9"], {}), ([], {"LAYARD_FORCE_ISA": "sse9"})):
        for arguments in (["info"], ["predict", "starter", "--context", "x", "--questions",
                                     json.dumps(ONE)]):
            world.run(*before, *arguments, environment=environment).refused(
                "InvalidRequestError", "LAYARD_FORCE_ISA", "--isa", '"sse9"', "scalar")


@case
def tokenize_matches_vectors(world):
    """The first vectors of each golden tokenizer, through the command line."""
    for name in ("modernbert", "metaspace", "gemma", "minilm"):
        folder = world.shared("goldens", "tokenizers")
        vectors = json_lines((folder / f"{name}.jsonl").read_text(encoding="utf-8"))[:200]
        batch = world.write("texts.jsonl", "".join(
            json.dumps({"text": vector["text"]}, ensure_ascii=False) + "\n"
            for vector in vectors))
        run = world.run("tokenize", folder / f"{name}.tokenizer.json", "--batch", batch)
        check_equal(run.code, 0, f"exit for {name}\n{run.stderr[:500]}")
        for vector, found in zip(vectors, json_lines(run.stdout), strict=True):
            check_equal(found["ids"], vector["ids"], f"{name}: ids of {vector['text']!r}")
            check_equal(len(found["tokens"]), len(vector["ids"]), f"{name}: count of tokens")


@case
def info_and_download(world):
    info = world.run("--offline", "info", "starter").json()
    check("starter" in json.dumps(info), f"info of starter: {info}")
    nothing = world.run("download")
    check(nothing.code == 2 and nothing.stderr, f"download needs a name\n{nothing}")
    world.run("--offline", "download", "laya").refused("BackendUnavailableError", "offline")
    local = world.run("download", "starter")
    check(local.code == 2 and local.stdout == "", f"the starter is not on a hub\n{local}")


@case
def model_by_short_or_full_name(world):
    short = world.run("--offline", "info", "laya-typed-decisions").json()
    full = world.run("--offline", "info", "convaiinnovations/laya-typed-decisions").json()
    check_equal(full, short, "info by repository id")


@case
def info_fields(world):
    info = world.run("--offline", "info").json()
    for key in ("layard", "platform", "platform_validated_for_auto_npu", "openvino_available",
                "environment", "models"):
        check(key in info, f"info has no {key}: {list(info)}")
    check(info["layard"] in world.run("--version").stdout, "info and --version must agree")
    models = info["models"]
    names = list(models) if isinstance(models, dict) else [entry["name"] for entry in models]
    for name in ("starter", "laya", "laya-multilingual", "laya-typed-decisions"):
        check(name in names, f"info.models has no {name}: {names}")


@case
def info_environment(world):
    def offline_of(environment, *before):
        info = world.run(*before, "info", environment=environment).json()
        check("isa" in info["environment"], f"environment: {info['environment']}")
        return info["environment"]["offline"]

    for environment, before, expected in (
            ({}, [], (False, False, False)),
            ({"HF_HUB_OFFLINE": "YES"}, [], (False, True, True)),
            ({"HF_HUB_OFFLINE": "0"}, ["--offline"], (True, False, True)),
            ({"TRANSFORMERS_OFFLINE": "1"}, [], (False, True, True)),
            ({"HF_HUB_OFFLINE": "no", "TRANSFORMERS_OFFLINE": "1"}, [], (False, False, False))):
        found = offline_of(environment, *before)
        check_equal((found["local_files_only"], found["hf_hub_offline"], found["effective"]),
                    expected, f"offline with {environment} {before}")


@case
def runtime_info_fields(world):
    result = world.predict(world.model, THREE_KINDS).json()
    runtime = result["runtime"]
    check_equal(list(runtime)[:len(RUNTIME_FIRST)], RUNTIME_FIRST, "first fields of runtime")
    check_equal((runtime["backend"], runtime["device"], runtime["question_count"]),
                ("cpu", "cpu", 3), "backend, device, question_count")
    rows, _ = world.raw_rows(world.model, THREE_KINDS)
    check_equal(runtime["sequence_length"],
                max(len(row["input_ids"]) for row in rows.values()), "longest row")
    check_equal(result["usage"]["input_tokens"],
                sum(len(row["input_ids"]) for row in rows.values()), "usage.input_tokens")


@case
def unknown_model_refused(world):
    world.run("info", "nope").refused("UnsupportedModelError", "nope", "starter", "laya",
                                      "laya-multilingual", "laya-typed-decisions")
    world.predict("nope", ONE).refused("UnsupportedModelError", "nope")


@case
def malformed_questions_refused(world):
    for questions in ("[1]", '{"q":5}', "not json", '{"q":{"type":"Noul","instructions":"x"}}',
                      '{"q":{"type":"noul"}}', '{"":{"type":"noul","instructions":"x"}}',
                      '{"q":{"type":"noul","instructions":" "}}', '"text"', ""):
        world.predict(world.model, questions).refused("InvalidRequestError")


@case
def missing_backend(world):
    for device in ("gpu", "npu", "ane"):
        world.predict(world.starter, ONE, "x", "--device", device).refused(
            "BackendUnavailableError")


@case
def parity_check(world):
    # The golden tests compare every case; here a part shows the command and its verdict.
    lines = world.shared("goldens", "typed.jsonl").read_text(encoding="utf-8").split("\n")
    goldens = world.write("goldens.jsonl", "\n".join(lines[:30]) + "\n")
    right = world.run("parity", world.golden("typed"), "--goldens", goldens, "--dtype",
                      "float32").json()
    check_equal(right["passed"], True, "parity of the right weights")
    spoiled = world.copy_of(world.golden("typed"))
    spoil_weights(spoiled / "model.safetensors", "scorer.3.weight")
    wrong = world.run("parity", spoiled, "--goldens", goldens, "--dtype", "float32")
    check_equal(wrong.code, 1, f"exit for wrong weights\n{wrong}")
    check_equal(wrong.any_json()["passed"], False, "parity of wrong weights")


@case
def guide_examples(world):
    """The two commands of the user guide, with our program's and checkpoint's names."""
    result = world.run(
        "--offline", "predict", "starter", "--context", "The customer was charged twice.",
        "--questions",
        '{"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}')
    check_equal(result.json()["answers"]["refund"]["type"], "noul", "type of the answer")
    world.run("--offline", "info", "starter").json()


@case
def demo_answers_three_kinds(world):
    path = world.source / "docs/examples/demo-questions.json"
    result = world.run("--offline", "predict", "--context", CHARGED_TWICE, "--questions",
                       f"@{path}").json()
    check_equal(sorted(answer["type"] for answer in result["answers"].values()),
                ["choice", "noul", "score"], "kinds of questions in the demo")


@case
def benchmark_writes_its_records(world):
    """One record a length, on standard output and in the file; beyond max_len it is skipped."""
    run = world.run("benchmark", "starter", "--lengths", "64", "72", "100000", "--iters", "2",
                    "--warmup", "1", "--output", "b.jsonl")
    check_equal(run.code, 0, f"exit\n{run}")
    records = json_lines(run.stdout)
    check_equal([record["status"] for record in records],
                ["ok", "ok", "skipped: exceeds checkpoint max_len"], "statuses")
    check_equal([record["length"] for record in records], [64, 72, 100000], "lengths")
    for record in records[:2]:
        check(record["predict"]["p50_ms"] > 0 and record["forward"]["p50_ms"] > 0, str(record))
        check_equal(len(record["samples"]["forward_ms"]), 2, "samples")
    check_equal((world.folder / "b.jsonl").read_text(), run.stdout, "the file")
    world.run("benchmark", "--iters", "0").refused("InvalidRequestError", "iters")
    world.run("benchmark", "--output", "/nowhere/b.jsonl").refused("IoError", "/nowhere/b.jsonl")
    short = world.run("benchmark", "--lengths", "2", "--iters", "1")
    check_equal(short.code, 1, f"a length that cannot be met\n{short}")
    check("error: InvalidRequestError" in short.stdout, f"its record\n{short}")


@case
def table_prints_one_number_one_way(world):
    """The chosen answer's bar and its confidence are the same number."""
    for text in ("a", "b", "Money back!", CHARGED_TWICE, "x" * 40, "Where is my parcel?"):
        run = world.run("predict", world.starter, "--context", text, "--questions", '["x"]',
                        "--format", "table")
        lines = run.stdout.splitlines()
        confidence = lines[0].rsplit(" ", 1)[1].rstrip(")")
        answer = lines[0].split()[1]
        (shown,) = [line.split()[-1] for line in lines[1:] if line.split()[:1] == [answer]]
        check_equal(shown, confidence, f"{text}\n{run}")


@case
def benchmark_keeps_the_output_file_until_there_is_a_record(world):
    kept = world.write("kept.txt", "precious\n")
    world.run("benchmark", world.starter, "--lengths", "0", "--output", kept).refused(
        "InvalidRequestError")
    check_equal(kept.read_text(), "precious\n", "a file that was there")
    new = kept.with_name("new.txt")
    world.run("benchmark", "nosuch", "--output", new).refused("UnsupportedModelError")
    check(not new.exists(), "an empty file is left")
    world.run("benchmark", world.starter, "--output", kept.parent).refused(
        "IoError", "--output", "directory")
    run = world.run("benchmark", world.starter, "--lengths", "32,40", "--warmup", "0", "--iters",
                    "1", "--output", kept)
    check_equal(len(kept.read_text().splitlines()), 2, f"records\n{run}")
