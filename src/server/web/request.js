// One request: its body, sending it, and reading what came back in words a person can act on.

import {JsonObject, compactJson, parseJson} from './json.js';

// Relative, so that the page also works behind a proxy that puts a prefix in front.
const DECISIONS_PATH = 'v1/systemone';
const MODELS_PATH = 'v1/models';
const METRICS_PATH = 'metrics';
const RAW_ERROR_CHARS_MAX = 200;

const KEY = /^[\x21-\x7e]*$/;

/// What keeps a key from being sent in a header; empty when nothing does.
export function keyProblem(key) {
  return KEY.test(key) ? '' : 'A key is printable ASCII without blanks.';
}

/// The body in the order clients send it; model and overflow only when they are chosen.
export function requestBody({state, model, questions, overflow}) {
  const body = new JsonObject([['state', state]]);
  if (model) body.set('model', model);
  body.set('questions', questions);
  if (overflow) body.set('overflow', overflow);
  return compactJson(body);
}

function headersFor(key, more = {}) {
  const headers = {Accept: 'application/json', ...more};
  if (key) headers.Authorization = `Bearer ${key}`;
  return headers;
}

function get(path, key, accept, signal) {
  return fetch(path, {
    headers: headersFor(key, {Accept: accept}),
    cache: 'no-store',
    redirect: 'error',
    signal,
  });
}

/// {status, headers, text, body, roundTripMs}; body is undefined where the text is no JSON.
/// Throws only when no answer came (TypeError), or it was cancelled (AbortError).
export async function sendDecisions(body, key, signal) {
  const began = performance.now();
  const response = await fetch(DECISIONS_PATH, {
    method: 'POST',
    headers: headersFor(key, {'Content-Type': 'application/json'}),
    body,
    cache: 'no-store',
    redirect: 'error',
    signal,
  });
  const text = await response.text();
  const roundTripMs = performance.now() - began;
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: jsonOrNothing(text),
    roundTripMs,
  };
}

function jsonOrNothing(text) {
  try {
    return parseJson(text);
  } catch {
    return undefined;
  }
}

/// {status, models: [{name, description, isDefault, state}]}; status 0 when no answer came.
export async function fetchModels(key) {
  try {
    const response = await get(MODELS_PATH, key, 'application/json');
    const body = jsonOrNothing(await response.text());
    const list = body instanceof JsonObject ? body.get('models') : undefined;
    return {status: response.status, models: Array.isArray(list) ? list.flatMap(readModel) : []};
  } catch {
    return {status: 0, models: []};
  }
}

function readModel(entry) {
  if (!(entry instanceof JsonObject) || typeof entry.get('name') !== 'string') return [];
  const description = entry.get('description');
  const state = entry.get('state');
  const loaded = entry.get('loaded') === true ? 'ready' : 'unloaded';
  return [
    {
      name: entry.get('name'),
      description: typeof description === 'string' ? description : '',
      isDefault: entry.get('default') === true,
      state: typeof state === 'string' ? state : loaded,
    },
  ];
}

/// {status, text}; status 0 when no answer came.
export async function fetchMetrics(key, signal) {
  try {
    const response = await get(METRICS_PATH, key, 'text/plain', signal);
    return {status: response.status, text: await response.text()};
  } catch {
    return {status: 0, text: ''};
  }
}

/// The message of an error body, found where clients of this interface look for it.
export function errorMessage({body, text}) {
  if (body instanceof JsonObject) {
    const error = body.get('error');
    const detail = body.get('detail');
    const candidates = [
      error,
      inside(error),
      body.get('message'),
      detail,
      inside(detail),
      listed(detail),
    ];
    const found = candidates.find((candidate) => typeof candidate === 'string' && candidate !== '');
    if (found !== undefined) return found;
  }
  return text.length > RAW_ERROR_CHARS_MAX ? `${text.slice(0, RAW_ERROR_CHARS_MAX)}…` : text;
}

const inside = (value) => (value instanceof JsonObject ? value.get('message') : undefined);

function listed(detail) {
  if (!Array.isArray(detail)) return undefined;
  return detail
    .filter((entry) => entry instanceof JsonObject)
    .map((entry) => {
      const place = entry.get('loc');
      const path = Array.isArray(place)
        ? place
            .map(String)
            .filter((part) => part !== 'body')
            .join('.')
        : '';
      return path ? `${path}: ${entry.get('msg')}` : String(entry.get('msg'));
    })
    .join('; ');
}

/// When the server asks to come back, in milliseconds from now; null where it does not say.
export function retryAfterMs(headers, nowMs = Date.now()) {
  const exact = headers.get('retry-after-ms');
  if (exact !== null && /^[0-9]+(\.[0-9]+)?$/.test(exact.trim())) return Number(exact);
  const coarse = headers.get('retry-after');
  if (coarse === null) return null;
  if (/^[0-9]+$/.test(coarse.trim())) return Number(coarse) * 1000;
  const date = Date.parse(coarse);
  return Number.isNaN(date) ? null : Math.max(0, date - nowMs);
}

/// Server-Timing as a list of {name, ms, description}; entries without a duration are left out.
export function serverTiming(header) {
  if (!header) return [];
  return splitOutsideQuotes(header, ',').flatMap((entry) => {
    const [name, ...parameters] = splitOutsideQuotes(entry, ';').map((part) => part.trim());
    const values = new Map(
      parameters.map((parameter) => {
        const equals = parameter.indexOf('=');
        return [
          parameter.slice(0, equals).trim().toLowerCase(),
          unquoted(parameter.slice(equals + 1).trim()),
        ];
      }),
    );
    const ms = values.has('dur') ? Number(values.get('dur')) : NaN;
    return name && Number.isFinite(ms) ? [{name, ms, description: values.get('desc') ?? ''}] : [];
  });
}

function splitOutsideQuotes(text, separator) {
  const parts = [''];
  let isQuoted = false;
  for (let i = 0; i < text.length; ++i) {
    if (isQuoted && text[i] === '\\') {
      parts[parts.length - 1] += text[i++];
    } else if (text[i] === '"') {
      isQuoted = !isQuoted;
    } else if (text[i] === separator && !isQuoted) {
      parts.push('');
      continue;
    }
    parts[parts.length - 1] += text[i] ?? '';
  }
  return parts;
}

function unquoted(text) {
  return text.startsWith('"') ? text.replace(/^"|"$/g, '').replace(/\\(.)/g, '$1') : text;
}
