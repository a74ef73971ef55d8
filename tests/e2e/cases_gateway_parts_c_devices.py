"""What users of other gateways complained of, one case a row: devices and decisions.

A case's name has its row's number in part C of the routing specification. This file has rows 26 to
50; cases_gateway_parts_c.py has 1 to 25.

Covered elsewhere: 34 and 35 by the cases of reloading (32 and 33 are here in short); 43 by the
tests of the text that is given to the model; 46 and 47 by `layard route eval` and
docs/routing.md; 49 under load by the gateway's soak.
"""

import hashlib
import json
import re
import signal
import time

import gateway_answers
import gateway_backend as behave
from gateway_backend import Backend
from gateway_running import LONG_TEXT, chat_body, policy_of, running_gateway
from harness import case, check, check_equal
from serving import ask_on, until

CODE = "Write a Rust function that sums a slice."
QUICK_HEALTH = {"health": {"interval_ms": 100, "timeout_ms": 100, "failures": 3}}
PIXEL = "data:image/png;base64,iVBORw0KGgo="


def decided_by_model(world, policy, *flags):
    """A gateway whose conversations are classified."""
    check(world.starter == "starter", "no starter")
    return running_gateway(world, policy, "--laya", "--model", "starter", *flags)


def chunk(text):
    return gateway_answers.data(gateway_answers.chunk("m", {"content": text}))


def turns(*texts):
    """Messages of a conversation: user and assistant in turns."""
    return [{"role": ("user", "assistant")[i % 2], "content": text}
            for i, text in enumerate(texts)]


def ask(gateway, messages, **more):
    return gateway.post("/v1/chat/completions", {"model": "m", "messages": messages, **more})


def device_of(reply):
    return reply.headers["X-1bit-Route"].split(" ")[2]


def is_ejected(gateway, path="/gateway/status"):
    """Whether a device is said to be out, as the value of a member."""
    return re.search(r':\s*"ejected"', gateway.get(path).body.decode()) is not None


@case
def gateway_c26_queues_are_bounded(world):
    """What runs is not disturbed; then a place in the queue, then a refusal with a time to wait."""
    limits = {"gpu0": {"requests_max": 1, "queue_max": 1}}
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}, devices=limits)) as gateway:
        backend.script(behave.stream([chunk("runs"), 1.0, chunk(" on"), b"data: [DONE]\n\n"]))
        with gateway.stream("first") as first:
            first.until(b"runs")
            with gateway.stream("second") as second:
                time.sleep(0.2)
                third = gateway.chat("third")
                check(third.status in (429, 503), f"{third}")
                check(int(third.headers["Retry-After"]) >= 1, "Retry-After")
                first.rest()
                check_equal(first.text(), "runs on", "the first one")
                second.rest()
                check_equal(second.status, 200, "the second one")
        check_equal(len(backend.requests), 2, "requests of the backend")


@case
def gateway_c27_recovers_after_a_backend_crash(world):
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}, devices={"gpu0": QUICK_HEALTH})) as gateway:
        gateway.chat().json()
        backend.stop()
        lost = gateway.chat()
        check(lost.status in (502, 503), f"{lost}")
        time.sleep(0.6)
        backend.start()
        until(lambda: gateway.chat().status == 200, "answers again", 10)


@case
def gateway_c28_ejected_devices_are_tried_again(world):
    """Failed requests take a device out; after a wait one request at a time tries it."""
    quiet = {"health": {"interval_ms": 60000}}
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, alternates=["b"], devices={"a": quiet})
        with running_gateway(world, policy) as gateway:
            one.script(*[behave.cut] * 3)
            for number in range(3):
                check_equal(device_of(gateway.chat(f"text {number}")), "b", "device")
            check(is_ejected(gateway), "the device is not ejected")
            if world.slow == 1:  # else the wait of a second may be over
                check_equal(device_of(gateway.chat("while ejected")), "b", "device")
                check_equal(len(one.requests), 3, "requests of the ejected device")
            until(lambda: device_of(gateway.chat("again")) == "a", "the device again", 10)
            check(not is_ejected(gateway), "the device is still ejected")


@case
def gateway_c29_one_failed_probe_changes_nothing(world):
    """Three in a row take a device out, and one success brings it back."""
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, alternates=["b"],
                           devices={"a": QUICK_HEALTH, "b": QUICK_HEALTH})
        with running_gateway(world, policy) as gateway:
            until(lambda: len(one.health_checks) >= 2, "health checks")
            one.health = "bad"
            seen = len(one.health_checks)
            until(lambda: len(one.health_checks) > seen, "a failed check")
            one.health = "good"
            check_equal(device_of(gateway.chat()), "a", "device after one failure")
            one.health = "bad"
            until(lambda: is_ejected(gateway), "the device is taken out", 5)
            check_equal(device_of(gateway.chat("two")), "b", "device")
            one.health = "good"
            until(lambda: device_of(gateway.chat("three")) == "a", "the device again", 10)


