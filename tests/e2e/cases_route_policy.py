"""`layard route check` and `layard route explain`: policy files, right and wrong, JSON and YAML."""

import copy
import datetime
import json
import os
import random
import re

from harness import case, check, check_equal
from serving import run_client

FINDING = re.compile(r"(\S+?)(?::(\d+):(\d+))?: (error|warning): (.*)")
EVIDENCE = {"n": 24, "baseline": "a", "gain_ms": 310, "ci95_ms": [220, 400], "date": "2026-09-28"}
VERSIONED = {"version": 1, "default": "a", "min_confidence": 0.16,
             "classes": {"code": {"device": "a"}, "short": {"device": "b", "evidence": "e"}},
             "devices": {"a": {}, "b": {}}, "evidence": {"e": EVIDENCE}}


def days_ago(days):
    day = datetime.datetime.now(datetime.timezone.utc).date() - datetime.timedelta(days=days)
    return day.isoformat()


def versioned(**changes):
    """A good policy with fresh evidence, changed."""
    policy = copy.deepcopy(VERSIONED) | changes
    if "e" in policy.get("evidence", {}):
        policy["evidence"]["e"].setdefault("date", "")
        if policy["evidence"]["e"]["date"] == EVIDENCE["date"]:
            policy["evidence"]["e"]["date"] = days_ago(12)
    return policy


def found_in(world, path, *options):
    """The findings of `route check --format json`, and its exit status."""
    run = world.run("route", "check", path, "--format", "json", *options)
    report = run.any_json()
    check_equal(report["valid"], run.code == 0, f"valid and the exit status\n{run}")
    check(run.code in (0, 2), str(run))
    return report["findings"], run.code


def pointers(findings, severity="error"):
    return [one["pointer"] for one in findings if one["severity"] == severity]


@case
def route_check_prints_a_table(world):
    """Class, device, why, age of the evidence; nothing else to say of a good policy."""
    run = world.run("route", "check", world.write("p.json", versioned()))
    check_equal((run.code, run.stderr), (0, ""), str(run))
    lines = [line.split() for line in run.stdout.splitlines()]
    check_equal(lines[1], ["class", "device", "why", "evidence"], "the table's head")
    check_equal(lines[2][:2], ["code", "a"], str(run))
    check_equal(lines[4], ["short", "b", "-", "12", "days"], str(run))
    for name in ("policy.json", "policy.yaml"):
        run = world.run("route", "check", world.source / "docs/examples" / name)
        check_equal(run.code, 0, str(run))
        check(re.search(r"^short     gpu1    short replies decode faster there  \d+ days?$",
                        run.stdout, re.MULTILINE), str(run))
        check("error" not in run.stderr, str(run))
    report = world.run("route", "check", world.source / "docs/examples/policy.json", "--format",
                       "json").json()
    check_equal([row["device"] for row in report["classes"]], ["gpu0", "gpu0", "gpu1", "gpu1"],
                "as data")
    check_equal(report["classes"][3]["evidence"]["name"], "long-2026-11", "as data")


@case
def route_check_wants_evidence(world):
    """A row off the default device: an error where evidence can be named, else a warning."""
    policy = versioned()
    del policy["classes"]["short"]["evidence"], policy["evidence"]
    path = world.write("p.json", json.dumps(policy, indent=1))
    run = world.run("route", "check", path).refused("InvalidRequestError", "p.json:9:3: error: ",
                                                    "without evidence", "(/classes/short)")
    check("1 error, 0 warnings" in run.stderr, str(run))
    findings, code = found_in(world, path)
    check_equal((code, pointers(findings)), (2, ["/classes/short"]), "as data")
    check_equal((findings[0]["line"], findings[0]["column"], findings[0]["kind"]),
                (9, 3, "meaning"), "the place")
    del policy["version"], policy["devices"]
    onebit = world.write("onebit.json", policy)
    run = world.run("route", "check", onebit)
    check_equal(run.code, 0, str(run))
    check("warning: class \"short\" goes to \"b\"" in run.stderr, str(run))
    check("(/classes/short)" in run.stderr and "short     b" in run.stdout, str(run))
    world.run("route", "check", "--strict", onebit).refused("InvalidRequestError", "--strict",
                                                            "(/classes/short)")
    check_equal(found_in(world, onebit, "--strict")[1], 2, "strict, as data")
    example = world.source / "docs/examples/policy-1bit.json"
    findings, code = found_in(world, example)
    check_equal((code, pointers(findings, "warning")), (0, ["/classes/long_doc"]), "the example")
    routed = world.run("route", "--policy", onebit, "--state", "x" * 1024)
    check_equal(routed.stdout, "long_doc 1.00 a\n", "it is used unchanged")
    world.run("route", "--policy", path, "--state", "x").refused(
        "InvalidRequestError", "route policy: ", "without evidence", "p.json")


