"""The gateway's status page in a real browser."""

import contextlib
import json
import re

import gateway_backend as behave
from browser import SHIFT, browser_for
from gateway_backend import Backend
from gateway_running import LONG_TEXT, policy_of, running_gateway
from harness import case, check, check_equal
from page_checks import (CONTRASTS, FORBIDDEN, FORBIDDEN_IN_MARKUP, HOSTILE, NAMED_ROLES, TOO_SMALL,
                         TOO_WIDE)

LAYA = ("--laya", "--model", "starter")
KEY = "sk-secret'1"
SHOWN = "!document.body.classList.contains('locked')"
GONE = "!document.getElementById('banner').hidden"
REFUSED = "!document.getElementById('reload-error').hidden"
MARKUP = ("[...document.querySelectorAll('*')].map(element => element.localName)"
          ".filter(name => ['script', 'img', 'b', 'iframe', 'object', 'svg'].includes(name))")
CELLS = """id => [...document.querySelectorAll(`#${id} tbody tr`)].map(row =>
    [...row.cells].map(cell => [...cell.querySelectorAll('.value, .tag, .below')]
        .map(part => part.textContent).filter(Boolean).join(' | ').replaceAll('\\u00a0', ' ')))"""
TERMS = """id => Object.fromEntries([...document.querySelectorAll(`#${id} > div`)].map(
    pair => [...pair.children].map(part => part.innerText.replace(/\\s+/g, ' ').trim())))"""
PLACES = """[...document.querySelectorAll('h2, #devices th, #devices td, #recent thead th')]
    .map(element => element.getBoundingClientRect()).map(box => [box.x, box.y])"""


@contextlib.contextmanager
def opened(world, url, until=SHOWN):
    """A browser with the page in it, which must not have made it complain in the end."""
    with browser_for(world) as browser:
        browser.window(1280, 900)
        browser.open(url)
        browser.wait(until)
        yield browser
        check_equal(browser.complaints(), [], "complaints of the browser")


def cells(browser, table):
    return browser.run(CELLS, table)


def wait_cell(browser, table, row, column, text):
    browser.wait(f"({CELLS})('{table}')[{row}]?.[{column}] === {json.dumps(text)}",
                 f"{text!r} in {table}")


@case
def gateway_page_follows_the_gateway(world):
    """Rows appear and change with requests, and what is shown stays where it is."""
    with Backend("a", model="m1") as one, Backend("b") as other:
        policy = policy_of({"a": one, "b": other}, alternates=["b"], devices={
            "a": {"requests_max": 4, "queue_max": 8,
                  "health": {"interval_ms": 100, "failures": 2}}})
        policy["classes"]["long_doc"]["why"] = "reads fastest"
        with running_gateway(world, policy, *LAYA) as gateway, \
                opened(world, gateway.url) as browser:
            check_equal(cells(browser, "devices")[0],
                        ["a | default", "healthy", "0 of 4", "0 of 8", "0 | –", "0 | 5xx 0, cut 0",
                         "– | p99 –", "0 | 0 in", "–"], "device that did nothing")
            check_equal(cells(browser, "recent"),
                        [["None yet. Later turns of a conversation are not listed."]],
                        "no decisions")
            check_equal(browser.text("#summary"), "Classes are decided by starter.", "summary")
            places = browser.run(PLACES)
            gateway.chat(LONG_TEXT).json()
            wait_cell(browser, "devices", 0, 4, "1 | 100 %")
            wait_cell(browser, "recent", 0, 1, "long_doc")
            decision = cells(browser, "recent")[0]
            check_equal([*decision[1:5], decision[6]], ["long_doc", "1.00", "a", "gate", "200"],
                        "decision")
            check(re.fullmatch(r"\d\d:\d\d:\d\d", decision[0]), decision[0])
            check(re.fullmatch(r"[0-9.]+ ms", decision[5]), decision[5])
            long_doc = [row for row in cells(browser, "classes") if row[0] == "long_doc"]
            check_equal(long_doc, [["long_doc", "a", "100 % (1)", "reads fastest"]], "class")
            check(re.match(r"≤ [0-9.]+ ms \| p99 ≤", cells(browser, "devices")[0][6]),
                  cells(browser, "devices")[0][6])
            check(cells(browser, "devices")[0][7] != "0 | 0 in", "no tokens were counted")
            one.otherwise = behave.hang
            with gateway.stream(LONG_TEXT):
                wait_cell(browser, "devices", 0, 2, "1 of 4")
                check(browser.run(TERMS, "now")["In flight"].startswith("1 "), "in flight")
                gateway.chat("x", headers={"X-Layard-Device": "b"}).json()
                wait_cell(browser, "devices", 1, 4, "1 | 33 %")
            check_equal(browser.run(PLACES), places, "places of headings and cells")
            one.health = "bad"
            browser.wait("document.getElementById('state').textContent === 'degraded'")
            check(cells(browser, "devices")[0][1].startswith("ejected | "), "state in words")
            check("a is ejected (first choice of code, prose, short, long_doc)." in
                  browser.text("#summary"), browser.text("#summary"))
            check("gateway" in browser.run("document.title"), "title")


