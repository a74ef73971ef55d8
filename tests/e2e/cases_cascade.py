"""`layard predict --cascade`: who answers each question, and why."""

import json

from harness import CHARGED_TWICE, THREE_KINDS, case, check, check_equal

FIELDS = ["stage", "model", "confidence", "threshold", "threshold_of", "reason"]


def cascade(world, chain, *options, context=CHARGED_TWICE, **settings):
    return world.run("predict", "--cascade", ",".join(map(str, chain)), "--context", context,
                     "--questions", json.dumps(THREE_KINDS), *options, **settings)


@case
def cascade_by_hand(world):
    """What the first is sure of it answers, as it would alone; the rest goes on."""
    other = world.golden("typed")
    first = world.predict("starter", THREE_KINDS).json()["answers"]
    second = world.predict(other, THREE_KINDS).json()["answers"]
    sure = {name: answer["answer_confidence"] for name, answer in first.items()}
    middle = sorted(sure.values())[1]
    found = cascade(world, ["starter", other], "--cascade-threshold", repr(middle)).json()
    check_equal(list(found["answers"]), list(THREE_KINDS), "order of the answers")
    check_equal(list(found["cascade"]), list(THREE_KINDS), "members of cascade")
    for name, decision in found["cascade"].items():
        if sure[name] >= middle:
            check_equal(list(decision), FIELDS, "fields")
            check_equal(decision, {"stage": 1, "model": "starter", "confidence": sure[name],
                                   "threshold": middle, "threshold_of": "by hand",
                                   "reason": "by_hand_threshold_reached"}, name)
            check_equal(found["answers"][name], first[name], name)
        else:
            check_equal(list(decision), [*FIELDS, "passed_on"], "fields")
            check_equal((decision["stage"], decision["reason"], decision["passed_on"]),
                        (2, "last_stage", [{"model": "starter", "confidence": sure[name],
                                            "threshold": middle}]), name)
            check_equal(found["answers"][name], second[name], name)
    stages = [decision["stage"] for decision in found["cascade"].values()]
    check({1, 2} == set(stages), f"both stages answer: {stages}")
    # The second is not loaded where nothing reaches it.
    alone = cascade(world, ["starter", "no-such-folder/"], "--cascade-threshold", "0").json()
    check_equal(alone["answers"], first, "all of the first")


@case
def cascade_from_a_file(world):
    """Thresholds are for the weights they were fitted on."""
    hash_of = {}
    for model in ("starter", world.golden("typed")):
        revision = world.predict(model, THREE_KINDS).json()["runtime"]["artifact_revision"]
        hash_of[model] = revision.split(":")[1]
    plan = {"version": 1, "risk": 0.05,
            "chain": [{"model": "starter", "weights_sha256": "0" * 64,
                       "thresholds": {"noul:2": 0, "default": None}},
                      {"model": "other", "weights_sha256": "0" * 64, "thresholds": {}}]}
    path = world.write("thresholds.json", plan)
    chain = ["starter", world.golden("typed")]
    cascade(world, chain, "--cascade-file", path).refused(
        "InvalidRequestError", "were fitted on the weights 000000000000", hash_of["starter"])
    broken = world.write("broken.json", {"version": 3})
    cascade(world, chain, "--cascade-file", broken).refused(
        "InvalidRequestError", "broken.json", "version must be 1")
    cascade(world, chain, "--cascade-file", "absent.json").refused("IoError", "absent.json")


def labelled(world, lines):
    """A file whose labels are what starter itself answers."""
    states = [f"{CHARGED_TWICE} My number is {number * 7919}." for number in range(lines)]
    text = "".join(json.dumps({"state": state, "questions": THREE_KINDS}) + "\n"
                   for state in states)
    found = world.run("predict", "--batch", "-", stdin=text).stdout.splitlines()
    out = []
    for state, line in zip(states, found):
        answers = json.loads(line)["answers"]
        mood = answers["mood"]["probabilities"]
        out.append({"state": state, "questions": THREE_KINDS, "expected": {
            "zone": answers["zone"]["choice"], "angry": answers["angry"]["noul"] > 0.5,
            "mood": int(max(mood, key=mood.get))}})
    return out


