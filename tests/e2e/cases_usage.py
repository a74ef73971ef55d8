"""Slips on the command line: what the message says, what is hinted, what completion offers."""

import json

from harness import CHARGED_TWICE, case, check, check_equal, json_lines

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}


@case
def json_faults_say_where(world):
    """Line, column, pointer, and what was most likely meant."""
    for questions, *words in (
            ('{"a": 1,}', "line 1, column 8: ", "comma", "before '}'"),
            ("{'a': 1}", "line 1, column 2: ", "double quotes, not in '"),
            ('{"q": {"type": noul}}', "line 1, column 16 (/q/type): ", '"noul"'),
            ('{"q": [true, True]}', "line 1, column 14 (/q/1): ", "write true"),
            ('{"q": {"type": "noul"}', "line 1, column 23", "'{' of column 1"),
            ('{"q": "a"; "r": "b"}', "line 1, column 10 (/q): ", "comma")):
        world.run("predict", "--context", "x", "--questions", questions).refused(
            "InvalidRequestError", "--questions: JSON at ", *words)
    path = world.write("q.json", '\ufeff{\n "größe": {\n  "type": "noul",\n }\n}\n')
    world.run("predict", "--context", "x", "--questions", f"@{path}").refused(
        "InvalidRequestError", str(path), "line 3, column 17 (/größe): ", "remove the comma")
    run = world.run("predict", "--batch", "-", stdin='\n{"state": "a", "questions": {},}\n')
    (line,) = json_lines(run.stdout)
    check(line["error"]["message"].startswith("line 2: JSON at column 31: "), str(line))
    models = world.write("models.json", '{\n "mine": "folder"\n "b": "c"}')
    world.run("--models", models, "info").refused("InvalidRequestError", str(models),
                                                  "line 3, column 2 (/mine)", "comma")


@case
def shell_quoting_is_hinted(world):
    """JSON whose quotes the shell took, and words that it split."""
    for questions in ("{urgent:{type:noul}}", "[Is it urgent?]", "{urgent:"):
        world.run("predict", "--context", "x", "--questions", questions).refused(
            "InvalidRequestError", "single quotes", "--questions '{...}'", "@FILE")
    for questions in ('{"urgent": noul}', "{'urgent': 1}"):
        run = world.run("predict", "--context", "x", "--questions", questions)
        check("single quotes, --questions" not in run.stderr, f"its quotes are there\n{run}")
    world.run("predict", "--context", "x", "--questions", "{urgent:", "{type:", "noul}}").refused(
        "InvalidRequestError", "not expected here: noul}}", "\nhint: ", "single quotes")
    world.run("predict", "--context", "I", "was", "charged", "--questions", "{}").refused(
        "InvalidRequestError", "not expected here: charged",
        "\nhint: a text with blanks needs quotes: --context 'I was charged'\n")


@case
def misplaced_options_are_shown_in_place(world):
    """With their values, ready to be copied."""
    request = ["--context", "x", "--questions", "{}"]
    for arguments, hint in (
            (["predict", "--threads", "2", *request], "layard --threads 2 predict ..."),
            (["predict", *request, "--models=m.json"], "layard --models=m.json predict ..."),
            (["info", "--offline"], "layard --offline info ..."),
            (["--dtype", "int8", "predict", *request], "put it after: layard predict --dtype int8"),
            (["--threads", "2", "--overflow=error", "render", *request],
             "put it after: layard render --overflow=error ..."),
            (["--context", "it's late", "predict"],
             "put it after: layard predict --context 'it'\\''s late' ..."),
            (request, "name the command first: layard predict --context x ..."),
            (["--dtype", "int8", "info"], "--dtype is no option of info"),
            (["predict", "--model", "laya", *request], "layard predict laya ..."),
            (["predict", "--model=laya", *request], "layard predict laya ...")):
        run = world.run(*arguments).refused("InvalidRequestError", hint)
        check_equal([line.split(":")[0] for line in run.stderr.splitlines()],
                    ["error", "hint", "See"], f"lines of\n{run}")
    two = world.run("predictt", "modell", "--context", "x").refused("InvalidRequestError")
    check("unknown command 'predictt'" in two.stderr, f"the first of several words\n{two}")
    many = world.run("info", *(f"file{i}" for i in range(20_000)))
    check(many.seconds < 5 * world.slow and len(many.stderr) < 4000, f"{many.seconds} s")
    nested = world.run("cache", "prune", "--max-bytes", "many")
    check(nested.stderr.endswith("See: layard cache prune --help\n"), str(nested))


@case
def file_names_without_at_are_warned_about(world):
    """The text is answered as it is; only a name without blanks that is a file is asked about."""
    world.write("mail.txt", CHARGED_TWICE)
    world.write("two words", "x")
    plain = world.predict(world.model, ONE, "mail.txt")
    check_equal(plain.code, 0, f"exit\n{plain}")
    check("did you mean --context @mail.txt?" in plain.stderr, str(plain))
    text = world.run("tokenize", world.model, "--text", "mail.txt")
    check("did you mean --text @mail.txt?" in text.stderr, str(text))
    for context, before in (("absent.txt", []), ("two words", []), (".", []),
                            ("@mail.txt", []), ("mail.txt", ["--log-level", "error"])):
        run = world.run(*before, "predict", world.model, "--context", context, "--questions",
                        json.dumps(ONE))
        check_equal(run.code, 0, f"exit\n{run}")
        check("did you mean" not in run.stderr, f"{context!r}\n{run}")