@case
def gateway_page_shows_hostile_texts_as_text(world):
    """What a policy and a refusal say is never read as markup."""
    with Backend("a") as one:
        policy = policy_of({"a": one}, devices={"a": {"model": HOSTILE[1]}})
        policy["classes"]["code"]["why"] = HOSTILE[0]
        policy["classes"]["prose"]["why"] = " ".join(HOSTILE)
        with running_gateway(world, policy) as gateway, opened(world, gateway.url) as browser:
            usual = browser.run(MARKUP)
            check_equal(cells(browser, "classes")[0][3], HOSTILE[0], "why")
            check(HOSTILE[1] in cells(browser, "devices")[0][0], "model")
            gateway.policy_path.write_text(
                json.dumps({"version": 1, **{text: 1 for text in HOSTILE}}), encoding="utf-8")
            browser.click("#reload")
            browser.wait(REFUSED)
            check("<img src=x" in browser.text("#reload-error"), browser.text("#reload-error"))
            check_unharmed(browser, usual)
        # A file of the 1bit router may name classes and devices in any way.
        names = HOSTILE[:4]
        hostile = {"min_confidence": 0, "default": "a", "size_gate": None,
                   "question": {"instructions": "Which?", "options": {one: one for one in names}},
                   "classes": {one: {"device": one, "why": one} for one in names}}
        with running_gateway(world, hostile, "--backend", f"a={one.url}", *LAYA) as gateway, \
                opened(world, gateway.url) as browser:
            gateway.chat("hello").json()
            browser.wait(f"({CELLS})('recent')[0][3] === 'a'", "the decision")
            check(cells(browser, "recent")[0][1] in names, f"class: {cells(browser, 'recent')}")
            check_equal([row[0] for row in cells(browser, "classes")], names, "classes")
            check(names[0] in browser.text("#warnings"), browser.text("#warnings"))
            check_unharmed(browser, usual)


def check_unharmed(browser, usual):
    check_equal(browser.run("typeof window.hit"), "undefined", "code of a text ran")
    check_equal(browser.run("document.getElementById('hit')"), None, "markup of a text")
    check_equal(browser.run(MARKUP), usual, "elements of the page")


@case
def gateway_page_takes_a_key_and_forgets_it(world):
    keys = world.write("keys", f"ops {KEY}\n")
    with Backend("a") as one, running_gateway(
            world, policy_of({"a": one}), "--host", "0.0.0.0", "--allow-remote", "--api-key-file",
            keys) as gateway:
        wanted = "!document.getElementById('key-form').hidden"
        with opened(world, gateway.url, wanted) as browser:
            check_equal(browser.run("document.activeElement.id"), "key", "led to the key")
            check_equal(browser.text("#state"), "needs a key", "state")
            check(not browser.run("document.getElementById('devices').checkVisibility()"),
                  "tables without a key")
            for given, problem in (("not-the-key", "does not know this key"),
                                   ("two words", "without blanks"), ("k\u00e9y", "without blanks"),
                                   ("", "without blanks")):
                browser.fill("#key", given)
                browser.press("Enter")
                browser.wait("document.getElementById('key-problem').textContent.includes("
                             f"{json.dumps(problem)})", f"{problem} of {given!r}")
            browser.fill("#key", KEY)
            browser.press("Enter")
            browser.wait(SHOWN)
            check_equal(cells(browser, "devices")[0][0], "a | default", "device")
            browser.click("#reload")
            browser.wait("document.getElementById('reload-result').textContent.includes('Taken')")
            check(browser.run("document.getElementById('key-form').hidden"), "the form is there")
            check_equal(browser.text("#key-problem"), "", "problem")
            check("sk-secret" not in browser.run("document.documentElement.outerHTML") and
                  browser.run("document.getElementById('key').value") == "", "the key is kept")
            kept = browser.run("""(async () => JSON.stringify([
                {...localStorage}, {...sessionStorage}, document.cookie, location.pathname,
                location.search, history.state, (await indexedDB.databases()).length]))()""")
            check_equal(kept, '[{},{},"","/","",null,0]', "nothing is kept")
            browser.click("#forget")
            browser.wait(f"document.readyState === 'complete' && {wanted}")
            check_equal(browser.run("document.getElementById('devices').textContent.includes("
                                    "'healthy')"), False, "figures without a key")


