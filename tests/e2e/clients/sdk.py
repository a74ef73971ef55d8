#!/usr/bin/env python3
"""The unmodified typesafe-sdk against a running server: `sdk.py CASE[,CASE...] URL [ARGUMENT]`.

Exit 0: all holds. SLOW_FACTOR (default 1): how many times slower than a release build the
server is; waits grow by it and crowds shrink."""

import asyncio
import os
import sys
import threading
import time
import urllib.request

import typesafe_sdk
from typesafe_sdk import (AsyncTypeSafeClient, Box, Choice, Noul, RetryPolicy, Score,
                          TypeSafeClient)

SLOW = int(os.environ.get("SLOW_FACTOR", "1"))
SDK_TIMEOUT_S = 10.0  # the package's own
TEXT = "The customer was charged twice for the same invoice and wants the second charge refunded."
QUESTIONS = {
    "zone": Choice(instructions="Which team should answer?",
                   criteria={"tech": "errors and outages", "billing": "charges and refunds",
                             "account": None}),
    "angry": Noul(instructions="Is the writer angry?"),
    "mood": Score(instructions="How urgent is it?", criteria=["can wait", "this week", "today"]),
    "unnamed": Choice(criteria={"yes": None, "no": None}),
}


def client(url, **settings):
    return TypeSafeClient(api_key="any-key", base_url=url, timeout=SDK_TIMEOUT_S * SLOW, **settings)


def check_answers(response):
    assert response.model == "laya-rl-agent", response.model
    assert response.request_id.startswith("ly"), response.request_id
    assert list(response.choices) == ["zone", "unnamed"], response.choices
    zone = response.choices["zone"]
    assert zone.choice in ("tech", "billing", "account")
    assert abs(sum(zone.probabilities.values()) - 1) < 0.001
    assert 0 <= zone.confidence <= 1
    mood = response.scores["mood"]
    assert 0 <= mood.score <= 2 and len(mood.legend) == 3
    assert 0 <= response.nouls["angry"].noul <= 1
    assert response.usage.input_tokens > 0 and response.usage.output_tokens == 0


def sync(url):
    with client(url) as c:
        check_answers(c.system_one(TEXT, QUESTIONS))
        check_answers(c.system_one({"subject": "invoice", "body": TEXT}, QUESTIONS))
        check_answers(c.system_one([{"role": "user", "content": TEXT}], QUESTIONS, model="starter"))
        strict = c.system_one(TEXT, QUESTIONS, extra_body={"jev_strict": True})
        check_answers(strict)


def prefix(url):
    """A base URL with a slash at its end."""
    with client(url + "/") as c:
        check_answers(c.system_one(TEXT, QUESTIONS))


