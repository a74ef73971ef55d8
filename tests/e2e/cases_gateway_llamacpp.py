"""`layard gateway` in front of real llama.cpp servers that it starts itself, on two ports.

The model is tiny and random (tools/make-tiny-gguf): what it says means nothing, what its server
does is llama.cpp's. Without the package xllamacpp the cases skip.
"""

import json
import os
import signal
import time

from gateway_llamacpp import (CALLS_A_TOOL, LOOK_UP, ask_server, check_all_gone, check_tokens,
                              descendants, is_busy, json_of, kill_server, route_of, server_pid,
                              state_of, two_servers, wait_healthy, wait_idle)
from gateway_running import LONG_TEXT
from harness import case, check, check_equal
from serving import run_client, until

CODE = "Write a Rust function that sums a slice."
CANCEL_S_MAX = 0.1
LONG_REPLY_TOKENS = 7000
CHAT, MESSAGES = "/v1/chat/completions", "/v1/messages"
LONG_TO_B = {"long_doc": "b"}


def decided(world, **more):
    """Two servers; long documents, and code, go to the second."""
    check(world.starter == "starter", "no starter")
    return two_servers(world, "--laya", "--model", "starter", rows={**LONG_TO_B, "code": "b"},
                       **more)


def counted_by(urls):
    """Tasks that each server has begun, by the largest number of its slots."""
    slots = {name: json.loads(ask_server(url, "GET", "/slots").body) for name, url in urls.items()}
    return {name: max(one.get("id_task", -1) for one in found) for name, found in slots.items()}


@case
def gateway_two_llamacpp(world):
    """Requests of two classes land on two ports; counts and speeds are in the decision log."""
    with decided(world) as (gateway, urls):
        for text, label, name in ((CODE, "code", "b"), (LONG_TEXT, "long_doc", "b"),
                                  ("Write a poem about rain.", "prose", "a")):
            before = counted_by(urls)
            reply = gateway.chat(text, model="auto", max_tokens=8)
            said = json_of(reply)
            check_equal(route_of(reply), (label, name), f"route of {text[:30]!r}")
            after = counted_by(urls)
            check_equal([one for one in urls if after[one] > before[one]], [name], "servers asked")
            check_equal(said["usage"]["completion_tokens"], 8, "tokens")
            check_equal(said["model"], "auto", "the model's name for the client")
            line = gateway.decisions()[-1]
            check_equal((line["class"], line["device"]), (label, name), "the log's route")
            check_equal([line["model_requested"], line["model_sent"], line["model_reported"]],
                        ["auto", f"tiny-{name}", f"tiny-{name}"], "names in the log")
            check_tokens(line, said["usage"])
            near = said["timings"]["predicted_per_second"]
            check(abs(line["decode_tps"] / near - 1) < 0.01, f"{line['decode_tps']} for {near}")
        with gateway.stream("Tell me a story", max_tokens=30) as stream:
            stream.rest()
            models = {event["model"] for event in stream.events()}
            check_equal(models, {"m"}, "names in the chunks")
            check(stream.body.rstrip().endswith(b"data: [DONE]"), f"{stream.body[-80:]!r}")
        wait_idle(gateway)


@case
def gateway_llamacpp_clients(world):
    """OpenAI's and Anthropic's own Python packages: whole, streamed, tools, errors, cancelled."""
    with two_servers(world) as (gateway, _):
        run_client(world, "gateway_sdk.py", "whole,streamed,tools,refused,cancelled,anthropic",
                   gateway.url)
        wait_idle(gateway)