@case
def route_check_tells_all_errors_at_once(world):
    policy = versioned(min_confidence="0.16", gate_on="luck", classes={
        "code": {}, "prose": {"device": "c"}, "poem": {"device": "a"},
        "short": {"device": "b", "evidence": "absent"}}, divices={})
    path = world.write("p.json", json.dumps(policy, indent=1))
    findings, code = found_in(world, path)
    check_equal(code, 2, "exit")
    check_equal(sorted(pointers(findings)), [
        "/classes/code", "/classes/poem", "/classes/prose", "/classes/prose/device",
        "/classes/short/evidence", "/divices", "/gate_on", "/min_confidence"], "all of them")
    run = world.run("route", "check", path).refused("InvalidRequestError", "8 errors, 1 warning")
    lines = [FINDING.fullmatch(line) for line in run.stderr.splitlines()[:-1]]
    check(all(lines) and len(lines) == 9, str(run))
    text = path.read_text(encoding="utf-8").split("\n")
    for line in lines:
        number, column = int(line[2]), int(line[3])
        check(0 < number <= len(text) and 0 < column <= len(text[number - 1]), line[0])
    check_equal([(int(line[2]), int(line[3])) for line in lines],
                sorted((int(line[2]), int(line[3])) for line in lines), "in the file's order")
    check('found "0.16"; write the number without quotes (/min_confidence)' in run.stderr, str(run))
    check('did you mean "devices"? (/divices)' in run.stderr, str(run))


@case
def route_check_hints_at_slips(world):
    """A 1bit file may hold anything; a member one slip from a known one is warned about."""
    onebit = {"clases": {}, "min_confidense": 1, "comment": "x", "default": "a",
              "classes": {"code": {"device": "a", "alternate": ["b"], "note": 1}}}
    findings, code = found_in(world, world.write("onebit.json", onebit))
    check_equal((code, sorted(pointers(findings, "warning"))),
                (0, ["/clases", "/classes/code/alternate", "/min_confidense"]), "warnings")
    check_equal([one["fix"] for one in findings],
                [f'did you mean "{name}"?' for name in ("classes", "min_confidence",
                                                        "alternates")], "what is meant")
    findings, code = found_in(world, world.write("p.json", versioned(default_device="a")))
    check_equal((code, pointers(findings)), (2, ["/default_device"]), "in a versioned file")
    findings, code = found_in(world, world.write("x.json", versioned(**{"x-team": "own"})))
    check_equal((code, findings), (0, []), "names of one's own")


