"""The page of the decision server in a real browser: what a person does with it, and what they see.

Each case ends by asking the browser whether it complained: exceptions, console errors, violations
of the content security policy.
"""

import json
import re
import subprocess

from browser import ALT, CTRL, SHIFT
from harness import case, check, check_equal
from page_server import (ANSWERED, FAILED, json_value, load, opened, page_server, run_and_wait,
                         set_questions, stub_page)
from page_stub import METRICS, Reply


@case
def page_works_by_keyboard(world):
    with page_server(world) as url, opened(world, url) as browser:
        answers_by_keyboard(browser)
        load(browser, url)
        tabs_by_arrow_keys(browser)


def answers_by_keyboard(browser):
    browser.run("document.activeElement.blur()")
    browser.press("Tab")
    check_equal(browser.run("document.activeElement.className"), "skip", "the first stop")
    stops = []
    while len(stops) < 40 and "state" not in stops:
        browser.press("Tab")
        stops.append(browser.run("document.activeElement.id"))
    check("model" in stops and "key" in stops and stops.index("model") < stops.index("key"),
          f"focus order before the text: {stops}")
    check_equal(stops[-1], "state", "the text can be reached with Tab")
    browser.fill("#state", "The invoice was paid twice and nobody answers the phone.")
    browser.press("Enter", CTRL)
    browser.wait(ANSWERED)
    check_equal(browser.run("document.activeElement.id"), "state", "the focus stays")
    check(re.fullmatch(r"3 answers by .+ in .+ m?s\.", browser.text("#status") or ""),
          f"status: {browser.text('#status')}")
    check_equal(browser.run("document.getElementById('status').getAttribute('role')"),
                "status", "results are announced")
    names = "[...document.querySelectorAll('.answer h3')].map(head => head.textContent)"
    check_equal(browser.run(names), ["team", "urgency", "refund"], "answers in order")
    bars = "[...document.querySelectorAll('.answer')].map(" \
           "answer => answer.querySelectorAll('.bar').length)"
    check_equal(browser.run(bars), [4, 4, 2], "a bar per option")
    check_equal(browser.run("document.querySelectorAll('.bar.chosen').length"), 3, "decisions")
    check_bars_add_up(browser)
    check("answer confidence" in browser.text(".answer"), "no confidence figures")
    check(re.match(r"[\d.]+ m?s round trip", browser.text("#times")), browser.text("#times"))


def check_bars_add_up(browser):
    """Shares of each answer add up to one, and each bar is as long as its share says."""
    for shares in browser.run("""[...document.querySelectorAll('.answer')].map(answer =>
        [...answer.querySelectorAll('.bar')].map(bar => [
          parseFloat(bar.querySelector('.bar-share').textContent),
          100 * bar.querySelector('.fill').getBoundingClientRect().width /
            bar.querySelector('.track').getBoundingClientRect().width]))"""):
        check(abs(sum(share for share, _ in shares) - 100) < 0.5, f"shares {shares}")
        for share, length in shares:
            check(abs(share - length) < 2, f"a bar of {length}% shows {share}%")


def tabs_by_arrow_keys(browser):
    browser.run("document.getElementById('tab-form').focus()")
    browser.press("ArrowRight")
    check_equal(browser.run("document.activeElement.id"), "tab-json", "next tab")
    check(browser.run("document.getElementById('panel-form').hidden"), "the form is hidden")
    browser.press("Tab")
    check_equal(browser.run("document.activeElement.id"), "question-json", "into the panel")
    browser.press("Tab", SHIFT)
    browser.press("Home")
    check_equal(browser.run("document.activeElement.id"), "tab-form", "first tab")
    browser.run("document.querySelector('[data-path=\"0/name\"]').focus()")
    browser.press("ArrowDown", ALT)
    check_equal(list(json_value(browser)), ["urgency", "team", "refund"], "moved by keyboard")
    check_equal(browser.run("document.activeElement.dataset.path"), "1/name", "focus moves too")