@case
def gateway_page_reloads_the_policy(world):
    with Backend("a") as one, Backend("b") as other:
        with running_gateway(world, policy_of({"a": one})) as gateway, \
                opened(world, gateway.url) as browser:
            before = browser.run(TERMS, "policy")
            check("--laya is off" in browser.text("#summary"), browser.text("#summary"))
            check_equal((before["SHA-256"], before["Default"], before["Last reload"]),
                        (gateway.status()["policy"]["hash"][:16], "a", "none"), "policy")
            gateway.policy_path.write_text('{"version": 1, "default": "nobody"}', encoding="utf-8")
            browser.run("document.getElementById('reload').focus()")
            browser.press("Enter")
            browser.wait(REFUSED)
            check("Refused" in browser.text("#reload-result"), browser.text("#reload-result"))
            error = gateway.status()["policy"]["last_reload"]["error"]
            check(" ".join(error.split()) in browser.text("#reload-error"), error)
            check_equal(browser.run("document.activeElement.id"), "reload", "the focus stayed")
            check_equal(browser.run(TERMS, "policy")["SHA-256"], before["SHA-256"], "hash")
            check_equal(browser.text("#state"), "degraded", "state")
            check("refused" in browser.text("#summary"), browser.text("#summary"))
            gateway.policy_path.write_text(json.dumps(policy_of({"b": other})), encoding="utf-8")
            browser.click("#reload")
            browser.wait(f"!({REFUSED})", "the error to go")
            wait_cell(browser, "devices", 0, 0, "b | default")
            after = browser.run(TERMS, "policy")
            check(after["SHA-256"] != before["SHA-256"], "the hash is the old one")
            check(after["Last reload"].endswith("taken 1 taken, 1 refused"), after["Last reload"])
            check_equal(browser.text("#state"), "ok", "state")


@case
def gateway_page_says_when_nobody_answers(world):
    with Backend("a") as one:
        with contextlib.ExitStack() as stack:
            with running_gateway(world, policy_of({"a": one})) as gateway:
                browser = stack.enter_context(opened(world, gateway.url))
                shown = cells(browser, "devices")
                places = browser.run(PLACES)
            browser.wait(GONE)
            found = browser.text("#banner")
            for words in ("cannot be reached", "What is shown is of", "again every 2 s"):
                check(words in found, f"expected {words!r} in {found!r}")
            check_equal(browser.text("#state"), "no status", "state")
            check("no status" in browser.run("document.title"), "title")
            check_equal((cells(browser, "devices"), browser.run(PLACES)), (shown, places),
                        "what was shown")
            browser.click("#reload")
            browser.wait("document.getElementById('reload-result').textContent"
                         ".includes('No answer')")
            with running_gateway(world, policy_of({"a": one}), port=gateway.port):
                browser.wait(f"!({GONE})", "the gateway to be back")
                check_equal(browser.text("#state"), "ok", "state")


@case
def gateway_page_reads_only_when_wanted(world):
    """Not while it is hidden, and not while it is paused."""
    with Backend("a") as one, running_gateway(world, policy_of({"a": one})) as gateway, \
            opened(world, gateway.url) as browser:
        browser.run("""(() => {
          const send = window.fetch;
          window.asked = 0;
          window.fetch = (...all) => { ++window.asked; return send(...all); };
        })()""")
        hide = """value => {
          Object.defineProperty(document, 'visibilityState', {value, configurable: true});
          document.dispatchEvent(new Event('visibilitychange'));
        }"""
        browser.run(hide, "hidden")
        browser.run("new Promise(done => setTimeout(done, 300))")  # a reading under way ends
        asked = browser.run("window.asked")
        browser.run("new Promise(done => setTimeout(done, 2600))")
        check_equal(browser.run("window.asked"), asked, "readings while hidden")
        browser.run(hide, "visible")
        browser.wait(f"window.asked > {asked}")
        browser.click("#pause")
        check_equal(browser.run("document.getElementById('pause').getAttribute('aria-pressed')"),
                    "true", "pause")
        browser.run("new Promise(done => setTimeout(done, 300))")
        asked = browser.run("window.asked")
        browser.run("new Promise(done => setTimeout(done, 2600))")
        check_equal(browser.run("window.asked"), asked, "readings while paused")
        browser.click("#pause")
        browser.wait(f"window.asked > {asked}")


