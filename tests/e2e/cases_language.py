"""The model `auto`: the checkpoint is chosen by the text's language, and the result says why."""

import json

from harness import Skip, case, check, check_equal, json_lines

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
GERMAN = "Der Kunde wurde zweimal belastet."
WORKFLOW = {name: ONE["refund"]
            for name in ("urgency", "action", "category", "churn_risk", "needs_human")}
REASONS = (
    ("The customer was charged twice and is not happy.", "laya", "language_english"),
    ("Хочу вернуть деньги", "laya-multilingual", "language_non_latin_script"),
    (GERMAN, "laya-multilingual", "language_not_english"),
    ("ok", "laya", "language_undecided_default"),
    ("12345", "laya", "no_text_default"),
)
ROUTING = ["model", "repo", "reason", "detection", "workflow"]


def models(world, **changes):
    """Variables under which both checkpoints of `auto` are folders on this machine."""
    try:
        english, multilingual = world.golden("english"), world.golden("multilingual")
    except Skip:  # different answers do not matter here, only which name was chosen
        english = multilingual = world.starter_folder
    named = {"laya": str(english), "laya-multilingual": str(multilingual), **changes}
    named = {name: folder for name, folder in named.items() if folder}
    return {"LAYARD_MODELS": str(world.write("models.json", named))}


@case
def auto_chooses_by_language(world):
    environment = models(world)
    for context, model, reason in REASONS:
        result = world.predict("auto", ONE, context, environment=environment).json()
        check_equal(list(result), ["model", "answers", "usage", "routing", "runtime"], "members")
        check_equal(result["model"], "laya-rl-agent", "model")
        check_equal((result["runtime"]["model"], result["runtime"]["model_routing"]),
                    (model, reason), f"choice for {context!r}")
        named = world.predict(model, ONE, context, environment=environment).json()
        check_equal(result["answers"], named["answers"], f"answers of {model} to {context!r}")
        check_equal(named["runtime"]["model_routing"], None, "model_routing of a named model")
        check("routing" not in named, f"a named model was not routed: {list(named)}")
    for context, model, _ in REASONS[:2]:
        runtime = world.predict("auto", ONE, context, "--dtype", "int8", "--device", "cpu",
                                environment=environment).json()["runtime"]
        check_equal([runtime[name] for name in ("model", "dtype", "routing_reason")],
                    [model, "int8", "cpu_requested"], "both are opened with the same options")


@case
def auto_routing_block(world):
    result = world.predict(" AUTO ", ONE, GERMAN, environment=models(world)).json()
    routing = result["routing"]
    check_equal(list(routing), ROUTING, "members of routing")
    check_equal((routing["model"], routing["repo"], routing["workflow"]),
                ("multilingual", None, None), "model, repo and workflow of a folder")
    check_equal(routing["reason"], "Latin script but language looks like 'de', not English",
                "reason")
    check_equal(routing["detection"]["language"], "de", "language")
    check("0.3.20" in routing["detection"]["detector"], f"detector: {routing['detection']}")
    known = world.predict("auto", WORKFLOW, GERMAN, environment=models(world)).json()["routing"]
    check_equal(known, {**routing, "workflow": "customer_service"}, "a known set of questions")


@case
def auto_equals_vectors(world):
    """All recorded choices of laya-apple's router, through --batch."""
    vectors = json.loads(world.shared("goldens", "apple", "vectors.json").read_text(
        encoding="utf-8"))["language_routing"]
    lines = "".join(json.dumps({"state": vector["state"], "questions": ONE}) + "\n"
                    for vector in vectors)
    run = world.run("predict", "auto", "--batch", "-", stdin=lines, environment=models(world))
    check_equal(run.code, 0, f"exit\n{run}")
    for vector, result in zip(vectors, json_lines(run.stdout), strict=True):
        result["routing"]["detection"].pop("detector")
        check_equal(
            (result["runtime"]["model"], result["runtime"]["model_routing"],
             result["routing"]["reason"], result["routing"]["detection"]),
            (vector["checkpoint"], vector["model_routing"], vector["reason"],
             vector["detection"]), f"choice for {vector['state']!r}")


