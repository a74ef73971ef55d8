"""Offline use: what works without a network, and what is said when something is missing."""

import hashlib
import json
import shutil
import subprocess

from fake_hub import FakeHub
from harness import CHARGED_TWICE, Skip, case, check, check_equal, without_times

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
UNCACHED = "laya-typed-decisions"
AT_ONCE_S = 1.0


@case
def offline_and_uncached(world):
    run = world.run("--offline", "predict", "laya", "--context", "x", "--questions",
                    json.dumps(ONE))
    run.refused("BackendUnavailableError", "layard download laya")
    check(run.seconds < AT_ONCE_S * world.slow, f"took {run.seconds:.2f} s")


@case
def offline_fails_at_once(world):
    run = world.run("--offline", "predict", UNCACHED, "--context", "x", "--questions",
                    json.dumps(ONE), limit_s=2)
    run.refused("BackendUnavailableError", f"layard download {UNCACHED}")


@case
def no_network_needed(world):
    """In a network namespace without any interface."""
    for prefix in (["unshare", "--net"], ["unshare", "--net", "--map-root-user"]):
        if shutil.which("unshare") and subprocess.run(
                [*prefix, "true"], capture_output=True, check=False).returncode == 0:
            break
    else:
        raise Skip("this machine does not let a test make a network namespace")
    for before in ([], ["--offline"]):
        result = world.run(*before, "predict", "starter", "--context", CHARGED_TWICE,
                           "--questions", json.dumps(ONE), prefix=prefix).json()
        check_equal(list(result["answers"]), ["refund"], "answers without a network")


@case
def three_ways_offline(world):
    """The flag and the variable say the same and ask the hub nothing; the library option is
    tested where the library is."""
    with FakeHub() as hub:
        request = ["predict", UNCACHED, "--context", "x", "--questions", json.dumps(ONE)]
        by_flag = world.run("--offline", *request, environment={"HF_ENDPOINT": hub.url})
        by_variable = world.run(*request, environment={"HF_ENDPOINT": hub.url,
                                                       "HF_HUB_OFFLINE": "1"})
        by_older = world.run(*request, environment={"HF_ENDPOINT": hub.url,
                                                    "TRANSFORMERS_OFFLINE": "ON"})
        check_equal(hub.requests, [], "requests that reached the hub")
    for run in (by_flag, by_variable, by_older):
        run.refused("BackendUnavailableError", "layard download")
    check_equal(by_variable.stderr, by_flag.stderr, "message of the variable and the flag")
    check_equal(by_older.stderr, by_flag.stderr, "message of the older variable and the flag")


REPOSITORY = "org/tiny"
REVISION = "0123456789abcdef0123456789abcdef01234567"


def hub_environment(world, hub, checkpoint, sha256=None):
    """Variables under which the model `tiny` is `checkpoint`, served by `hub`."""
    hub.add(REPOSITORY, REVISION, checkpoint)
    weights = (checkpoint / "model.safetensors").read_bytes()
    models = world.write("models.json", {"tiny": {
        "repo": REPOSITORY, "revision": REVISION,
        "sha256": sha256 or hashlib.sha256(weights).hexdigest()}})
    return {"HF_ENDPOINT": hub.url, "HF_HOME": str(world.make_folder("hf")),
            "LAYARD_MODELS": str(models)}


@case
def hub_then_offline(world):
    checkpoint = world.golden("english")
    request = ["predict", "tiny", "--context", CHARGED_TWICE, "--questions", json.dumps(ONE)]
    with FakeHub() as hub:
        environment = hub_environment(world, hub, checkpoint)
        first = world.run(*request, environment=environment)
        first.json()
        asked = len(hub.requests)
        check(asked > 0, "the first run must ask the hub")
        world.run(*request, environment=environment).json()
        check_equal(len(hub.requests), asked, "requests once everything is cached")
    later = world.run("--offline", *request, environment=environment)
    later.json()
    check_equal(without_times(later.stdout), without_times(first.stdout),
                "answers without the hub")
    check_equal(first.json()["answers"],
                world.predict(checkpoint, ONE).json()["answers"], "answers of the folder itself")


@case
def download_under_a_file_size_limit(world):
    """`ulimit -f`: an error that names the file, and nothing that looks like a checkpoint."""
    with FakeHub() as hub:
        environment = hub_environment(world, hub, world.golden("english"))
        run = world.run("download", "tiny", environment=environment,
                        prefix=("/bin/sh", "-c", 'ulimit -f 8; exec "$@"', "sh"))
    run.refused("IoError", "hf/hub")
    snapshots = world.folder / "hf/hub/models--org--tiny/snapshots"
    check(not (snapshots / REVISION).exists(), "a snapshot without its weights was left")


@case
def download_names_what_it_verified(world):
    with FakeHub() as hub:
        environment = hub_environment(world, hub, world.golden("english"))
        run = world.run("download", "tiny", environment=environment)
    check_equal(run.code, 0, f"exit\n{run}")
    line = run.stdout.strip()
    check(line.startswith(f"{REPOSITORY}@{REVISION[:12]} -> ") and
          line.endswith(" (sha256 of model.safetensors verified)"), f"the line: {line!r}")
    snapshot = world.folder / "hf/hub/models--org--tiny/snapshots" / REVISION
    check((snapshot / "model.safetensors").is_file(), f"nothing in {snapshot}")
    check(str(snapshot) in line, f"the line must name {snapshot}")


@case
def wrong_hash_leaves_nothing(world):
    with FakeHub() as hub:
        environment = hub_environment(world, hub, world.golden("english"), sha256="ab" * 32)
        world.run("download", "tiny", environment=environment).refused(
            "ArtifactRevisionError", "model.safetensors")
    snapshots = world.folder / "hf/hub/models--org--tiny/snapshots"
    check(not (snapshots / REVISION).exists(), "a snapshot of wrong weights was left")


@case
def damaged_checkpoints_are_fetched_again(world):
    """By the command that the error names."""
    request = ["predict", "tiny", "--context", CHARGED_TWICE, "--questions", json.dumps(ONE)]
    with FakeHub() as hub:
        environment = hub_environment(world, hub, world.golden("english"))
        world.run("download", "tiny", environment=environment)
        weights = (world.folder / "hf/hub/models--org--tiny/snapshots" / REVISION
                   / "model.safetensors")
        content = bytearray(weights.read_bytes())
        content[-1] ^= 1
        weights.unlink()
        weights.write_bytes(content)
        world.run(*request, environment=environment).refused(
            "ArtifactRevisionError", "SHA-256", "`layard download tiny`")
        again = world.run("download", "tiny", environment=environment)
        check_equal(again.code, 0, f"exit\n{again}")
        world.run(*request, environment=environment).json()
