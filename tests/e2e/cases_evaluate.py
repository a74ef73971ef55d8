"""`layard evaluate` and `layard fit-temperatures`: numbers, refusals, the page, the file."""

import html.parser
import json

from harness import case, check, check_equal

CHOICE = {"type": "choice", "instructions": "What is this about?",
          "criteria": {"billing": "charges and refunds", "tech": "errors and outages",
                       "travel": None}}
NOUL = {"type": "noul", "instructions": "Is this about money?"}
SCORE = {"type": "score", "instructions": "How urgent is it?", "criteria": ["not", "very"]}
TEXTS = [("I was charged twice for one invoice.", "billing", True),
         ("The app shows an error when I open it.", "tech", False),
         ("Please refund the second charge.", "billing", True),
         ("My train to Rome was cancelled.", "travel", False)]
VOID = {"meta", "br"}


def labelled(count, **members):
    """JSON Lines with three questions each; a text, a label and a source are markup."""
    lines = []
    for i in range(count):
        text, label, money = TEXTS[i % len(TEXTS)]
        lines.append(json.dumps({
            "state": f"{text} <script>alert({i})</script>", "source": "a <b>source</b> & more",
            "questions": {"about": CHOICE, "money": NOUL, "<i>urgent</i>": SCORE},
            "expected": {"about": label, "money": money, "<i>urgent</i>": i % 2}, **members}))
    return "\n".join(lines) + "\n"


class Page(html.parser.HTMLParser):
    """Tags that are open, and everything that a page loads or runs."""

    def __init__(self):
        super().__init__()
        self.open, self.tags, self.text = [], set(), []

    def handle_starttag(self, tag, attrs):
        self.tags.add(tag)
        check(not any(name in ("src", "href", "onload", "onerror") for name, _ in attrs),
              f"{tag} {attrs} loads something")
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self.open.pop()

    def handle_endtag(self, tag):
        check(self.open and self.open[-1] == tag, f"</{tag}> in {self.open}")
        self.open.pop()

    def handle_data(self, data):
        self.text.append(data)


@case
def evaluate_counts_right_answers(world):
    """The answers of predict, counted by hand, are what the report says."""
    data = world.write("cases.jsonl", labelled(8))
    batch = world.run("predict", "--batch", data)
    answers = [json.loads(line)["answers"] for line in batch.stdout.splitlines()]
    expected = [json.loads(line)["expected"] for line in labelled(8).splitlines()]
    right = sum(found["about"]["choice"] == wanted["about"]
                for found, wanted in zip(answers, expected))
    money = sum((found["money"]["noul"] > 0.5) == wanted["money"]
                for found, wanted in zip(answers, expected))
    out = world.folder / "report.json"
    run = world.run("evaluate", "--data", data, "--output", out)
    check_equal(run.code, 0, str(run))
    found = json.loads(out.read_text())
    check_equal(found["types"]["choice"]["right"], right, "choices")
    check_equal(found["types"]["noul"]["right"], money, "nouls")
    everything = found["all"]
    check_equal(everything["questions"], 24, "questions")
    check_equal(run.stdout.split("\n")[0],
                f"accuracy {100 * everything['right'] / 24:.1f}% ({everything['right']}/24)",
                str(run))
    check_equal(sorted(found["buckets"]), ["choice:3-5", "noul:2", "score:2"], "buckets")
    check_equal(list(found["sources"]), ["a <b>source</b> & more"], "sources")
    check_equal(found["types"]["choice"]["order_flips"]["all"], 8, "reversed choices")
    soft = sum(a["about"]["probabilities"][e["about"]] for a, e in zip(answers, expected)) / 8
    check(abs(found["types"]["choice"]["soft_accuracy"] - soft) < 1e-3, "soft accuracy")
    low, high = everything["accuracy_interval"]
    check(low <= everything["accuracy"] <= high, "interval")
    again = world.run("evaluate", "--data", data, "--format", "json").json()
    del again["ms_per_question"], found["ms_per_question"]
    check_equal(again, found, "the same numbers again")
    once = world.run("evaluate", "--data", "-", "--format", "json", "--no-order-flips",
                     stdin=labelled(8)).json()
    check_equal(once["all"]["order_flips"], {"changed": 0, "all": 0}, "--no-order-flips")


@case
def evaluate_exits_1_under_min_accuracy(world):
    lines = [{"state": "x", "questions": {"q": {"type": "choice", "instructions": "?",
                                                "criteria": ["only"]}},
              "expected": {"q": "only"}}]
    data = world.write("cases.jsonl", "".join(json.dumps(line) + "\n" for line in lines))
    check_equal(world.run("evaluate", "--data", data, "--min-accuracy", "100").code, 0, "at it")
    # One text labelled both ways: half is right whatever the model answers.
    both = [{"state": "x", "questions": {"q": NOUL}, "expected": {"q": yes}}
            for yes in (True, False)]
    half = world.write("half.jsonl", "".join(json.dumps(line) + "\n" for line in both))
    check_equal(world.run("evaluate", "--data", half, "--min-accuracy", "50").code, 0, "just at it")
    run = world.run("evaluate", "--data", half, "--min-accuracy", "50.1")
    check_equal(run.code, 1, str(run))
    check("--min-accuracy" in run.stderr and run.stdout.startswith("accuracy 50.0% (1/2)"),
          str(run))
    world.run("evaluate", "--data", data, "--min-accuracy", "101").refused(
        "InvalidRequestError", "--min-accuracy")


