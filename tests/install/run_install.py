#!/usr/bin/env python3
"""Installs a build, moves the tree, and uses it with an empty environment and no network needed.

Checks what a package needs: the binary runs from anywhere and finds its checkpoint, a C++ program
finds the library through CMake, licence texts are there, and nothing points back to the build.
"""

import argparse
import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

QUESTIONS = '{"money": {"type": "noul", "instructions": "Is this about money?"}}'
EXPECTED = [
    "bin/layard", "include/layard/error.h", "include/layard/model.h",
    "include/layard/question.h", "include/layard/answer.h", "include/layard/version.h",
    "share/layard/models/starter/model.safetensors",
    "share/layard/models/starter/rl_agent_config.json",
    "share/layard/models/starter/tokenizer/tokenizer.json",
    "share/layard/models/starter/README.md", "share/layard/models/starter/NOTICE",
    "share/doc/layard/LICENSE",
]


class Failure(Exception):
    """What a stranger would have stumbled over."""


def call(command, **settings):
    """Runs a command to its end; its output goes into the failure."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=240, check=False, **settings)
    if done.returncode != 0:
        raise Failure(f"{' '.join(map(str, command))}\nexit {done.returncode}\n"
                      f"{done.stdout[-3000:]}{done.stderr[-3000:]}")
    return done.stdout


def install(arguments, folder):
    """Installs and moves the tree; returns its new place."""
    first, moved = folder / "first", folder / "moved here"
    call([arguments.cmake, "--install", arguments.build, "--prefix", first])
    missing = [name for name in EXPECTED if not (first / name).is_file()]
    if missing:
        raise Failure(f"not installed: {', '.join(missing)}")
    if not list(first.glob("lib*/**/layardConfig.cmake")) + list(
            first.glob("lib*/**/layard-config.cmake")):
        raise Failure("not installed: the CMake package file layardConfig.cmake")
    shutil.move(first, moved)
    return moved


def check_binary(arguments, prefix, folder):
    home = folder / "home"
    home.mkdir()
    environment = {"HOME": str(home), "LAYARD_CACHE": str(folder / "cache")}
    program = prefix / "bin/layard"
    version = call([program, "--version"], env={}, cwd=folder)
    if arguments.version not in version:
        raise Failure(f"--version printed {version!r}, expected {arguments.version}")
    answer = json.loads(call(
        [program, "--offline", "predict", "--context", "The invoice was charged twice.",
         "--questions", QUESTIONS], env=environment, cwd=folder))
    if list(answer["answers"]) != ["money"] or not 0 <= answer["answers"]["money"]["noul"] <= 1:
        raise Failure(f"unexpected answer: {answer}")
    bare = json.loads(call([program, "--offline", "info", "starter"], env={}, cwd="/"))
    if "starter" not in json.dumps(bare):
        raise Failure(f"info without any environment: {bare}")


def check_files(arguments, prefix):
    """Nothing of the build's place or of the tests' reference data in the package."""
    sources = str(arguments.source.resolve()).encode()
    for path in prefix.rglob("*"):
        if not path.is_file():
            continue
        if path.suffix in (".blob", ".xml", ".gcda", ".gcno"):
            raise Failure(f"{path.relative_to(prefix)} does not belong in a package")
        if path.suffix in (".cmake", ".pc", ".h") and sources in path.read_bytes():
            raise Failure(f"{path.relative_to(prefix)} names the build's folder")
        if not path.stat().st_mode & 0o004:
            raise Failure(f"{path.relative_to(prefix)} is not readable by everybody")
    for path in [prefix / "bin/layard", *prefix.glob("lib*/*.so*")]:
        dynamic = call(["readelf", "--dynamic", path])
        for entry in re.findall(r"(?:RPATH|RUNPATH).*\[(.*)\]", dynamic):
            for part in filter(None, entry.split(":")):
                if not part.startswith("$ORIGIN"):
                    raise Failure(f"{path.name} looks for libraries in {part}")


def check_consumer(arguments, prefix, folder):
    build = folder / "consumer"
    call([arguments.cmake, "-S", arguments.source / "tests/install/consumer", "-B", build,
          "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}",
          f"-DLAYARD_EXPECTED_VERSION={arguments.version}"])
    call([arguments.cmake, "--build", build])
    environment = {"HOME": str(folder / "home"), "LAYARD_CACHE": str(folder / "cache"),
                   "LD_LIBRARY_PATH": f"{prefix}/lib"}
    answer = json.loads(call([build / "consumer", prefix / "share/layard/models/starter"],
                             env=environment, cwd=folder))
    if answer["model"] != "laya-rl-agent" or len(answer["answers"]) != 1:
        raise Failure(f"unexpected answer of the consumer: {answer}")


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", required=True)
    parser.add_argument("--version", required=True)
    arguments = parser.parse_args()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="layard_install."))
    try:
        prefix = install(arguments, folder)
        check_binary(arguments, prefix, folder)
        check_files(arguments, prefix)
        check_consumer(arguments, prefix, folder)
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("installed, moved, ran, and was linked by another program")
    return 0


if __name__ == "__main__":
    sys.exit(main())