@case
def page_form_and_json_agree(world):
    with stub_page(world) as (browser, stub):
        browser.fill("[data-path='0/name']", "Gruppe ü")
        browser.fill("[data-path='0/label-1']", "10")
        browser.fill("[data-path='0/label-2']", "2")
        browser.fill("[data-path='0/description-2']", "")
        browser.click("[aria-label='Remove option 4']")
        browser.click("[data-add=noul]")
        browser.fill("[data-path='3/instructions']", "Is it \"late\"?")
        browser.fill("[data-path='3/true']", "after noon")
        shown = json_value(browser)
        check_equal(list(shown), ["Gruppe ü", "urgency", "refund", "yes_no"], "names")
        check_equal(shown["Gruppe ü"]["criteria"],
                    {"billing": "charges, invoices and refunds",
                     "10": "errors, outages and broken features", "2": None}, "criteria")
        check_equal(shown["yes_no"], {"type": "noul", "instructions": "Is it \"late\"?",
                                      "criteria": {"true": "after noon"}}, "a yes/no question")
        run_and_wait(browser)
        sent = json.loads(stub.last_body())
        check_equal(list(sent["questions"]["Gruppe ü"]["criteria"]), ["billing", "10", "2"],
                    "labels that look like numbers keep their place in the request")
        check_equal(browser.run("[...document.querySelector('.answer').querySelectorAll('.bar b')]"
                                ".map(label => label.textContent)"), ["billing", "10", "2"],
                    "and in the answer")
        set_questions(browser, {"one": {"type": "score", "instructions": {"ask": 1.50},
                                        "criteria": ["low", "high"], "option_order": [1, 0]}})
        browser.click("#tab-form")
        check_equal(browser.run("document.querySelector('[data-path=\"0/instructions\"]').value"),
                    '{"ask":1.5}', "instructions that are no text")
        check("option_order" in browser.text(".question"), "other fields are named")
        browser.choose("[data-path='0/type']", "choice")
        check_equal(json_value(browser)["one"], {
            "type": "choice", "instructions": {"ask": 1.5},
            "criteria": {"low": None, "high": None}},
            "another type takes the options along")
        browser.fill("[data-path='0/description-1']", "tall")
        browser.choose("[data-path='0/type']", "noul")
        check("criteria" not in json_value(browser)["one"], "a yes/no question has no labels")
        browser.choose("[data-path='0/type']", "choice")
        check_equal(json_value(browser)["one"]["criteria"], {"low": None, "high": "tall"},
                    "trying another type loses nothing")


@case
def page_sends_what_was_written(world):
    with stub_page(world) as (browser, stub):
        numbers_stay_as_written(browser, stub)
        load(browser, stub.url)
        curl_command_is_the_request(browser, stub)


def numbers_stay_as_written(browser, stub):
    state = '{"id":12345678901234567890,"price":1.50,"10":1,"2":2,"e":1E5}'
    browser.click("#state-as-json")
    browser.fill("#state", state)
    run_and_wait(browser)
    check(f'"state":{state},' in stub.last_body(), f"sent: {stub.last_body()[:300]}")


# (questions as JSON text, what the message must hold)
BROKEN_QUESTIONS = [
    ('{"a": {"type": "noul" "x": 1}}', ["line 1, column 23", "comma", "member"]),
    ('{\n "a": {"type": "noul",}\n}', ["line 2, column 23", "no comma before"]),
    ("{'a': 1}", ["line 1, column 2", "name in double quotes"]),
    ('{"a": yes}', ["line 1, column 7", "“yes” is not a value"]),
    ('{"a": "b', ["line 1, column 7", "never closed"]),
    ('{"a": "b\nc"}', ["line 1, column 9", "line break", "\\n"]),
    ("", ["nothing here yet"]),
    ("3", ["object"]),
    ("{}", ["at least one question"]),
    ('{"a": {"type": "box"}}', ["“a” has the type \"box\"", "choice, score or noul"]),
    ('{"a": {"instructions": "x"}}', ["“a” has no type"]),
    ('{"a": {"type": "choice", "instructions": "x"}}', ["“a” is a choice", "label"]),
    ('{"a": {"type": "score", "instructions": "x", "criteria": ["l", null]}}',
     ["Level 1 of “a” needs a description"]),
    ('{"a": {"type": "choice", "criteria": {"x": 1, "x": 2}}}', ["repeats the label “x”"]),
    ('{"a": {"type": "noul", "instructions": "x"}, "a": {"type": "noul", "instructions": "y"}}',
     ["Another question is named “a”"]),
    ('{"a": {"type": "noul", "criteria": {"maybe": "x"}}}', ["true and false, not “maybe”"]),
    ('{"a": {"type": "noul"}}', ["Write what “a” asks"]),
    ("[" * 400 + "]" * 400, ["nested deeper"]),
]


