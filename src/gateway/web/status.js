// Reads /gateway/status every two seconds while the page is seen, and reloads the policy when asked.
// The key lives in this module's memory alone.

import {byId, counters, draw, h, say, showState} from './status_view.js';
import {Rates, timeWords} from './status_words.js';

const READ_MS = 2000;
const READ_REFUSED_MS = 10000; // while a key is wanted
const ANSWER_MS = 5000;
const RELOAD_MS = 60000;

let key = '';
let timer = 0;
let isReading = false;
let isPaused = false;
let shownAt = 0; // since 1970; 0: nothing was shown yet
const rates = new Rates();

const ask = (path, method, limitMs) =>
  fetch(path, {
    method,
    headers: key ? {Authorization: `Bearer ${key}`} : {},
    cache: 'no-store',
    signal: AbortSignal.timeout(limitMs),
  });

function schedule(delayMs) {
  clearTimeout(timer);
  if (document.visibilityState === 'visible' && !isPaused) timer = setTimeout(read, delayMs);
}

async function read() {
  if (isReading) return;
  isReading = true;
  const delayMs = await readOnce();
  isReading = false;
  schedule(delayMs);
}

// When to read again.
async function readOnce() {
  let reply = null;
  try {
    reply = await ask('/gateway/status', 'GET', ANSWER_MS);
  } catch {
    fail('The gateway cannot be reached.', 'Is it still running, and at this address?');
    return READ_MS;
  }
  if (reply.status === 401) {
    wantKey();
    return READ_REFUSED_MS;
  }
  hideKeyForm();
  try {
    if (!reply.ok) throw new Error(`its status is ${reply.status}`);
    const status = await reply.json();
    rates.add(performance.now(), counters(status));
    draw(status, rates);
    shownAt = Date.now();
    succeed();
  } catch (error) {
    fail('The gateway’s answer cannot be shown.', `${error.message}.`);
  }
  return READ_MS;
}

function succeed() {
  byId('banner').hidden = true;
  document.body.classList.remove('stale');
  document.body.classList.remove('locked');
  say(byId('as-of'), `As of ${timeWords(shownAt)}`);
}

function fail(title, hint) {
  showState('no status', 'bad');
  document.body.classList.add('stale');
  const of = shownAt ? `What is shown is of ${timeWords(shownAt)}. ` : '';
  const message = `${of}${hint} Tried again every ${READ_MS / 1000} s.`;
  const banner = byId('banner');
  if (banner.hidden || banner.textContent !== title + message)
    banner.replaceChildren(h('strong', '', title), h('p', '', message));
  banner.hidden = false;
}

function wantKey() {
  showState('needs a key', 'warn');
  byId('banner').hidden = true;
  document.body.classList.remove('stale');
  document.body.classList.add('locked');
  say(byId('as-of'), '');
  say(byId('summary'), 'The gateway shows its status to those who have a key.');
  say(byId('key-problem'), key ? 'The gateway does not know this key.' : '');
  key = '';
  byId('forget').hidden = true;
  if (!byId('key-form').hidden) return;
  byId('key-form').hidden = false;
  if (document.activeElement === document.body) byId('key').focus();
}

function hideKeyForm() {
  byId('key-form').hidden = true;
  byId('forget').hidden = key === '';
  say(byId('key-problem'), '');
}

byId('key-form').addEventListener('submit', (event) => {
  event.preventDefault();
  const given = byId('key').value.trim();
  // Others cannot be sent in a header.
  if (!/^[!-~]+$/.test(given)) {
    say(byId('key-problem'), 'A key has letters, digits and signs without blanks.');
    return;
  }
  key = given;
  byId('key').value = '';
  schedule(0);
});

byId('forget').addEventListener('click', () => location.reload());

byId('pause').addEventListener('click', () => {
  isPaused = !isPaused;
  byId('pause').setAttribute('aria-pressed', String(isPaused));
  schedule(0);
});

byId('reload').addEventListener('click', async () => {
  const button = byId('reload');
  if (button.getAttribute('aria-disabled') === 'true') return;
  button.setAttribute('aria-disabled', 'true');
  say(byId('reload-result'), 'Reading the policy …');
  say(byId('reload-result'), await reload());
  button.removeAttribute('aria-disabled');
  read();
});

async function reload() {
  try {
    const reply = await ask('/gateway/reload', 'POST', RELOAD_MS);
    if (reply.status === 401) return 'Not reloaded: the gateway wants a key.';
    const {taken, policy_hash: hash} = await reply.json();
    if (taken === undefined) return `Not reloaded: the gateway’s status was ${reply.status}.`;
    return taken ? `Taken: ${hash.slice(0, 16)} serves now.` : 'Refused: nothing has changed.';
  } catch {
    return 'No answer: whether the policy was reloaded is not known.';
  }
}

document.addEventListener('visibilitychange', () => schedule(0));
read();