@case
def route_check_refuses_what_is_no_policy(world):
    """Typed, bounded, at once; never a crash."""
    deep = 100_000
    big = world.folder / "big.json"
    with open(big, "wb") as file:
        file.write(b'{"classes": {}, "about": "')
        file.truncate(64 << 20)
    anchors = "a0: &a0 [x, x]\n" + "".join(
        f"a{i}: &a{i} [{', '.join([f'*a{i - 1}'] * 10)}]\n" for i in range(1, 30))
    merge = "base: &b {device: a}\nclasses:\n  code: {<<: *b}\n"
    for name, content, words in (
            ("empty.json", "", ["not JSON", "1:1: error"]),
            ("empty.yaml", "", ["empty"]), ("blank", " \n\n", ["empty"]),
            ("comment.yaml", "# none\n", ["empty"]),
            ("latin.json", b'{"classes": {"code": {"device": "\xe9"}}}', ["not JSON", "1:34"]),
            ("latin.yaml", b"classes:\n  code: {device: \xe9}\n", ["not UTF-8", "2:18"]),
            ("utf16.yaml", "classes: {}".encode("utf-16"), ["not UTF-8"]),
            ("nan.json", '{"classes": {},\n "min_confidence": NaN}', ["2:20", "/min_confidence"]),
            ("nan.yaml", "classes: {}\nmin_confidence: .nan\n", ["2:17", "/min_confidence"]),
            ("text.json", '{"classes": {}, "min_confidence": "0.5"}', ["without quotes"]),
            ("text.yaml", "classes: {}\nmin_confidence: '0.5'\n", ["without quotes", "2:17"]),
            ("list.json", "[]", ["must be an object"]), ("word.yaml", "hello", ["must be an"]),
            ("deep.json", '{"classes": ' + "[" * deep + "]" * deep + "}", ["deeper than 32"]),
            ("deep.yaml", "[" * deep, ["not a policy's YAML"]),
            ("dash.yaml", "- " * deep, ["deeper than 32"]),
            ("bomb.yaml", anchors, ["anchor"]), ("merge.yaml", merge, ["anchor", "1:7"]),
            ("alias.yaml", "a: *b\n", ["anchor"]), ("tag.yaml", "a: !!python/x 1\n", ["tag"]),
            ("twice.yaml", "classes: {}\nclasses: {}\n", ["again", "2:1"]),
            ("two.yaml", "classes: {}\n---\nclasses: {}\n", ["second document"]),
            ("open.yaml", "classes: {}\nabout: \"x\n", ["never closed", "2:8"]),
            ("octal.yaml", "classes: {}\nsize_gate: {min: 010}\n", ["another number", "2:18"])):
        run = world.run("route", "check", world.write(name, content), limit_s=20)
        run.refused("InvalidRequestError", name, *words)
        check(len(run.stderr) < 10_000, f"{len(run.stderr)} bytes of {name}")
        world.run("route", "--policy", world.folder / name, "--state", "x").refused(
            "InvalidRequestError", "route policy: ")
    world.run("route", "check", big).refused("InvalidRequestError", "big.json", "1 MiB")
    world.run("route", "check", world.folder).refused("IoError", "directory")
    world.run("route", "check", "absent.yaml").refused("IoError", "absent.yaml")
    world.run("route", "check").refused("InvalidRequestError", "FILE")


@case
def route_check_many_findings_are_bounded(world):
    rows = {f"c{i}": {"device": i} for i in range(3000)}
    path = world.write("p.json", {"classes": rows})
    run = world.run("route", "check", path, limit_s=20).refused("InvalidRequestError",
                                                                "6000 errors", "and 5800 more")
    check(len(run.stderr.splitlines()) < 250, "lines")
    # What stands in a file cannot steer the terminal it is shown on.
    path = world.write("t.json", {"classes": {"\x1b[31m": {"device": "a"}}})
    run = world.run("route", "check", path).refused("InvalidRequestError", "unknown class")
    check("\x1b" not in run.stderr, repr(run.stderr))


@case
def route_check_reads_yaml_as_json(world):
    """The same findings at the same pointers; words that YAML 1.1 takes for booleans are names."""
    policy = versioned(classes={"code": {"device": "c"}, "short": {"device": "b"}}, evidence={})
    lines = ["version: 1", "default: a", "min_confidence: 0.16", "classes:",
             "  code: {device: c}", "  short:", "    device: b", "devices: {a: {}, b: {}}",
             "evidence: {}", ""]
    found = [found_in(world, world.write(name, content))[0]
             for name, content in (("p.json", policy), ("p.yml", "\n".join(lines)),
                                   ("policy", "\n".join(lines)))]
    for other in found[1:]:
        for one in other:
            check(one["line"] and one["column"], f"a place: {one}")
        check_equal([[one[key] for key in ("pointer", "what", "found")] for one in other],
                    [[one[key] for key in ("pointer", "what", "found")] for one in found[0]],
                    "findings")
    norway = world.write("norway.yaml", "version: 1\ndefault: off\nquestion:\n  options: {no: a "
                         "word, yes: another}\nclasses:\n  no: {device: off, why: no}\n")
    report = world.run("route", "check", norway, "--format", "json").json()
    check_equal([(row["class"], row["device"], row["why"]) for row in report["classes"][:2]],
                [("no", "off", "no"), ("yes", "off", None)], "texts")
    line = world.run("route", "--policy", norway, "--state", "Is it?").stdout
    check(re.fullmatch(r"(no|yes) \d\.\d\d off\n", line), line)


