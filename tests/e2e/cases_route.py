"""`layard route`: the class of a request, the policy's device, and how good the classes are."""

import json
import re

from harness import case, check, check_equal

LINE = re.compile(r"(code|prose|short|long_doc) [01]\.\d\d (\S+)\n")
POLICY = {"min_confidence": 0.16, "default": "hrx",
          "classes": {"code": {"device": "hrx"}, "short": {"device": "cpu"},
                      "long_doc": {"device": "rocm", "why": "measured"}}}


def routed(world, text, *options):
    """(class, device) of the one line on stdout."""
    run = world.run("route", "--state", text, *options)
    check_equal(run.code, 0, f"exit\n{run}")
    found = LINE.fullmatch(run.stdout)
    check(found is not None, f"one line `class confidence device`\n{run}")
    return found.groups()


@case
def route_prints_class_confidence_device(world):
    """The built-in policy sends every class to vulkan; a file sends them where it says."""
    check_equal(routed(world, "Write a Rust function that sums a slice."), ("code", "vulkan"),
                "the example")
    for name, text in (("prose", "Write a short story about a lighthouse keeper and his dog."),
                       ("short", "What is 2 + 2?")):
        check_equal(routed(world, text), (name, "vulkan"), text)
    check_equal(routed(world, "a" * 1024), ("long_doc", "vulkan"), "a long text")
    check_equal(routed(world, "文" * 1024)[0], "long_doc", "characters count")
    check(routed(world, "文" * 1023)[0] != "long_doc", "bytes do not")
    policy = world.write("policy.json", POLICY)
    check_equal(routed(world, "a" * 1024, "--policy", policy), ("long_doc", "rocm"), "by the file")
    check_equal(routed(world, "a" * 1024, "--policy", policy, "--devices", "zinc,hrx"),
                ("long_doc", "hrx"), "its device is not there")
    check_equal(routed(world, "a" * 1024, "--classify")[0], "long_doc", "--classify is accepted")
    from_file = world.run("route", "--state", "@" + str(world.write("request.txt", "b" * 2000)))
    check(from_file.stdout.startswith("long_doc 1.00 "), str(from_file))


@case
def route_in_several_orders(world):
    """By the option and by the policy the same; the answer that `predict` gives in two orders."""
    text = "Explain how rainbows form, at length."
    classes = {"code": "source code", "prose": "several paragraphs", "short": "one sentence"}
    question = {"class": {"type": "choice", "instructions": "Which?", "criteria": classes}}
    asked = world.predict("starter", question, text, "--orders", "2").json()["answers"]["class"]
    policy = {"classes": {}, "question": {"instructions": "Which?", "options": classes}}
    one = world.write("one.json", policy)
    policy["question"]["orders"] = 2
    two = world.write("two.json", policy)
    line = f"{asked['choice']} {asked['confidence']:.2f} vulkan\n"
    for options in (["--policy", two], ["--policy", one, "--orders", "2"]):
        check_equal(world.run("route", "--state", text, *options).stdout, line, str(options))
    check_equal(world.run("route", "--state", text, "--policy", two, "--orders", "1").stdout,
                world.run("route", "--state", text, "--policy", one).stdout, "the option wins")
    cases = world.write("cases.jsonl", json.dumps({"class": "prose", "text": text}) + "\n")
    flips = world.run("route", "eval", "--cases", cases, "--orders", "2", "--format", "json")
    check_equal(flips.json()["order_flips"], {"changed": 0, "all": 1}, "two orders, either first")
    world.run("route", "--state", text, "--orders", "25").refused("InvalidRequestError", "--orders")
    policy["question"]["orders"] = 0
    world.run("route", "--state", text, "--policy", world.write("none.json", policy)).refused(
        "InvalidRequestError", "/question/orders", "none.json")


@case
def route_threshold_takes_the_default(world):
    """The policy's threshold is held against the printed answer's confidence."""
    text = "Write a Rust function that sums a slice."
    for least, device in ((0, "rocm"), (1, "hrx")):
        policy = world.write("policy.json", {"min_confidence": least, "default": "hrx",
                                             "classes": {"code": {"device": "rocm"}}})
        check_equal(routed(world, text, "--policy", policy), ("code", device),
                    f"a threshold of {least}")


@case
def route_refuses(world):
    world.run("route").refused("InvalidRequestError", "--state")
    broken = world.write("broken.json", {"classes": {"poem": {"device": "a"}}})
    world.run("route", "--policy", broken, "--state", "x").refused(
        "InvalidRequestError", "route policy", "poem", "broken.json")
    world.run("route", "--policy", "absent.json", "--state", "x").refused("IoError", "absent.json")
    world.run("route", "--model", "nonsense", "--state", "x").refused(
        "UnsupportedModelError", "nonsense")
    cases = world.write("cases.jsonl", '{"class": "poem", "text": "a"}\n')
    world.run("route", "eval", "--cases", cases).refused("InvalidRequestError", "line 1", "poem")


@case
def route_eval_measures(world):
    """The first line, the floor, and that the numbers of both forms agree."""
    cases = [{"class": "long_doc", "text": "word " * 300, "language": "en"},
             {"class": "short", "text": "b" * 1100},
             {"class": "code", "text": "Write a Python function that reverses a list.",
              "language": "en", "source": "free"}]
    lines = world.write("cases.jsonl", "".join(json.dumps(c) + "\n" for c in cases))
    whole = world.write("cases.json", {"classes": ["code"], "cases": cases})
    for path in (lines, whole):
        run = world.run("route", "eval", "--cases", path)
        check_equal(run.code, 0, str(run))
        check_equal(run.stdout.split("\n")[0], "accuracy 66.7% (2/3)", str(run))
    for word in ("confusion", "languages  en", "sources  free", "quarters", "ms per decision",
                 "with typos", "reversed"):
        check(word in run.stdout, f"{word!r}\n{run}")
    found = world.run("route", "eval", "--cases", lines, "--format", "json").json()
    check_equal((found["all"], found["confusion"]["short"]["long_doc"]),
                ({"right": 2, "all": 3}, 1), "as JSON")
    low = world.run("route", "eval", "--cases", lines, "--min-accuracy", "66.7")
    check_equal(low.code, 1, str(low))
    check("--min-accuracy" in low.stderr, str(low))
    reached = world.run("route", "eval", "--cases", lines, "--min-accuracy", "66.6")
    check_equal((reached.code, reached.stderr), (0, ""), str(reached))
    right = world.write("right.jsonl", json.dumps(cases[0]) + "\n")
    whole = world.run("route", "eval", "--cases", right, "--min-accuracy", "100")
    check_equal(whole.code, 0, f"a floor that is just reached\n{whole}")
    four = world.run("route", "eval", "--cases", lines, "--no-gate", "--format", "json").json()
    check_equal(four["by_size"]["all"], 0, "without the gate the model decides all")