@case
def evaluate_names_bad_lines(world):
    good = labelled(1)
    bad = {
        good.replace('"billing", "money"', '"poetry", "money"'): ("line 2", "about", "poetry"),
        good.replace('"expected"', '"wanted"'): ("line 2", "expected"),
        "{\n": ("line 2", "JSON"),
        good.replace('"money": true', '"money": "true"'): ("line 2", "money", "true or false"),
    }
    for line, words in bad.items():
        data = world.write("bad.jsonl", good + line)
        for command in ("evaluate", "fit-temperatures"):
            world.run(command, "--data", data).refused("InvalidRequestError", "bad.jsonl", *words)
    world.run("evaluate", "--data", "absent.jsonl").refused("IoError", "absent.jsonl")
    world.run("evaluate").refused("InvalidRequestError", "--data")
    data = world.write("split.jsonl", labelled(1, split="train") + labelled(2, split="dev"))
    world.run("evaluate", "--data", data, "--split", "test").refused(
        "InvalidRequestError", "test", "train", "dev")
    run = world.run("evaluate", "--data", data, "--split", "dev", "--format", "json").json()
    check_equal(run["lines"], 2, "lines of the split")
    world.run("evaluate", "--data", data, "--html", world.folder / "absent/a.html").refused(
        "IoError", "absent")
    world.run("evaluate", "auto", "--data", data).refused("UnsupportedModelError", "auto")


@case
def evaluate_page_is_whole_and_escaped(world):
    data = world.write("cases.jsonl", labelled(6))
    path = world.write("report.html", "an old report")
    run = world.run("evaluate", "--data", data, "--html", path)
    check_equal(run.code, 0, str(run))
    text = path.read_text(encoding="utf-8")
    page = Page()
    page.feed(text)
    page.close()
    check_equal(page.open, [], "tags left open")
    for absent in ("script", "link", "img", "iframe", "b>source"):
        check(absent not in page.tags, f"<{absent}>")
    check("http:" not in text and "https:" not in text and "url(" not in text, "a network address")
    check("<script" not in text and "<b>source" not in text and "<i>urgent" not in text, "markup")
    shown = "".join(page.text)
    for word in ("alert(", "<script>", "a <b>source</b> & more", "<i>urgent</i>", "choice:3-5"):
        check(word in shown, f"{word!r} is not shown")
    check_equal(sorted(p.name for p in world.folder.glob("report.html*")), ["report.html"],
                "nothing beside it")


@case
def fitted_temperatures_are_used_by_every_command(world):
    data = world.write("cases.jsonl", labelled(12))
    path = world.folder / "calibration.json"
    run = world.run("fit-temperatures", "--data", data, "--output", path, "--bucket-floor", "12",
                    "--target-error", "0.2")
    check_equal(run.code, 0, str(run))
    check("choice:3-5" in run.stdout and "held out" in run.stdout, str(run))
    file = json.loads(path.read_text())
    check_equal(file["version"], 2, "version")
    check_equal(len(file["temperature"]), 3, "temperatures")
    check_equal(sorted(file["temperature_by_options"]), ["choice:3-5", "noul:2", "score:2"],
                "buckets at the floor")
    check("temperature" not in file["config"] and "max_len" in file["config"], "config")
    own = file["layard"]
    check_equal((own["bucket_floor"], own["type_floor"], own["target_error"]), (12, 10, 0.2),
                "what was asked")
    printed = world.run("fit-temperatures", "--data", data, "--bucket-floor", "12",
                        "--target-error", "0.2")
    check_equal(json.loads(printed.stdout), file, "the same on standard output")
    before = world.run("evaluate", "--data", data, "--format", "json").json()
    after = world.run("evaluate", "--data", data, "--format", "json", "--calibration", path).json()
    check(after["all"]["nll"] <= before["all"]["nll"] + 1e-6, "the fit is no better")
    check_equal(after["calibration"], str(path), "named")
    ask = ["--context", "I was charged twice.", "--questions", json.dumps({"q": NOUL})]
    answers = [world.run("predict", *ask, *options).json()["answers"]["q"]["noul"]
               for options in ([], ["--calibration", path])]
    temperature = file["temperature_by_options"]["noul:2"]
    check_equal(answers[0] == answers[1], temperature == 1, f"{answers} at {temperature}")
    info = world.run("info", "starter", "--calibration", path).json()["calibration"]
    check_equal((info["matches"], info["weights_sha256"]), (True, own["weights_sha256"]), "info")
    check_equal(world.run("serve", "--calibration", path, "--check").json()["calibration"],
                str(path), "serve --check")
    check_equal(world.run("route", "--state", "hello", "--calibration", path).code, 0, "route")


@case
def calibration_of_other_weights_is_refused(world):
    ask = ["--context", "x", "--questions", json.dumps({"q": NOUL})]
    file = {"version": 2, "temperature": [1, 1, 5], "model_id_or_path": "org/other"}
    other = world.write("other.json", {**file, "layard": {"weights_sha256": "b" * 64}})
    world.run("predict", *ask, "--calibration", other).refused(
        "ArtifactRevisionError", "b" * 64, "starter", "fit-temperatures")
    upstreams = world.write("upstream.json", file)
    run = world.run("predict", *ask, "--calibration", upstreams)
    run.json()
    warnings = [line for line in run.stderr.splitlines() if line.startswith("warning: ")]
    check_equal(len(warnings), 1, str(run))
    check("org/other" in warnings[0] and "unchecked" in warnings[0], str(run))
    malformed = world.write("malformed.json", {**file, "version": 1})
    world.run("predict", *ask, "--calibration", malformed).refused(
        "InvalidRequestError", "malformed.json", "calibration JSON version must be 2")
    world.run("predict", "auto", *ask, "--calibration", other).refused(
        "InvalidRequestError", "auto")
    world.run("serve", "--model", "auto", "--calibration", other, "--port", "0").refused(
        "InvalidRequestError", "auto")
