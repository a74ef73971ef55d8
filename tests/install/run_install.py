#!/usr/bin/env python3
"""Installs a build, moves the tree, and uses it with an empty environment and no network needed.

Checks what a package needs: the binary runs from anywhere and finds its checkpoint, a C++ program
finds the library through CMake, licence texts are there, and nothing points back to the build.
"""

import argparse
import json
import os
import pathlib
import re
import shlex
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
    "share/doc/layard/LICENSE", "share/man/man1/layard.1", "share/layard/systemd/layard.service",
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


def check_pkg_config(prefix):
    """layard.pc speaks of the place it lies in, wherever that is."""
    (found,) = prefix.glob("lib*/**/pkgconfig/layard.pc")
    if not shutil.which("pkg-config"):
        raise Failure("pkg-config is missing; run scripts/bootstrap")
    flags = call(["pkg-config", "--cflags", "--libs", "layard"],
                 env={"PATH": os.environ["PATH"], "PKG_CONFIG_PATH": str(found.parent)})
    places = [pathlib.Path(flag[2:]).resolve() for flag in shlex.split(flags)
              if flag.startswith(("-I", "-L"))]
    if not any((place / "layard/layard.h").is_file() for place in places):
        raise Failure(f"no layard/layard.h where layard.pc points: {flags}")
    if not any(list(place.glob("liblayard.so*")) for place in places):
        raise Failure(f"no liblayard where layard.pc points: {flags}")


def check_versions(arguments, prefix, folder):
    """find_package takes this minor version only: before 1.0.0 another one may differ."""
    (found,) = prefix.glob("lib*/**/layard-config-version.cmake")
    major, minor, patch = map(int, arguments.version.split("."))
    script = folder / "version.cmake"
    script.write_text(f'set(CMAKE_SIZEOF_VOID_P 8)\ninclude("{found}")\n'
                      'message(STATUS "compatible: ${PACKAGE_VERSION_COMPATIBLE}")\n')
    for asked, expected in (((major, minor), True), ((major, minor, patch), True),
                            ((major, minor, patch + 1), False), ((major, minor + 1), False),
                            ((major + 1, 0), False),
                            *((((major, minor - 1), major > 0),) if minor > 0 else ())):
        text = ".".join(map(str, asked))
        parts = zip(("MAJOR", "MINOR", "PATCH"), (*asked, 0))
        said = call([arguments.cmake, f"-DPACKAGE_FIND_VERSION={text}",
                     f"-DPACKAGE_FIND_VERSION_COUNT={len(asked)}",
                     *(f"-DPACKAGE_FIND_VERSION_{name}={part}" for name, part in parts),
                     "-P", script])
        if ("compatible: TRUE" in said) != expected:
            raise Failure(f"find_package(layard {text}) with {arguments.version}: {said}")
    (library,) = prefix.glob("lib*/**/liblayard.so")
    (soname,) = re.findall(r"SONAME.*\[(.*)\]", call(["readelf", "--dynamic", library]))
    expected = f"liblayard.so.{major}" + (f".{minor}" if major == 0 else "")
    if soname != expected:
        raise Failure(f"the library is called {soname}, expected {expected}")


def check_needed_libraries(arguments, prefix):
    """The README says which shared libraries must be there, and no others."""
    readme = (arguments.source / "README.md").read_text(encoding="utf-8")
    (line,) = re.findall(r"^Needed at run time: (.*?)\n\n", readme, re.M | re.S)
    promised = set(re.findall(r"`(lib[^`]+)`", line))
    needed = set()
    for path in [prefix / "bin/layard", *prefix.glob("lib*/**/liblayard.so")]:
        needed |= set(re.findall(r"NEEDED.*\[(.*)\]", call(["readelf", "--dynamic", path])))
    # Of every C and C++ program; the loader is called after the processor.
    ours = {name.split(".so")[0] for name in needed if not name.startswith("ld-")}
    if ours != promised:
        raise Failure(f"README names {sorted(promised)}, the files need {sorted(ours)}")


def check_consumer(arguments, prefix, folder):
    build = folder / "consumer"
    call([arguments.cmake, "-S", arguments.source / "tests/install/consumer", "-B", build,
          "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release", f"-DCMAKE_PREFIX_PATH={prefix}",
          "-DCMAKE_SKIP_RPATH=ON",
          f"-DLAYARD_EXPECTED_VERSION={arguments.version}"])
    call([arguments.cmake, "--build", build])
    environment = {"HOME": str(folder / "home"), "LAYARD_CACHE": str(folder / "cache"),
                   "LD_LIBRARY_PATH": f"{prefix}/lib"}
    answer = json.loads(call([build / "consumer", prefix / "share/layard/models/starter"],
                             env=environment, cwd=folder))
    if answer["model"] != "laya-rl-agent" or len(answer["answers"]) != 1:
        raise Failure(f"unexpected answer of the consumer: {answer}")
    # The library finds the checkpoint beside itself, however it was found.
    environment["LD_LIBRARY_PATH"] = os.path.relpath(prefix / "lib", folder)
    found = json.loads(call([build / "consumer", "starter"], env=environment, cwd=folder))
    if found["answers"] != answer["answers"]:
        raise Failure(f"unexpected answer of the starter: {found}")


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
        check_pkg_config(prefix)
        check_versions(arguments, prefix, folder)
        check_needed_libraries(arguments, prefix)
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
