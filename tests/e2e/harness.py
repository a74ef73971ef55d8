"""Running the built binary the way a person would: empty cache, empty home, no network.

Standard library only. A case is a function marked @case that takes a World; it raises Failure or
Skip, or returns. Names become CamelCase: answers_keep_file_order is E2e.AnswersKeepFileOrder.
"""

import contextlib
import json
import os
import pathlib
import re
import shutil
import struct
import subprocess
import tempfile

CASES = {}
# Called once after the last case of a process; they raise Failure.
AT_END = []
# Instrumented builds are several times slower; limits on time are stretched for them.
SLOW_BUILD_FACTOR = 10
SANITIZER_SETTINGS = ("ASAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS", "TSAN_OPTIONS")
RUN_LIMIT_S = 60
MEASURED = re.compile(r'"(latency_ms|device_ms|queue_wait_ms|request_id)": [^,\n]+')

CHARGED_TWICE = ("The customer was charged twice for the same invoice and wants the second charge "
                 "refunded.")
THREE_KINDS = {
    "zone": {"type": "choice", "instructions": "Which team should answer?",
             "criteria": {"tech": "errors and outages", "billing": "charges and refunds",
                          "account": None}},
    "angry": {"type": "noul", "instructions": "Is the writer angry?"},
    "mood": {"type": "score", "instructions": "How urgent is it?",
             "criteria": ["can wait", "this week", "today"]},
}


class Failure(Exception):
    """The product did something else than promised."""


class Skip(Exception):
    """The case cannot run on this machine; the text says why."""


def case(function):
    """Registers a case under its CamelCase name."""
    name = "".join(word.capitalize() for word in function.__name__.split("_"))
    CASES[name] = function
    return function


def json_lines(text):
    """The values of JSON Lines. Other line separators of Unicode may stand inside a value."""
    return [json.loads(line) for line in text.split("\n") if line]


def check(condition, message):
    if not condition:
        raise Failure(message)


def without_times(text):
    """Output without what differs from run to run."""
    return MEASURED.sub("", text)


def check_equal(found, expected, what):
    if found != expected:
        raise Failure(f"{what}:\n  expected {expected!r}\n  found    {found!r}")


class Run:
    """What one call of the binary left."""

    def __init__(self, arguments, code, stdout, stderr, seconds):
        self.arguments, self.code, self.seconds = arguments, code, seconds
        self.stdout_bytes = stdout
        self.stdout, self.stderr = (out.decode("utf-8", "replace") for out in (stdout, stderr))

    def __str__(self):
        return (f"layard {' '.join(map(str, self.arguments))}\n  exit {self.code}\n"
                f"  stdout: {self.stdout[:2000]}\n  stderr: {self.stderr[:2000]}")

    def json(self):
        """stdout as JSON; the call must have succeeded."""
        check(self.code == 0, f"expected exit 0\n{self}")
        return self.any_json()

    def any_json(self):
        try:
            return json.loads(self.stdout)
        except ValueError as error:
            raise Failure(f"stdout is not JSON ({error})\n{self}") from error

    def refused(self, error_type, *words):
        """Exit 2, nothing on stdout, `error: <Type>: ...` with every word on stderr."""
        check(self.code == 2, f"expected exit 2\n{self}")
        check(self.stdout == "", f"expected nothing on stdout\n{self}")
        lines = [line for line in self.stderr.splitlines() if line.startswith("error: ")]
        check(len(lines) == 1, f"expected one `error: ` line\n{self}")
        check(lines[0].startswith(f"error: {error_type}: "), f"expected {error_type}\n{self}")
        for word in words:
            check(word in self.stderr, f"expected {word!r} in the message\n{self}")
        return self


