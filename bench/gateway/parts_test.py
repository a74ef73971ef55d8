#!/usr/bin/env python3
"""The gateway's benchmark against itself: that its parts count and measure what they say."""

import contextlib
import http.client
import json
import pathlib
import subprocess
import sys
import unittest

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import run  # noqa: E402

PROGRAMS = pathlib.Path(".")
BODY = json.dumps({"model": "m", "messages": [], "stream": True})


def mock(*options):
    return run.running([PROGRAMS / "mock_backend", *options])


def client(url):
    """A connection that closes itself."""
    return contextlib.closing(
        http.client.HTTPConnection(url.removeprefix("http://"), timeout=20))


def generator(*words):
    return json.loads(run.output([PROGRAMS / "bench_gateway", *words]))


class MockBackend(unittest.TestCase):
    def test_stream_is_whole(self):
        with mock("--events", 5, "--events-per-s", 100, "--event-bytes", 400) as (process, url), \
                client(url) as connection:
            for _ in range(2):  # on one connection
                connection.request("POST", "/v1/chat/completions", BODY)
                reply = connection.getresponse()
                self.assertEqual(reply.getheader("Content-Type"), "text/event-stream")
                events = reply.read().decode().split("\n\n")
                self.assertEqual(events[-2:], ["data: [DONE]", ""])
                self.assertEqual({len(event) + 2 for event in events[:5]}, {400})
                for index, event in enumerate(events[:5]):
                    chunk = json.loads(event.removeprefix("data: "))
                    self.assertIn(f"seq={index:09}", chunk["system_fingerprint"])
                self.assertEqual(json.loads(events[6][6:])["usage"]["completion_tokens"], 5)
            connection.request("GET", "/health")
            with connection.getresponse() as reply:
                self.assertEqual(reply.status, 200)
            process.terminate()
            counts = json.loads(process.stdout.read())
        self.assertEqual((counts["requests"], counts["ended"], counts["events"]), (3, 2, 10))
        self.assertEqual(counts["connections"], 1)

    def test_reply_has_its_size_and_waits(self):
        with mock("--reply-bytes", 3000, "--first-byte-ms", 30) as (_, url), \
                client(url) as connection:
            found = generator("latency", "--direct", url, "--proxied", url, "--count", 8,
                              "--warm-up", 0)
            self.assertEqual((found["direct"]["n"], found["proxied"]["n"]), (4, 4))
            self.assertGreaterEqual(found["direct"]["p50_ms"], 30)
            connection.request("POST", "/v1/chat/completions", "{}")
            self.assertEqual(len(connection.getresponse().read()), 3000)


class Streams(unittest.TestCase):
    def test_counts_events_of_ended_streams(self):
        with mock("--events", 3, "--events-per-s", 50) as (process, url):
            found = generator("streams", "--url", url, "--streams", 20, "--seconds", 1, "--pid",
                              process.pid, "--probe", url, url)
            process.terminate()
            counts = json.loads(process.stdout.read())
        self.assertGreater(found["ended"], 20)
        self.assertEqual((found["lost_events"], found["repeated_events"]), (0, 0))
        self.assertGreater(found["events"], 100)
        self.assertLessEqual(found["events"], counts["events"])
        self.assertGreater(found["probes"]["direct"]["n"], 0)
        self.assertEqual(found["cpu"][0]["pid"], process.pid)

    def test_two_thousand(self):
        with mock("--events-per-s", 1, "--events", 1000) as (process, url):
            found = generator("streams", "--url", url, "--streams", 2000, "--seconds", 1,
                              "--opening-max", 2000)
            process.terminate()
            counts = json.loads(process.stdout.read())
        self.assertEqual(counts["streams"], 2000)
        self.assertGreater(found["events"], 1000)

    def test_refusal_is_told(self):
        with mock() as (_, url):
            done = subprocess.run([PROGRAMS / "bench_gateway", "streams", "--url", url, "--path",
                                   "/nowhere"], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("status 404", done.stderr)


class Arithmetic(unittest.TestCase):
    def test_bound(self):
        """71 tokens of the seed's example and just under the gate at 180 GFLOP/s."""
        self.assertAlmostEqual(run.bound_ms(71, 180), 14.5, delta=0.1)
        self.assertAlmostEqual(run.bound_ms(266, 180), 49, delta=0.1)

    def test_medians(self):
        rounds = [{"a": 1, "b": [{"c": 4}]}, {"a": 3, "b": [{"c": 6}]}, {"a": 2, "b": [{"c": 5}]}]
        self.assertEqual(run.medians(rounds), {"a": 2, "b": [{"c": 5}]})

    def test_file_name(self):
        self.assertEqual(run.file_name("AMD EPYC 9R14 (x)"), "gateway-amd-epyc-9r14-x.json")


if __name__ == "__main__":
    PROGRAMS = pathlib.Path(sys.argv.pop(1))
    unittest.main()
