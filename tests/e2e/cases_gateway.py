"""What the gateway promises of routing: classes, conversations, the log, and what costs nothing."""

import json
import time

import gateway_answers
import gateway_backend as behave
from gateway_backend import Backend
from gateway_running import LONG_TEXT, policy_of, running_gateway
from harness import case, check, check_equal
from route_evidence import SEED, evidence
from serving import ask_on, until

CODE = "Write a Rust function that sums a slice."
FACT = "Which river flows through Vienna?"
ROWS = {"code": "fast"}
LAYA = ("--laya", "--model", "starter")


def chunk(text):
    return gateway_answers.data(gateway_answers.chunk("m", {"content": text}))


def turns(*texts):
    """Messages of a conversation: user and assistant in turns."""
    return [{"role": ("user", "assistant")[i % 2], "content": text}
            for i, text in enumerate(texts)]


def ask(gateway, messages, headers=None, **more):
    body = {"model": "m", "messages": messages, **more}
    return gateway.post("/v1/chat/completions", body, headers)


def route_of(reply):
    """Class, confidence and device of a reply."""
    name, confidence, device = reply.headers["X-1bit-Route"].split(" ")
    return name, float(confidence), device


def decided_by(reply):
    return reply.headers["X-Layard-Decision"]


@case
def gateway_sends_each_class_to_its_device(world):
    """The header of a reply, whole or streamed, is what the decision log has."""
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, rows=ROWS), *LAYA) as gateway:
        code = ask(gateway, turns(CODE))
        check_equal((route_of(code)[0], route_of(code)[2]), ("code", "fast"), "a request for code")
        with gateway.stream(FACT) as stream:
            stream.rest()
            name, confidence, device = stream.headers["X-1bit-Route"].split(" ")
        check_equal((name, device), ("short", "main"), "a question of fact")
        check_equal((len(fast.requests), len(main.requests)), (1, 1), "requests of the devices")
        lines = gateway.decisions(2)
        check_equal([line["class"] for line in lines], ["code", "short"], "classes in the log")
        check_equal([line["device"] for line in lines], ["fast", "main"], "devices in the log")
        check_equal(f"{lines[1]['confidence']:.2f}", confidence, "the confidence of both")
        check_equal({line["source"] for line in lines}, {"model"}, "sources")
        for line in lines:
            check_equal(max(line["probabilities"], key=line["probabilities"].get), line["class"],
                        "the likeliest class")
            check(line["ttft_ms"] >= 0 and line["total_ms"] >= line["ttft_ms"], f"times: {line}")


@case
def gateway_gate_asks_nothing(world):
    """1,024 characters are a long document at once; one fewer are asked about."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}), *LAYA) as gateway:
        long_one = ask(gateway, turns("\u5b57" * 1024))
        check_equal(route_of(long_one)[:2], ("long_doc", 1.0), "1,024 characters")
        check_equal(decided_by(long_one), "gate", "who decided it")
        took_ms = float(long_one.headers["X-Layard-Decision-Ms"])
        check(took_ms < 1 * world.slow, f"{took_ms} ms")
        asked = ask(gateway, turns("\u5b57" * 1023))
        check_equal(decided_by(asked), "model", "1,023 characters")
        check(route_of(asked)[0] != "long_doc", f"{route_of(asked)}")
        system = [{"role": "system", "content": LONG_TEXT * 3}, *turns(CODE)]
        check_equal(decided_by(ask(gateway, system)), "model", "a long system prompt")


@case
def gateway_decides_a_conversation_once(world):
    """Turns 2 and 9 have turn 1's class; one question, one line in the log."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}), *LAYA) as gateway:
        texts = [CODE]
        first = ask(gateway, turns(*texts))
        check_equal(decided_by(first), "model", "turn 1")
        for turn in range(2, 10):
            texts += ["an answer", "thanks, and what is the capital of France?"]
            reply = ask(gateway, turns(*texts))
            check_equal(decided_by(reply), "sticky", f"turn {turn}")
            check_equal(reply.headers["X-1bit-Route"], first.headers["X-1bit-Route"],
                        f"turn {turn}")
        check_equal(len(gateway.decisions(1)), 1, "lines in the log")
        sources = gateway.status()["decisions"]["sources"]
        check_equal((sources["model"], sources["sticky"]), (1, 8), "sources")
        check_equal(decided_by(ask(gateway, turns(FACT))), "model", "another conversation")


@case
def gateway_session_headers_name_conversations(world):
    policy = {"sticky": {"headers": ["x-session-id"]}}
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}, **policy), *LAYA) as gateway:
        session = {"X-Session-Id": "one"}
        check_equal(decided_by(ask(gateway, turns(CODE), session)), "model", "a session's first")
        check_equal(decided_by(ask(gateway, turns(FACT), session)), "sticky", "its second")
        check_equal(decided_by(ask(gateway, turns(FACT), {"X-Session-Id": "two"})), "model",
                    "another session")


