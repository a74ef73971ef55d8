"""The page of the decision server in a real browser: what it must not do with texts and keys, what
it says when something fails, and whether everybody can read it.
"""

import json

from harness import case, check, check_equal
from page_checks import (CONTRASTS, FORBIDDEN, FORBIDDEN_IN_MARKUP, HOSTILE, NAMED_ROLES, TOO_SMALL,
                         TOO_WIDE)
from page_server import (ANSWERED, FAILED, QUIET, json_value, opened, page_server, run_and_wait,
                         scripted, set_questions, stub_page, web_folder)
from page_stub import MODELS, Reply

MARKUP = ("[...document.querySelectorAll('*')].map(element => element.localName)"
          ".filter(name => ['script', 'img', 'b', 'iframe', 'object', 'form'].includes(name))")


def hostile_reply():
    """Every text of a reply that the page shows is hostile."""
    first, *_ = HOSTILE
    return {
        "model": first, "warnings": HOSTILE, "routing": {"model": first},
        "answers": {
            first: {"type": "choice", "choice": first, "confidence": 0.5, "answer_confidence": 0.9,
                    "probabilities": {text: 0.1 for text in HOSTILE}},
            "__proto__": {"type": "score", "score": 1, "probabilities": {"0": 0.5, "1": 0.5},
                          "legend": {"0": first, "1": first}},
            "constructor": {"type": first, "noul": first}},
        "usage": {"input_tokens": 10, "output_tokens": 0, "state_tokens": 9,
                  "state_tokens_dropped": 4, "truncated": True, "truncated_questions": [first],
                  "options": {first: {"total": 8, "distinct": 2, "tokens_per_option": 4}}},
        "layard": {"latency_ms": first, "device_ms": 1.5}}


@case
def page_shows_hostile_texts_as_text(world):
    with scripted(world) as stub:
        stub.models = {"models": [{**MODELS["models"][0], "name": HOSTILE[0],
                                   "description": HOSTILE[1]}]}
        stub.metrics = ("# HELP layard_queue_x " + HOSTILE[0] + "\n# TYPE layard_queue_x gauge\n"
                        'layard_queue_x{device="<img src=x onerror=window.hit=1>"} 3\n')
        with opened(world, stub.url) as browser:
            usual = browser.run(MARKUP)
            questions = {HOSTILE[0]: {"type": "choice", "instructions": HOSTILE[1],
                                      "criteria": dict(zip(HOSTILE, HOSTILE))},
                         "__proto__": {"type": "score", "instructions": HOSTILE[2],
                                       "criteria": HOSTILE},
                         "constructor": {"type": "noul", "instructions": HOSTILE[3],
                                         "criteria": {"true": HOSTILE[0], "false": HOSTILE[1]}}}
            browser.fill("#state", "\n".join(HOSTILE))
            set_questions(browser, questions)
            browser.click("#tab-form")
            check_equal(json_value(browser), questions, "the form changed nothing")
            stub.scripted = [Reply(200, hostile_reply(), {
                "Server-Timing": 'x;dur=1;desc="<img src=x onerror=window.hit=1>"'})]
            run_and_wait(browser)
            check_equal(json.loads(stub.last_body())["questions"], questions, "sent as typed")
            check(HOSTILE[0] in browser.text("#answers"), "the label is not shown as it is")
            check(HOSTILE[1] in browser.text("#usage"), "the warning is not shown as it is")
            check(HOSTILE[0] in browser.run("document.getElementById('raw-curl').textContent")
                  .replace('\\"', '"'), "the command does not show the text")
            stub.scripted = [Reply(422, {"detail": " ".join(HOSTILE)})]
            run_and_wait(browser, FAILED)
            check(HOSTILE[0] in browser.text("#error"), "the error is not shown as it is")
            stub.scripted = [Reply(502, HOSTILE[0], {"Content-Type": "text/html"})]
            run_and_wait(browser, FAILED)
            browser.wait("document.querySelectorAll('#queue dd').length > 0")
            check_equal(browser.run("typeof window.hit"), "undefined", "code of a text ran")
            check_equal(browser.run("document.getElementById('hit')"), None, "markup of a text")
            extra = [name for name in browser.run(MARKUP) if name not in ("b",)]
            check_equal(extra, [name for name in usual if name != "b"], "elements of the page")


# (reply, what the panel must say, words of its button or None)
REFUSALS = [
    (Reply(422, {"detail": "question 'team': 'criteria' is too long"}),
     ["refused", "422", "question 'team': 'criteria' is too long"], None),
    (Reply(422, {"detail": [{"loc": ["body", "questions", "a", "score", "criteria"],
                             "msg": "Field required", "type": "missing"}]}),
     ["questions.a.score.criteria: Field required"], None),
    (Reply(413, {"error": {"message": "request body too large"}}),
     ["413", "request body too large", "Shorten the text"], None),
    (Reply(500, {"detail": "inference failed"}), ["could not answer", "inference failed"], None),
    (Reply(503, {"detail": "server busy"}, {"retry-after-ms": "1500", "Retry-After": "2"}),
     ["503", "server busy", "come back in 1.50 s"], "Run again in 2 s"),
    (Reply(429, {"message": "too many"}, {"Retry-After": "7"}),
     ["429", "too many", "7.00 s"], "Run again in 7 s"),
    (Reply(200, "<html>proxy</html>", {"Content-Type": "text/html"}),
     ["cannot be read", "<html>proxy</html>"], None),
    (Reply(200, {"models": []}), ["cannot be read"], None),
    (Reply(0, ""), ["No answer from the server"], "Run again"),
]


