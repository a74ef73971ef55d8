"""Packed weights kept between starts: the same answers, only from files that may be trusted."""

import fcntl
import json
import os

from harness import CHARGED_TWICE, THREE_KINDS, case, check, check_equal, without_times

REQUEST = ("predict", "starter", "--context", CHARGED_TWICE, "--questions",
           json.dumps(THREE_KINDS))


def packed(world, environment=None):
    """The files that `layard cache list` shows."""
    return world.run("cache", "list", environment=environment).json()


def answers(run):
    return without_times(run.stdout) if run.code == 0 else str(run)


@case
def second_start_maps_packed_weights(world):
    del world.environment["LAYARD_CACHE_MAX"]
    first = world.run(*REQUEST)
    listing = packed(world)
    check_equal(len(listing["files"]), 1, f"files after one start: {listing}")
    entry = listing["files"][0]
    check(entry["current"] and entry["type"] == "float32" and entry["bytes"] > 1 << 24, entry)
    second = world.run(*REQUEST)
    check_equal(answers(second), answers(first), "answers of the second start")
    check_equal(second.stderr, "", "nothing to complain about")
    check_equal(packed(world)["files"][0]["file"], entry["file"], "the same file")
    reduced = world.run(*REQUEST, "--dtype", "bfloat16")
    check_equal(reduced.code, 0, f"exit\n{reduced}")
    check_equal(len(packed(world)["files"]), 2, "another number format is another file")


@case
def packed_weights_can_be_turned_off_and_pruned(world):
    del world.environment["LAYARD_CACHE_MAX"]
    off = {"LAYARD_CACHE_MAX": "0"}
    check_equal(world.run(*REQUEST, environment=off).code, 0, "exit")
    check_equal(packed(world)["files"], [], "LAYARD_CACHE_MAX=0 keeps nothing")
    world.run(*REQUEST)
    report = world.run("cache", "prune", "--max-bytes", "0").json()
    check(len(report["removed"]) == 1 and report["bytes_left"] == 0 and
          report["bytes_freed"] > 1 << 24, str(report))
    check_equal(packed(world)["files"], [], "files after prune")
    for size in ("-1", "-5", "many"):
        world.run("cache", "prune", f"--max-bytes={size}").refused("InvalidRequestError",
                                                                   "--max-bytes")
    bad = {"LAYARD_CACHE_MAX": "lots"}
    world.run("cache", "list", environment=bad).refused("InvalidRequestError", "LAYARD_CACHE_MAX",
                                                        "'lots'")


@case
def damaged_packed_weights_are_ignored(world):
    """Another byte, another length, other permissions: a warning, and the right answers."""
    del world.environment["LAYARD_CACHE_MAX"]
    first = world.run(*REQUEST)
    listing = packed(world)
    path = os.path.join(listing["folder"], listing["files"][0]["file"])
    whole = open(path, "rb").read()
    for spoiled in (whole[:5000], whole[:9000] + b"\x55" + whole[9001:], b""):
        with open(path, "wb") as file:
            file.write(spoiled)
        run = world.run(*REQUEST)
        check_equal(answers(run), answers(first), f"answers beside {len(spoiled)} spoiled bytes")
        check("ignored" in run.stderr, f"a warning must name the file\n{run}")
        again = world.run(*REQUEST)
        check_equal((answers(again), again.stderr), (answers(first), ""), "it was packed anew")
    os.chmod(path, 0o644)
    run = world.run(*REQUEST)
    check_equal(answers(run), answers(first), "answers beside a file that others may read")
    check("0600" in run.stderr, f"the warning must say what is wrong\n{run}")


@case
def a_cache_that_cannot_be_written_costs_only_time(world):
    del world.environment["LAYARD_CACHE_MAX"]
    blocked = world.write("not-a-folder", "")
    run = world.run(*REQUEST, environment={"LAYARD_CACHE": str(blocked)})
    check_equal(run.code, 0, f"exit\n{run}")
    check("packed weights are not kept" in run.stderr, f"a warning\n{run}")


def revision(world, model):
    """The revision that a folder's weights have, from their hash."""
    run = world.predict(model, THREE_KINDS)
    return run.json()["runtime"]["artifact_revision"], run.stderr


@case
def weights_changed_with_their_time_put_back(world):
    """The hash of other weights is not taken from the stamp of the old ones."""
    model = world.copy_of(world.starter_folder)
    weights = model / "model.safetensors"
    before = weights.stat()
    first, log = revision(world, model)
    check_equal(log, "", "nothing to complain about")
    data = bytearray(weights.read_bytes())
    data[-1] ^= 1  # in place, the same size: a last weight that hardly differs
    with open(weights, "r+b") as file:
        file.write(data)
    os.utime(weights, ns=(before.st_atime_ns, before.st_mtime_ns))
    check_equal(weights.stat().st_mtime_ns, before.st_mtime_ns, "the time is put back")
    check(revision(world, model)[0] != first, "the weights are others, so is their revision")


@case
def stamps_are_this_users_alone(world):
    """0600 in 0700; one that others could have written vouches for nothing."""
    model = world.copy_of(world.starter_folder)
    right, _ = revision(world, model)
    folder = world.folder / "cache/stamps"
    check_equal(folder.stat().st_mode & 0o777, 0o700, "mode of the folder")
    stamps = list(folder.iterdir())
    check(len(stamps) >= 2, f"stamps of the hash and of the finite numbers: {stamps}")
    for stamp in stamps:
        check_equal(stamp.stat().st_mode & 0o777, 0o600, f"mode of {stamp.name}")
    hashes = [stamp for stamp in stamps if stamp.name.count(".") == 1]
    check_equal(len(hashes), 1, f"one stamp of a hash: {stamps}")

    def forge():
        text = hashes[0].read_text(encoding="utf-8")
        sha256 = json.loads(text)["sha256"]
        hashes[0].write_text(text.replace(sha256, "0" * 64), encoding="utf-8")

    forge()
    check(revision(world, model)[0] != right, "a private stamp is believed")
    hashes[0].chmod(0o644)
    check_equal(revision(world, model), (right, ""), "a stamp that others may read is ignored")
    forge()
    folder.chmod(0o755)
    found, log = revision(world, model)
    check_equal(found, right, "stamps in a folder that others may read are ignored")
    check("mode 0700" in log and str(folder) in log, f"a warning says what to do\n{log}")


@case
def what_killed_processes_left_goes(world):
    """The next start removes unlocked part files and nothing else."""
    del world.environment["LAYARD_CACHE_MAX"]
    first = world.run(*REQUEST)
    folder = world.folder / "cache/packed"
    for name in ("dead00.part", "alive0.part", "notes.txt"):
        (folder / name).write_bytes(b"x")
    with open(folder / "alive0.part", "r+b") as written:
        fcntl.flock(written, fcntl.LOCK_EX)
        second = world.run(*REQUEST)
        check_equal((answers(second), second.stderr), (answers(first), ""), "the second start")
        left = {path.name for path in folder.iterdir() if path.suffix != ".packed"}
        check_equal(left, {"alive0.part", "notes.txt"}, "what is left")
        pruned = world.run("cache", "prune", "--max-bytes", "0").json()["removed"]
        check_equal(len(pruned), 1, f"a file that is being written stays: {pruned}")
    pruned = world.run("cache", "prune", "--max-bytes", "0").json()["removed"]
    check_equal(pruned, ["alive0.part"], "its writer has ended")
