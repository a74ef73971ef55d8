"""The modules of the decision server's page, called by themselves in a real browser."""

import json

from browser import browser_for
from harness import case, check_equal
from page_server import page_server

PLAIN = """value => JSON.parse(JSON.stringify(value, (_, inner) =>
    inner instanceof Map ? [...inner] : inner === Infinity ? 'Infinity' :
    typeof inner === 'number' && isNaN(inner) ? 'NaN' : inner))"""
BUSY_PAGE = r"""# HELP a_queue_depth Waiting\nhere.
# TYPE a_queue_depth gauge
a_queue_depth{device="c\"p\\u,}",name="x"} 3 1700000000000
a_queue_depth{device="two"} 1.5e1
# TYPE wait_seconds histogram
wait_seconds_bucket{le="+Inf"} +Inf
broken line here
untold NaN
# TYPE http_requests_total counter
http_requests_total{code="200"} 40
http_requests_total{code="503"} 2
"""

# (module, expression over the module `m`, its value)
MODULES = [
    # curl: words that are safe stay bare, everything else is quoted.
    ("curl", "m.shellWord('http://a:1/v1?x=%20')", "'http://a:1/v1?x=%20'"),
    ("curl", "m.shellWord('http://a:1/v1')", "http://a:1/v1"),
    ("curl", 'm.shellWord("")', "''"),
    ("curl", 'm.shellWord("it\'s")', "'it'\\''s'"),
    ("curl", "m.shellWord('a\\nb')", "'a\nb'"),
    ("curl", "m.curlCommand({url: 'http://[::1]:8642/v1/systemone', body: '{}', hasKey: true})",
     "curl -sS --globoff 'http://[::1]:8642/v1/systemone' \\\n"
     "  -H 'Content-Type: application/json' \\\n  -H \"Authorization: Bearer $API_KEY\" \\\n"
     "  --data-binary '{}'"),
    # metrics
    ("metrics", f"m.parseMetrics({json.dumps(BUSY_PAGE)})"
                ".map(s => [s.name, s.labels, s.value, s.type])",
     [["a_queue_depth", [["device", 'c"p\\u,}'], ["name", "x"]], 3, "gauge"],
      ["a_queue_depth", [["device", "two"]], 15, "gauge"],
      ["wait_seconds_bucket", [["le", "+Inf"]], "Infinity", "untyped"],
      ["untold", [], "NaN", "untyped"],
      ["http_requests_total", [["code", "200"]], 40, "counter"],
      ["http_requests_total", [["code", "503"]], 2, "counter"]]),
    ("metrics", f"m.busyFigures(m.parseMetrics({json.dumps(BUSY_PAGE)}))",
     [{"label": 'a queue depth (c"p\\u,}, x)', "value": 3, "help": "Waiting\nhere."},
      {"label": "a queue depth (two)", "value": 15, "help": "Waiting\nhere."}]),
    ("metrics", f"m.requestsTotal(m.parseMetrics({json.dumps(BUSY_PAGE)}))", 42),
    ("metrics", "m.requestsTotal([])", None),
    ("metrics", "m.requestRate({atMs: 1000, total: 10}, {atMs: 3000, total: 40})", 15),
    ("metrics", "m.requestRate({atMs: 1000, total: 10}, {atMs: 3000, total: 4})", None),
    ("metrics", "m.requestRate(null, {atMs: 3000, total: 4})", None),
    # request
    ("request", "m.serverTiming('inference;dur=4.21, queue;desc=\"a, \\\\\"b\\\\\"\";dur=0.3, x')",
     [{"name": "inference", "ms": 4.21, "description": ""},
      {"name": "queue", "ms": 0.3, "description": 'a, "b"'}]),
    ("request", "m.serverTiming(null)", []),
    ("request", "m.retryAfterMs(new Headers({'retry-after-ms': '250', 'retry-after': '9'}))", 250),
    ("request", "m.retryAfterMs(new Headers({'retry-after': '9'}))", 9000),
    ("request", "m.retryAfterMs(new Headers({'retry-after': 'Thu, 01 Jan 1970 00:00:05 GMT'}), "
                "2000)", 3000),
    ("request", "m.retryAfterMs(new Headers({'retry-after': 'soon'}))", None),
    ("request", "m.retryAfterMs(new Headers())", None),
    ("request", "m.keyProblem('sk-1')", ""),
    ("request", "m.keyProblem('a b') !== '' && m.keyProblem('ü') !== ''", True),
    # stability
    ("stability", "m.otherOrders([0, 1]).map(one => [one.name, one.order])",
     [["reversed", [1, 0]]]),
    ("stability", "m.otherOrders([0])", []),
    ("stability", "m.otherOrders([2, 0, 1]).map(one => one.order.join(''))", ["102", "012", "120"]),
    ("stability", "m.otherOrders([...Array(255).keys()]).map(one => one.order[0])",
     [254, 1, 51, 102, 153, 204]),
    # latency
    ("latency", "m.percentile([], 0.5)", None),
    ("latency", "m.percentile([5, 1, 3, 2, 4], 0.5)", 3),
    ("latency", "m.percentile([5, 1, 3, 2], 0.95)", 5),
    ("latency", "m.sparkPoints([1, 4], {width: 10, height: 8, slots: 3})", [[5, 6], [10, 0]]),
    ("latency", "(h => { for (let i = 0; i < 100; ++i) h.add(i); return [h.values.length, "
                "h.values[0]]; })(new m.History())", [60, 40]),
    ("latency", "[0.1234, 12.34, 123.4, 1234, 12345].map(m.shownMs)",
     ["0.12 ms", "12.3 ms", "123 ms", "1.23 s", "12.3 s"]),
    # json: what goes in comes out
    ("json", "m.compactJson(m.parseJson(' {\"10\":1.0,\"2\":[1E5,-0,\"\\\\ud800\"],\"2\":null} '))",
     '{"10":1.0,"2":[1E5,-0,"\\ud800"],"2":null}'),
    ("json", "m.prettyJson(m.parseJson('{\"a\":[1,2],\"b\":{},\"c\":[]}'))",
     '{\n  "a": [1, 2],\n  "b": {},\n  "c": []\n}'),
    ("json", "m.parseJson('{\"__proto__\":{\"x\":1}}').get('__proto__').get('x').text", "1"),
    ("json", "m.parseJson('{\"a\":1,\"a\":2}').get('a').text", "2"),
    ("json", "m.parseJson('\"' + 'x'.repeat(3e6) + '\"').length", 3000000),
    ("json", "['01', '1.', '.5', '+1', '-', 'NaN', '[1,]', '{\"a\":1,}', '\"\\\\x\"', '\"\\t\"', "
             "'1 2', '[1 2]', '{\"a\" 1}', '/* */1', 'tru', '\"\\\\u12\"']"
             ".filter(text => { try { m.parseJson(text); return true; } catch { return false; } })",
     []),
]
# JSON texts whose places in the page and in Python must agree.
ROUND_TRIPS = ['{"a": [1, 2.5, -3e-7, true, false, null, "x\\u0000\\n\\"\\\\/"]}', "[]", "{}",
               '"\\ud83d\\ude00 \\u2028"', "[[[[]]]]", ' \t\n{ "x" : [ { } ] } ']