@case
def gateway_without_laya_asks_nobody(world):
    """Every request goes to the default device, and no checkpoint is loaded."""
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, rows=ROWS), "--model", "laya",
            "--log-level", "debug") as gateway:
        for text in (CODE, FACT, LONG_TEXT):
            reply = ask(gateway, turns(text))
            check_equal(reply.headers["X-1bit-Route"], "- 0.00 main", "route")
            check_equal(decided_by(reply), "default", "who decided")
        check_equal(len(fast.requests), 0, "requests of the other device")
        check_equal(gateway.status()["decisions"]["model_time"]["count"], 0, "questions")


@case
def gateway_needs_its_checkpoint(world):
    """A checkpoint that is not here is refused at the start, with the command that fetches it."""
    policy = world.write("policy.json", policy_of({"gpu0": "http://127.0.0.1:9"}))
    ended = world.run("--offline", "gateway", "--policy", str(policy), "--laya", "--model", "laya",
                      "--port", "0")
    check_equal(ended.code, 2, "exit status")
    check("layard download laya" in ended.stderr, ended.stderr)


@case
def gateway_takes_a_1bit_file(world):
    """As it is; the addresses come from the command line, and a device without one is no
    candidate."""
    policy = {"min_confidence": 0.16, "default": "hrx",
              "classes": {"code": {"device": "hrx", "why": "x"}, "short": {"device": "hrx"},
                          "long_doc": {"device": "rocm"}, "prose": {"device": "zinc"}}}
    with Backend("hrx") as hrx, Backend("rocm") as rocm, running_gateway(
            world, policy, *LAYA, "--backend", f"hrx={hrx.url}", f"rocm={rocm.url}") as gateway:
        check_equal(route_of(ask(gateway, turns(CODE)))[2], "hrx", "code")
        check_equal(route_of(ask(gateway, turns(LONG_TEXT)))[2], "rocm", "a long document")
        check_equal(route_of(ask(gateway, turns("Tell me a story about a lighthouse.")))[2],
                    "hrx", "prose, whose device has no address")
        check("zinc" in json.dumps(gateway.status()["policy"]["warnings"]), "the warning")


@case
def gateway_useful_asks_only_where_it_matters(world):
    """With every class on one device nothing is asked; the gate still names long documents."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}, decide={"when": "useful"}), *LAYA) as gateway:
        skipped = ask(gateway, turns(CODE))
        check_equal(decided_by(skipped), "skipped", "a request for code")
        check_equal(skipped.headers["X-1bit-Route"], "- 0.00 gpu0", "its route")
        check_equal(decided_by(ask(gateway, turns(LONG_TEXT))), "gate", "a long document")
        check_equal(gateway.status()["decisions"]["model_time"]["count"], 0, "questions")
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, rows=ROWS, decide={"when": "useful"}),
            *LAYA) as gateway:
        check_equal(decided_by(ask(gateway, turns(CODE))), "model", "where it matters")


@case
def gateway_shadow_decides_after_the_reply(world):
    """The default device serves; the class is for the log alone."""
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, rows=ROWS, decide={"when": "shadow"}),
            *LAYA) as gateway:
        reply = ask(gateway, turns(CODE))
        check_equal(reply.headers["X-1bit-Route"], "- 0.00 main", "route")
        until(lambda: [line for line in gateway.decisions(1) if line["class"] == "code"],
              "the class in the log")
        check_equal(len(fast.requests), 0, "requests of the row's device")


@case
def gateway_a_slow_decision_takes_the_default(world):
    """decide.timeout_ms; the request is none the worse for it."""
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, rows=ROWS,
                             decide={"timeout_ms": 1}), *LAYA) as gateway:
        found = {decided_by(ask(gateway, turns(f"{CODE} Number {i}."))) for i in range(20)}
        check(found <= {"error", "model"}, f"{found}")
        check("error" in found, "a model that answers within a millisecond")
        check_equal(gateway.status()["decisions"]["failures"] > 0, True, "failures are counted")
        check_equal(len(main.requests) + len(fast.requests), 20, "requests that were served")


@case
def gateway_clients_may_name_the_device(world):
    """By a header or as the model; an unknown one is told which there are."""
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}), *LAYA) as gateway:
        named = ask(gateway, turns(CODE), {"X-Layard-Device": "fast"})
        check_equal((decided_by(named), route_of(named)[2]), ("override", "fast"), "by the header")
        body = {"model": "fast", "messages": turns(CODE)}
        named = gateway.post("/v1/chat/completions", body)
        check_equal((decided_by(named), route_of(named)[2]), ("override", "fast"), "as the model")
        wrong = ask(gateway, turns(CODE), {"X-Layard-Device": "nothing"})
        check_equal(wrong.status, 400, "an unknown device")
        check("main, fast" in wrong.json(400)["error"]["message"], f"{wrong}")


@case
def gateway_a_named_device_must_be_able_to(world):
    """One that lacks what the request needs is refused with the reason; others are not tried."""
    devices = {"main": {"capabilities": ["images"]}}
    tools = [{"type": "function", "function": {"name": "f", "parameters": {}}}]
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, devices=devices)) as gateway:
        refused = ask(gateway, turns(CODE), {"X-Layard-Device": "main"}, tools=tools)
        check("main lacks tools" in refused.json(400)["error"]["message"], f"{refused}")
        check_equal(ask(gateway, turns(CODE), tools=tools).status, 200, "without a name")
        check_equal((len(main.requests), len(fast.requests)), (0, 1), "requests")


@case
def gateway_stale_connections_are_no_failures(world):
    """A backend that closes after each reply, without a word, loses no request."""
    def closing(exchange):
        behave.answer(exchange)
        exchange.cut()
    with Backend("main", otherwise=closing) as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, alternates=["fast"])) as gateway:
        connection = gateway.connect()
        for i in range(150):
            reply = ask_on(connection, "POST", "/v1/chat/completions",
                           {"model": "m", "messages": turns(f"text {i}")})
            check_equal(reply.status, 200, f"request {i}")
        connection.close()
        check_equal((len(main.requests), len(fast.requests)), (150, 0), "requests")
        check('layard_device_failures_total{device="main"} 0' in gateway.metrics(), "failures")


@case
def gateway_knows_its_own_requests(world):
    """A device that leads back to the gateway costs one request, not all connections."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend})) as gateway:
        gateway.policy_path.write_text(json.dumps(policy_of({"gpu0": gateway.url})))
        check_equal(gateway.post("/gateway/reload", {}).status, 200, "the reload")
        check_equal(ask(gateway, turns(CODE)).status, 508, "status")
        check(gateway.status()["requests"]["in_flight"] == 0, "requests that are left")


