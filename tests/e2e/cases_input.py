"""Bad input of every kind that reaches the binary: a typed error, never a crash or a hang."""

import json
import struct

from harness import THREE_KINDS, Skip, case, check, check_equal

DEPTH = 100_000
REFUSED_S = 5


def refuses(world, run, *types):
    """Exit 2 with one of the error types, soon."""
    check(run.code == 2 and run.stdout == "", f"expected a refusal\n{run}")
    check(any(f"error: {name}: " in run.stderr for name in types),
          f"expected one of {types}\n{run}")
    check(run.seconds < REFUSED_S * world.slow, f"took {run.seconds:.1f} s\n{run}")
    check(len(run.stderr) < 4000, "an error message must not repeat the whole input")


@case
def deep_json_everywhere(world):
    """100,000 nested arrays, closed and unclosed, in every place where JSON is read."""
    for deep in ("[" * DEPTH + "]" * DEPTH, "[" * DEPTH, '{"a":' * DEPTH + "1" + "}" * DEPTH):
        path = world.write("deep.json", deep)
        refuses(world, world.predict(world.model, f"@{path}"), "InvalidRequestError")
        line = world.write("deep.jsonl", '{"state": %s, "questions": {}}\n' % deep)
        batch = world.run("predict", world.model, "--batch", line)
        check_equal(batch.code, 1, f"exit of a bad batch line\n{batch.stderr[:500]}")
        check("InvalidRequestError" in batch.stdout, f"batch line: {batch.stdout[:300]}")
    for name in ("rl_agent_config.json", "encoder/config.json", "tokenizer/tokenizer.json",
                 "tokenizer/tokenizer_config.json"):
        checkpoint = world.copy_of(world.golden("typed"), name.replace("/", "_"))
        (checkpoint / name).write_text("[" * DEPTH + "]" * DEPTH)
        refuses(world, world.predict(checkpoint, THREE_KINDS), "UnsupportedModelError",
                "InvalidRequestError", "ArtifactIntegrityError", "IoError")


@case
def deep_context_is_bounded(world):
    """A context that starts like JSON but is too deep is refused or read as text, soon."""
    path = world.write("deep.json", "[" * DEPTH + "]" * DEPTH)
    run = world.predict(world.model, THREE_KINDS, f"@{path}")
    check(run.code in (0, 2), f"a typed outcome\n{run.stderr[:500]}")
    if run.code == 2:
        refuses(world, run, "InvalidRequestError")


@case
def broken_safetensors_are_refused(world):
    """Every broken header of the bug inputs, put in the place of a checkpoint's weights."""
    folder = world.shared("bug-inputs", "safetensors")
    files = sorted(path for path in folder.glob("*.safetensors")
                   if not path.name.startswith("ok"))
    if not files:
        raise Skip("no broken safetensors beside the checkout")
    checkpoint = world.copy_of(world.golden("english"))
    weights = checkpoint / "model.safetensors"
    for path in files:
        weights.write_bytes(path.read_bytes())
        run = world.predict(checkpoint, THREE_KINDS)
        refuses(world, run, "UnsupportedModelError", "ArtifactIntegrityError", "IoError",
                "InvalidRequestError")