@case
def gateway_llamacpp_paths(world):
    """Every listed path, as that server answers it: 501 for embeddings it was not started for."""
    with two_servers(world) as (gateway, urls):
        for path, body in (("/v1/embeddings", {"input": "hello"}),
                           (CHAT, {"messages": [{"role": "user", "content": "a"}],
                                   "response_format": {"type": "poem"}})):
            body = {"model": "tiny-a", **body}
            own, through = ask_server(urls["a"], "POST", path, body), gateway.post(path, body)
            check(own.status >= 400, f"{own}")
            check_equal((through.status, through.body), (own.status, own.body), f"{path} {body}")
        tokens = gateway.post(f"{MESSAGES}/count_tokens",
                              {"model": "m", "messages": [{"role": "user", "content": "hello"}]})
        check(json_of(tokens)["input_tokens"] > 0, f"{tokens}")
        for path, body in (("/v1/completions", {"prompt": "once", "max_tokens": 4}),
                           ("/v1/responses", {"input": "once", "max_output_tokens": 4}),
                           (MESSAGES, {"max_tokens": 4,
                                       "messages": [{"role": "user", "content": "once"}]})):
            check_equal(json_of(gateway.post(path, {"model": "m", **body}))["model"], "m", path)
        for path in ("/slots", "/props", "/lora-adapters", "/metrics/../slots"):
            check_equal(gateway.get(path).status, 404, path)


@case
def gateway_llamacpp_embeddings(world):
    with two_servers(world, more=(1, "embeddings")) as (gateway, _):
        reply = json_of(gateway.post("/v1/embeddings", {"model": "m", "input": ["one", "two"]}))
        check_equal(len(reply["data"]), 2, "embeddings")
        check_equal(len(reply["data"][0]["embedding"]), 64, "numbers of one")
        check_equal(reply["model"], "m", "model")


@case
def gateway_llamacpp_tools(world):
    """Tools reach the model: llama.cpp holds it to their schema, and the calls come back."""
    with two_servers(world) as (gateway, _):
        reply = gateway.chat("Where?", tools=[LOOK_UP], tool_choice="required", max_tokens=2000,
                             logit_bias=CALLS_A_TOOL)
        said = json_of(reply)["choices"][0]
        check_equal(said["finish_reason"], "tool_calls", "finish_reason")
        for call in said["message"]["tool_calls"]:
            check_equal(call["function"]["name"], "look_up", "the tool")
            check(json.loads(call["function"]["arguments"])["city"] in ("Bern", "Genf"), f"{call}")


@case
def gateway_llamacpp_stops_for_who_leaves(world):
    """The client closes in the middle of a reply: the server's slot is idle at once."""
    with two_servers(world) as (gateway, urls):
        for _ in range(3):
            with gateway.stream("a long one", max_tokens=LONG_REPLY_TOKENS) as stream:
                stream.until(b'"content":"')
                check(is_busy(urls["a"]), "the slot is idle while it streams")
                left = stream.close()
            while is_busy(urls["a"]):
                check(time.monotonic() - left < 5 * world.slow, "the slot stays busy")
                time.sleep(0.002)
            took = time.monotonic() - left
            print(f"idle {1000 * took:.1f} ms after the client left")
            check(took < CANCEL_S_MAX * world.slow, f"the slot was busy for {took:.3f} s")
        wait_idle(gateway)
        check(gateway.decisions()[-1]["cancelled"], "the log does not say that it was cancelled")


@case
def gateway_llamacpp_turns_stay(world):
    """Turns 2 to 9 of a conversation: the same route, no decision, one line in the log."""
    with decided(world) as (gateway, _):
        messages = [{"role": "user", "content": CODE}]
        routes, sources = [], []
        for turn in range(9):
            reply = gateway.post(CHAT, {"model": "m", "messages": messages, "max_tokens": 6})
            said = json_of(reply)["choices"][0]["message"]["content"]
            routes.append(reply.headers["X-1bit-Route"])
            sources.append(reply.headers["X-Layard-Decision"])
            messages += [{"role": "assistant", "content": said},
                         {"role": "user", "content": f"And {turn}? " + LONG_TEXT[:60 * turn]}]
        check_equal(set(routes), {routes[0]}, "routes")
        check(routes[0].startswith("code ") and routes[0].endswith(" b"), routes[0])
        check_equal(sources, ["model"] + ["sticky"] * 8, "how it was decided")
        check_equal(len(gateway.decisions(1)), 1, "lines of the decision log")


