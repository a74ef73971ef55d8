// Prometheus' text format, and the figures of it that say how busy the server is.

const SAMPLE = /^([a-zA-Z_:][a-zA-Z0-9_:]*)(\{.*\})?\s+(\S+)(?:\s+-?[0-9]+)?\s*$/;
const LABEL = /\s*([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\]|\\.)*)"\s*,?/y;
const SAMPLES_MAX = 20000;

function number(text) {
  const word = text.toLowerCase();
  if (word === 'nan') return NaN;
  if (/^[+-]?inf$/.test(word)) return word.startsWith('-') ? -Infinity : Infinity;
  return Number(text);
}

function unescaped(text) {
  return text.replace(/\\(.)/g, (_, c) => (c === 'n' ? '\n' : c));
}

function labelsOf(text) {
  const labels = new Map();
  if (!text) return labels;
  const inner = text.slice(1, -1);
  LABEL.lastIndex = 0;
  for (let found = LABEL.exec(inner); found; found = LABEL.exec(inner)) {
    labels.set(found[1], unescaped(found[2]));
    if (LABEL.lastIndex >= inner.length) break;
  }
  return labels;
}

/// Samples as {name, labels: Map, value, type, help}; lines of another form are skipped.
export function parseMetrics(text) {
  const types = new Map();
  const helps = new Map();
  const samples = [];
  for (const line of text.split('\n')) {
    const comment = /^#\s+(TYPE|HELP)\s+(\S+)\s?(.*)$/.exec(line);
    if (comment) {
      (comment[1] === 'TYPE' ? types : helps).set(comment[2], unescaped(comment[3].trim()));
      continue;
    }
    const found = SAMPLE.exec(line.trim());
    if (!found || samples.length >= SAMPLES_MAX) continue;
    const [, name, labels, value] = found;
    samples.push({
      name,
      labels: labelsOf(labels),
      value: number(value),
      type: types.get(name) ?? 'untyped',
      help: helps.get(name) ?? '',
    });
  }
  return samples;
}

const BUSY = /(^|_)(queued?|queue|waiting|running|in_?flight|inflight|backlog|connections)(_|$)/;
const FIGURES_MAX = 12;

/// `layard_queue_requests{device="cpu"}` as {label: "queue requests (cpu)", value, help}: every
/// gauge whose name speaks of work in front of or in the device.
export function busyFigures(samples) {
  return samples
    .filter(({name, type, value}) => type === 'gauge' && BUSY.test(name) && Number.isFinite(value))
    .slice(0, FIGURES_MAX)
    .map(({name, labels, value, help}) => ({label: figureName(name, labels), value, help}));
}

function figureName(name, labels) {
  const words = name.replace(/^layard_/, '').replaceAll('_', ' ');
  return labels.size === 0 ? words : `${words} (${[...labels.values()].join(', ')})`;
}

/// Requests answered so far: the sum of the first counter named `..._requests_total`, null without.
export function requestsTotal(samples) {
  const isTotal = ({name}) => /(^|_)requests_total$/.test(name);
  const first = samples.find(isTotal);
  if (!first) return null;
  return samples
    .filter(({name}) => name === first.name)
    .reduce((sum, {value}) => sum + (Number.isFinite(value) ? value : 0), 0);
}

/// Requests a second between two readings {atMs, total}; null where they cannot be compared (the
/// server has started anew, or there is no such counter).
export function requestRate(before, now) {
  if (!before || before.total === null || now.total === null) return null;
  const seconds = (now.atMs - before.atMs) / 1000;
  return seconds > 0 && now.total >= before.total ? (now.total - before.total) / seconds : null;
}