@case
def gateway_c30_probes_are_cheap(world):
    """No completion is asked for; a device that is producing tokens is well."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend}, devices={"gpu0": QUICK_HEALTH})) as gateway:
        until(lambda: len(backend.health_checks) >= 3, "health checks")
        check_equal({one.method for one in backend.health_checks}, {"GET"}, "methods")
        check_equal(backend.requests, [], "other requests")
        backend.script(behave.stream([chunk(f"{i} ") for i in range(80)], 0.02))
        with gateway.stream() as stream:
            stream.until(b'"0 "')
            backend.health = "hang"
            stream.until(b'"70 "')
            check(not is_ejected(gateway), "a busy device was taken out")
            stream.rest()


@case
def gateway_c31_black_holes_cost_no_request_its_time(world):
    """A host that takes connections and says nothing: probes find it before requests do."""
    quick = {"health": {"interval_ms": 100, "timeout_ms": 100, "failures": 2}}
    with Backend("a", otherwise=behave.hang) as one, Backend("b") as other:
        one.health = "hang"
        policy = policy_of({"a": one, "b": other}, alternates=["b"], devices={"a": quick})
        with running_gateway(world, policy) as gateway:
            until(lambda: is_ejected(gateway), "the device is taken out", 5)
            began = time.monotonic()
            check_equal(device_of(gateway.chat()), "b", "device")
            check(time.monotonic() - began < 0.5 * world.slow, "the request waited for it")


@case
def gateway_c32_status_shows_what_runs(world):
    """Not the refused file: the running policy's hash, and why the last reload failed."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend})) as gateway:
        running = hashlib.sha256(gateway.policy_path.read_bytes()).hexdigest()
        gateway.policy_path.write_text('{"version": 1, "default": "nowhere"}', encoding="utf-8")
        refused = gateway.post("/gateway/reload", {})
        check(refused.status in (400, 409, 422), f"{refused}")
        told = gateway.get("/gateway/status").body.decode()
        check(running[:12] in told, f"no hash {running[:12]} in {told}")
        check("classes" in told, f"why the reload failed is not told: {told}")


@case
def gateway_c33_a_bad_reload_changes_nothing(world):
    with Backend("a") as one, Backend("b") as other:
        with running_gateway(world, policy_of({"a": one})) as gateway:
            good = gateway.policy_path.read_bytes()
            one.script(behave.stream([chunk("before "), 0.5, chunk("after")]))
            with gateway.stream() as stream:
                stream.until(b"before")
                gateway.policy_path.write_bytes(good[:-20])
                check(gateway.post("/gateway/reload", {}).status >= 400, "a bad file was taken")
                check_equal(device_of(gateway.chat()), "a", "device after a bad reload")
                gateway.policy_path.write_text(json.dumps(policy_of({"b": other})),
                                               encoding="utf-8")
                check_equal(gateway.post("/gateway/reload", {}).status, 200, "a good reload")
                check_equal(device_of(gateway.chat("new")), "b", "device after a good reload")
                stream.rest()
                check_equal(stream.text(), "before after", "a stream that ran meanwhile")


@case
def gateway_c36_bodies_are_forwarded_byte_for_byte(world):
    """Fields nobody knows, doubled blanks, escapes, large numbers: only `model` is replaced."""
    form = ('{ "new_field":{"a":[1.0,1e2,123456789012345678901234567890]}, "model" :"%s",'
            '"messages":[{"role":"user","content":"\\u00e9\\/\u4e16","model":"inner"}],'
            '"temperature":0.10 ,"model_options":null}')
    with Backend() as backend:
        with running_gateway(world, policy_of({"gpu0": backend})) as gateway:
            body = (form % "any name").encode()
            check_equal(gateway.post("/v1/chat/completions", body).status, 200, "status")
            check_equal(backend.requests[-1].body, body, "body without a model of the device's own")
        devices = {"gpu0": {"model": "own/model-1"}}
        with running_gateway(world, policy_of({"gpu0": backend}, devices=devices)) as gateway:
            reply = gateway.post("/v1/chat/completions", (form % "gpu0").encode())
            check_equal(reply.status, 200, "status")
            check_equal(backend.requests[-1].body, (form % "own/model-1").encode(), "body")


