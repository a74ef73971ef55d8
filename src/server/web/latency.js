// Times of the last requests: kept, summed up and drawn.

export const HISTORY_MAX = 60;

/// The last HISTORY_MAX values, oldest first.
export class History {
  constructor(max = HISTORY_MAX) {
    this.max = max;
    this.values = [];
  }

  add(value) {
    this.values.push(value);
    if (this.values.length > this.max) this.values.shift();
  }
}

/// The smallest value that at least `share` of the values do not exceed; null without values.
export function percentile(values, share) {
  if (values.length === 0) return null;
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)];
}

/// Corner points of a line through the values in a box, the newest at the right edge; the box's
/// bottom is zero.
export function sparkPoints(values, {width, height, slots}) {
  const top = Math.max(...values, 1e-9);
  const step = width / Math.max(1, slots - 1);
  const begin = width - step * (values.length - 1);
  return values.map((value, i) => [begin + i * step, height - (value / top) * height]);
}

/// Milliseconds with the digits that matter.
export function shownMs(ms) {
  if (ms === null || !Number.isFinite(ms)) return '–';
  if (ms >= 1000) return `${(ms / 1000).toFixed(ms >= 10000 ? 1 : 2)} s`;
  if (ms >= 100) return `${ms.toFixed(0)} ms`;
  return `${ms.toFixed(ms >= 10 ? 1 : 2)} ms`;
}
