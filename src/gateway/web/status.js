// Shows /gateway/status, again every two seconds. Everything is set as text, never as markup.
const REFRESH_MS = 2000;
const UP = new Set(["healthy", "half_open"]);
let key = "";

const element = (id) => document.getElementById(id);

function cell(tag, value, kind) {
  const node = document.createElement(tag);
  node.textContent = value;
  if (kind) node.className = kind;
  return node;
}

function fill(table, titles, rows) {
  const head = document.createElement("tr");
  for (const [title, kind] of titles) {
    const th = cell("th", title, kind);
    th.scope = "col";
    head.append(th);
  }
  const body = rows.map((row) => {
    const tr = document.createElement("tr");
    tr.append(...row.map(([value, kind]) => cell("td", value, kind)));
    return tr;
  });
  table.replaceChildren(head, ...body);
}

const state = (name) => [name, UP.has(name) ? "good" : "bad"];
const count = (value) => [String(value), "number"];
const ms = (value) => [value.toFixed(1), "number"];
const time = (value) => (value ? new Date(value).toLocaleTimeString() : "-");

function show_devices(status) {
  fill(element("devices"),
    [["Device"], ["State"], ["Running", "number"], ["Waiting", "number"], ["Requests", "number"],
      ["Failures", "number"], ["Cut", "number"], ["First byte, mean ms", "number"],
      ["Tokens out", "number"]],
    status.devices.map((device) => [[device.name], state(device.state), count(device.in_flight),
      count(device.waiting), count(device.attempts), count(device.failures), count(device.cut),
      ms(device.first_byte.mean_ms), count(device.completion_tokens)]));
}

function show_classes(status) {
  fill(element("classes"), [["Class"], ["Device"], ["State"], ["Decisions", "number"], ["Why"]],
    Object.entries(status.classes).map(([name, row]) => [[name], [row.device], state(row.state),
      count(row.decisions), [row.why || "-", "dim"]]));
}

function show_recent(status) {
  fill(element("recent"),
    [["Time"], ["Class"], ["Confidence", "number"], ["Device"], ["By"], ["Decision, ms", "number"],
      ["Status", "number"]],
    status.recent.map((recent) => [[time(recent.time_ms)], [recent.class || "-"],
      [recent.confidence.toFixed(2), "number"], [recent.device || "-"], [recent.source],
      ms(recent.decision_ms), count(recent.status || "-")]));
}

function show_policy(policy) {
  const entries = [["Hash", policy.hash.slice(0, 16)], ["Loaded", time(policy.loaded_ms)],
    ["Default device", policy.default], ["Threshold", String(policy.min_confidence)],
    ["Last reload", policy.last_reload.time_ms
      ? `${time(policy.last_reload.time_ms)} ${policy.last_reload.error || "taken"}` : "none"],
    ...policy.warnings.map((warning) => ["Warning", warning])];
  element("policy").replaceChildren(...entries.flatMap(([name, value]) =>
    [cell("dt", name, "dim"), cell("dd", value)]));
}

function show(status) {
  const requests = status.requests;
  element("summary").textContent =
    `${status.status}: ${requests.in_flight} requests in flight, ` +
    (status.laya ? `classes by ${status.model}` : "no classes are asked for (--laya is off)") +
    `, version ${status.version}`;
  element("summary").className = status.status === "ok" ? "good" : "bad";
  show_devices(status);
  show_classes(status);
  show_recent(status);
  show_policy(status.policy);
}

async function refresh() {
  try {
    const headers = key ? { Authorization: `Bearer ${key}` } : {};
    const reply = await fetch("/gateway/status", { headers, cache: "no-store" });
    element("key-form").hidden = reply.status !== 401;
    if (!reply.ok) throw new Error(reply.status === 401 ? "a key is needed" : `status ${reply.status}`);
    show(await reply.json());
  } catch (error) {
    element("summary").textContent = `no status: ${error.message}`;
    element("summary").className = "bad";
  }
  setTimeout(refresh, REFRESH_MS);
}

element("key-form").addEventListener("submit", (event) => {
  event.preventDefault();
  key = element("key").value;
});
refresh();