@case
def auto_batch_keeps_order(world):
    lines = "".join(json.dumps({"state": context, "questions": ONE, "model": "auto"}) + "\n"
                    for context, _, _ in REASONS * 20)
    run = world.run("predict", "auto", "--batch", "-", stdin=lines, environment=models(world))
    check_equal(run.code, 0, f"exit\n{run}")
    results = json_lines(run.stdout)
    check_equal([(result["runtime"]["model"], result["runtime"]["model_routing"])
                 for result in results], [(model, reason) for _, model, reason in REASONS * 20],
                "choices in order")
    check(all("warnings" not in result for result in results), "asking for auto is no mismatch")


@case
def auto_default_model(world):
    """Answers what cannot be told, and nothing else."""
    environment = models(world)
    for context, model, reason in REASONS:
        result = world.predict("auto", ONE, context, "--default-model", "starter",
                               environment=environment).json()
        expected = "starter" if reason.endswith("_default") else model
        check_equal(result["runtime"]["model"], expected, f"{context!r} with a default model")
        if expected == "starter":
            check("using default (starter)" in result["routing"]["reason"], str(result["routing"]))
    for wrong in ("auto", "nope"):
        run = world.predict("auto", ONE, "ok", "--default-model", wrong, environment=environment)
        check(run.code == 2 and "'" + wrong + "'" in run.stderr, f"default {wrong}\n{run}")
    world.predict("starter", ONE, "ok", "--default-model", "laya").refused(
        "InvalidRequestError", "--default-model", "auto")


@case
def auto_without_a_checkpoint(world):
    """What is missing is named, with the command that fetches it; the other one still answers."""
    environment = models(world, **{"laya-multilingual": None})
    world.run("--offline", "predict", "auto", "--context", GERMAN, "--questions",
              json.dumps(ONE), environment=environment).refused(
                  "BackendUnavailableError", "layard download laya-multilingual")
    english = world.run("--offline", "predict", "auto", "--context", REASONS[0][0], "--questions",
                        json.dumps(ONE), environment=environment).json()
    check_equal(english["runtime"]["model"], "laya", "the other checkpoint")
    lines = "".join(json.dumps({"state": state, "questions": ONE}) + "\n"
                    for state in (GERMAN, "ok"))
    run = world.run("--offline", "predict", "auto", "--batch", "-", stdin=lines,
                    environment=environment)
    check_equal(run.code, 1, f"exit of a batch with one missing checkpoint\n{run}")
    first, second = json_lines(run.stdout)
    check_equal(first["error"]["type"], "BackendUnavailableError", "the German line")
    check_equal(second["runtime"]["model"], "laya", "the other line")


@case
def auto_in_other_commands(world):
    environment = models(world)
    request = ["--context", GERMAN, "--questions", json.dumps(ONE)]
    table = world.run("predict", "auto", *request, "--format", "table", environment=environment)
    check_equal((table.code, table.stdout.split("\n")[0]),
                (0, "answered by laya-multilingual: language_not_english"), f"table\n{table}")
    rendered = world.run("render", "auto", *request, environment=environment).json()
    check_equal(list(rendered), ["questions", "routing"], "members of render")
    check_equal(rendered["routing"]["model"], "multilingual", "the rendered checkpoint")
    named = world.run("render", "laya-multilingual", *request, environment=environment).json()
    check_equal(rendered["questions"], named["questions"], "rows")
    info = world.run("--offline", "info", "auto").json()
    check_equal(list(info["models"]), ["laya", "laya-multilingual"], "models of info auto")
    check_equal((info["router"]["model"], info["router"]["router"],
                 info["router"]["default_model"]), ("auto", "language", "laya"), "router")
    check("router" not in world.run("--offline", "info", "laya").json(), "router of one model")
    world.run("--offline", "download", "auto").refused("BackendUnavailableError", "laya")
    for arguments in (["parity", "auto"], ["benchmark", "auto"],
                      ["tokenize", "auto", "--text", "x"]):
        world.run("--offline", *arguments).refused("UnsupportedModelError", "'auto'",
                                                   "laya-multilingual")
    world.copy_of(world.model if world.model != "starter" else world.starter_folder, "auto")
    world.run("tokenize", "auto", "--text", "x").refused("UnsupportedModelError", "'auto'")
    check("ids" in world.run("tokenize", "./auto", "--text", "x").json(), "a folder of that name")
