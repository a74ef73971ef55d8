"""Routers that ask a decision model: the requests they send to /v1/systemone and what they check
in the reply, as plain HTTP. Their packages are not needed, and nothing of them is copied."""

import contextlib
import json
import math

from harness import case, check, check_equal
from serving import ask_on, serving, shared_serving

TIERS = {"SIMPLE": "a greeting, a fact or a one-line answer",
         "MEDIUM": "an explanation or a short piece of writing",
         "COMPLEX": "code, analysis or a long piece of writing",
         "REASONING": "a proof, a plan or a problem of several steps"}
ROUTES = {"billing": "charges, invoices and refunds", "outage": "errors and failing services",
          "chitchat": "small talk about the weather or the day"}
# Names that LiteLLM's settings offer for a model, and the answer's own.
MODELS = ("english", "multilingual", "typed-decisions", "jev-latest")


def tier_request(state, model):
    """LiteLLM's classifier asks one choice."""
    return {"state": state, "model": model,
            "questions": {"tier": {"type": "choice",
                                   "instructions": "How hard is this request for a language model?",
                                   "criteria": TIERS}}}


def is_count(value):
    return isinstance(value, int) and not isinstance(value, bool) and value >= 0


def is_share(value):
    return (isinstance(value, (int, float)) and not isinstance(value, bool)
            and math.isfinite(value) and 0 <= value <= 1)


def check_as_litellm(reply, name, labels):
    """All that LiteLLM's reader insists on."""
    answer = reply["answers"][name]
    check_equal(answer["type"], "choice", "type")
    check(answer["choice"] in labels, f"choice {answer['choice']!r}")
    check_equal(set(answer["probabilities"]), set(labels), "labels of probabilities")
    for label, value in answer["probabilities"].items():
        check(is_share(value), f"probability of {label}: {value!r}")
    check(is_share(answer["confidence"]), f"confidence {answer['confidence']!r}")
    check_equal(answer["choice"], max(answer["probabilities"], key=answer["probabilities"].get),
                "the likeliest is chosen")
    check(isinstance(reply["model"], str) and reply["model"], "model")
    for member in ("input_tokens", "output_tokens"):
        check(is_count(reply["usage"][member]), f"usage.{member}: {reply['usage'][member]!r}")


def strict_json(body):
    """NaN and Infinity are errors."""
    def refuse(word):
        raise ValueError(word)
    return json.loads(body, parse_constant=refuse)


def models_file(world):
    """Checkpoints for the names that routers know, since none of those is on every machine."""
    folders = dict.fromkeys(("laya", "laya-multilingual", "laya-typed-decisions"),
                            str(world.starter_folder))
    return {"LAYARD_MODELS": str(world.write("models.json", folders))}


@case
def router_shape_of_litellm(world):
    """Every model name of its settings, with and without a forwarded system prompt."""
    states = ("What is the capital of France?",
              "System prompt:\nYou are terse.\n\nRequest:\nProve that there are infinitely many "
              "primes, and explain each step.",
              "Schreibe ein Gedicht über den Herbst. \U0001F341")
    with serving(world, environment=models_file(world)) as server:
        for state in states:
            for model in MODELS:
                reply = server.systemone(tier_request(state, model),
                                         {"Authorization": "Bearer anything",
                                          "Accept": "application/json"})
                reply.json()
                check_as_litellm(strict_json(reply.body), "tier", TIERS)


@case
def router_shape_of_litellm_with_a_key(world):
    """Its key travels as a bearer token, and a wrong one is told so and never retried."""
    with serving(world, environment={"LAYARD_API_KEY": "k3y"}) as server:
        body = tier_request("hello", "jev-latest")
        good = server.systemone(body, {"Authorization": "Bearer k3y"}).json()
        check_as_litellm(good, "tier", TIERS)
        refused = server.systemone(body, {"Authorization": "Bearer wrong"})
        check_equal(refused.detail(401), "invalid or missing bearer token", "a wrong key")
        check("Retry-After" not in refused.headers, "a refusal that waiting cannot mend")


