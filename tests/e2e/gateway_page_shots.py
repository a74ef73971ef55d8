#!/usr/bin/env python3
"""Pictures of the gateway's status page, to be looked at: busy, after a refused reload, without the
gateway, with a key wanted; light, dark and narrow.

usage: gateway_page_shots.py --layard BINARY --out DIR
"""

import argparse
import json
import pathlib
import sys

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import gateway_backend as behave  # noqa: E402
from browser import browser_for  # noqa: E402
from gateway_backend import Backend  # noqa: E402
from gateway_running import LONG_TEXT, policy_of, running_gateway  # noqa: E402
from harness import world_for  # noqa: E402

WIDE, MIDDLE, NARROW = (1360, 900), (820, 900), (360, 780)
TEXTS = ["Write a Rust function that sums a slice.", "Tell me a story about a lighthouse keeper.",
         "What is the capital of Peru?", LONG_TEXT]
WHY = {"code": "decodes fastest on the large card: 310 ms a request less than npu0",
       "short": "first token in 40 ms, and the card stays free",
       "long_doc": "prompts over 1,024 characters are read four times faster here"}
NAMES = ("gpu0", "npu0", "cpu0")
READ = "document.querySelectorAll('#devices tbody tr').length === 3"


def policy_for(backends):
    policy = policy_of(
        backends, rows={"short": "npu0"}, alternates=["cpu0"], devices={
            "gpu0": {"requests_max": 4, "queue_max": 16, "model": "Qwen3-14B-Instruct-Q4_K_M"},
            "npu0": {"requests_max": 2, "model": "Llama-3.2-3B"},
            "cpu0": {"health": {"interval_ms": 200, "failures": 2}}}, min_confidence=0.16)
    for name, why in WHY.items():
        policy["classes"][name]["why"] = why
    return policy


def make_busy(gateway, backends):
    for number in range(24):
        gateway.chat(f"{TEXTS[number % 4]} ({number})", model="auto")
    gateway.chat("again", model="auto", headers={"X-Layard-Device": "npu0"})
    conversation = [{"role": "user", "content": f"{TEXTS[0]} (0)"}]
    for _ in range(3):
        gateway.post("/v1/chat/completions", {"model": "auto", "messages": conversation})
    to_gpu = {"X-Layard-Device": "gpu0"}
    backends["gpu0"].script(behave.error(503, "broken"), behave.error(422, "bad field"))
    gateway.chat("one that fails", model="auto", headers=to_gpu)
    gateway.chat("one that is refused", model="auto", headers=to_gpu)
    backends["cpu0"].health = "bad"
    backends["gpu0"].otherwise = behave.hang
    return [gateway.stream(f"{LONG_TEXT} {number}", model="auto") for number in range(6)]


def take(browser, gateway, out):
    def shot(name, scheme, window):
        browser.window(*window, scheme=scheme, reduced_motion=True)
        browser.screenshot(out / f"{name}-{scheme}.png", whole=window != NARROW)
        if window == NARROW:
            for target in ("classes-title", "recent-title"):
                browser.run(f"document.getElementById('{target}').scrollIntoView()")
                browser.screenshot(out / f"{name}-{scheme}-{target}.png", whole=False)
    browser.window(*WIDE)
    browser.open(gateway.url)
    browser.wait(READ)
    browser.wait("document.getElementById('devices').textContent.includes('ejected')")
    browser.wait("document.getElementById('devices').textContent.includes('4 of 4')")
    for scheme in ("light", "dark"):
        for name, window in (("1-wide", WIDE), ("2-middle", MIDDLE), ("3-narrow", NARROW)):
            shot(name, scheme, window)
    gateway.policy_path.write_text(json.dumps({"version": 1, "default": "x"}), encoding="utf-8")
    browser.window(*WIDE)
    browser.click("#reload")
    browser.wait("!document.getElementById('reload-error').hidden")
    shot("4-refused", "light", WIDE)
    shot("5-refused-narrow", "dark", NARROW)


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--layard", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    with world_for(arguments.layard.resolve(), HERE.parent.parent, None) as world, \
            Backend("gpu0") as gpu, Backend("npu0") as npu, Backend("cpu0") as cpu, \
            browser_for(world) as browser:
        backends = dict(zip(NAMES, (gpu, npu, cpu)))
        with running_gateway(world, policy_for(backends), "--laya", "--model", "starter",
                             "--drain-ms", "200") as gateway:
            streams = make_busy(gateway, backends)
            take(browser, gateway, arguments.out)
            for stream in streams:
                stream.close()
        browser.wait("!document.getElementById('banner').hidden")
        browser.window(*WIDE)
        browser.screenshot(arguments.out / "6-gone-light.png", whole=False)
        key_file = world.write("keys", "ops key-for-pictures\n")
        with running_gateway(world, policy_for(backends), "--host", "0.0.0.0", "--allow-remote",
                             "--api-key-file", key_file) as gateway:
            browser.open(gateway.url)
            browser.wait("!document.getElementById('key-form').hidden")
            browser.screenshot(arguments.out / "7-key-light.png", whole=False)
            browser.window(*NARROW, scheme="dark")
            browser.screenshot(arguments.out / "8-key-narrow-dark.png", whole=False)
        print("\n".join(browser.complaints()) or "no complaints of the browser")


if __name__ == "__main__":
    main()