@case
def gateway_c37_model_names_both_ways(world):
    """The client sees the name it asked for, in whole replies and in every chunk."""
    devices = {"gpu0": {"model": "own/model-1"}}
    with Backend(model="own/model-1") as backend, running_gateway(
            world, policy_of({"gpu0": backend}, devices=devices)) as gateway:
        for asked in ("gpu0", "auto", "own/model-1"):
            check_equal(gateway.chat(model=asked).json()["model"], asked, "model of a reply")
            with gateway.stream(model=asked) as stream:
                stream.rest()
                check_equal({event["model"] for event in stream.events()}, {asked}, "of chunks")
            check_equal({one.json()["model"] for one in backend.requests}, {"own/model-1"}, "sent")
            message = gateway.post("/v1/messages", chat_body(model=asked, max_tokens=9)).json()
            check_equal(message["model"], asked, "model of a message")
            with gateway.stream(path="/v1/messages", model=asked, max_tokens=9) as stream:
                stream.rest()
                check_equal(stream.events()[0]["message"]["model"], asked, "of message_start")
            with gateway.stream(path="/v1/responses", model=asked, input="a") as stream:
                stream.rest()
                models = {event["response"]["model"] for event in stream.events()
                          if "response" in event}
                check_equal(models, {asked}, "of the Responses API's events")


@case
def gateway_c38_unknown_models_are_refused(world):
    devices = {"gpu0": {"model": "own"}}
    with Backend() as backend:
        with running_gateway(world, policy_of({"gpu0": backend}, devices=devices)) as gateway:
            error = gateway.chat(model="nobody-knows").json(404)["error"]
            check_equal(error["code"], "model_not_found", "code")
            check("nobody-knows" in error["message"], f"{error}")
            refused = gateway.post("/v1/messages", chat_body(model="nobody-knows", max_tokens=9))
            error = refused.json(404)
            check_equal((error["type"], error["error"]["type"]), ("error", "not_found_error"),
                        "Anthropic's form")
            check_equal(backend.requests, [], "requests that passed")
            listed = {one["id"] for one in gateway.get("/v1/models").json()["data"]}
            check({"gpu0", "own"} <= listed, f"models: {listed}")
        policy = policy_of({"gpu0": backend}, devices=devices, model_names=["*"])
        with running_gateway(world, policy) as gateway:
            check_equal(gateway.chat(model="nobody-knows").status, 200, "with a wildcard")


@case
def gateway_c39_three_models_in_the_log(world):
    """The name that was asked for, the one that was sent, the one the reply had."""
    devices = {"gpu0": {"model": "sent-name"}}
    with Backend(model="reported-name") as backend, running_gateway(
            world, policy_of({"gpu0": backend}, devices=devices)) as gateway:
        gateway.chat("a secret text", model="gpu0").json()
        line = gateway.decisions(1)[0]
        names = [value for key, value in line.items() if "model" in key]
        check({"gpu0", "sent-name", "reported-name"} <= set(names), f"{line}")
        check("secret" not in gateway.decision_log.read_text(encoding="utf-8"), "a prompt's text")


@case
def gateway_c40_later_turns_stay(world):
    """A short second turn has the class of the conversation, not its own."""
    with Backend("a") as one, Backend("b") as other, decided_by_model(
            world, policy_of({"a": one, "b": other}, rows={"long_doc": "b"})) as gateway:
        first = ask(gateway, turns(LONG_TEXT))
        check_equal(first.headers["X-Layard-Decision"], "gate", "first turn")
        check_equal(device_of(first), "b", "device")
        later = ask(gateway, turns(LONG_TEXT, "It is a lease.", "commit it"))
        check_equal(later.headers["X-Layard-Decision"], "sticky", "later turn")
        check_equal(later.headers["X-1bit-Route"], first.headers["X-1bit-Route"], "X-1bit-Route")
        check_equal(len(gateway.decisions(1)), 1, "decisions that were logged")


@case
def gateway_c41_reminders_are_not_the_ask(world):
    """A block that a coding agent puts before the text neither gates nor names the conversation."""
    block = f"<system-reminder>\n{LONG_TEXT}\n</system-reminder>\n"
    with Backend() as backend, decided_by_model(
            world, policy_of({"gpu0": backend})) as gateway:
        plain = ask(gateway, turns(CODE))
        reply = ask(gateway, turns(block + CODE))
        check(plain.headers["X-1bit-Route"].startswith("code "), "the plain text's class")
        check_equal(reply.headers["X-1bit-Route"], plain.headers["X-1bit-Route"], "X-1bit-Route")
        check_equal(backend.requests[-1].json()["messages"][0]["content"], block + CODE, "sent")


