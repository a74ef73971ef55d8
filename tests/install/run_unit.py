#!/usr/bin/env python3
"""Runs the commands of packaging/layard.service as systemd would, with its environment only.

usage: run_unit.py --layard BINARY --unit FILE

Where systemd-analyze is there, the unit is verified with it too.
"""

import argparse
import http.client
import json
import os
import pathlib
import re
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile

LIMIT_S = 60
INSTALLED = "/usr/bin/layard"
# What keeps a service that was broken into away from the rest of the machine.
HARDENING = {
    "DynamicUser": "yes", "NoNewPrivileges": "yes", "CapabilityBoundingSet": "",
    "ProtectSystem": "strict", "ProtectHome": "yes", "PrivateTmp": "yes", "PrivateDevices": "yes",
    "RestrictAddressFamilies": "AF_INET AF_INET6 AF_UNIX", "SystemCallFilter": "@system-service",
    "MemoryDenyWriteExecute": "yes", "Restart": "on-failure",
}


class Failure(Exception):
    """What an administrator would have stumbled over."""


def check(condition, message):
    if not condition:
        raise Failure(message)


def read_unit(path):
    """{section: {key: [values]}}, as systemd reads it (no line of ours is continued)."""
    sections, current = {}, None
    for line in path.read_text(encoding="utf-8").splitlines():
        if header := re.fullmatch(r"\[(\w+)\]", line):
            current = sections.setdefault(header.group(1), {})
        elif line and not line.startswith(("#", ";")):
            key, separator, value = line.partition("=")
            check(separator and current is not None, f"not a line of a unit: {line}")
            current.setdefault(key, []).append(value)
    return sections


def environment_of(service, folder):
    """The variables of the unit with its folders below `folder`, and those of its file."""
    places = {"%C": folder / "cache", "%S": folder / "state"}
    found = {}
    for line in service["Environment"]:
        for word in shlex.split(line):
            name, _, value = word.partition("=")
            for specifier, place in places.items():
                value = value.replace(specifier, str(place))
            check("%" not in value, f"{name}={value}: a specifier that this test does not know")
            found[name] = value
    (file,) = service["EnvironmentFile"]
    check(file.startswith("-/etc/layard/"), f"EnvironmentFile={file}: must be optional")
    for part, place in (("CacheDirectory", "cache"), ("StateDirectory", "state")):
        (name,) = service[part]
        (folder / place / name).mkdir(parents=True, mode=0o700)
    return found


def command(service, key, binary):
    (line,) = service[key]
    words = shlex.split(line)
    check(words[0] == INSTALLED, f"{key} runs {words[0]}, which the package installs elsewhere")
    return [str(binary), *words[1:]]


def settings_in_force(service, binary, environment):
    """What ExecStartPre prints."""
    done = subprocess.run(command(service, "ExecStartPre", binary), env=environment, cwd="/",
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    check(done.returncode == 0, f"ExecStartPre: exit {done.returncode}\n{done.stderr}")
    return json.loads(done.stdout)


def number(settings, name):
    """A setting by its name, wherever it lies in what --check prints."""
    if isinstance(settings, dict):
        if isinstance(settings.get(name), int):
            return settings[name]
        for value in settings.values():
            found = number(value, name)
            if found is not None:
                return found
    return None


def seconds(text):
    check(re.fullmatch(r"\d+", text), f"{text!r} is no number of seconds")
    return int(text)


def check_serving(service, binary, environment):
    """ExecStart listens, answers, logs JSON, and is gone with status 0 after SIGTERM."""
    process = subprocess.Popen(  # pylint: disable=consider-using-with  (ended below)
        command(service, "ExecStart", binary), env=environment, cwd="/", text=True,
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    try:
        line = process.stdout.readline()
        if not line:
            raise Failure(f"it did not start: {process.stderr.read()[-2000:]}")
        port = int(json.loads(line)["listening"].rsplit(":", 1)[1])
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=LIMIT_S)
        connection.request("GET", "/ready")
        check(connection.getresponse().status == 200, "/ready does not answer 200")
        connection.close()
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=seconds(service["TimeoutStopSec"][0]))
        check(process.returncode == 0, f"exit {process.returncode} after SIGTERM\n{log}")
        events = [json.loads(entry)["event"] for entry in log.splitlines()]
        check("listening" in events and "stopped" in events, f"events in the log: {events}")
    finally:
        if process.poll() is None:
            process.kill()
        process.wait()


def analyze(unit, binary, folder):
    """systemd's own opinion; the path of the program is that of the build, so that it exists."""
    if not shutil.which("systemd-analyze"):
        print("systemd-analyze is not there: its part of the test is left out")
        return
    copy = folder / unit.name
    copy.write_text(unit.read_text(encoding="utf-8").replace(INSTALLED, str(binary)),
                    encoding="utf-8")
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", str(copy)],
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    said = done.stdout + done.stderr
    # Other units of the machine are read as well and are not ours to judge.
    ours = [line for line in said.splitlines() if unit.name in line or str(folder) in line]
    check(not ours, "systemd-analyze verify:\n" + "\n".join(ours))


def test(arguments, folder):
    service = read_unit(arguments.unit)["Service"]
    for key, value in HARDENING.items():
        check(service.get(key) == [value], f"{key} is {service.get(key)}, expected {value!r}")
    environment = environment_of(service, folder)
    settings = settings_in_force(service, arguments.layard, environment)
    drain_ms, connections = (number(settings, name) for name in ("drain_ms", "connections_max"))
    check(seconds(service["TimeoutStopSec"][0]) * 1000 > drain_ms,
          f"TimeoutStopSec is not above the {drain_ms} ms of --drain-ms")
    check(int(service["LimitNOFILE"][0]) > connections,
          f"LimitNOFILE is not above the {connections} of --connections-max")
    wrong = {**environment, "LAYARD_SERVE_PORT": "none"}
    done = subprocess.run(command(service, "ExecStartPre", arguments.layard), env=wrong, cwd="/",
                          capture_output=True, text=True, timeout=LIMIT_S, check=False)
    check(done.returncode == 2 and "LAYARD_SERVE_PORT" in done.stderr,
          f"a wrong setting passes ExecStartPre: exit {done.returncode}\n{done.stderr}")
    # As a line of /etc/layard/serve.env would: a free port, since 8642 may be taken here.
    check_serving(service, arguments.layard, {**environment, "LAYARD_SERVE_PORT": "0"})
    written = {path.relative_to(folder).parts[:2] for path in folder.rglob("*") if path.is_file()}
    check(written and all(parts[:2] == ("cache", "layard") for parts in written),
          f"files were written to {written}, expected below the cache folder only")
    analyze(arguments.unit, arguments.layard, folder)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--layard", type=pathlib.Path, required=True)
    parser.add_argument("--unit", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.layard = pathlib.Path(os.path.abspath(arguments.layard))
    folder = pathlib.Path(tempfile.mkdtemp(prefix="layard_unit."))
    try:
        test(arguments, folder)
    except Failure as failure:
        print(f"FAILED: {failure}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    print("passed: the unit's own commands check, serve and stop")
    return 0


if __name__ == "__main__":
    sys.exit(main())