@case
def cut_weights_are_refused(world):
    checkpoint = world.copy_of(world.golden("english"))
    weights = checkpoint / "model.safetensors"
    whole = weights.read_bytes()
    (header_bytes,) = struct.unpack("<Q", whole[:8])
    for kept in (0, 4, 8, 8 + header_bytes // 2, 8 + header_bytes, len(whole) - 1):
        weights.write_bytes(whole[:kept])
        refuses(world, world.predict(checkpoint, THREE_KINDS), "UnsupportedModelError",
                "ArtifactIntegrityError", "IoError", "InvalidRequestError")
    for name in ("model.safetensors", "rl_agent_config.json", "tokenizer/tokenizer.json",
                 "encoder/config.json"):
        partial = world.copy_of(world.golden("english"), "without_" + name.replace("/", "_"))
        (partial / name).unlink()
        run = world.predict(partial, THREE_KINDS)
        refuses(world, run, "UnsupportedModelError", "IoError", "ArtifactIntegrityError")
        check(name.rsplit("/", 1)[-1] in run.stderr, f"the message must name {name}\n{run}")


@case
def missing_files_are_named_together(world):
    """All at once, and before the weights are hashed: here they could not even be read."""
    folder = world.write("bare/notes.txt", "x").parent
    weights = folder / "model.safetensors"
    with weights.open("wb") as file:
        file.truncate(64 << 30)  # a hole: hashing it would take minutes
    run = world.predict(folder, THREE_KINDS)
    refuses(world, run, "UnsupportedModelError")
    for name in ("rl_agent_config.json", "encoder/config.json", "tokenizer/tokenizer.json"):
        check(name in run.stderr, f"the message must name {name}\n{run}")
    check("model.safetensors" not in run.stderr, f"the weights are there\n{run}")


@case
def tokenizers_have_one_limit(world):
    """A tokenizer.json that is too large, broken or absent: the same error from every command."""
    checkpoint = world.copy_of(world.starter_folder)
    path = checkpoint / "tokenizer/tokenizer.json"

    def errors():
        return [world.predict(checkpoint, THREE_KINDS), world.run("tokenize", path, "--text", "x"),
                world.run("tokenize", checkpoint, "--text", "x")]

    with path.open("wb") as file:
        file.truncate((128 << 20) + 1)
    for run in errors():
        refuses(world, run, "ArtifactIntegrityError")
        check("134217728" in run.stderr, f"the limit\n{run}")
    path.write_text('{"version": "1.0", "model": 5}')
    messages = {run.stderr for run in errors()}
    check_equal(len(messages), 1, f"messages {messages}")
    check("ArtifactIntegrityError" in messages.pop(), "type of a broken file")


@case
def hostile_tokenizers_are_quick(world):
    """Long tokens, words and patterns whose search would take the square of a text's length."""
    base = {"version": "1.0", "normalizer": None, "pre_tokenizer": None, "decoder": None,
            "added_tokens": [], "model": {"type": "BPE", "vocab": {"a": 0}, "merges": []}}
    long = "a" * 1_000_000
    token = {"id": 1, "content": long[1:] + "b", "single_word": False, "lstrip": True,
             "rstrip": True, "normalized": True, "special": False}
    text = world.write("text", long)
    added = world.write("added.json", {**base, "added_tokens": [token]})
    run = world.run("tokenize", added, "--text", f"@{text}")
    check_equal(run.code, 0, f"exit\n{run.stderr[:500]}")
    check_equal(len(run.json()["ids"]), len(long), "ids")
    check(run.seconds < REFUSED_S * world.slow, f"took {run.seconds:.1f} s")
    words = {"type": "WordPiece", "unk_token": "a", "continuing_subword_prefix": "##",
             "max_input_chars_per_word": 2**31 - 1, "vocab": {"a": 0, long: 1}}
    replace = {"type": "Replace", "pattern": {"String": long + "b"}, "content": ""}
    steps = {"type": "Sequence", "normalizers": [{"type": "NFC"}] * 100_000}
    for name, change in (("words.json", {"model": words}),
                         ("replace.json", {"normalizer": replace}),
                         ("steps.json", {"normalizer": steps})):
        path = world.write(name, {**base, **change})
        refuses(world, world.run("tokenize", path, "--text", f"@{text}"), "UnsupportedModelError")


@case
def many_keys_are_quick(world):
    questions = "{" + ",".join(f'"k{number}":1' for number in range(190_000)) + "}"
    path = world.write("many.json", questions)
    refuses(world, world.predict(world.model, f"@{path}"), "InvalidRequestError")


@case
def not_utf8_is_refused(world):
    bad = world.write("bad.txt", b"caf\xe9")
    refuses(world, world.predict(world.model, THREE_KINDS, f"@{bad}"), "InvalidRequestError")
    bad_questions = world.write("bad.json", b'{"q":{"type":"noul","instructions":"caf\xe9"}}')
    refuses(world, world.predict(world.model, f"@{bad_questions}"), "InvalidRequestError")
    marked = world.write("bom.json", b"\xef\xbb\xbf" + json.dumps(THREE_KINDS).encode())
    check_equal(list(world.predict(world.model, f"@{marked}").json()["answers"]),
                list(THREE_KINDS), "questions behind a byte order mark")


@case
def unreadable_input_is_not_empty_input(world):
    """A folder where a file should be is an error for every reader, never an empty input."""
    folder = world.write("there/file", "x").parent
    for arguments in (("predict", world.model, "--batch", folder),
                      ("tokenize", world.model, "--batch", folder),
                      ("predict", world.model, "--context", f"@{folder}", "--questions", '["x?"]'),
                      ("parity", world.model, "--goldens", folder)):
        refuses(world, world.run(*arguments), "IoError")
    empty = world.write("empty.jsonl", "")
    refuses(world, world.run("parity", world.model, "--goldens", empty), "InvalidRequestError")


@case
def file_size_limit_is_no_death(world):
    """Under `ulimit -f` a write that fails is an error, not a signal; a stamp that cannot be
    written is only a warning."""
    limited = ("/bin/sh", "-c", 'ulimit -f 0; exec "$@"', "sh")
    run = world.run("predict", "--context", "a", "--questions", '["x?"]', prefix=limited)
    check_equal(run.code, 0, f"exit\n{run}")
    check("not remembered" in run.stderr, f"the warning\n{run}")
    check("x?" in run.json()["answers"], f"the answer\n{run}")
    to_file = ("/bin/sh", "-c", 'ulimit -f 0; exec "$@" > out.json', "sh")
    lost = world.run("predict", "--context", "a", "--questions", '["x?"]', prefix=to_file)
    check(lost.code == 2 and "error: IoError: " in lost.stderr, str(lost))
    left = [path for path in (world.folder / "cache").rglob("*") if path.is_file()]
    check_equal(left, [], "files left in the cache")


@case
def terminals_are_not_steered(world):
    """C0, C1 and bidirectional controls of names and labels never reach the screen."""
    questions = json.dumps({"\u009b31m\u202e\u001b[2J": {
        "type": "choice", "instructions": "x", "criteria": ["\u009b31m", "b\u2066"]}})
    table = world.run("predict", world.model, "--context", "a", "--questions", questions,
                      "--format", "table")
    check_equal(table.code, 0, f"exit\n{table.stderr}")
    unknown = world.run("info", "\u009b31m\u001b[2J\u202e")
    check_equal(unknown.code, 2, "exit")
    for text in (table.stdout, unknown.stderr):
        check(not any(mark in text for mark in "\u001b\u009b\u202e\u2066"), repr(text))


@case
def passwords_are_not_shown(world):
    """A password in an endpoint or proxy address is in no message."""
    for name, value in (("HF_ENDPOINT", "https://u:SECRETPW@127.0.0.1:99999"),
                        ("https_proxy", "http://u:SECRETPW@127.0.0.1:99999")):
        env = {"HF_ENDPOINT": "https://127.0.0.1:1", "no_proxy": "", name: value}
        run = world.run("download", "laya", environment=env)
        check_equal(run.code, 2, f"{name}: exit\n{run.stderr}")
        check("SECRETPW" not in run.stderr + run.stdout, f"{name}: {run.stderr}")