@case
def gateway_llamacpp_dies_in_a_stream(world):
    """An error event and no [DONE]; nothing stays counted; the gateway starts it anew; meanwhile
    the other one serves."""
    with two_servers(world, alternates=["b"]) as (gateway, urls):
        with gateway.stream("a long one", max_tokens=LONG_REPLY_TOKENS) as stream:
            stream.until(b'"content":"')
            killed, when = kill_server(gateway, urls["a"])
            body = stream.rest()
            ended = time.monotonic() - when
        check(b"[DONE]" not in body, f"{body[-300:]!r}")
        check("error" in stream.events()[-1], f"the last event: {stream.events()[-1]}")
        print(f"stream ended {1000 * ended:.1f} ms after the kill")
        wait_idle(gateway)
        check_equal(route_of(gateway.chat("next", max_tokens=4))[1], "b", "device meanwhile")
        until(lambda: server_pid(gateway, urls["a"]) not in (None, killed), "a new process", 20)
        wait_healthy(gateway, "a")
        print(f"serves again {time.monotonic() - when:.1f} s after the kill")
        check_equal(route_of(gateway.chat("after", max_tokens=4))[1], "a", "device afterwards")
        check_equal(state_of(gateway, "a")["cut"], 1, "replies that were cut")
        check_equal(state_of(gateway, "b")["cut"], 0, "replies of the other that were cut")


@case
def gateway_llamacpp_is_measured(world):
    """Measured, derived twice to the same bytes, checked, and taken by the gateway that runs. What
    is concluded is not looked at: the times of a test machine say nothing."""
    with two_servers(world) as (gateway, urls):
        texts = {"code": CODE, "long_doc": LONG_TEXT}
        world.write("cases.json", {"cases": [{"class": label, "text": f"{text} {at}"}
                                             for at in (1, 2) for label, text in texts.items()]})
        for number in range(3):
            json_of(gateway.chat(f"request {number}", max_tokens=4))
        gateway.decisions(3)
        done = world.run("route", "measure", "--policy", gateway.policy_path, "--cases",
                         "cases.json", "--out", "evidence.json", "--rounds", 1, "--per-class", 2,
                         "--max-tokens", 8, "--prompt-lengths", 64, "--drift-max", 1000)
        check(done.code == 0, f"{done}")
        measured = json.loads((world.folder / "evidence.json").read_text(encoding="utf-8"))
        check_equal({one["device"] for one in measured["requests"]}, set(urls), "devices")
        check_equal({one["tokens_from"] for one in measured["requests"]}, {"timings"}, "counts")
        made = []
        for name in ("one.json", "two.json"):
            derived = world.run("route", "derive", "--evidence", "evidence.json", "--log",
                                gateway.decision_log, "--base", gateway.policy_path, "--out", name)
            check(derived.code == 0, f"{derived}")
            made.append((world.folder / name).read_bytes())
        check_equal(made[0], made[1], "the policy derived twice")
        checked = world.run("route", "check", "one.json")
        check(checked.code == 0, f"{checked}")
        gateway.policy_path.write_bytes(made[0])
        check_equal(gateway.post("/gateway/reload", {}).status, 200, "reload")
        json_of(gateway.chat("after the reload", max_tokens=4))


@case
def gateway_llamacpp_ends_with_the_gateway(world):
    """No child survives, however the gateway ends: asked to, or killed while it streams."""
    with two_servers(world) as (gateway, urls):
        begun = descendants(gateway.pid)
        check(all(server_pid(gateway, url) in begun for url in urls.values()), f"{begun}")
        gateway.stop()
        check_equal(gateway.wait(), 0, "exit status")
        check_all_gone(begun, 1 * world.slow)
    begun = check_killed(world)
    check(len(begun) >= 2, f"children: {begun}")


def check_killed(world):
    """Kills the gateway in the middle of a stream; returns the processes that it had."""
    begun = []
    try:
        with two_servers(world) as (gateway, _), \
                gateway.stream("a long one", max_tokens=LONG_REPLY_TOKENS) as stream:
            stream.until(b'"content":"')
            begun += descendants(gateway.pid)
            os.kill(gateway.pid, signal.SIGKILL)
            when = time.monotonic()
            check_all_gone(begun, 6 * world.slow)
            print(f"{len(begun)} processes gone {1000 * (time.monotonic() - when):.0f} ms after")
            gateway.wait()
            raise ExpectedEnd
    except ExpectedEnd:
        return begun


class ExpectedEnd(Exception):
    """Leaves the blocks that would ask a killed gateway for its exit status."""