@case
def page_says_what_is_wrong_with_questions(world):
    with stub_page(world) as (browser, stub):
        for text, words in BROKEN_QUESTIONS:
            set_questions(browser, text)
            found = browser.text("#question-problem")
            for word in words:
                check(word in found, f"{text[:80]}: expected {word!r} in {found!r}")
            check_equal(browser.run("document.getElementById('question-json')"
                                    ".getAttribute('aria-invalid')"), "true", text[:80])
        set_questions(browser, '{"a": {"type": "noul", "instructions": "x"}}')
        check_equal(browser.text("#question-problem"), "", "nothing is wrong with this")
        browser.fill("#question-json", '{"a": ')
        browser.click("#tab-form")
        check(browser.run("document.getElementById('question-form').disabled"), "no edits now")
        check_equal(browser.run("document.querySelector('[data-path=\"0/name\"]').value"), "a",
                    "the form shows the last state without an error")
        asked = len(stub.asked())
        browser.press("Enter", CTRL)
        browser.wait(FAILED)
        check("Not sent yet" in browser.text("#error"), browser.text("#error"))
        check_equal(len(stub.asked()), asked, "nothing was sent")
        browser.click("#error button")
        check_equal(browser.run("document.activeElement.id"), "question-json", "led to the error")
        browser.click("#tab-form")
        browser.click("#form-notice button:last-child")
        check_equal(json_value(browser), {"a": {"type": "noul", "instructions": "x"}},
                    "the JSON edits were dropped")
        browser.fill("[data-path='0/instructions']", "")
        check("Write what “a” asks" in browser.text(".question .problem"), "said at the question")
        check_equal(browser.run("document.querySelector('[data-path=\"0/instructions\"]')"
                                ".getAttribute('aria-invalid')"), "true", "and at the field")


@case
def page_shows_what_was_cut_and_what_order_does(world):
    with stub_page(world) as (browser, stub):
        cuts_are_shown(browser)
        load(browser, stub.url)
        orders_are_compared(browser, stub)


def orders_are_compared(browser, stub):
    stub.order_bias = {"swayed": 3}
    set_questions(browser, {
        "firm": {"type": "choice", "instructions": "x", "criteria": {"a": "1", "b": "2",
                                                                     "c": "3"}},
        "swayed": {"type": "noul", "instructions": "y"},
        "level": {"type": "score", "instructions": "z", "criteria": ["l", "m", "h", "t"],
                  "option_order": [3, 1, 0, 2]},
        "single": {"type": "choice", "instructions": "x", "criteria": {"only": None}}})
    run_and_wait(browser)
    first = len(stub.asked())
    browser.click("#check-order")
    browser.wait("document.querySelector('.order') !== null")
    orders = {}
    for one in stub.asked()[first:]:
        for name, question in json.loads(one["body"])["questions"].items():
            orders.setdefault(name, []).append(question["option_order"])
    check_equal(orders, {
        "firm": [[0, 1, 2], [2, 1, 0], [1, 2, 0], [2, 0, 1]],
        "swayed": [[0, 1], [1, 0]],
        "level": [[3, 1, 0, 2], [2, 0, 1, 3], [1, 0, 2, 3], [0, 2, 3, 1], [2, 3, 1, 0]]},
        "orders asked")
    found = browser.text(".order")
    for words in ("1 of 3 decisions depends on the order", "firm stays in 3 other orders 0.0",
                  "swayed changes in 1 of 1 other order", "One option only: single"):
        check(words in found, f"expected {words!r} in {found!r}")
    check_equal(browser.run("[...document.querySelectorAll('.answer-head .tag')]"
                            ".map(tag => tag.textContent)"),
                ["same in 3 other orders", "changes in 1 of 1 order", "same in 4 other orders"],
                "said at the answers")
    check_equal(browser.run("document.querySelectorAll('.whisker').length"), 9, "ranges drawn")
    stub.scripted = [Reply(503, {"detail": "busy"}, {"retry-after-ms": "1"})]
    browser.click("#check-order")
    browser.wait(FAILED)
    check("busy" in browser.text("#error"), "a refusal in the middle is shown")


