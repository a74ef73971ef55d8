// What went wrong with a request, and what to do about it.

import {h, show} from './dom.js';
import {shownMs} from './latency.js';
import {errorMessage, retryAfterMs} from './request.js';

const HINTS = new Map([
  [401, 'Enter the server’s API key above and run again.'],
  [403, 'The server does not accept requests from this page’s address.'],
  [404, 'This server has no /v1/systemone.'],
  [408, 'The request took too long to arrive. Run again.'],
  [413, 'Shorten the text, or ask fewer questions or options.'],
  [421, 'The server only answers under its own address; open the page at the one it printed.'],
  [500, 'The reason is in the server’s log.'],
]);
const BUSY = new Set([429, 503, 529]);
const TICK_MS = 200;

/// The panel of an error reply. `again()` runs the request once more, `enterKey()` goes to the key.
export function replyFailure(reply, {again, enterKey}) {
  const {status} = reply;
  const waitMs = retryAfterMs(reply.headers);
  const hint = waitMs === null ? HINTS.get(status) : `It asks to come back in ${shownMs(waitMs)}.`;
  let button = null;
  if (status === 401) button = action('Enter the key', enterKey);
  if (BUSY.has(status)) button = waitButton(waitMs ?? 0, again);
  return panel(`${titleOf(status)} (${status})`, errorMessage(reply), hint, button);
}

function titleOf(status) {
  if (BUSY.has(status)) return 'The server cannot take this request at the moment';
  if (status === 401) return 'The server needs a key';
  if (status >= 400 && status < 500) return 'The server refused the request';
  return 'The server could not answer';
}

/// The panel for a reply that came, but is none.
export function unreadableReply(reply) {
  return panel(
    'The reply cannot be read',
    errorMessage(reply),
    `Status ${reply.status}, but the body is not a System One response. Its text is under Raw.`,
    null,
  );
}

/// The panel for no reply at all.
export function noReply(error, {again}) {
  const isTooLong = error?.name === 'TimeoutError';
  return panel(
    isTooLong ? 'No answer in time' : 'No answer from the server',
    isTooLong ? 'The page stopped waiting.' : 'The connection ended before the whole reply came.',
    'Is the server still running, and does this page come from it?',
    action('Run again', again),
  );
}

/// The panel for a request that was not sent.
export function notSent(messages, {mend}) {
  return panel('Not sent yet', messages.join(' '), null, action('Go there', mend));
}

function panel(title, message, hint, button) {
  return h(
    'div',
    {class: 'failure'},
    h('h3', {}, title),
    h('p', {class: 'message'}, message),
    hint ? h('p', {class: 'hint'}, hint) : null,
    button,
  );
}

function action(words, click) {
  return h('button', {type: 'button', on: {click}}, words);
}

/// Runs again, but not before the server wants it.
function waitButton(waitMs, again) {
  const readyAt = performance.now() + waitMs;
  const button = action('Run again', again);
  const tick = () => {
    const leftMs = readyAt - performance.now();
    button.disabled = leftMs > 0;
    show(button, leftMs > 0 ? `Run again in ${Math.ceil(leftMs / 1000)} s` : 'Run again');
    if (leftMs > 0) setTimeout(tick, Math.min(leftMs, TICK_MS));
  };
  tick();
  return button;
}
