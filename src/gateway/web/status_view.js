// Draws one reading of /gateway/status. Every text becomes a text node and every attribute is named
// here, so that nothing a policy, a device or a model says is read as markup. What did not change is
// left alone: a selection stays, and a screen reader hears nothing.

import {
  atMost,
  count,
  durationWords,
  isUp,
  percent,
  repliesTotal,
  serverErrors,
  shownMs,
  stateWords,
  timeWords,
  troubles,
} from './status_words.js';

const HASH_CHARS = 16;
const drawn = new WeakMap(); // element to what it was drawn from

export const byId = (id) => document.getElementById(id);

export function h(tag, className, ...children) {
  const element = document.createElement(tag);
  if (className) element.className = className;
  element.append(...children);
  return element;
}

/// Whether the element is not drawn from this yet; then it counts as drawn.
function isNew(element, from) {
  const key = JSON.stringify(from);
  if (drawn.get(element) === key) return false;
  drawn.set(element, key);
  return true;
}

export function say(element, text) {
  if (element.textContent !== text) element.textContent = text;
}

// A cell: {text, below, tag, number, share, mark}. `below` is a second line; `share` (0 to 1) draws
// a bar with a `mark`; `tag` colours the text, which says the same.
function drawCell(element, cell) {
  if (!isNew(element, cell)) return;
  element.classList.toggle('number', cell.number === true);
  const parts = [h('span', cell.tag ? `tag ${cell.tag}` : 'value', cell.text)];
  if (cell.share !== undefined) parts.push(bar(cell));
  if (cell.below !== undefined) parts.push(h('span', 'below', cell.below));
  element.replaceChildren(h('div', cell.share === undefined ? '' : 'barred', ...parts));
}

// Lengths go through the object model: the page's policy forbids style attributes.
function bar({share, mark}) {
  const track = h('span', 'track', h('span', 'fill'));
  track.setAttribute('aria-hidden', 'true');
  track.style.setProperty('--share', String(Math.min(1, Math.max(0, share))));
  if (mark) {
    track.append(h('span', 'mark'));
    track.style.setProperty('--mark', String(Math.min(1, mark)));
  }
  return track;
}

function makeRow(titles) {
  const row = h('tr');
  row.setAttribute('role', 'row');
  titles.forEach((title, i) => {
    const cell = h(i === 0 ? 'th' : 'td');
    if (i === 0) cell.scope = 'row';
    cell.setAttribute('role', i === 0 ? 'rowheader' : 'cell');
    cell.dataset.label = title;
    row.append(cell);
  });
  return row;
}

function drawTable(table, rows, nothing) {
  const body = table.tBodies[0];
  if (rows.length === 0) {
    if (!isNew(body, nothing)) return;
    const cell = h('td', 'empty', h('span', 'value', nothing));
    cell.colSpan = table.tHead.rows[0].cells.length;
    cell.setAttribute('role', 'cell');
    const row = h('tr', '', cell);
    row.setAttribute('role', 'row');
    body.replaceChildren(row);
    return;
  }
  if (drawn.delete(body)) body.replaceChildren();
  const titles = [...table.tHead.rows[0].cells].map((cell) => cell.textContent);
  while (body.rows.length > rows.length) body.deleteRow(-1);
  while (body.rows.length < rows.length) body.append(makeRow(titles));
  rows.forEach((row, i) => row.forEach((cell, j) => drawCell(body.rows[i].cells[j], cell)));
}

function limited(value, max, nothing) {
  if (!max) return {text: count(value), below: nothing};
  return {text: `${count(value)} of ${count(max)}`, share: value / max};
}

function stateCell(device) {
  const words = stateWords(device.state);
  const failures = device.failures_in_a_row;
  const below = failures > 0 ? `${failures} failure${failures === 1 ? '' : 's'} in a row` : '';
  if (isUp(device.state) && device.cooling) return {text: `${words}, cooling`, tag: 'warn', below};
  const tag = device.state === 'healthy' ? 'good' : isUp(device.state) ? 'warn' : 'bad';
  return {text: words, tag, below};
}

function drawDevices({devices, policy}, rates) {
  const all = devices.reduce((sum, {attempts}) => sum + attempts, 0);
  const rows = devices.map((device) => {
    const first = device.first_byte;
    const notes = [device.model, device.name === policy.default ? 'default' : ''];
    return [
      {text: device.name, below: notes.filter(Boolean).join(' · ')},
      stateCell(device),
      limited(device.in_flight, device.requests_max, 'no limit'),
      limited(device.waiting, device.queue_max, device.requests_max ? 'no limit' : 'none waits'),
      {text: count(device.attempts), below: percent(device.attempts, all), number: true},
      {
        text: count(device.failures),
        below: `5xx ${count(serverErrors(device.replies))}, cut ${count(device.cut)}`,
        number: true,
      },
      {text: atMost(first, 'p50'), below: `p99 ${atMost(first, 'p99')}`, number: true},
      {
        text: count(device.completion_tokens),
        below: `${count(device.prompt_tokens)} in`,
        number: true,
      },
      {text: rates.shown(`tokens ${device.name}`), below: '', number: true},
    ];
  });
  drawTable(byId('devices'), rows, 'The policy names no device with an address.');
}