def cuts_are_shown(browser):
    browser.fill("#state", "word " * 500)
    run_and_wait(browser)
    found = browser.text("#usage")
    for words in ("400 of 500 tokens of the text were read, 100 cut", "team cut whole"):
        check(words in found, f"expected {words!r} in {found!r}")
    check_equal(browser.run("document.querySelectorAll('.answer .tag.warn').length"), 3,
                "marked at each answer")
    browser.fill("#state", "short")
    run_and_wait(browser)
    check("The whole text was read (1 tokens)" in browser.text("#usage"), "nothing was cut")


def curl_command_is_the_request(browser, stub):
    browser.call("Browser.grantPermissions", {"permissions": ["clipboardReadWrite",
                                                              "clipboardSanitizedWrite"]})
    texts = ["it's", "a\\b \"c\" $HOME `id` $(id) !! %s\n\ttail\\", "ü😀\ud800", "''", "@file"]
    for text in texts:
        browser.fill("#state", "x")
        browser.run("""text => {
          document.getElementById('state').value = text;
          document.getElementById('state').dispatchEvent(new Event('input'));
        }""", text)
        run_and_wait(browser)
        browser.click("#panel-curl .copy")
        browser.wait("document.getElementById('copy-status').textContent !== ''")
        command = browser.run("navigator.clipboard.readText()")
        words = shell_words(command)
        check_equal(words[-1], stub.asked()[-1]["body"], f"data of {text!r}")
        check_equal(words[:-1], [b"-sS", f"{stub.url}v1/systemone".encode(), b"-H",
                                 b"Content-Type: application/json", b"--data-binary"],
                    f"options of {text!r}")


def shell_words(command):
    """The arguments that a shell would give to curl."""
    script = "curl() { for word in \"$@\"; do printf '%s\\0' \"$word\"; done; }\n" + command
    done = subprocess.run(["sh", "-c", script], capture_output=True, check=True, timeout=10)
    return done.stdout.split(b"\0")[:-1]


@case
def page_reads_the_queue_only_while_visible(world):
    with stub_page(world) as (browser, stub):
        browser.wait("document.querySelectorAll('#queue dd').length > 1", "queue figures")
        check("queue requests (cpu) 3" in browser.text("#queue"), browser.text("#queue"))
        hide = """value => {
          Object.defineProperty(document, 'visibilityState', {value, configurable: true});
          document.dispatchEvent(new Event('visibilitychange'));
        }"""
        browser.run(hide, "hidden")
        browser.run("new Promise(done => setTimeout(done, 300))")  # a reading under way ends
        before = len(stub.asked("/metrics"))
        browser.run("new Promise(done => setTimeout(done, 2600))")
        check_equal(len(stub.asked("/metrics")), before, "readings while hidden")
        stub.metrics = METRICS.replace("} 3", "} 7")
        browser.run(hide, "visible")
        browser.wait("document.getElementById('queue').textContent.includes('7')", "a new reading")