@case
def route_check_judges_evidence(world):
    for change, severity, member in (
            ({"date": days_ago(200)}, "warning", "date"), ({"date": days_ago(-5)}, "error", "date"),
            ({"date": "2026-02-30"}, "error", "date"), ({"n": 5}, "warning", "n"),
            ({"baseline": "b"}, "error", "baseline"), ({"class": "prose"}, "error", "class"),
            ({"device": "a"}, "error", "device"), ({"ci95_ms": [400, 220]}, "error", "ci95_ms"),
            ({"ci95_ms": [10, 400]}, "error", "ci95_ms"), ({"gain_ms": 5}, "error", "gain_ms")):
        evidence = EVIDENCE | {"date": days_ago(12)} | change
        path = world.write("p.json", versioned(evidence={"e": evidence}))
        findings, code = found_in(world, path)
        check_equal([(one["severity"], one["pointer"], one["kind"]) for one in findings],
                    [(severity, f"/evidence/e/{member}", "meaning")], f"{change}")
        check_equal(code, 2 if severity == "error" else 0, f"{change}")
    path = world.write("p.json", versioned(evidence={"e": EVIDENCE | {
        "date": days_ago(12), "profile": "desk", "model_sha256": "a" * 64}}))
    for options, code in (([], 0), (["--max-age-days", "12", "--strict"], 0),
                          (["--max-age-days", "11", "--strict"], 2), (["--profile", "desk"], 0),
                          (["--profile", "rack"], 2), (["--model-sha256", "a" * 64], 0),
                          (["--model-sha256", "b" * 64], 2)):
        check_equal(found_in(world, path, *options)[1], code, f"{options}")
    world.run("route", "check", path, "--max-age-days", "-1").refused("InvalidRequestError",
                                                                      "--max-age-days")


def mutated(policy, seed):
    """One or two changes of structure: a member gone, renamed, or of another value."""
    draw = random.Random(seed)
    policy = copy.deepcopy(policy)
    for _ in range(draw.choice([1, 1, 2])):
        places = []

        def walk(value):
            items = value.items() if isinstance(value, dict) else enumerate(value)
            for key, part in items:
                places.append((value, key))
                if isinstance(part, (dict, list)):
                    walk(part)

        walk(policy)
        if not places:
            break
        owner, key = draw.choice(places)
        kind = draw.randrange(4)
        if kind == 0 and isinstance(owner, dict):
            del owner[key]
        elif kind == 1 and isinstance(owner, dict):
            owner[draw.choice([key + "x", "x-" + key, "a b", ""])] = owner.pop(key)
        else:
            owner[key] = draw.choice([None, True, False, 0, 1, -1, 0.5, 1.0, 1e12, "", "a", "a b",
                                      "é", [], {}, [1, 2], ["a"], {"device": "a"}, {"a": "b"},
                                      "x" * 65, "y" * 4097, "2026-01-01"])
    return policy


HOSTILE = [None, True, False, 0, 1, -1, 0.5, 1.0, 2, 1e12, "", "a", "a b", "é", "-a", [], {},
           [1, 2], [1], [1, 2, 3], ["a"], ["a b", 1], ["x"] * 17, ["x"] * 257, "x" * 64, "x" * 65,
           "y" * 4096, "y" * 4097, "2026-01-01", "26-1-1", "http://h:1/p", "ftp://h", "f" * 64,
           "GPU0_KEY", "/path", "/a?b", ["GET /a"], ["get /a"], ["a\x00"], ["a\x1f"], ["A"] * 64,
           ["A"] * 65]