@case
def gateway_c42_tool_turns_are_not_decided(world):
    calls = [{"id": "c1", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]
    with Backend() as backend, decided_by_model(
            world, policy_of({"gpu0": backend})) as gateway:
        messages = turns(CODE)
        check_equal(ask(gateway, messages).headers["X-Layard-Decision"], "model", "first turn")
        for number in range(3):
            messages += [{"role": "assistant", "content": None, "tool_calls": calls},
                         {"role": "tool", "tool_call_id": "c1", "content": f"{LONG_TEXT}{number}"}]
            check_equal(ask(gateway, messages).headers["X-Layard-Decision"], "sticky", "tool turn")
        check_equal(len(gateway.decisions(1)), 1, "decisions")


@case
def gateway_c44_every_form_of_content(world):
    """Lists of parts are text too; without a text the default device answers."""
    image = {"type": "image_url", "image_url": {"url": PIXEL}}
    forms = [(CODE, "model"), ([{"type": "text", "text": CODE + " A"}], "model"),
             ([{"type": "text", "text": "A Rust"}, {"type": "text", "text": "sum."}], "model"),
             ([image], "default"), ([], "default"), ("", "default"), (None, "default")]
    with Backend() as backend, decided_by_model(
            world, policy_of({"gpu0": backend})) as gateway:
        for content, decided in forms:
            reply = ask(gateway, [{"role": "user", "content": content}])
            check_equal(reply.status, 200, f"status of {content!r}")
            check_equal(reply.headers["X-Layard-Decision"], decided, f"decision of {content!r}")


@case
def gateway_c45_capabilities_come_before_the_class(world):
    """Images and tools go where they are understood, whatever the class says."""
    devices = {"text": {"capabilities": ["other"]}, "eyes": {"capabilities": ["images"]},
               "hands": {"capabilities": ["tools"]}}
    image = [{"type": "text", "text": CODE}, {"type": "image_url", "image_url": {"url": PIXEL}}]
    tools = [{"type": "function", "function": {"name": "weather"}}]
    with Backend("text") as one, Backend("eyes") as two, Backend("hands") as three:
        backends = {"text": one, "eyes": two, "hands": three}
        with running_gateway(world, policy_of(backends, devices=devices)) as gateway:
            check_equal(device_of(ask(gateway, turns(CODE))), "text", "text")
            check_equal(device_of(ask(gateway, [{"role": "user", "content": image}])), "eyes",
                        "an image")
            check_equal(device_of(ask(gateway, turns(CODE + "!"), tools=tools)), "hands", "tools")
            both = ask(gateway, [{"role": "user", "content": image}], tools=tools)
            check(both.status in (400, 503), f"an image and tools: {both}")


@case
def gateway_c48_health_names_each_class(world):
    """A dead device shows in /health with the classes that it serves."""
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, rows={"code": "b"},
                           devices={"a": QUICK_HEALTH, "b": QUICK_HEALTH})
        with running_gateway(world, policy) as gateway:
            well = gateway.get("/health")
            check_equal(well.status, 200, "status")
            check("code" in well.body.decode() and "long_doc" in well.body.decode(), f"{well}")
            other.health = "bad"
            until(lambda: gateway.get("/health").body != well.body
                  and is_ejected(gateway, "/health"), "the dead device", 5)


@case
def gateway_c49_drains_with_a_bound(world):
    """What was begun is ended; new work is refused; a second signal ends it at once."""
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend})) as gateway:
        backend.script(behave.stream([chunk("a"), 0.8, chunk("b"), b"data: [DONE]\n\n"]))
        with gateway.stream() as stream:
            stream.until(b'"a"')
            gateway.stop()
            time.sleep(0.2)
            try:
                check(gateway.chat().status == 503, "new work was taken")
            except ConnectionError:
                pass
            stream.rest()
            check_equal(stream.text(), "ab", "the stream that was begun")
        check_equal(gateway.wait(), 0, "exit status")


@case
def gateway_c49_a_second_signal_ends_streams(world):
    with Backend() as backend, running_gateway(
            world, policy_of({"gpu0": backend})) as gateway:
        backend.script(behave.stream([chunk("a"), 60.0]))
        with gateway.stream() as stream:
            stream.until(b'"a"')
            gateway.stop()
            time.sleep(0.3)
            check_equal(gateway.process.poll(), None, "one signal waits for streams")
            gateway.stop(signal.SIGINT)
            gateway.wait(5)


@case
def gateway_c50_decisions_are_counted(world):
    """By source, with their time; failures too."""
    with Backend() as backend, decided_by_model(
            world, policy_of({"gpu0": backend})) as gateway:
        connection = gateway.connect()
        for messages in (turns(CODE), turns(CODE, "ok", "on"), turns(LONG_TEXT)):
            body = {"model": "m", "messages": messages}
            ask_on(connection, "POST", "/v1/chat/completions", body)
        connection.close()
        told = gateway.metrics()
        for source in ("model", "sticky", "gate"):
            line = rf'^layard_gateway_\w*decision\w*\{{[^}}]*"{source}"[^}}]*\}} 1$'
            found = re.search(line, told, re.M)
            check(found is not None, f"no count of {source} in /metrics")
        check(re.search(r"^layard_gateway_\w*decision\w*seconds", told, re.M), "no times")