function drawClasses({classes}) {
  const entries = Object.entries(classes);
  const all = entries.reduce((sum, [, {decisions}]) => sum + decisions, 0);
  const rows = entries.map(([name, {device, state, decisions, why}]) => [
    {text: name},
    isUp(state) ? {text: device} : {text: device, below: stateWords(state)},
    {
      text: `${percent(decisions, all)} (${count(decisions)})`,
      share: all === 0 ? 0 : decisions / all,
    },
    {text: why ?? '–'},
  ]);
  drawTable(byId('classes'), rows, 'The policy names no classes.');
}

function drawRecent({recent, policy}) {
  const rows = recent.map((one) => {
    const named = one.class !== null;
    return [
      {text: timeWords(one.time_ms)},
      {text: one.class ?? '–'},
      named
        ? {text: one.confidence.toFixed(2), share: one.confidence, mark: policy.min_confidence}
        : {text: '–'},
      {text: one.device ?? '–'},
      {text: one.source, tag: one.source === 'error' ? 'bad' : undefined},
      {text: shownMs(one.decision_ms), number: true},
      one.status === 0
        ? {text: 'client left', number: true}
        : {text: String(one.status), tag: one.status >= 400 ? 'bad' : undefined, number: true},
    ];
  });
  drawTable(byId('recent'), rows, 'None yet. Later turns of a conversation are not listed.');
}

// [term, value, second line]: elements are made once and their texts replaced.
function drawTerms(list, entries) {
  while (list.children.length > entries.length) list.lastChild.remove();
  while (list.children.length < entries.length) list.append(h('div', '', h('dt'), h('dd')));
  entries.forEach(([term, value, below], i) => {
    const [dt, dd] = list.children[i].children;
    say(dt, term);
    if (!isNew(dd, [value, below])) return;
    dd.replaceChildren(h('span', 'value', value), ...(below ? [h('span', 'below', below)] : []));
  });
}

function drawNow({requests, decisions}, rates) {
  const asked = decisions.sources.model;
  const turns = decisions.sticky_hits + decisions.sticky_misses;
  drawTerms(byId('now'), [
    ['In flight', count(requests.in_flight), `${rates.shown('replies')} answered a second`],
    [
      'Added latency, p50',
      atMost(requests.added, 'p50'),
      `p99 ${atMost(requests.added, 'p99')}`,
    ],
    [
      'Asked the model',
      count(asked),
      `p50 ${atMost(decisions.model_time, 'p50')}\np99 ${atMost(decisions.model_time, 'p99')}`,
    ],
    [
      'Sticky hits',
      count(decisions.sticky_hits),
      `${percent(decisions.sticky_hits, turns)} of turns\n${count(decisions.conversations)} kept`,
    ],
    [
      'Went elsewhere',
      count(requests.overflows),
      `${count(requests.retries)} tried again after a failure`,
    ],
    [
      'Decisions failed',
      count(decisions.failures),
      `${count(requests.clients_gone)} clients left early`,
    ],
  ]);
}

function drawPolicy({policy}) {
  const reload = policy.last_reload;
  const ended = reload.error ? 'refused' : 'taken';
  drawTerms(byId('policy'), [
    ['SHA-256', policy.hash.slice(0, HASH_CHARS)],
    ['Loaded', timeWords(policy.loaded_ms)],
    ['Default', policy.default],
    ['Threshold', String(policy.min_confidence)],
    [
      'Last reload',
      reload.time_ms ? `${timeWords(reload.time_ms)}, ${ended}` : 'none',
      reload.time_ms ? `${count(reload.taken)} taken, ${count(reload.refused)} refused` : '',
    ],
  ]);
  byId('policy').querySelector('dd').title = policy.hash;
  const error = byId('reload-error');
  error.hidden = !reload.error;
  if (isNew(error, reload.error))
    error.replaceChildren(
      ...(reload.error
        ? [h('strong', '', 'The last reload was refused'), h('p', 'message', reload.error)]
        : []),
    );
  if (isNew(byId('warnings'), policy.warnings))
    byId('warnings').replaceChildren(...policy.warnings.map((one) => h('li', '', one)));
}

const TAGS = {ok: 'good', degraded: 'warn', down: 'bad'};

export function showState(word, tag) {
  say(byId('state'), word);
  byId('state').className = `tag ${tag}`;
  document.title = word === 'ok' ? 'Layard gateway' : `${word} – Layard gateway`;
}

/// Counters whose rates are shown.
export function counters({devices, requests}) {
  const tokens = devices.map(({name, completion_tokens}) => [`tokens ${name}`, completion_tokens]);
  return {replies: repliesTotal(requests), ...Object.fromEntries(tokens)};
}

export function draw(status, rates) {
  showState(status.status, TAGS[status.status] ?? 'warn');
  const who = status.laya
    ? `Classes are decided by ${status.model}.`
    : 'Nothing is classified (--laya is off): the default device serves all.';
  say(byId('summary'), [...troubles(status), who].join(' '));
  drawNow(status, rates);
  drawDevices(status, rates);
  drawClasses(status);
  drawPolicy(status);
  drawRecent(status);
  say(byId('about'), `Layard ${status.version}, up ${durationWords(status.uptime_ms)}.`);
}