@case
def router_shape_strict(world):
    """A reader that knows no member but those of the hosted service's answer."""
    with serving(world, "--jev-strict") as server:
        found = strict_json(server.systemone(tier_request("hello", "jev-latest")).body)
        check_as_litellm(found, "tier", TIERS)
        check_equal(list(found), ["model", "answers", "usage"], "members")
        check_equal(set(found["answers"]["tier"]),
                    {"type", "choice", "confidence", "probabilities"}, "members of an answer")


@case
def router_shape_of_semantic_router(world):
    """One choice made of the routes' descriptions; a pool of connections asks at once."""
    def request(text):
        return {"state": text, "model": "jev-latest", "questions": {"route": {
            "type": "choice", "instructions": "Which route fits this message?",
            "criteria": {**ROUTES, "none": None}}}}

    with shared_serving(world) as server, contextlib.ExitStack() as stack:
        labels = [*ROUTES, "none"]
        pool = [stack.enter_context(contextlib.closing(server.connect())) for _ in range(4)]
        for turn in range(3):
            for number, connection in enumerate(pool):
                reply = ask_on(connection, "POST", "/v1/systemone",
                               request(f"message {turn} of {number}: my invoice is wrong"),
                               {"Authorization": "Bearer any"})
                check_as_litellm(reply.json(), "route", labels)
                check("x-typesafe-request-id" in reply.headers, "an id to report")


@case
def router_shape_of_a_busy_server(world):
    """What such clients retry says when to come again; what they do not is a 4xx."""
    retried = {429, 529, *range(500, 600)}
    with shared_serving(world) as server:
        absent = server.systemone(tier_request("hello", "multilingual"))
        check(absent.status in retried and int(absent.headers["Retry-After"]) >= 1
              and int(absent.headers["retry-after-ms"]) >= 1, f"a checkpoint not here: {absent}")
        for body in ({**tier_request("hello", "jev-latest"), "state": None},
                     {"state": "hello", "model": "jev-latest",
                      "questions": {"tier": {"type": "choice", "instructions": "x",
                                             "criteria": {}}}},
                     {"state": "hello", "model": "jev-latest",
                      "questions": {"tier": {"type": "box", "instructions": "x"}}},
                     {"state": "hello", "model": "jev-latest",
                      "questions": {"tier": {"type": "choice", "instructions": "x",
                                             "criteria": {str(i): None for i in range(101)}}}}):
            reply = server.systemone(body)
            check(400 <= reply.status < 500 and reply.status != 429, f"{body}: {reply}")
            check(bool(reply.json(reply.status)["detail"]), "a text")


@case
def router_shape_of_decisions(world):
    """Bifrost asks /v1/decisions: a predicate, a choice and a score of complexity."""
    body = {"model": "jev-latest",
            "input": [{"role": "system", "content": "You are terse."},
                      {"role": "user", "content": "Refactor this parser and prove it right."}],
            "questions": [
                {"type": "choice", "name": "tier", "instructions": "How hard is it?",
                 "choices": [{"value": name, "description": text} for name, text in TIERS.items()]},
                {"type": "predicate", "name": "code", "instructions": "Is it about code?"},
                {"type": "score", "name": "effort", "instructions": "How much work is it?",
                 "levels": [{"label": "little"}, {"label": "some"}, {"label": "much"}]}]}
    with shared_serving(world) as server:
        reply = server.post("/v1/decisions", body, {"Authorization": "Bearer any"})
        answers = strict_json(reply.body)["answers"]
        reply.json()
    check_equal([(answer["type"], answer["name"]) for answer in answers],
                [("choice", "tier"), ("predicate", "code"), ("score", "effort")], "order")
    tier, code, effort = answers
    check(tier["choice"] in TIERS, f"choice {tier['choice']!r}")
    check(is_share(code["probability"]), f"probability {code['probability']!r}")
    check(math.isfinite(effort["score"]), f"score {effort['score']!r}")
    for answer in answers:
        check(is_share(answer["confidence"]), f"confidence of {answer}")