@case
def page_modules_keep_their_word(world):
    with page_server(world) as url, browser_for(world) as browser:
        browser.open(url)
        for module, expression, expected in MODULES:
            found = browser.run(f"import('/{module}.js').then("
                                f"m => ({PLAIN})(({expression}) ?? null))")
            check_equal(found, expected, f"{module}: {expression}")
        for text in ROUND_TRIPS:
            found = browser.run("text => import('/json.js').then("
                                "m => m.compactJson(m.parseJson(text)))", text)
            check_equal(json.loads(found), json.loads(text), f"JSON {text}")
        comparisons_say_what_moved(browser)


# (definition, probabilities per order, what compareAnswers says)
COMPARISONS = [
    ({"type": "choice", "criteria": {"a": None, "b": None}},
     [{"type": "choice", "choice": "a", "probabilities": {"a": 0.6, "b": 0.4}},
      {"type": "choice", "choice": "b", "probabilities": {"a": 0.25, "b": 0.75}},
      {"type": "choice", "choice": "a", "probabilities": {"a": 0.5, "b": 0.5}}],
     {"isStable": False, "changed": 1, "spread": 0.35, "scores": None,
      "ranges": [["a", [0.25, 0.6]], ["b", [0.4, 0.75]]], "texts": ["a", "b", "a"]}),
    ({"type": "noul"}, [{"type": "noul", "noul": 0.5}, {"type": "noul", "noul": 0.75}],
     {"isStable": True, "changed": 0, "spread": 0.25, "scores": None,
      "ranges": [["true", [0.5, 0.75]], ["false", [0.25, 0.5]]], "texts": ["yes", "yes"]}),
    ({"type": "noul"}, [{"type": "noul", "noul": 0.5}, {"type": "noul", "noul": 0.25}],
     {"isStable": False, "changed": 1, "spread": 0.25, "scores": None,
      "ranges": [["true", [0.25, 0.5]], ["false", [0.5, 0.75]]], "texts": ["yes", "no"]}),
    ({"type": "score", "criteria": ["low", "high"]},
     [{"type": "score", "score": 0.25, "probabilities": {"0": 0.75, "1": 0.25}},
      {"type": "score", "score": 0.5, "probabilities": {"0": 0.5, "1": 0.5}}],
     {"isStable": True, "changed": 0, "spread": 0.25, "scores": [0.25, 0.5],
      "ranges": [["0", [0.5, 0.75]], ["1", [0.25, 0.5]]], "texts": ["0", "0"]}),
    # `choice` keeps its JSON type, the keys of probabilities are texts.
    ({"type": "choice", "criteria": [1, True]},
     [{"type": "choice", "choice": True, "probabilities": {"1": 0.25, "True": 0.75}},
      {"type": "choice", "choice": True, "probabilities": {"1": 0.25, "True": 0.75}}],
     {"isStable": True, "changed": 0, "spread": 0, "scores": None,
      "ranges": [["1", [0.25, 0.25]], ["True", [0.75, 0.75]]], "texts": ["true", "true"]}),
]


def comparisons_say_what_moved(browser):
    for definition, answers, expected in COMPARISONS:
        found = browser.run(f"""async (definition, answers) => {{
          const {{parseJson}} = await import('/json.js');
          const {{compareAnswers}} = await import('/stability.js');
          const found = compareAnswers(parseJson(definition), answers.map(parseJson));
          const texts = found.decisions.map(({{text}}) => text);
          delete found.decisions;
          return ({PLAIN})({{...found, texts}});
        }}""", json.dumps(definition), [json.dumps(answer) for answer in answers])
        check_equal(found, expected, f"{definition}, {answers}")
