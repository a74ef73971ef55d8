"""Compares the published schema of policy files with `layard route check`, file by file.

usage: policy_schema.py LAYARD SCHEMA FOLDER
Prints `good N bad N`; exit status 1 names the files about which they disagree. Runs in the test
environment, which has a validator of JSON Schema.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema_rs


def structure_errors(layard, path):
    """What the program says against the file's structure."""
    done = subprocess.run([layard, "route", "check", path, "--format", "json"],
                          capture_output=True, check=False)
    report = json.loads(done.stdout)
    return [f"{one['pointer']}: {one['what']}" for one in report["findings"]
            if one["kind"] == "structure" and one["severity"] == "error"]


def main():
    layard, schema, folder = sys.argv[1:]
    schema = json.loads(pathlib.Path(schema).read_text(encoding="utf-8"))
    jsonschema_rs.meta.validate(schema)
    validator = jsonschema_rs.Draft202012Validator(schema)
    counts, wrong = {"good": 0, "bad": 0}, []
    for path in sorted(pathlib.Path(folder).iterdir()):
        value = json.loads(path.read_text(encoding="utf-8"))
        of_schema = [f"{list(error.instance_path)}: {error.message[:200]}"
                     for error in validator.iter_errors(value)]
        of_program = structure_errors(layard, path)
        counts["bad" if of_schema else "good"] += 1
        if bool(of_schema) != bool(of_program):
            wrong.append(f"{path.name}: schema {of_schema}, program {of_program}\n"
                         f"  {json.dumps(value)[:3000]}")
    print(*(f"{name} {count}" for name, count in counts.items()))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