@case
def gateway_page_fits_and_can_be_read(world):
    why = {"why": "prompts of this kind are read four times faster here"}
    with Backend("a") as one, Backend("b") as other:
        policy = policy_of({"a": one, "a-device-with-a-rather.long:name/indeed": other}, devices={
            "a": {"requests_max": 4, "health": {"interval_ms": 100, "failures": 1}}})
        policy["classes"]["long_doc"].update(why)
        one.health = "bad"
        with running_gateway(world, policy, *LAYA) as gateway, \
                opened(world, gateway.url) as browser:
            for status in (200, 422):
                one.script(behave.reply({}, status))
                gateway.chat(LONG_TEXT, headers={"X-Layard-Device": "a"})
            gateway.chat(LONG_TEXT)
            gateway.policy_path.write_text("{}", encoding="utf-8")
            browser.click("#reload")
            browser.wait(REFUSED)
            browser.click("summary")
            wait_cell(browser, "devices", 0, 1, "ejected | 1 failure in a row")
            browser.wait("document.querySelectorAll('#recent tbody tr').length >= 2")
            looks_well(browser)
            reads_well(browser)


def looks_well(browser):
    grounds = {}
    for width, scheme in ((1280, "light"), (1280, "dark"), (768, "light"), (360, "light"),
                          (360, "dark")):
        what = f"{width} pixels, {scheme}"
        browser.window(width, 800, scheme)
        check(browser.run("document.documentElement.scrollWidth") <= width,
              f"{what}: scrolls sideways")
        check_equal(browser.run(TOO_WIDE, width), [], f"{what}: stands out")
        check_equal(browser.run(TOO_SMALL), [], f"{what}: too small to hit")
        check_equal(browser.run(CONTRASTS), [], f"{what}: contrast under 4.5")
        grounds[scheme] = browser.run("getComputedStyle(document.body).backgroundColor")
        roles = [role for role, _ in browser.accessible()]
        check_equal((roles.count("table"), roles.count("columnheader")), (3, 20),
                    f"{what}: tables for a screen reader")
    check(grounds["light"] != grounds["dark"], f"dark mode changes nothing: {grounds}")
    browser.window(1280, 900)


def reads_well(browser):
    nameless = [role for role, name in browser.accessible()
                if role in (*NAMED_ROLES, "table") and not name]
    check_equal(nameless, [], "controls and tables without a name")
    check_equal(browser.run("""[...document.querySelectorAll('th')].filter(th => !th.scope ||
        !th.textContent).map(th => th.outerHTML)"""), [], "headers without a scope")
    check_equal(browser.run("""[...document.querySelectorAll('tbody tr')].every(
        row => row.cells[0].localName === 'th')"""), True, "rows have headers")
    check_equal(browser.run("new Set([...document.querySelectorAll('[id]')].map(e => e.id)).size"
                            " === document.querySelectorAll('[id]').length"), True, "ids")
    check_equal(browser.run("""['summary', 'reload-result', 'reload-error', 'banner', 'key-problem']
        .map(id => document.getElementById(id).getAttribute('role'))"""),
                ["status", "status", "alert", "alert", "alert"], "what is announced")
    browser.run("document.activeElement.blur()")
    reached = []
    for _ in range(12):
        browser.press("Tab")
        reached.append(browser.run("document.activeElement.id || "
                                   "document.activeElement.getAttribute('aria-label') || "
                                   "document.activeElement.textContent.trim()"))
        check(browser.run("document.activeElement === document.body ||"
                          "getComputedStyle(document.activeElement).outlineStyle !== 'none'"),
              f"no ring around {reached[-1]}")
    for name in ("Skip to the devices", "pause", "Table of the devices", "Table of the classes",
                 "reload", "Table of recent decisions", "What the words mean", "metrics"):
        check(name in reached, f"the keyboard does not reach {name}: {reached}")
    browser.press("Tab", SHIFT)


