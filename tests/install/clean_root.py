"""A clean Debian 12 in a folder, and commands in it. Needs root, mmdebstrap and the network."""

import os
import shutil
import subprocess

LIMIT_S = 600
NO_NETWORK = ("Could not resolve", "Temporary failure", "Could not connect", "Unable to connect",
              "Connection timed out", "Network is unreachable", "Failed to fetch")


class Failure(Exception):
    """What an administrator would have stumbled over."""


class Skip(Exception):
    """The test cannot run on this machine; the text says why."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def call(command, network=False, **settings):
    """Runs a command to its end and returns its stdout; what it said goes into the failure."""
    done = subprocess.run([str(part) for part in command], capture_output=True, text=True,
                          timeout=LIMIT_S, check=False, stdin=subprocess.DEVNULL, **settings)
    if done.returncode != 0:
        said = f"{done.stdout[-3000:]}{done.stderr[-3000:]}"
        if network and any(words in said for words in NO_NETWORK):
            raise Skip(f"no package archive in reach: {said[-300:]}")
        raise Failure(f"{' '.join(map(str, command))}\nexit {done.returncode}\n{said}")
    return done.stdout


def make(folder):
    """The smallest Debian 12 that has apt."""
    if os.geteuid() != 0:
        raise Skip("only root can make a clean system and run commands in it")
    if not shutil.which("mmdebstrap"):
        raise Skip("mmdebstrap is not installed (scripts/bootstrap --tests)")
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True, check=False).returncode:
        raise Skip("mounts are not allowed here, not even in a namespace of their own")
    root = folder / "root"
    call(["mmdebstrap", "--quiet", "--variant=minbase", "bookworm", root], network=True)
    root.chmod(0o755)
    # Names of hosts are looked up as outside.
    if os.path.exists("/etc/resolv.conf"):
        shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    return root


def command_line(root, words, user=None):
    """What runs `words` in the root, as `user` (name) or as root. No service may start there."""
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin")
    return [chroot, *([f"--userspec={user}"] if user else []), str(root), *map(str, words)]


def settings(environment=None):
    return {"PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive", **(environment or {})}


def inside(root, words, environment=None, user=None, network=False):
    """stdout of a command in the root; /proc is there while it runs, as in a container."""
    return call(in_own_mounts(root, command_line(root, words, user)), network=network,
                env=settings(environment))


def in_own_mounts(root, command):
    """A mount namespace of its own: the mounts are gone with the command, whatever happens."""
    script = 'mount -t proc proc "$0/proc" 2>/dev/null || mount --rbind /proc "$0/proc"; exec "$@"'
    return ["unshare", "--mount", "--propagation", "private", "/bin/sh", "-c", script, str(root),
            *command]


def listing(root):
    """Every path in the root, relative to it."""
    return {str(path.relative_to(root)) for part in ("usr", "etc", "var", "opt", "tmp", "home")
            for path in (root / part).rglob("*")}