@case
def sizes_are_read_alike(world):
    """The variable and the option take the same texts and refuse the same."""
    for text, size in (("20MB", 20_000_000), ("2GiB", 2 << 30), ("7 k", 7_000),
                       ("18EB", 18 * 10**18)):
        world.run("cache", "prune", "--max-bytes", text).json()
        listing = world.run("cache", "list", environment={"LAYARD_CACHE_MAX": text}).json()
        check_equal(listing["bytes_max"], size, f"LAYARD_CACHE_MAX={text}")
    for text in ("19E", "99EB", "18446744073709551616"):
        world.run("cache", "prune", f"--max-bytes={text}").refused(
            "InvalidRequestError", f"--max-bytes: '{text}' is out of range: a size is from 0 to ")
        world.run("cache", "list", environment={"LAYARD_CACHE_MAX": text}).refused(
            "InvalidRequestError", f"LAYARD_CACHE_MAX: '{text}' is out of range")
    for text in ("20XB", "1.5G", "-1"):
        world.run("cache", "prune", f"--max-bytes={text}").refused(
            "InvalidRequestError", "--max-bytes", f"'{text}' is not a size")
        world.run("cache", "list", environment={"LAYARD_CACHE_MAX": text}).refused(
            "InvalidRequestError", "LAYARD_CACHE_MAX", f"'{text}' is not a size")


def offered(world, *words, **settings):
    """(kind, candidates) for the last of the words."""
    run = world.run("__complete", *words, **settings)
    check_equal((run.code, run.stderr), (0, ""), f"exit and messages\n{run}")
    kind, *candidates = run.stdout.splitlines()
    return kind, candidates


@case
def completion_offers_values(world):
    """Commands, options, their values, model names; read from the parser."""
    models = ["starter", "laya", "laya-multilingual", "laya-typed-decisions", "auto"]
    dtypes = ["float32", "float16", "bfloat16", "int8", "auto"]
    for words, expected in (
            (["p"], ["predict", "parity"]),
            (["--lo"], ["--log-level"]),
            (["--log-level", ""], ["debug", "info", "warning", "error", "off"]),
            (["--isa", "a"], ["avx2", "avx512", "amx"]),
            (["--isa", "amx", "cac"], ["cache"]),
            (["cache", ""], ["list", "prune"]),
            (["cache", "prune", "--m"], ["--max-bytes"]),
            (["completion", ""], ["bash", "zsh", "fish"]),
            (["download", ""], models[1:]),
            (["predict", "--device", ""], ["auto", "cpu", "gpu", "npu"]),
            (["predict", "--dtype", ""], dtypes),
            (["predict", "--dtype=b"], ["bfloat16"]),
            (["predict", "--dtype", "=", "i"], ["int8"]),  # as bash splits it
            (["predict", "--dtype", "="], dtypes),
            (["parity", "--dtype", ""], dtypes[:-1]),
            (["predict", "--overflow", ""], ["cut", "error", "windows"]),
            (["predict", "--format", ""], ["json", "table"]),
            (["predict", "--context", "predict", "--f"], ["--format"]),
            (["help", "b"], ["benchmark"]),
            (["benchmark", "--iters", ""], [])):
        check_equal(offered(world, *words), ("words", expected), f"{words}")
    for words, kind, expected in (
            (["predict", ""], "folders", models),
            (["info", "laya-t"], "folders", models[3:4]),
            (["tokenize", "s"], "files", models[:1]),
            (["--models", ""], "files", []), (["predict", "--batch", ""], "files", []),
            (["benchmark", "--output", ""], "files", []),
            (["predict", "auto", "--default-model", "laya"], "folders", models[1:4]),
            (["predict", "--context", ""], "@files", []),
            (["tokenize", "--text", "@"], "@files", [])):
        check_equal(offered(world, *words), (kind, expected), f"{words}")
    mine = world.write("m.json", {"mine": "folder"})
    check_equal(offered(world, "--models", mine, "info", "m")[1], ["mine"], "--models")
    check_equal(offered(world, "info", "m", environment={"LAYARD_MODELS": str(mine)})[1], ["mine"],
                "LAYARD_MODELS")
    broken = world.write("broken.json", "[")
    check_equal(offered(world, "info", "s", environment={"LAYARD_MODELS": str(broken)})[1], [],
                "a models file that cannot be used")


@case
def completion_in_bash(world):
    """The script as bash runs it: words, `--option=value`, files, and files behind @."""
    world.write("mail one.txt", "")
    world.write("mails/x", "")
    script = world.write("layard.sh", world.run("completion", "bash").stdout + """
try() {
  COMP_WORDS=("$LAYARD" "$@") COMP_CWORD=$#
  _layard
  printf '%s|' "${COMPREPLY[@]}"
  echo
}
try pre
try predict --dtype b
try predict --dtype = i
try predict --context @ma
try predict --context ma
try predict ./ma
try tokenize ./ma
""")
    run = world.run(str(world.binary), environment={"LAYARD": str(world.binary)},
                    prefix=("/bin/bash", "-c", f'. "{script}"', "bash"))
    check_equal((run.code, run.stderr), (0, ""), f"exit and messages\n{run}")
    lines = ["|".join(sorted(filter(None, line.split("|")))) for line in run.stdout.splitlines()]
    check_equal(lines, ["predict", "bfloat16", "int8", "@mail one.txt|@mails", "",
                        "./mails", "./mail one.txt|./mails"], "replies")
    for shell in ("zsh", "fish"):
        text = world.run("completion", shell).stdout
        check("__complete" in text and "layard" in text, f"{shell}: {text}")