# (expression over the module, its value)
WORDS = [
    ("m.shownMs(0.00512)", "0.00512\u00a0ms"),
    ("m.shownMs(2.5)", "2.5\u00a0ms"),
    ("m.shownMs(600000)", "600\u00a0s"),
    ("m.atMost({count: 0, p50_at_most_ms: 0}, 'p50')", "–"),
    ("m.atMost({count: 1, p50_at_most_ms: 2500}, 'p50')", "≤\u00a02.5\u00a0s"),
    ("m.percent(1, 0)", "–"),
    ("m.percent(1, 3)", "33\u00a0%"),
    ("m.percent(1, 300)", "<\u00a01\u00a0%"),
    ("m.percent(0, 3)", "0\u00a0%"),
    ("m.timeWords(0)", "–"),
    ("m.timeWords(new Date(2026, 1, 3, 4, 5, 6).getTime(), new Date(2026, 1, 3, 9))", "04:05:06"),
    ("m.timeWords(new Date(2026, 1, 3, 4, 5, 6).getTime(), new Date(2026, 1, 4, 9))",
     "2026-02-03 04:05:06"),
    ("m.durationWords(59999)", "59 s"),
    ("m.durationWords(61000)", "1 min"),
    ("m.durationWords(3661000)", "1 h 1 min"),
    ("m.durationWords(259200000)", "3 days"),
    ("m.repliesTotal({in_flight: 9, added: {count: 5}, a: {200: 3, 500: 1}, b: {}})", 4),
    ("m.serverErrors({200: 3, 499: 1, 500: 2, 503: 1})", 3),
    # Rates: over the window, from nothing, and after another process took over.
    ("(r => { r.add(0, {x: 0}); return r.shown('x'); })(new m.Rates())", "–"),
    ("new m.Rates().shown('x')", "–"),
    ("(r => { r.add(0, {x: 0}); r.add(2000, {x: 5}); return r.shown('x'); })(new m.Rates())",
     "2.5"),
    ("(r => { for (let i = 0; i <= 20; ++i) r.add(i * 2000, {x: i < 10 ? 0 : (i - 10) * 40});"
     " return [r.shown('x'), r.readings.length]; })(new m.Rates())", ["20", 6]),
    ("(r => { r.add(0, {x: 9}); r.add(2000, {x: 1}); r.add(4000, {x: 5}); return r.shown('x'); })"
     "(new m.Rates())", "2.0"),
    ("(r => { r.add(0, {}); r.add(2000, {x: 1}); return r.shown('x'); })(new m.Rates())", "–"),
]


@case
def gateway_page_words(world):
    with Backend("a") as one, running_gateway(world, policy_of({"a": one})) as gateway, \
            opened(world, gateway.url) as browser:
        for expression, expected in WORDS:
            found = browser.run(f"import('/status_words.js').then(m => {expression})")
            check_equal(found, expected, expression)


@case
def gateway_page_needs_no_lax_policy(world):
    """Its files are sent with a policy that allows the page's own files alone, and need no more."""
    folder = world.source / "src" / "gateway" / "web"
    files = sorted(folder.iterdir())
    check(len(files) >= 4, f"only {files}")
    with Backend("a") as one, running_gateway(world, policy_of({"a": one})) as gateway:
        for path in files:
            text = path.read_text(encoding="utf-8")
            pattern = FORBIDDEN if path.suffix in (".js", ".css") else FORBIDDEN_IN_MARKUP
            found = pattern.search(text)
            check(found is None, f"{path.name}: {found and found.group(0)!r}")
            reply = gateway.get("/" if path.name == "index.html" else f"/{path.name}")
            check_equal((reply.status, reply.body.decode()), (200, text), path.name)
            policy = reply.headers["Content-Security-Policy"]
            for part in ("default-src 'none'", "script-src 'self'", "style-src 'self'",
                         "connect-src 'self'", "frame-ancestors 'none'", "form-action 'none'"):
                check(part in policy, f"{path.name}: {policy}")
            check("unsafe" not in policy, f"{path.name}: {policy}")
            check_equal(reply.headers["X-Content-Type-Options"], "nosniff", path.name)