@case
def page_says_what_to_do_about_errors(world):
    with stub_page(world) as (browser, stub):
        run_and_wait(browser)
        for reply, words, button in REFUSALS:
            stub.scripted = [reply]
            run_and_wait(browser, FAILED)
            found = browser.text("#error")
            for word in words:
                check(word in found, f"{reply.status}: expected {word!r} in {found!r}")
            check_equal(browser.text("#error button"), button, f"{reply.status}: its button")
            check_equal(browser.text("#answers"), "", f"{reply.status}: an older answer is shown")
        check_equal(browser.run("document.getElementById('error').getAttribute('role')"), "alert",
                    "errors are announced")
        browser.click("#error button")
        browser.wait(ANSWERED)
        check_equal(browser.text("#error"), "", "the error is gone with the next answer")
        runs_can_be_cancelled(browser, stub)


@case
def page_sends_the_key_and_forgets_it(world):
    with scripted(world) as stub:
        stub.key = "sk-secret'1"
        with opened(world, stub.url) as browser:
            browser.wait("document.getElementById('server-words').textContent.includes('key')")
            run_and_wait(browser, FAILED)
            check("invalid or missing bearer token" in browser.text("#error"), "401 is not shown")
            browser.click("#error button")
            check_equal(browser.run("document.activeElement.id"), "key", "led to the key")
            browser.fill("#key", stub.key)
            run_and_wait(browser)
            check_equal(stub.asked()[-1]["headers"]["Authorization"], f"Bearer {stub.key}",
                        "the key is sent")
            browser.wait("document.getElementById('server-words').textContent.includes('ready')")
            browser.click("#tab-request")
            everything = browser.run("document.documentElement.outerHTML")
            check("sk-secret" not in everything, "the key is written into the page")
            check('"Authorization: Bearer $API_KEY"' in browser.run(
                "document.getElementById('raw-curl').textContent"), "curl names no key")
            kept = browser.run("""(async () => JSON.stringify([
                {...localStorage}, {...sessionStorage}, document.cookie, location.href,
                history.state, (await indexedDB.databases()).length]))()""")
            check_equal(kept, json.dumps([{}, {}, "", stub.url, None, 0], separators=(",", ":")),
                        "nothing is kept")
            browser.fill("#key", "two words")
            check("without blanks" in browser.text("#key-problem"), "a key that cannot be sent")
            browser.call("Page.reload")
            browser.wait("document.querySelectorAll('.question').length > 0")
            check_equal(browser.run("document.getElementById('key').value"), "", "after a reload")


def runs_can_be_cancelled(browser, stub):
    stub.scripted = [Reply(500, {"detail": "inference failed"})]
    run_and_wait(browser, FAILED)
    asked = len(stub.asked())
    browser.run("""(() => {
      const send = window.fetch;
      window.fetch = (path, options) => (options.method === 'POST' ? new Promise((_, refuse) =>
        options.signal.addEventListener('abort', () => refuse(options.signal.reason))) :
        send(path, options));
      window.restore = () => { window.fetch = send; };
    })()""")
    browser.click("#run")
    browser.wait("!document.getElementById('cancel').hidden")
    check_equal(browser.run("document.getElementById('run').getAttribute('aria-disabled')"),
                "true", "no second run meanwhile")
    browser.click("#cancel")
    browser.wait(QUIET)
    check_equal(browser.text("#status"), "Cancelled.", "status")
    check(browser.run("document.getElementById('check-order').disabled"), "nothing to compare yet")
    browser.run("window.restore()")
    run_and_wait(browser)
    check_equal(len(stub.asked()) - asked, 1, "requests that were sent")


@case
def page_fits_and_can_be_read(world):
    with page_server(world) as url, opened(world, url) as browser:
        grounds = {}
        for width, scheme in ((1280, "light"), (1280, "dark"), (768, "light"), (360, "light"),
                              (360, "dark")):
            what = f"{width} pixels, {scheme}"
            browser.window(width, 800, scheme)
            run_and_wait(browser)
            browser.click("#check-order")
            browser.wait(f"document.querySelector('.order') !== null && {QUIET}")
            check(browser.run("document.documentElement.scrollWidth") <= width,
                  f"{what}: scrolls sideways")
            check_equal(browser.run(TOO_WIDE, width), [], f"{what}: stands out")
            check_equal(browser.run(TOO_SMALL), [], f"{what}: too small to hit")
            check_equal(browser.run(CONTRASTS), [], f"{what}: contrast under 4.5")
            grounds[scheme] = browser.run("getComputedStyle(document.body).backgroundColor")
        check(grounds["light"] != grounds["dark"], f"dark mode changes nothing: {grounds}")
        nameless = [role for role, name in browser.accessible() if role in NAMED_ROLES and not name]
        check_equal(nameless, [], "controls without a name")
        moving = "getComputedStyle(document.querySelector('.fill')).transitionDuration"
        check(browser.run(moving) != "0s", "bars grow")
        browser.window(1280, 800, reduced_motion=True)
        check_equal(browser.run(moving), "0s", "but not where motion is reduced")


@case
def page_sources_need_no_lax_policy(world):
    files = sorted(web_folder(world).iterdir())
    check(len(files) > 5, f"only {files}")
    for path in files:
        text = path.read_text(encoding="utf-8")
        pattern = FORBIDDEN if path.suffix in (".js", ".css") else FORBIDDEN_IN_MARKUP
        found = pattern.search(text)
        check(found is None, f"{path.name}: {found and found.group(0)!r}")
