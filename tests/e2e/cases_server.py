"""`layard serve`: the endpoints, their answers and every refusal."""

import gzip
import json
import re
import threading
import time

from harness import CHARGED_TWICE, THREE_KINDS, Skip, case, check, check_equal
from serving import ask_on, gzip_bomb, serving, shared_serving, until, zstd_bomb, zstd_frame

ONE = {"refund": {"type": "noul", "instructions": "Does the customer request a refund?"}}
REQUEST = {"state": CHARGED_TWICE, "questions": ONE}
LAYARD = ["model", "model_revision", "device", "backend", "routing_reason", "request_id",
          "truncated", "sequence_length", "question_count", "latency_ms", "queue_wait_ms",
          "device_ms", "dtype", "cached"]
STATUS_LINE = re.compile(rb"HTTP/1\.1 (\d{3}) ")
NOT_JSON = "request body must be valid JSON"


def without(answers, *names):
    return {key: {name: value for name, value in answer.items() if name not in names}
            for key, answer in answers.items()}


@case
def server_answers_as_predict(world):
    """The same numbers as the command line, in the wire's form."""
    expected = world.predict("starter", THREE_KINDS).json()
    with serving(world) as server:
        reply = server.systemone({"state": CHARGED_TWICE, "model": "jev-latest",
                                  "questions": THREE_KINDS})
        found = reply.json()
        again = server.systemone({"state": CHARGED_TWICE, "questions": THREE_KINDS}).json()
    check_equal(list(found), ["model", "answers", "usage", "routing", "layard"], "members")
    check_equal(found["model"], "laya-rl-agent", "model")
    check_equal(list(found["answers"]), list(THREE_KINDS), "order of the answers")
    check_equal(without(found["answers"], "x_jev_confidence"), expected["answers"], "answers")
    check_equal(found["usage"], expected["usage"], "usage")
    check_equal({key: "x_jev_confidence" in answer for key, answer in found["answers"].items()},
                {"zone": True, "angry": False, "mood": True}, "who has x_jev_confidence")
    check_equal(list(found["routing"]), ["model", "repo", "reason", "detection", "workflow"],
                "members of routing")
    check_equal(found["routing"]["reason"], "server default model (--model starter)", "reason")
    check_equal(list(found["layard"]), LAYARD, "members of layard")
    check_equal((found["layard"]["cached"], again["layard"]["cached"]), (False, True), "cached")
    check_equal(again["answers"], found["answers"], "answers from the cache")
    check(b'": ' not in reply.body and b', "' not in reply.body, f"compact JSON: {reply.body}")
    for header, pattern in (("Server-Timing", "inference;dur="), ("X-Inference-Time-Ms", ""),
                            ("x-typesafe-request-id", "ly")):
        check(reply.headers.get(header, "?").startswith(pattern), f"header {header}")


@case
def server_orders(world):
    """As the command line, in all three forms; every order is a row of the counters."""
    expected = world.predict("starter", THREE_KINDS, CHARGED_TWICE, "--orders", "3").json()
    asked = {"state": CHARGED_TWICE, "questions": THREE_KINDS}
    with serving(world) as server:
        plain = server.systemone(asked).json()
        check("stability" not in plain, "one order says nothing of orders")
        check_equal(server.systemone({**asked, "orders": 1}).json()["answers"], plain["answers"],
                    "one order, asked for")
        before = server.metric("layard_rows_total")
        found = server.systemone({**asked, "orders": 3}).json()
        check_equal(server.metric("layard_rows_total") - before, 2, "rows that were not known yet")
        check_equal(list(found), ["model", "answers", "usage", "stability", "routing", "layard"],
                    "members")
        check_equal(without(found["answers"], "x_jev_confidence"), expected["answers"], "answers")
        check_equal((found["stability"], found["usage"]),
                    (expected["stability"], expected["usage"]), "stability and usage")
        batch = server.post("/v1/systemone/batch", {
            "states": [CHARGED_TWICE, "x"], "questions": THREE_KINDS, "stability": True}).json()
        for result in batch["results"]:
            check_equal(result["stability"]["zone"]["orders"], 2, "orders in a batch")
        decisions = server.post("/v1/decisions", {
            "input": CHARGED_TWICE, "orders": 2, "questions": [
                {"type": "choice", "name": "zone", "instructions": "Which team?",
                 "choices": ["tech", "billing"]}]}).json()
        check_equal(decisions["stability"]["zone"]["orders"], 2, "orders of decisions")
        strict = server.systemone({**asked, "orders": 3, "jev_strict": True}).json()
        check_equal(list(strict), ["model", "answers", "usage"], "strict")
        check_equal(strict["answers"]["zone"]["probabilities"],
                    expected["answers"]["zone"]["probabilities"], "the mean, in the strict form")


