// How figures become words. Pure functions: no page, no clock but what is handed in.

const RATE_WINDOW_MS = 10000;
const UP = new Set(['healthy', 'half_open']);
const NONE = '–';

export const isUp = (state) => UP.has(state);

/// `half_open` as `half open`.
export const stateWords = (state) => state.replaceAll('_', ' ');

export const count = (value) => value.toLocaleString('en-US');

/// Milliseconds with the digits that matter.
export function shownMs(ms) {
  if (ms >= 1000) return `${Number((ms / 1000).toPrecision(3))}\u00a0s`;
  return `${Number(ms.toPrecision(3))}\u00a0ms`;
}

/// A quantile of `{count, p50_at_most_ms, ...}`: the bound of the bucket it lies in.
export function atMost(times, name) {
  return times.count === 0 ? NONE : `≤\u00a0${shownMs(times[`${name}_at_most_ms`])}`;
}

export function percent(part, whole) {
  if (whole === 0) return NONE;
  const share = (100 * part) / whole;
  return share > 0 && share < 1 ? '<\u00a01\u00a0%' : `${Math.round(share)}\u00a0%`;
}

/// `11:05:03`, with the date where it is not today's.
export function timeWords(ms, now = new Date()) {
  if (!ms) return NONE;
  const at = new Date(ms);
  const time = at.toLocaleTimeString('en-GB');
  return at.toDateString() === now.toDateString() ? time : `${isoDate(at)} ${time}`;
}

function isoDate(at) {
  const two = (value) => String(value).padStart(2, '0');
  return `${at.getFullYear()}-${two(at.getMonth() + 1)}-${two(at.getDate())}`;
}

export function durationWords(ms) {
  const minutes = Math.floor(ms / 60000);
  if (minutes < 1) return `${Math.floor(ms / 1000)} s`;
  if (minutes < 60) return `${minutes} min`;
  if (minutes < 48 * 60) return `${Math.floor(minutes / 60)} h ${minutes % 60} min`;
  return `${Math.floor(minutes / 1440)} days`;
}

/// Requests that were answered, of all APIs.
export function repliesTotal({added, ...requests}) {
  return Object.values(requests)
    .filter((value) => typeof value === 'object')
    .flatMap((byStatus) => Object.values(byStatus))
    .reduce((sum, value) => sum + value, 0);
}

/// Replies of a status of 500 or more, of {status: count}.
export function serverErrors(replies) {
  return Object.entries(replies)
    .filter(([status]) => Number(status) >= 500)
    .reduce((sum, [, value]) => sum + value, 0);
}

/// What a person should look after, as sentences.
export function troubles({classes, devices, policy}) {
  const down = devices
    .filter(({state}) => !isUp(state))
    .map(({name, state}) => {
      const served = Object.keys(classes).filter((label) => classes[label].device === name);
      const first = served.length > 0 ? ` (first choice of ${served.join(', ')})` : '';
      return `${name} is ${stateWords(state)}${first}.`;
    });
  const refused = policy.last_reload.error
    ? ['The last reload was refused: the policy before it still serves.']
    : [];
  return [...down, ...refused];
}

/// Rates of counters over the last readings. Bounds: the readings of RATE_WINDOW_MS.
export class Rates {
  readings = [];

  /// `values`: {name: count}. A counter that shrank means another process: nothing is compared.
  add(atMs, values) {
    const last = this.readings.at(-1)?.values ?? {};
    if (Object.entries(values).some(([name, value]) => value < (last[name] ?? 0)))
      this.readings = [];
    this.readings.push({atMs, values});
    while (this.readings.length > 2 && atMs - this.readings[0].atMs > RATE_WINDOW_MS)
      this.readings.shift();
  }

  /// Per second, as text.
  shown(name) {
    const [first, last] = [this.readings[0], this.readings.at(-1)];
    const seconds = first ? (last.atMs - first.atMs) / 1000 : 0;
    if (seconds <= 0 || first.values[name] === undefined) return NONE;
    const rate = (last.values[name] - first.values[name]) / seconds;
    return rate === 0 ? '0' : rate.toFixed(rate < 10 ? 1 : 0);
  }
}