# The ends of every number that is bounded; all of them whole but the last two.
BOUNDS = {("size_gate", "min"): (1, 10**9), ("decide", "timeout_ms"): (1, 600000),
          ("decide", "max_chars"): (1, 2**20), ("sticky", "ttl_s"): (1, 31536000),
          ("sticky", "max_entries"): (1, 2**20), ("devices", "gpu0", "connect_ms"): (1, 600000),
          ("devices", "gpu0", "first_byte_ms"): (0, 86400000),
          ("devices", "gpu0", "idle_ms"): (0, 86400000),
          ("devices", "gpu0", "queue_max"): (0, 100000),
          ("devices", "gpu0", "requests_max"): (0, 100000),
          ("devices", "gpu0", "context_tokens"): (0, 10**9),
          ("devices", "gpu0", "write_ms"): (0, 86400000),
          ("devices", "gpu0", "total_ms"): (0, 86400000),
          ("devices", "gpu1", "ready_ms"): (1, 86400000),
          ("devices", "gpu1", "stop_ms"): (1, 600000),
          ("devices", "gpu0", "health", "interval_ms"): (100, 3600000),
          ("devices", "gpu0", "health", "timeout_ms"): (1, 600000),
          ("devices", "gpu0", "health", "failures"): (1, 100),
          ("devices", "gpu0", "health", "successes"): (1, 100),
          ("evidence", "long-2026-11", "n"): (1, 10**9), ("min_confidence",): (0, 1),
          ("evidence", "long-2026-11", "gain_ms"): (-10**9, 10**9)}


def with_leaves(value, leaf):
    """Every value that is no object, except the version, is another."""
    if not isinstance(value, dict):
        return leaf
    return {key: part if key == "version" else with_leaves(part, leaf)
            for key, part in value.items()}


def with_own(value):
    """Every object has a member of the author's own, even where its names are classes."""
    if not isinstance(value, dict):
        return value
    return {key: with_own(part) for key, part in value.items()} | {"x-own": 1}


def each_changed(policy):
    """The policy without each of its members in turn, and with each of its objects as no object."""
    def walk(value, path):
        for key, part in value.items():
            yield path + [key], isinstance(part, dict)
            if isinstance(part, dict):
                yield from walk(part, path + [key])

    for path, is_object in walk(policy, []):
        for replace in ([None, True, [], "a"] if is_object else []) + ["gone"]:
            changed = copy.deepcopy(policy)
            owner = changed
            for key in path[:-1]:
                owner = owner[key]
            if replace == "gone":
                del owner[path[-1]]
            else:
                owner[path[-1]] = replace
            yield changed


def at_bounds(policy, end, step):
    """Every bounded number at one of its ends, or a step from there."""
    policy = copy.deepcopy(policy)
    for path, ends in BOUNDS.items():
        owner = policy
        for key in path[:-1]:
            owner = owner[key]
        owner[path[-1]] = ends[end] + step
    return policy


@case
def route_check_and_schema_agree(world):
    """The published schema, and the program: equal about structure, place by place."""
    printed = world.run("route", "check", "--schema")
    check_equal(printed.stdout, (world.source / "docs/policy.schema.json").read_text("utf-8"),
                "--schema prints the published file")
    examples = world.source / "docs/examples"
    full, onebit = (json.loads((examples / name).read_text("utf-8"))
                    for name in ("policy.json", "policy-1bit.json"))
    files = world.make_folder("files")
    world.write("files/full.json", full)
    world.write("files/onebit.json", onebit)
    with_all = onebit | {"gate_on": "answer_confidence", "question": full["question"],
                         "size_gate": {"min": 5, "class": "long doc"}, "note": 7}
    with_all["classes"]["code"] |= {"alternates": ["b", "c d"], "why": 3}
    world.write("files/onebit-more.json", with_all)
    for version in (2, "1", None, True, 1.0, 1.5, []):
        world.write(f"files/version-{version}.json", full | {"version": version})
    for number, leaf in enumerate(HOSTILE):
        world.write(f"files/full-leaves-{number}.json", with_leaves(full, leaf))
        world.write(f"files/onebit-leaves-{number}.json", with_leaves(with_all, leaf))
    for end, step in ((0, -1), (0, 0), (1, 0), (1, 1)):
        world.write(f"files/bounds-{end}-{step}.json", at_bounds(full, end, step))
    world.write("files/own.json", with_own(full))
    for number, changed in enumerate(each_changed(full)):
        world.write(f"files/changed-{number}.json", changed)
    for seed in range(30):
        world.write(f"files/full-{seed}.json", mutated(full, seed))
    for seed in range(20):
        world.write(f"files/onebit-{seed}.json", mutated(with_all, seed))
    good = run_client(world, "policy_schema.py", world.binary,
                      world.source / "docs/policy.schema.json", files, limit_s=120)
    counts = dict(re.findall(r"(\w+) (\d+)", good))
    check(int(counts["good"]) >= 20 and int(counts["bad"]) >= 60, f"both kinds are there: {counts}")