@case
def server_empty_questions(world):
    with serving(world, "--no-load-on-demand") as server:
        found = server.systemone({"state": "x", "questions": {}}).json()
    check_equal(list(found), ["model", "answers", "usage", "routing"], "members")
    check_equal((found["answers"], found["usage"]), ({}, {"input_tokens": 0, "output_tokens": 0}),
                "answers and usage")


REFUSALS = (
    # body, status, text
    (b"{", 400, NOT_JSON),
    (b"", 400, NOT_JSON),
    (b'{"state": NaN, "questions": {}}', 400, NOT_JSON),
    (b'{"state": "\xff", "questions": {}}', 400, NOT_JSON),
    (b"[" * 100_000 + b"]" * 100_000, 400, NOT_JSON),
    (b'{"ignored": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, NOT_JSON),
    (b'{"state": "\\ud800", "questions": {}}', 400,
     "request body contains an unpaired surrogate escape; those cannot be encoded as UTF-8"),
    ([], 400, "request body must be an object with a 'questions' field"),
    ({"state": "x"}, 400, "request body must be an object with a 'questions' field"),
    ({"questions": ONE}, 400, "'state' is required"),
    ({"questions": ONE, "state": None}, 400, "'state' is required"),
    ({"state": "x", "questions": 3}, 400, "'questions' must be an object"),
    ({"state": "x", "questions": {str(i): ONE["refund"] for i in range(65)}}, 413,
     "too many questions (65 > 64)"),
    ({"state": "x", "questions": {"q": {"type": "choice", "instructions": "x",
                                        "criteria": {str(i): None for i in range(101)}}}}, 413,
     "too many choice options for 'q' (101 > 100)"),
    ({"state": "x", "questions": {"q": {"type": "score", "instructions": "x",
                                        "criteria": ["x"] * 33}}}, 413,
     "too many score levels for 'q' (33 > 32)"),
    ({"state": "x", "questions": {"q": {"type": "score", "instructions": "x",
                                        "criteria": ["x", None]}}}, 422,
     "score question 'q' has a null level at index 1; give every level a description"),
    ({"state": "x", "questions": {str(i): {"type": "choice", "instructions": "x",
                                           "criteria": [str(j) for j in range(90)]}
                                  for i in range(6)}}, 413,
     "too many answer options across questions (540 > 512)"),
    ({"state": "x" * 50_001, "questions": ONE}, 413, "state too large (50001 > 50000 chars)"),
    ({**REQUEST, "hooks": [], "hooks_raise": True}, 422,
     "hooks, hooks_raise run inside the server process and cannot be sent to this endpoint; "
     "install them where laya-serve runs, or drop them"),
    ({**REQUEST, "max_len": "64"}, 422, "max_len must be an integer"),
    ({**REQUEST, "max_len": 0}, 422, "max_len must be a positive integer"),
    ({**REQUEST, "head_max_len": 9000}, 422, "head_max_len exceeds server limit (9000 > 8192)"),
    ({**REQUEST, "lang": 3}, 422,
     'lang must be a language code string such as "de", or null'),
    ({**REQUEST, "min_confidence": True}, 422,
     "min_confidence must be a float in [0.0, 1.0], got True"),
    ({**REQUEST, "overflow": "error", "state": "many words " * 1000}, 422, None),
    ({**REQUEST, "orders": 25}, 422, "'orders' must be a whole number from 1 to 24, got 25"),
    ({**REQUEST, "orders": "2"}, 422, "'orders' must be a whole number from 1 to 24, got \"2\""),
    ({**REQUEST, "stability": 2}, 422, "'stability' must be true or false, got 2"),
    ({**REQUEST, "orders": 2, "stability": True}, 422,
     "'stability' is short for 'orders' 2; send only one of them"),
    ({"state": "x", "orders": 24,
      "questions": {str(i): {"type": "choice", "criteria": ["a", "b"]} for i in range(22)}}, 413,
     "too many rows, choice questions counted once an order (528 > 512)"),
    ({**REQUEST, "model": "../../etc/passwd"}, 422, None),
    ({"state": "x", "questions": {"q": {"type": "box", "instructions": "where"}}}, 422,
     "question 'q': unknown type 'box'; use one of ['choice', 'noul', 'score']"),
    ({"state": "x", "questions": {"q": {"type": "noul", "instructions": " "}}}, 422,
     "question 'q': 'instructions' must not be empty; add the text the model should answer"),
    ({"state": "x", "questions": {"q" * 1_000_000: {"type": "x" * 500_000}}}, 422, None),
    ({"state": "x", "questions": {"q": {"type": "choice", "instructions": "x", "criteria": []}}},
     422, "question 'q': a choice question needs at least one criterion"),
)


@case
def server_refusals(world):
    """Status and text of everything a body can be refused for; the connection goes on."""
    with shared_serving(world) as server:
        counted = 'layard_http_responses_total{endpoint="systemone",status="400"}'
        before = server.metric(counted, absent=0)
        connection = server.connect()
        for body, status, text in REFUSALS:
            reply = ask_on(connection, "POST", "/v1/systemone", body)
            found = reply.detail(status)
            check(len(found) < 2100, f"{len(found)} characters of text")
            if text is not None:
                check_equal(found, text, f"detail for {str(body)[:100]}")
            check("x-typesafe-request-id" in reply.headers, f"request id of {reply}")
            check("/" not in found or "etc/passwd" in found, f"a path in {found!r}")
        connection.close()
        check_equal(server.metric(counted) - before,
                    sum(status == 400 for _, status, _ in REFUSALS), "counted")
        server.systemone(REQUEST).json()


@case
def server_accepts(world):
    """What other servers refuse or crash on."""
    accepted = (
        {"context": "x", "questions": ["Is it late?"]},
        {"state": 0, "questions": ONE},
        {"state": [1e5, {"a": None}], "questions": ONE},
        {"state": "x", "questions": {"kind": {"type": "choice", "criteria": {"only": None}}}},
        {"state": "x", "questions": {"kind": {"type": "score", "criteria": ["only"]}}},
        {"state": "x", "questions": {"kind": {"type": "choice", "instructions": None,
                                              "criteria": ["a", "b"]}}},
        {"state": "x" * 50_000, "questions": ONE},
        {**REQUEST, "unknown": {"member": 1}, "model": "jev-preview", "overflow": None},
    )
    with shared_serving(world) as server:
        for body in accepted:
            answers = server.systemone(body).json()["answers"]
            check_equal(len(answers), 1, f"answers to {str(body)[:100]}")
        exact = server.systemone(b'\xef\xbb\xbf{"state": [1e999], "questions": ["Is it late?"]}')
        exact.json()
        warned = server.systemone({**REQUEST, "lang": "de", "max_len": 64}).json()
        check_equal(warned["warnings"], ["lang has no effect on this server",
                                         "max_len has no effect on this server"], "warnings")
        long = server.systemone({"state": "many words " * 1000, "questions": ONE}).json()
        check_equal(long["usage"]["truncated"], True, "an over-long state is cut and reported")


@case
def server_paths_and_methods(world):
    with shared_serving(world) as server:
        check_equal(server.get("/nothing").detail(404), "Not Found", "unknown path")
        for method, path, allow in (("GET", "/v1/systemone", "POST"),
                                    ("PUT", "/v1/models", "GET, HEAD"),
                                    ("POST", "/", "GET, HEAD")):
            reply = server.ask(method, path)
            check_equal(reply.detail(405), "Method Not Allowed", f"{method} {path}")
            check_equal(reply.headers["Allow"], allow, f"Allow of {path}")
        for kind in (None, "text/plain", "multipart/form-data; boundary=x", "application/jsonp"):
            reply = server.systemone(b"{}", {"Content-Type": kind or ""})
            check_equal(reply.detail(415), "Content-Type must be application/json", str(kind))
        server.systemone(REQUEST, {"Content-Type": "Application/JSON; charset=utf-8"}).json()
        head = server.ask("HEAD", "/health")
        check_equal((head.status, head.body), (200, b""), "HEAD")


@case
def server_host_and_origin(world):
    """A page of another site reaches nothing, whatever name it gives this machine."""
    with shared_serving(world) as server:
        own = f"localhost:{server.port}"
        for host, status in (("evil.example", 421), (f"evil.example:{server.port}", 421),
                             ("127.0.0.1.evil.example", 421), ("0.0.0.0", 421), (own, 200),
                             (f"[::1]:{server.port}", 200), ("127.5.5.5", 200)):
            for path in ("/health", "/", "/v1/models"):
                check_equal(server.get(path, {"Host": host}).status, status, f"{host} {path}")
        check_equal(server.get("/health", {"Host": "a.example"}).detail(421),
                    "this server answers loopback requests only", "text of 421")
        for origin, status in ((f"http://{own}", 200), ("http://evil.example", 403),
                               ("null", 403), ("http://localhost:1", 403)):
            reply = server.systemone(REQUEST, {"Host": own, "Origin": origin})
            check_equal(reply.status, status, f"Origin {origin}")
            check("Access-Control-Allow-Origin" not in reply.headers, "no CORS")


@case
def server_compressed_bodies(world):
    body = json.dumps(REQUEST).encode()
    with shared_serving(world) as server:
        plain = server.systemone(body).json()["answers"]
        for coding, data in (("gzip", gzip.compress(body)), ("zstd", zstd_frame(body)),
                             ("x-gzip", gzip.compress(body)), ("identity", body)):
            reply = server.systemone(data, {"Content-Encoding": coding})
            check_equal(reply.json()["answers"], plain, f"answers to a body in {coding}")
        for coding, data in (("gzip", gzip_bomb(64)), ("zstd", zstd_bomb(64)),
                             ("zstd", zstd_bomb(3)), ("identity", b" " * (2 * 1024 * 1024 + 1))):
            reply = server.systemone(data, {"Content-Encoding": coding})
            check_equal(reply.detail(413), "request body too large", f"{coding} {len(data)}")
        for coding, data, status in (("br", body, 415), ("gzip, zstd", body, 415),
                                     ("gzip", body, 400), ("zstd", body, 400),
                                     ("gzip", gzip.compress(body)[:-6], 400)):
            reply = server.systemone(data, {"Content-Encoding": coding})
            check_equal(reply.status, status, f"{coding}: {reply}")
        exactly = body[:-1] + b" " * (2 * 1024 * 1024 - len(body)) + b"}"
        server.systemone(gzip.compress(exactly), {"Content-Encoding": "gzip"}).json()


@case
def server_bug_inputs(world):
    """Requests that two readers could understand differently: one 4xx, then the end."""
    folder = world.shared("bug-inputs", "http")
    with shared_serving(world) as server:
        for path in sorted(folder.glob("*.raw")):
            good = path.stem.startswith("ok-")
            received = server.send_raw(path.read_bytes(), world.slow * (0.5 if good else 10))
            statuses = [int(status) for status in STATUS_LINE.findall(received)]
            check_equal(len(statuses), 1, f"answers to {path.name}: {received[:300]}")
            check(statuses[0] == 200 if good else 400 <= statuses[0] < 500,
                  f"{path.name}: {statuses}")
            if not good:
                detail = json.loads(received.split(b"\r\n\r\n", 1)[1])["detail"]
                check(bool(detail), f"a text for {path.name}")
        server.systemone(REQUEST).json()


@case
def server_batch(world):
    states = [CHARGED_TWICE, {"subject": "late", "body": "Where is my parcel?"}, ["a", "b"], 3]
    with shared_serving(world) as server:
        singles = [server.systemone({"state": state, "questions": THREE_KINDS}).json()
                   for state in states]
        found = server.post("/v1/systemone/batch", {
            "states": states, "questions": THREE_KINDS, "batch_size": 2, "sort_by_length": True,
        }).json()
        check_equal(list(found), ["results", "total_usage"], "members")
        check_equal([result["answers"] for result in found["results"]],
                    [single["answers"] for single in singles], "answers of a batch and alone")
        check_equal(found["total_usage"],
                    {"input_tokens": sum(s["usage"]["input_tokens"] for s in singles),
                     "output_tokens": 0}, "total_usage")
        for body, status, text in (
                ({"questions": ONE}, 400,
                 "request body must be an object with 'states' and 'questions' fields"),
                ({"states": [], "questions": ONE}, 400, "'states' must be a non-empty list"),
                ({"states": ["x"] * 65, "questions": ONE}, 413,
                 "too many states in batch (65 > 64)"),
                ({"states": ["x", None], "questions": ONE}, 400, "'state' is required"),
                ({"states": ["x"], "questions": ONE, "batch_size": 0}, 422,
                 "batch_size must be a positive integer, got 0")):
            check_equal(server.post("/v1/systemone/batch", body).detail(status), text, "refusal")
        mixed = server.post("/v1/systemone/batch", {
            "states": ["x", "many words " * 1000], "questions": ONE, "overflow": "error"})
        check_equal(mixed.status, 422, f"one that does not fit fails the batch: {mixed}")


@case
def server_decisions(world):
    body = {
        "input": CHARGED_TWICE, "model": "anything",
        "questions": [
            {"type": "score", "name": "mood", "instructions": "How urgent is it?",
             "levels": [{"label": "low", "description": "can wait"}, {"label": "high"}]},
            {"type": "predicate", "instructions": "Is the writer angry?"},
            {"type": "choice", "name": "zone", "instructions": "Which team should answer?",
             "choices": [{"value": "tech", "description": "errors"}, {"value": "billing"}]}]}
    ours = {
        "mood": {"type": "score", "instructions": "How urgent is it?",
                 "criteria": ["low: can wait", "high"]},
        "q1": {"type": "noul", "instructions": "Is the writer angry?"},
        "zone": {"type": "choice", "instructions": "Which team should answer?",
                 "criteria": {"tech": "errors", "billing": None}}}
    with shared_serving(world) as server:
        found = server.post("/v1/decisions", body).json()
        expected = server.systemone({"state": CHARGED_TWICE, "questions": ours}).json()["answers"]
        check_equal([(a["type"], a["name"]) for a in found["answers"]],
                    [("score", "mood"), ("predicate", "q1"), ("choice", "zone")], "answers")
        check_equal(found["answers"][0]["score"], expected["mood"]["score"], "score")
        check_equal(found["answers"][1]["probability"], expected["q1"]["noul"], "probability")
        check_equal({p["value"]: p["probability"] for p in found["answers"][2]["probabilities"]},
                    expected["zone"]["probabilities"], "probabilities")
        check_equal(found["answers"][2]["choice"], expected["zone"]["choice"], "choice")
        refused = server.post("/v1/decisions", {"input": "x", "questions": [{"type": "noul"}]})
        check_equal(refused.detail(422),
                    "questions[0]: 'type' must be one of predicate, choice, score", "refusal")


@case
def server_strict_and_gate(world):
    with serving(world, "--jev-strict") as server:
        found = server.systemone({"state": "x", "questions": THREE_KINDS}).json()
    check_equal(list(found), ["model", "answers", "usage"], "members")
    check_equal(list(found["usage"]), ["input_tokens", "output_tokens"], "usage")
    check_equal([list(answer) for answer in found["answers"].values()],
                [["type", "choice", "confidence", "probabilities"], ["type", "noul"],
                 ["type", "score", "confidence", "probabilities", "legend"]], "answers")
    with serving(world) as server:
        asked = server.systemone({"state": "x", "questions": THREE_KINDS, "jev_strict": True})
        check_equal(asked.json()["answers"], found["answers"], "asked for by the request")
        gated = server.systemone({"state": "x", "questions": THREE_KINDS,
                                  "min_confidence": {"noul:2": 1, "default": 0}}).json()["answers"]
    check_equal([(a.get("low_confidence"), a["abstention"], a["abstention_threshold"])
                 for a in gated.values()],
                [(None, "passed", 0.0), (True, "abstained", 1.0), (None, "passed", 0.0)], "gate")


@case
def server_pages(world):
    with serving(world) as server:
        server.systemone(REQUEST).json()
        health = server.get("/health").json()
        check_equal(list(health), ["status", "version", "default_model", "loaded", "device",
                                   "checkpoints"], "members of health")
        check_equal((health["status"], health["loaded"]), ("ok", ["starter"]), "health")
        check_equal(server.get("/healthz").json(), health, "healthz")
        check_equal(server.get("/ready").json(), {"status": "ready",
                                                  "checkpoints": {"starter": "ready"}}, "ready")
        models = server.get("/v1/models").json()
        first = models["models"][0]
        check_equal((first["name"], first["loaded"], first["default"]), ("starter", True, True),
                    "the default model comes first")
        check(all(isinstance(model[key], str) for model in models["models"]
                  for key in ("name", "description", "release_date")), "what the SDK needs")
        check_equal([m["id"] for m in models["data"]], [m["name"] for m in models["models"]],
                    "OpenAI's list")
        check_equal(server.metric('layard_decisions_total{outcome="completed"}'), 1, "completed")
        check_equal(server.metric('layard_model_loaded{model="starter"}'), 1, "loaded")
        document = server.get("/openapi.json").json()
        check_equal(document["info"]["version"], health["version"], "version of the description")
        page = server.get("/")
        check_equal((page.status, page.headers["Content-Type"]),
                    (200, "text/html; charset=utf-8"), "page")
        check("default-src 'none'" in page.headers["Content-Security-Policy"], "policy")


@case
def server_key(world):
    """With a key nothing of worth is answered without it."""
    secret = {"LAYARD_API_KEY": "k3y-of-tests"}
    with serving(world, environment=secret) as server:
        for value in (None, "Bearer other", "Bearer k3y-of-test", "Bearer k3y-of-testss",
                      "Basic x"):
            headers = {"Authorization": value} if value else {}
            for ask in (lambda h: server.systemone(REQUEST, h),
                        lambda h: server.get("/v1/models", h), lambda h: server.get("/metrics", h)):
                check_equal(ask(headers).detail(401), "invalid or missing bearer token", str(value))
            check_equal(server.get("/health", headers).json(), {"status": "ok"}, "health")
            check_equal(server.get("/ready", headers).json(), {"status": "ready"}, "ready")
        good = {"Authorization": "Bearer k3y-of-tests"}
        server.systemone(REQUEST, good).json()
        check_equal(len(server.get("/health", good).json()), 6, "health of those who may know")
        check("k3y" not in server.stderr(), "the key is in the log")
    with serving(world) as server:  # any key where none is asked for
        server.systemone(REQUEST, {"Authorization": "Bearer anything"}).json()


@case
def server_remote_needs_a_key(world):
    refused = world.run("serve", "--host", "0.0.0.0", "--port", "0")
    refused.refused("InvalidRequestError", "--allow-remote")
    refused = world.run("serve", "--host", "0.0.0.0", "--port", "0", "--allow-remote")
    refused.refused("InvalidRequestError", "LAYARD_API_KEY")
    with serving(world, "--host", "0.0.0.0", "--allow-remote",
                 environment={"LAYARD_API_KEY": "key"}) as server:
        named = {"Host": "models.example"}
        server.systemone(REQUEST, {**named, "Authorization": "Bearer key"}).json()
        for headers in (named, {**named, "Authorization": "Bearer other"}):
            check_equal(server.systemone(REQUEST, headers).detail(401),
                        "invalid or missing bearer token", f"a request with {headers}")


@case
def server_checkpoint_not_here(world):
    """A checkpoint that is known and not on this machine: 503, and what fetches it."""
    with serving(world) as server:
        for name in ("laya", "en", "convaiinnovations/laya-multilingual"):
            reply = server.systemone({**REQUEST, "model": name})
            check("layard download laya" in reply.detail(503), f"{name}: {reply}")
            check(int(reply.headers["retry-after-ms"]) >= 1, "retry-after-ms")
            check(int(reply.headers["Retry-After"]) >= 1, "Retry-After")
        # That repository means whatever Laya a server has.
        server.systemone({**REQUEST, "model": "convaiinnovations/laya"}).json()
    for options in (["--model", "laya"], ["--preload", "laya"], ["--model", "auto"]):
        run = world.run("--offline", "serve", "--port", "0", *options)
        run.refused("BackendUnavailableError", "layard download laya")


@case
def server_device(world):
    """`--device` is where every checkpoint runs: one that this build lacks is told at the start."""
    with serving(world, "--device", "cpu") as server:
        found = server.systemone(REQUEST).json()["layard"]
        check_equal((found["device"], found["routing_reason"]), ("cpu", "cpu_requested"), "cpu")
    for device in ("gpu", "npu"):
        run = world.run("serve", "--port", "0", "--device", device)
        run.refused("BackendUnavailableError", f"device {device}")


@case
def serve_auto_equals_cli(world):
    """The recorded choices of the language router, over HTTP."""
    vectors = json.loads(world.shared("goldens", "apple", "vectors.json").read_text(
        encoding="utf-8"))["language_routing"]
    try:
        folders = {"laya": str(world.golden("english")),
                   "laya-multilingual": str(world.golden("multilingual"))}
    except Skip:
        folders = dict.fromkeys(("laya", "laya-multilingual"), str(world.starter_folder))
    folders["third"] = str(world.starter_folder)
    environment = {"LAYARD_MODELS": str(world.write("models.json", folders))}
    lines = "".join(json.dumps({"state": v["state"], "questions": ONE}) + "\n" for v in vectors)
    run = world.run("predict", "auto", "--batch", "-", stdin=lines, environment=environment)
    expected = [json.loads(line) for line in run.stdout.splitlines()]
    with serving(world, "--model", "auto", "--preload", "third",
                 environment=environment) as server:
        three = ["laya", "laya-multilingual", "third"]
        check_equal(server.get("/health").json()["loaded"], three, "loaded at the start")
        check_equal([m["name"] for m in server.get("/v1/models").json()["models"] if m["loaded"]],
                    ["auto", *three], "loaded in the list of models")
        for vector, result in zip(vectors, expected, strict=True):
            if vector["state"] is None:
                continue  # the wire refuses it: 'state' is required
            found = server.systemone({"state": vector["state"], "questions": ONE}).json()
            check_equal(found["routing"], result["routing"], f"routing of {vector['state']!r}")
            check_equal(found["layard"]["model_routing"], vector["model_routing"], "reason")
            check_equal(found["answers"], result["answers"], "answers")
        known = server.systemone({"state": "Hallo", "questions": {
            name: ONE["refund"] for name in ("urgency", "action", "category", "churn_risk",
                                             "needs_human")}}).json()
        check_equal(known["routing"]["workflow"], "customer_service", "a known set of questions")
        named = server.systemone({"state": "Hallo", "questions": ONE, "model": "laya"}).json()
        check_equal(named["routing"]["reason"], "explicit model='english'", "a named model")
        first = server.get("/v1/models").json()["models"][0]
        check_equal((first["name"], first["loaded"], first["default"]), ("auto", True, True),
                    "auto is the default")


@case
def server_log_lines(world):
    """A JSON line a request, and no text of a client's in any of them."""
    secret = {"state": "secret-state", "model": "secret-model", "questions": {"secret-name": {
        "type": "noul", "instructions": "secret-instructions"}}}
    with serving(world, "--log-format", "json", "--log-level", "info") as server:
        server.systemone(secret, {"Authorization": "Bearer secret-key"}).json()
        server.get("/secret-path?secret=query", {"User-Agent": "secret-agent"})
        server.systemone({**secret, "questions": {"secret-name": 3}})
        server.send_raw(b"secret nonsense\r\n\r\n")
    lines = [json.loads(line) for line in server.stderr().splitlines()]
    check("secret" not in server.stderr(), f"a client's text in the log: {server.stderr()}")
    check_equal([line["event"] for line in lines],
                ["listening", "request", "request", "request", "request", "stopping", "stopped"],
                "events")
    check_equal([line.get("status") for line in lines[1:5]], [200, 404, 422, 400], "statuses")
    for name in ("time", "level", "id", "endpoint", "status", "duration_ms", "body_bytes", "model",
                 "input_tokens", "queue_wait_ms", "device_ms", "cached"):
        check(name in lines[1], f"{name} in {lines[1]}")


@case
def server_check_and_config(world):
    config = world.write("serve.json", {"model": "starter", "port": 1234, "jev_strict": True,
                                        "answer_cache_max": "1MiB"})
    run = world.run("serve", "--config", config, "--check", "--port", "99",
                    environment={"LAYARD_SERVE_HOST": "127.0.0.9", "LAYARD_SERVE_PORT": "98"})
    found = run.json()
    check_equal([found[name] for name in ("model", "host", "port", "jev_strict",
                                          "answer_cache_max", "api_key")],
                ["starter", "127.0.0.9", 99, True, 1 << 20, False], "settings in force")
    missing = world.run("serve", "--model", "laya", "--check")
    check_equal(missing.code, 1, "a checkpoint that is not here fails the check")
    check("layard download laya" in missing.stderr, missing.stderr)
    for content, text in (('{"prot": 1}', "prot: no such setting"),
                          ('{"port": "x"}', "port: must be a whole number"), ("[", "line 1")):
        bad = world.write("bad.json", content)
        world.run("serve", "--config", bad, "--check").refused("InvalidRequestError", text)
    world.run("serve", "--port", "70000").refused("InvalidRequestError", "--port", "65535")
    world.run("serve", "--check", environment={"LAYARD_SERVE_QUEUE_REQUESTS_MAX": "0"}).refused(
        "InvalidRequestError", "LAYARD_SERVE_QUEUE_REQUESTS_MAX")
    with serving(world) as server:
        taken = world.run("serve", "--port", server.port)
        taken.refused("IoError", str(server.port))


@case
def server_help_and_completion(world):
    text = world.run("serve", "--help").stdout
    for word in ("--port", "--allow-remote", "--check", "LAYARD_API_KEY", "8642", "--preload"):
        check(word in text, f"{word} in the help")
    words = world.run("__complete", "serve", "--overflow", "").stdout.splitlines()
    check_equal(words, ["words", "cut", "error", "windows"], "completion of --overflow")
    words = world.run("__complete", "serve", "--model", "").stdout.splitlines()
    check("auto" in words and "starter" in words, f"completion of --model: {words}")


@case
def server_clients_that_leave(world):
    """Their work is taken out of the queue, and the counters add up."""
    batch = {"states": [f"text {i} " * 200 for i in range(64)], "questions": THREE_KINDS}
    data = json.dumps(batch).encode()
    head = (f"POST /v1/systemone/batch HTTP/1.1\r\nHost: localhost\r\nContent-Type: "
            f"application/json\r\nContent-Length: {len(data)}\r\n\r\n").encode()
    with serving(world, "--batch-requests-max", "2") as server:
        for _ in range(4):
            connection = server.connect()
            connection.connect()
            connection.sock.sendall(head + data)
            time.sleep(0.05)
            connection.close()
        until(lambda: server.metric("layard_decisions_queued") == 0
              and server.metric("layard_decisions_running") == 0, "an empty queue", 60)
        submitted = server.metric("layard_decisions_submitted_total")
        ends = {name: server.metric(f'layard_decisions_total{{outcome="{name}"}}')
                for name in ("completed", "failed", "cancelled", "expired", "refused")}
        check_equal(sum(ends.values()), submitted, f"sum of {ends}")
        check(ends["cancelled"] > 0, f"nothing was cancelled: {ends}")
        server.systemone(REQUEST).json()


@case
def server_busy(world):
    """More than the queue takes: 503 with both retry headers, and all others are answered."""
    outcomes = []

    def client(server, number):
        body = {"state": f"text {number} " * 100, "questions": THREE_KINDS}
        outcomes.append(server.systemone(body))

    with serving(world, "--queue-requests-max", "2", "--batch-requests-max", "1") as server:
        threads = [threading.Thread(target=client, args=(server, i)) for i in range(24)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check_equal(len(outcomes), 24, "answers")
        check_equal({reply.status for reply in outcomes}, {200, 503}, "statuses")
        for reply in outcomes:
            if reply.status == 503:
                check(1 <= int(reply.headers["retry-after-ms"]) <= 60_000, "retry-after-ms")
                check(int(reply.headers["Retry-After"]) >= 1, "Retry-After")


@case
def server_deadline(world):
    """A request that would wait longer than its client does is refused, not answered late."""
    with serving(world, "--batch-requests-max", "1") as server:
        for value in ("0", "x", "-5"):
            reply = server.systemone(REQUEST, {"X-Layard-Deadline-Ms": value})
            check_equal(reply.detail(422),
                        "X-Layard-Deadline-Ms must be a positive number of milliseconds", value)
        server.systemone(REQUEST, {"X-Layard-Deadline-Ms": "20000"}).json()
        slow = threading.Thread(target=server.post, args=("/v1/systemone/batch", {
            "states": [f"text {i} " * 40 for i in range(14)], "questions": THREE_KINDS}))
        slow.start()
        until(lambda: server.metric("layard_decisions_queued") > 4, "a full queue")
        late = server.systemone({"state": "another text", "questions": ONE},
                                {"X-Layard-Deadline-Ms": "1", "Authorization": "Bearer other"})
        check_equal(late.status, 503, f"{late}")
        slow.join()