@case
def gateway_images_are_no_prompt(world):
    """Bytes of an image are not held against a device's context."""
    devices = {"gpu0": {"context_tokens": 1000}}
    image = {"type": "image_url", "image_url": {"url": "data:image/png;base64," + "A" * 9000}}
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}, devices=devices)) as gateway:
        said = [{"type": "text", "text": "What is this?"}, image]
        check_equal(ask(gateway, [{"role": "user", "content": said}]).status, 200, "an image")
        refused = ask(gateway, turns("word " * 2000))
        check("gpu0" in refused.json(400)["error"]["message"], f"{refused}")


@case
def gateway_speculative_keys_pass(world):
    """What a policy never relies on still goes on, byte for byte."""
    body = json.dumps({"messages": turns(CODE), "speculative.type": "mtp",
                       "speculative": {"n_max": 3, "p_min": 0.50}, "z": True,
                       "big": 123456789012345678901234567890}, indent=3).encode()
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}), *LAYA) as gateway:
        check_equal(gateway.post("/v1/chat/completions", body).status, 200, "status")
        check_equal(backend.requests[-1].body, body, "the body")


@case
def gateway_log_feeds_derive(world):
    """`route derive --log` reads what the gateway wrote, and the same bytes come out twice."""
    with Backend("main") as main, Backend("fast") as fast, running_gateway(
            world, policy_of({"main": main, "fast": fast}, rows=ROWS), *LAYA) as gateway:
        for backend in (main, fast):
            backend.otherwise = behave.stream([chunk("a"), chunk("b"), b"data: [DONE]\n\n"])
        for i in range(6):
            with gateway.stream(f"{CODE} Take number {i}.") as stream:
                stream.rest()
        ask(gateway, turns(LONG_TEXT))
        gateway.decisions(7)
        log = gateway.decision_log
        raw = log.read_text(encoding="utf-8")
    check("Rust" not in raw, "a prompt's text is in the log")
    measured = world.write("evidence.json", evidence(**SEED))
    outputs = []
    for number in range(2):
        out = world.folder / f"derived-{number}.json"
        ended = world.run("route", "derive", "--evidence", measured, "--log", log, "--out", out)
        check_equal(ended.code, 0, str(ended))
        outputs.append(out.read_bytes())
    check_equal(outputs[0], outputs[1], "the derived policies")


@case
def gateway_writes_no_line_for_turns(world):
    """A streamed first turn is logged when it has ended, with the time of its first token."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}), *LAYA) as gateway:
        backend.script(behave.stream([0.2, chunk("a"), 0.3, chunk("b"), b"data: [DONE]\n\n"]))
        began = time.monotonic()
        with gateway.stream(CODE) as stream:
            stream.rest()
        took_ms = (time.monotonic() - began) * 1000
        line = gateway.decisions(1)[0]
        check(200 <= line["ttft_ms"] <= took_ms - 250, f"{line['ttft_ms']} of {took_ms} ms")
        check(500 <= line["total_ms"] <= took_ms + 5, f"{line['total_ms']} of {took_ms} ms")
