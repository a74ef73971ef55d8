"""Packed weights kept between starts: the same answers, only from files that may be trusted."""

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
    for spoiled in (whole[:5000], whole[:9000] + b"\x55" + whole[9001:], b"", b"x" * len(whole)):
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