class World:
    """One case's folder, environment and binary."""

    def __init__(self, binary, source, shared, folder):
        self.binary, self.source, self.folder = binary, source, folder
        self.shared_folder = shared
        self.slow = SLOW_BUILD_FACTOR if any(
            part in ("asan", "tsan", "coverage", "dev") for part in binary.parts) else 1
        self.environment = {
            "PATH": "/usr/sbin:/usr/bin:/sbin:/bin", "LANG": "C.UTF-8",
            "HOME": str(self.make_folder("home")), "LAYARD_CACHE": str(self.make_folder("cache")),
            # Most cases start once: keeping packed weights would only cost them time.
            "LAYARD_CACHE_MAX": "0",
            **{key: os.environ[key] for key in SANITIZER_SETTINGS if key in os.environ}}

    def make_folder(self, name):
        path = self.folder / name
        path.mkdir(parents=True, exist_ok=True)
        return path

    def write(self, name, content):
        """A file in the case's folder; anything but text or bytes is written as JSON."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (str, bytes)):
            content = json.dumps(content, ensure_ascii=False)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
        return path

    def run(self, *arguments, stdin="", environment=None, limit_s=RUN_LIMIT_S, prefix=()):
        began = os.times().elapsed
        command = [*prefix, str(self.binary), *map(str, arguments)]
        try:
            done = subprocess.run(
                command, input=stdin.encode() if isinstance(stdin, str) else stdin,
                capture_output=True, timeout=limit_s * self.slow, cwd=self.folder,
                env={**self.environment, **(environment or {})}, check=False)
        except subprocess.TimeoutExpired as error:
            raise Failure(f"still running after {limit_s * self.slow} s: {command}") from error
        check(done.returncode >= 0, f"died of signal {-done.returncode}: {command}\n"
                                    f"{done.stderr.decode(errors='replace')[-2000:]}")
        return Run(list(arguments), done.returncode, done.stdout, done.stderr,
                   os.times().elapsed - began)

    def predict(self, model, questions, context=CHARGED_TWICE, *options, **settings):
        """`layard predict` with questions as a value, text or path argument."""
        if not isinstance(questions, str):
            questions = json.dumps(questions, ensure_ascii=False)
        return self.run("predict", model, "--context", context, "--questions", questions, *options,
                        **settings)

    def shared(self, *parts):
        """A path among the reference outputs; skips where this machine has none."""
        if self.shared_folder is None or not (self.shared_folder / "goldens").is_dir():
            raise Skip("no shared/ folder with reference outputs beside the checkout "
                       "(LAYARD_SHARED names one)")
        return self.shared_folder.joinpath(*parts)

    def golden(self, name):
        """A golden checkpoint: english, multilingual, typed or bert."""
        return self.shared("goldens", "checkpoints", name)

    def golden_cases(self, name):
        """The golden cases of a checkpoint, as dictionaries."""
        return json_lines(self.shared("goldens", f"{name}.jsonl").read_text(encoding="utf-8"))

    @property
    def model(self):
        """A checkpoint for cases about form: a small golden one, else the one that ships."""
        try:
            return self.golden("typed")
        except Skip:
            return self.starter

    @property
    def starter(self):
        check((self.source / "models/starter/model.safetensors").is_file(),
              "models/starter is not in the source tree")
        return "starter"

    @property
    def starter_folder(self):
        """The folder of the checkpoint that ships."""
        check(self.starter == "starter", "no starter")
        return self.source / "models/starter"

    def copy_of(self, checkpoint, name="copy"):
        """A writable copy of a checkpoint folder."""
        target = self.folder / name
        shutil.copytree(checkpoint, target)
        for path in [target, *target.rglob("*")]:
            path.chmod(0o755 if path.is_dir() else 0o644)
        return target

    def ids_of(self, model, text):
        """Token ids of a text, without special tokens, from `layard tokenize`."""
        batch = self.write("tokenize.jsonl", json.dumps({"text": text}) + "\n")
        return self.run("tokenize", model, "--batch", batch).json()["ids"]

    def raw_rows(self, model, questions, context=CHARGED_TWICE, *options):
        """The rows that `predict --raw` reports, and the whole result."""
        result = self.predict(model, questions, context, "--raw", *options).json()
        check("rows" in result, f"--raw gave no rows: {list(result)}")
        return result["rows"], result


def safetensors_entries(path):
    """(header as a dictionary, offset of the data) of a safetensors file."""
    with open(path, "rb") as file:
        (size,) = struct.unpack("<Q", file.read(8))
        return json.loads(file.read(size)), 8 + size


def spoil_weights(path, tensor):
    """Flips the sign of every value of one 16-bit tensor: another model, still well formed."""
    header, base = safetensors_entries(path)
    begin, end = header[tensor]["data_offsets"]
    check(header[tensor]["dtype"] in ("F16", "BF16"), f"{tensor} is not a 16-bit tensor")
    data = bytearray(path.read_bytes())
    for high_byte in range(base + begin + 1, base + end, 2):
        data[high_byte] ^= 0x80
    path.write_bytes(data)


@contextlib.contextmanager
def world_for(binary, source, shared):
    """A World in a temporary folder, removed afterwards."""
    folder = pathlib.Path(tempfile.mkdtemp(prefix="layard_e2e."))
    try:
        yield World(binary, source, shared, folder)
    finally:
        shutil.rmtree(folder, ignore_errors=True)
