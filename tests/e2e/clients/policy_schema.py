"""Compares the published schema of policy files with `layard route check`, file by file
and place by place.

usage: policy_schema.py LAYARD SCHEMA FOLDER
Prints `good N bad N`; exit status 1 names the places about which they disagree. Runs in the test
environment, which has a validator of JSON Schema.
"""

import json
import pathlib
import subprocess
import sys

import jsonschema_rs


def program_paths(layard, path):
    """Where the program finds the file's structure wrong, as lists of steps."""
    done = subprocess.run([layard, "route", "check", path, "--format", "json"],
                          capture_output=True, check=False)
    report = json.loads(done.stdout)
    return [[step.replace("~1", "/").replace("~0", "~") for step in one["pointer"].split("/")[1:]]
            for one in report["findings"]
            if one["kind"] == "structure" and one["severity"] == "error"]


def schema_paths(validator, value):
    return [[str(step) for step in error.instance_path] for error in validator.iter_errors(value)]


def is_told(path, by):
    """Whether `by` has the place, or its object, where a schema tells of names that may not be, or
    an item of the list; of the gate, which has three forms, it tells as a whole."""
    return (path in by or path[:-1] in by or any(other[:-1] == path for other in by)
            or ["size_gate"] in by and path[:1] == ["size_gate"])


def disagreements(of_schema, of_program):
    for path in of_program:
        if not is_told(path, of_schema):
            yield f"only the program: {path}"
    if ["version"] in of_program and ["version"] in of_schema:
        return  # of another version the program says nothing more
    for path in of_schema:
        # Of a list that is too long or no list of such things the program tells once.
        in_list = path[-1:] and path[-1].isdigit() and path[:-1] in of_program
        if not in_list and not any(other[:len(path)] == path for other in of_program):
            yield f"only the schema: {path}"


def main():
    layard, schema, folder = sys.argv[1:]
    schema = json.loads(pathlib.Path(schema).read_text(encoding="utf-8"))
    jsonschema_rs.meta.validate(schema)
    validator = jsonschema_rs.Draft202012Validator(schema)
    counts, wrong = {"good": 0, "bad": 0}, []
    for path in sorted(pathlib.Path(folder).iterdir()):
        value = json.loads(path.read_text(encoding="utf-8"))
        of_schema = schema_paths(validator, value)
        counts["bad" if of_schema else "good"] += 1
        wrong += [f"{path.name}: {text}" for text in
                  disagreements(of_schema, program_paths(layard, path))]
    print(*(f"{name} {count}" for name, count in counts.items()))
    print("\n".join(wrong))
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