def several(url):
    async def run():
        async with AsyncTypeSafeClient(api_key="any-key", base_url=url,
                                       timeout=SDK_TIMEOUT_S * SLOW) as c:
            responses = await asyncio.gather(
                *(c.system_one(f"{TEXT} {i}", QUESTIONS) for i in range(20 // SLOW)))
            for response in responses:
                check_answers(response)
            models = await c.models.list()
            assert models.models[0].name == "starter"
    asyncio.run(run())


def zstd(url):
    """Bodies from 1,024 bytes on are compressed without being asked."""
    sent = []

    def note(request):
        sent.append(request.headers.get("content-encoding"))

    long = TEXT * (20 if SLOW == 1 else 12)
    with client(url) as c:
        transport = c._http_client if hasattr(c, "_http_client") else None  # for the hook only
        if transport is not None:
            transport.event_hooks["request"].append(note)
        compressed = c.system_one(long, QUESTIONS)
        assert transport is None or sent == ["zstd"], sent
    with client(url, compression=False) as c:
        plain = c.system_one(long, QUESTIONS)
    check_answers(compressed)
    assert compressed.choices["zone"].probabilities == plain.choices["zone"].probabilities


def errors(url):
    cases = (
        (typesafe_sdk.TypeSafeUnprocessableEntityError, "unknown type 'box'",
         lambda c: c.system_one(TEXT, {"q": Box(instructions="where")})),
        (typesafe_sdk.TypeSafeUnprocessableEntityError, "unknown model",
         lambda c: c.system_one(TEXT, QUESTIONS, model="./somewhere")),
        (typesafe_sdk.TypeSafeBadRequestError, "'state' is required",
         lambda c: c.system_one(TEXT, QUESTIONS, extra_body={"state": None})),
        (typesafe_sdk.TypeSafeAPIError, "state too large (50001 > 50000 chars)",
         lambda c: c.system_one("x" * 50_001, QUESTIONS)),
    )
    with client(url) as c:
        for kind, text, call in cases:
            try:
                call(c)
            except kind as error:
                assert text in str(error), error
                assert error.request_id.startswith("ly"), error.request_id
            else:
                raise AssertionError(f"no {kind.__name__}")


def image(url):
    with client(url, retry=RetryPolicy(max_retries=0)) as c:
        picture = typesafe_sdk.Image(b"\x89PNG\r\n\x1a\n" + b"\0" * 64)
        try:
            c.system_one([picture], QUESTIONS, assets={"a": picture})
        except typesafe_sdk.TypeSafeAPIError as error:
            assert "Content-Type must be application/json" in str(error), error
        else:
            raise AssertionError("an image was taken")


def key(url, right):
    with client(url) as c:
        try:
            c.system_one(TEXT, QUESTIONS)
        except typesafe_sdk.TypeSafeAuthenticationError as error:
            assert "invalid or missing bearer token" in str(error), error
        else:
            raise AssertionError("a wrong key was taken")
    with TypeSafeClient(api_key=right, base_url=url, timeout=SDK_TIMEOUT_S * SLOW) as c:
        check_answers(c.system_one(TEXT, QUESTIONS))


def models(url):
    with client(url) as c:
        listed = c.models.list().models
    assert listed[0].name == "starter", listed
    assert all(isinstance(m.description, str) and isinstance(m.release_date, str) for m in listed)


def attempts(url, status):
    text = urllib.request.urlopen(url + "/metrics", timeout=10).read().decode()
    name = f'layard_http_responses_total{{endpoint="systemone",status="{status}"}} '
    return sum(int(line.rsplit(" ", 1)[1]) for line in text.splitlines() if line.startswith(name))


def retries(url):
    """503 is tried again after the stated wait; what cannot succeed is sent once."""
    before = {status: attempts(url, status) for status in (422, 503)}
    with client(url) as c:
        began = time.monotonic()
        try:
            c.system_one(TEXT, QUESTIONS, model="laya")
        except typesafe_sdk.TypeSafeInternalServerError as error:
            assert "layard download laya" in str(error), error
        else:
            raise AssertionError("a checkpoint that is not here answered")
        assert time.monotonic() - began >= 2 * 0.9, "the stated wait was not kept"
        assert attempts(url, 503) - before[503] == 3, attempts(url, 503)
        try:
            c.system_one(TEXT, {"q": Box(instructions="where")})
        except typesafe_sdk.TypeSafeUnprocessableEntityError:
            pass
        assert attempts(url, 422) - before[422] == 1, attempts(url, 422)


def busy(url):
    """More clients than the queue takes: with retries all of them are answered."""
    failures = []

    def one(number):
        try:
            patient = RetryPolicy(max_retries=1000, timeout=60.0 * SLOW)
            with client(url, retry=patient) as c:
                for i in range(2):
                    check_answers(c.system_one(f"{TEXT} {number} {i}", QUESTIONS))
        except Exception as error:  # pylint: disable=broad-except  (of any thread)
            failures.append(repr(error))

    threads = [threading.Thread(target=one, args=(i,)) for i in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not failures, failures
    assert attempts(url, 503) > 0, "the queue was never full"


if __name__ == "__main__":
    for case in sys.argv[1].split(","):
        print(case, flush=True)  # the last one is the one that failed
        globals()[case](*sys.argv[2:])
