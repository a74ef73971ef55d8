"""Other people's clients against `layard gateway`: the unmodified Python packages of OpenAI and
Anthropic (tests/e2e/clients/chat.py), in front of a scripted backend."""

import re

import gateway_answers
import gateway_backend as behave
from gateway_backend import Backend
from gateway_running import policy_of, running_gateway
from harness import case, check, check_equal
from serving import run_client, until

OPENAI = "chat,chat_streamed,chat_tools,models,completions,responses,embeddings"
ANTHROPIC = "messages,messages_streamed,messages_tools,count_tokens"
OWN_MODEL = {"gpu0": {"model": "own/model-1"}}
KEY = "key-of-tests-1"


def one_device(world, backend, *flags, **more):
    """The clients ask for the device's name, so every reply's model has to be theirs again."""
    return running_gateway(world, policy_of({"gpu0": backend}, devices=OWN_MODEL, **more), *flags)


def chunk(text):
    return gateway_answers.data(gateway_answers.chunk("own/model-1", {"content": text}))


@case
def gateway_client_of_openai(world):
    """One process: importing the packages takes longer than its cases."""
    with Backend("gpu0", "own/model-1") as backend, one_device(world, backend) as gateway:
        run_client(world, "chat.py", OPENAI, gateway.url)
        check_equal({one.json()["model"] for one in backend.requests if one.body},
                    {"own/model-1"}, "models that the backend was asked for")
        for request in backend.requests:
            check("any-key" not in str(request.raw_headers), "a client's key went on")


@case
def gateway_client_of_anthropic(world):
    with Backend("gpu0", "own/model-1") as backend, one_device(world, backend) as gateway:
        run_client(world, "chat.py", ANTHROPIC, gateway.url)
        for request in backend.requests:
            check("any-key" not in str(request.raw_headers), "a client's key went on")
            version = request.headers["anthropic-version"]
            check(re.fullmatch(r"\d{4}-\d\d-\d\d", version), f"version {version!r}")


@case
def gateway_client_cancels(world):
    """A stream that the client closes is closed at the backend."""
    with Backend("gpu0") as backend, one_device(world, backend) as gateway:
        backend.script(behave.stream([chunk(f"{i} ") for i in range(2000)], 0.05))
        told = run_client(world, "chat.py", "chat_cancelled", gateway.url)
        left = float(told.split("left ")[1].split()[0])
        request = backend.requests[0]
        until(lambda: request.closed_at is not None, "the end of the backend's request")
        # The process of the client tells its time after it closed.
        check(request.closed_at - left < 0.1 * world.slow,
              f"after {request.closed_at - left:.3f} s")


@case
def gateway_client_errors(world):
    with Backend("gpu0") as backend, one_device(world, backend) as gateway:
        run_client(world, "chat.py", "chat_errors,messages_errors", gateway.url)
        check_equal(backend.requests, [], "requests that passed")
        events = gateway_answers.message_events("own/model-1", "one two")[:4]
        backend.script(behave.stream([chunk("half")], end="cut"),
                       behave.stream(events, end="cut"))
        run_client(world, "chat.py", "chat_broken,messages_broken", gateway.url)


@case
def gateway_client_is_told_what_the_backend_says(world):
    with Backend("gpu0") as backend, one_device(world, backend,
                                                alternates_on_error=False) as gateway:
        backend.script(behave.error(429, "busy"), behave.error(429, "busy"))
        run_client(world, "chat.py", "chat_error_of_backend", gateway.url)


@case
def gateway_client_keys(world):
    """Both clients' ways to say a key; a wrong one is refused in each API's form."""
    keys = world.write("keys.txt", f"tests {KEY}\n")
    keys.chmod(0o600)
    world.environment["GATEWAY_KEY"] = KEY
    with Backend("gpu0", "own/model-1") as backend, one_device(
            world, backend, "--api-key-file", keys) as gateway:
        run_client(world, "chat.py", "chat,messages,models,wrong_key", gateway.url)
        for request in backend.requests:
            check(KEY not in str(request.raw_headers), "a client's key went on")


@case
def gateway_client_limits(world):
    """A caller's requests a minute: the client sees 429 with a time to wait."""
    keys = world.write("keys.txt", f"tests {KEY}\n")
    keys.chmod(0o600)
    with Backend("gpu0") as backend, one_device(
            world, backend, "--api-key-file", keys, "--requests-per-minute", 3) as gateway:
        header = {"Authorization": f"Bearer {KEY}"}
        replies = [gateway.chat(f"text {i}", header, model="gpu0") for i in range(5)]
        check_equal([one.status for one in replies], [200, 200, 200, 429, 429], "statuses")
        check(int(replies[-1].headers["Retry-After"]) >= 1, "Retry-After")
        check_equal(replies[-1].json(429)["error"]["type"], "rate_limit_error", "type")
        check_equal(len(backend.requests), 3, "requests that passed")


@case
def gateway_client_limits_at_once(world):
    keys = world.write("keys.txt", f"tests {KEY}\n")
    keys.chmod(0o600)
    header = {"Authorization": f"Bearer {KEY}"}
    with Backend("gpu0") as backend, one_device(
            world, backend, "--api-key-file", keys, "--concurrent-max", 1) as gateway:
        backend.script(behave.stream([chunk("a"), 60.0]))
        with gateway.stream("one", header, model="gpu0") as stream:
            stream.until(b'"a"')
            check_equal(gateway.chat("two", header, model="gpu0").status, 429, "a second one")
        until(lambda: gateway.chat("three", header, model="gpu0").status == 200, "a free place")