@case
def cascade_is_fitted_and_used(world):
    """From labelled lines to thresholds, a measurement and answers that follow from both."""
    lines = labelled(world, 41)
    data = world.write("cases.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    chain = "starter," + str(world.golden("typed"))
    run = world.run("evaluate", "--cascade", chain, "--data", data, "--write-cascade",
                    "fitted.json", "--output", "report.json")
    check_equal(run.code, 0, str(run))
    check(run.stdout.startswith("accuracy "), str(run))
    for part in ("fitted on 60 questions of 20 lines, measured on 63 of 21 others; split by seed 1",
                 "starter answers from:", "one threshold for all", "\n0.05 ", "\n1.00 "):
        check(part in run.stdout, f"{part!r}\n{run}")
    plan = json.loads((world.folder / "fitted.json").read_text())
    report = json.loads((world.folder / "report.json").read_text())
    check_equal(report["plan"], plan, "the plan in the report")
    check_equal(report["stages"][0]["accuracy"], 1.0, "starter is right by its own labels")
    check_equal(report["fitted"]["wrong"][0], 0, "and so it is within the cascade")
    check_equal(sum(report["fitted"]["answered"]), 63, "every question is answered once")
    check_equal(len(report["curve"]), 21, "points of the curve")
    threshold = plan["chain"][0]["thresholds"]["default"]
    check(0 < threshold < 1 and plan["risk"] == 0.05, str(plan))
    found = world.run("predict", "--cascade", chain, "--cascade-file", "fitted.json", "--context",
                      lines[0]["state"], "--questions", json.dumps(THREE_KINDS)).json()
    alone = world.predict("starter", THREE_KINDS, lines[0]["state"]).json()["answers"]
    for name, decision in found["cascade"].items():
        sure = alone[name]["answer_confidence"] >= threshold
        check_equal(decision["stage"], 1 if sure else 2, name)
        if sure:
            check_equal((decision["reason"], decision["threshold_of"], decision["threshold"]),
                        ("fitted_threshold_reached", "default", threshold), name)
    turned = [world.golden("typed"), "starter"]
    cascade(world, turned, "--cascade-file", "fitted.json").refused(
        "InvalidRequestError", "were fitted on the weights")
    careful = world.run("evaluate", "--cascade", chain, "--data", data, "--risk", "0.001",
                        "--format", "json").json()
    check_equal(careful["plan"]["chain"][0]["thresholds"], {"default": None}, "never sure enough")
    check_equal(careful["fitted"]["answered"][0], 0, "so starter answers nothing")
    failed = world.run("evaluate", "--cascade", chain, "--data", data, "--risk", "0.001",
                       "--min-accuracy", "101")
    failed.refused("InvalidRequestError", "--min-accuracy")


@case
def cascade_evaluation_refuses(world):
    line = json.dumps({"state": "x", "questions": {"q": THREE_KINDS["angry"]},
                       "expected": {"q": True}}) + "\n"
    data = world.write("two.jsonl", 2 * line)
    chain = "starter," + str(world.golden("typed"))
    for options, *parts in (
            (["starter", "--cascade", chain], "MODEL"),
            (["--cascade", "starter"], "2 to 8 checkpoints"),
            (["--cascade", chain, "--risk", "1"], "risk must be between 0 and 1"),
            (["--cascade", chain, "--html", "page.html"], "--html"),
            (["--cascade", chain, "--calibration", "x.json"], "--calibration"),
            (["--risk", "0.1"], "--cascade")):
        world.run("evaluate", "--data", data, *options).refused("InvalidRequestError", *parts)
    one = world.write("one.jsonl", line)
    world.run("evaluate", "--data", one, "--cascade", chain).refused(
        "InvalidRequestError", "two lines")
    # Nothing is asked when the file could not be written.
    world.run("evaluate", "--data", data, "--cascade", chain, "--write-cascade",
              "absent/fitted.json").refused("IoError", "absent")


@case
def cascade_refuses(world):
    chain = ["starter", world.golden("typed")]
    cascade(world, chain).refused("InvalidRequestError", "layard evaluate --cascade",
                                  "--cascade-threshold X")
    cascade(world, ["starter"], "--cascade-threshold", "0.5").refused(
        "InvalidRequestError", "2 to 8 checkpoints")
    cascade(world, ["starter", "starter"], "--cascade-threshold", "0.5").refused(
        "InvalidRequestError", "twice")
    cascade(world, ["starter", "auto"], "--cascade-threshold", "0.5").refused(
        "InvalidRequestError", "'auto' is none")
    cascade(world, chain, "--cascade-threshold", "1.5").refused("InvalidRequestError", "0 to 1")
    cascade(world, chain, "starter", "--cascade-threshold", "0.5").refused("InvalidRequestError")
    cascade(world, chain, "--cascade-threshold", "0.5", "--default-model", "laya").refused(
        "InvalidRequestError", "--default-model")
    cascade(world, chain, "--cascade-threshold", "0.5", "--calibration", "x.json").refused(
        "InvalidRequestError", "--calibration")
    world.run("predict", "--context", "x", "--questions", "{}", "--cascade-threshold", "1").refused(
        "InvalidRequestError", "--cascade")


@case
def cascade_in_a_batch(world):
    lines = [{"state": f"{CHARGED_TWICE} {number}", "questions": THREE_KINDS}
             for number in range(5)]
    lines[3]["model"] = "jev-1"
    text = "".join(json.dumps(line) + "\n" for line in [*lines, {**lines[0], "model": "laya"}])
    chain = ["starter", world.golden("typed")]
    options = ["--cascade", ",".join(map(str, chain)), "--cascade-threshold", "0.9"]
    run = world.run("predict", "--batch", "-", *options, stdin=text)
    found = [json.loads(line) for line in run.stdout.splitlines()]
    check_equal((run.code, len(found)), (1, 6), str(run))
    for line, result in zip(lines, found):
        single = cascade(world, chain, "--cascade-threshold", "0.9", context=line["state"]).json()
        check_equal((result["answers"], result["cascade"], result["usage"]),
                    (single["answers"], single["cascade"], single["usage"]), "a line alone")
    check("'model' is 'laya'" in found[5]["error"]["message"], str(found[5]))