def explained(world, *arguments):
    run = world.run("route", "explain", *arguments)
    check_equal((run.code, run.stderr), (0, ""), str(run))
    return run.stdout


@case
def route_explain_tells_every_step(world):
    text = "Write a Rust function that sums a slice."
    line = world.run("route", "--state", text).stdout
    told = explained(world, "--state", text)
    check_equal(told.splitlines()[-1].split(maxsplit=1), ["route", line.strip()], "the same line")
    for words in ("policy      built-in", "40 characters, fewer than the limit of 1024 characters",
                  "question    What kind of answer does this request need?",
                  "prose  several paragraphs of explanation, writing, advice or a story",
                  "confidence, 1 - H(p)/log(k)", "threshold   0.16, reached",
                  "row         code -> vulkan",
                  "evidence    none, and the default device needs none",
                  "vulkan  picked: the row of code names it", "whatever the answer"):
        check(words in told, f"{words!r}\n{told}")
    data = json.loads(explained(world, "--state", text, "--format", "json"))
    check_equal((data["route"], data["device"]), (line.strip(), "vulkan"), "as data")
    check_equal(list(data["question"]["options"]), ["code", "prose", "short"], "options in order")
    check(abs(sum(data["answer"]["probabilities"].values()) - 1) < 1e-3, "probabilities")
    check_equal(f"{data['answer']['confidence']:.2f}", line.split()[1], "the confidence")


@case
def route_explain_with_a_policy(world):
    """Both forms of the example; gate, alternates, the threshold, devices that are not there."""
    examples = world.source / "docs/examples"
    long_text = world.write("long.txt", "文" * 1024)
    said = []
    for name in ("policy.json", "policy.yaml"):
        said.append(json.loads(explained(world, "--policy", examples / name, "--state",
                                         f"@{long_text}", "--format", "json")))
    for data in said:
        check(re.fullmatch("[0-9a-f]{64}", data["policy"].pop("sha256")), "a hash")
        data["policy"].pop("source")
    check_equal(said[0], said[1], "JSON and YAML")
    data = said[0]
    check_equal((data["route"], data["question"]), ("long_doc 1.00 gpu1", None), "by size")
    check_equal((data["size_gate"]["size"], data["size_gate"]["unit"]), (1024, "chars"), "counted")
    check_equal((data["row"]["evidence"]["name"], data["row"]["evidence"]["n"]),
                ("long-2026-11", 24), "what the row rests on")
    told = explained(world, "--policy", examples / "policy.yaml", "--state", f"@{long_text}",
                     "--devices", "gpu0,other")
    for words in ("at least the limit of 1024 characters: long_doc", "1510.0 ms gained over gpu0",
                  "95 % from 1220.0 to 1790.0", "gpu0   picked: the first alternate of the row",
                  "other  not picked: nothing names it", "gpu1   not picked: the row of long_doc "
                  "names it, and it is no candidate", "route       long_doc 1.00 gpu0"):
        check(words in told, f"{words!r}\n{told}")
    unsure = world.write("unsure.json", {"min_confidence": 1, "default": "d",
                                         "classes": {"code": {"device": "c"}}})
    told = explained(world, "--policy", unsure, "--state", "Fix this code")
    check("threshold   1.0, not reached: no row counts" in told, told)
    check("d  picked: the default: the confidence is below the threshold" in told, told)


@case
def route_explain_refuses(world):
    world.run("route", "explain").refused("InvalidRequestError", "--state")
    world.run("route", "explain", "--state", "x", "--policy", "absent.json").refused(
        "IoError", "absent.json")
    bad = world.write("bad.json", {"classes": {"poem": {"device": "a"}}})
    world.run("route", "explain", "--state", "x", "--policy", bad).refused(
        "InvalidRequestError", "poem")
    text = os.fsdecode(b"\xff")
    world.run("route", "explain", "--state", text).refused("InvalidRequestError", "UTF-8")
