#!/usr/bin/env python3
"""Makes the release packages of a build and uses them as an administrator would.

usage: run_packages.py --build DIR --source DIR MODE
  archive  the packages are equal when made twice; the archive runs from a prefix of any name
  deb      in a clean Debian 12: install with apt, run, remove, and nothing is left
  image    in a clean Debian 12: the run stage of the Dockerfile, step by step, and its entry point

Exit status: 0 passed, 1 failed, 77 skipped (the reason is printed).
"""

import argparse
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

import clean_root  # noqa: E402
from clean_root import Failure, Skip, call, check  # noqa: E402

EXIT_SKIPPED = 77
QUESTIONS = '{"money": {"type": "noul", "instructions": "Is this about money?"}}'
PREDICT = ["--offline", "predict", "--context", "I was charged twice.", "--questions", QUESTIONS]
HEALTHY_ROWS = ("kernels", "threads", "memory", "checkpoints", "starter")


def make_packages(arguments, target):
    """(archive, Debian package) of the build, checked against their sums."""
    for tool in ("zstd", "file", "dpkg-shlibdeps"):
        if not shutil.which(tool):
            raise Skip(f"{tool} is not installed (scripts/bootstrap --package)")
    call([arguments.source / "scripts/package", "--from", arguments.build, "--to", target])
    call(["sha256sum", "--check", "--strict", "SHA256SUMS"], cwd=target)
    names = sorted(path.name for path in target.iterdir())
    check(len(names) == 3, f"left {names}, expected an archive, a package and SHA256SUMS")
    return next(target.glob("layard-*.tar.zst")), next(target.glob("layard_*.deb"))


def check_program(run):
    """`run(arguments)` calls the installed program; it is ready, and answers."""
    doctor = run(["--offline", "doctor"])
    for row in HEALTHY_ROWS:
        check(any(line.split()[1:2] == [row] and line.split()[0] != "failed"
                  for line in doctor.splitlines()), f"doctor does not like {row}:\n{doctor}")
    answer = json.loads(run(PREDICT))
    check(0 <= answer["answers"]["money"]["noul"] <= 1, f"unexpected answer: {answer}")
    settings = run(["serve", "--check"])
    check('"port"' in settings, f"serve --check printed {settings}")


def test_archive(arguments, folder):
    archive, package = make_packages(arguments, folder / "one")
    for first, second in zip((archive, package), make_packages(arguments, folder / "two")):
        check(first.read_bytes() == second.read_bytes(), f"{first.name} differs when made again")
    prefix = folder / "any prefix"
    prefix.mkdir()
    call(["tar", "--zstd", "-xf", archive, "--strip-components=1", "-C", prefix])
    check((prefix / "share/layard/systemd/layard.service").is_file(), "no systemd unit")
    listing = call(["tar", "--zstd", "--numeric-owner", "-tvf", archive]).splitlines()
    owners = {line.split()[1] for line in listing}
    check(owners == {"0/0"}, f"the files belong to {owners}, expected 0/0")
    names = [line.split(None, 5)[5] for line in listing]
    check({name.split("/")[0] for name in names} == {archive.name.removesuffix(".tar.zst")},
          "the archive does not unpack into one folder of its name")
    environment = {"LAYARD_CACHE": str(folder / "cache")}
    check_program(lambda words: call([prefix / "bin/layard", *words], env=environment, cwd="/"))
    fields = call(["dpkg-deb", "--field", package])
    for field in ("Maintainer: ", "Section: ", "Description: ", "Depends: libc6 ", "Recommends: "):
        check(field in fields, f"the Debian package has no field {field!r}:\n{fields}")


def test_deb(arguments, folder):
    _, package = make_packages(arguments, folder / "out")
    root = clean_root.make(folder)
    shutil.copy(package, root / "tmp")
    before = clean_root.listing(root)
    clean_root.inside(root, ["apt-get", "update", "-q"], network=True)
    clean_root.inside(root, ["apt-get", "install", "-y", "-q", "--no-install-recommends",
                             f"/tmp/{package.name}"], network=True)
    check((root / "usr/lib/systemd/system/layard.service").is_file(), "no systemd unit")
    environment = {"LAYARD_CACHE": "/tmp/layard-cache"}
    check_program(lambda words: clean_root.inside(root, ["layard", *words], environment))
    loader = clean_root.inside(root, ["ldconfig", "-p"])
    check("liblayard.so" in loader, "the loader does not know liblayard")
    clean_root.inside(root, ["apt-get", "purge", "-y", "-q", "layard"])
    left = sorted(path for path in clean_root.listing(root) - before
                  if "layard" in path and not path.startswith("tmp/"))
    check(not left, f"left after the removal: {left}")


def test_image(arguments, folder):
    import dockerfile  # pylint: disable=import-outside-toplevel  (only this mode needs it)
    tree = folder / "image"
    call([arguments.cmake, "--install", arguments.build, "--prefix", tree / "usr"])
    file = dockerfile.Dockerfile(arguments.source / "Dockerfile")
    file.check_build_stage(arguments.source, arguments.cmake, folder)
    file.check_libraries((arguments.source / "README.md").read_text(encoding="utf-8"))
    root = clean_root.make(folder)
    image = file.run_stage(root, tree)
    check_program(image.run)
    image.check_needs_a_key()
    image.check_serves()
    image.check_written()


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, required=True)
    parser.add_argument("--source", type=pathlib.Path, required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("mode", choices=["archive", "deb", "image"])
    arguments = parser.parse_args()
    arguments.build, arguments.source = arguments.build.resolve(), arguments.source.resolve()
    folder = pathlib.Path(tempfile.mkdtemp(prefix="layard_package."))
    try:
        {"archive": test_archive, "deb": test_deb, "image": test_image}[arguments.mode](
            arguments, folder)
    except Skip as reason:
        print(f"skip: {reason}")
        return EXIT_SKIPPED
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        subprocess.run(["rm", "-rf", "--one-file-system", str(folder)], check=False)
    print(f"passed: {arguments.mode}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
