// Latency of this page's requests, and the server's queue while the page is looked at.

import {numberOf, serverBlock} from './answers_data.js';
import {byId, h, show, svg} from './dom.js';
import {History, percentile, shownMs, sparkPoints} from './latency.js';
import {busyFigures, parseMetrics, requestRate, requestsTotal} from './metrics.js';
import {fetchMetrics, serverTiming} from './request.js';

const POLL_MS = 2000;
const POLL_SLOW_MS = 15000; // after a reading that failed
const WIDTH = 240;
const HEIGHT = 44;

export class LatencyPanel {
  constructor() {
    this.roundTrips = new History();
    this.draw(null);
  }

  /// A reply that came; only answers count as a time.
  add(reply) {
    this.roundTrips.add(reply.roundTripMs);
    this.draw(reply);
  }

  draw(reply) {
    const {values} = this.roundTrips;
    if (!reply) {
      show(byId('times'), h('p', {class: 'empty'}, 'Times appear here with the first answer.'));
      return;
    }
    show(
      byId('times'),
      h(
        'div',
        {class: 'latency'},
        h(
          'p',
          {class: 'big'},
          h('strong', {}, shownMs(reply.roundTripMs)),
          h('span', {}, 'round trip'),
        ),
        sparkline(values),
      ),
      h(
        'dl',
        {class: 'figures'},
        timePairs(reply).map(([label, ms, meaning]) =>
          h('div', {title: meaning}, h('dt', {}, label), h('dd', {}, shownMs(ms))),
        ),
      ),
      h('p', {class: 'hint'}, summary(values)),
    );
  }
}

function timePairs(reply) {
  const block = serverBlock(reply.body);
  const figure = (name) => numberOf(block.get(name));
  return [
    ...serverTiming(reply.headers.get('server-timing')).map(({name, ms, description}) => [
      `${name} (server)`,
      ms,
      description || 'From the header Server-Timing.',
    ]),
    ['in the model', figure('latency_ms'), 'From arrival in the library to the answer.'],
    ['waited in the queue', figure('queue_wait_ms'), 'Before the device took the request.'],
    [
      'on the device',
      figure('device_ms'),
      'The forward passes, shared by the requests of one batch.',
    ],
  ].filter(([, ms]) => ms !== null);
}

function summary(values) {
  const runs = values.length === 1 ? '1 run' : `the last ${values.length} runs`;
  const [median, high] = [0.5, 0.95].map((share) => shownMs(percentile(values, share)));
  return `Median ${median}, 95th percentile ${high} over ${runs}.`;
}

function sparkline(values) {
  const points = sparkPoints(values, {
    width: WIDTH,
    height: HEIGHT,
    slots: Math.max(12, values.length),
  });
  const path = points.map(([x, y]) => `${(x + 3).toFixed(1)},${(y + 3).toFixed(1)}`).join(' ');
  const [x, y] = points[points.length - 1];
  return svg(
    'svg',
    {
      class: 'spark',
      viewBox: `0 0 ${WIDTH + 6} ${HEIGHT + 6}`,
      role: 'img',
      'aria-label':
        `Round trips of the last ${values.length} runs, ${shownMs(values[0])} to ` +
        `${shownMs(values[values.length - 1])}`,
    },
    svg('polygon', {
      points: `${(points[0][0] + 3).toFixed(1)},${HEIGHT + 3} ${path} ${WIDTH + 3},${HEIGHT + 3}`,
    }),
    svg('line', {class: 'base', x1: 3, x2: WIDTH + 3, y1: HEIGHT + 3, y2: HEIGHT + 3}),
    svg('polyline', {points: path}),
    svg('circle', {cx: x + 3, cy: y + 3, r: 3}),
  );
}

export class QueuePanel {
  /// `key()` gives the key at the moment of each reading.
  constructor(key) {
    this.key = key;
    this.before = null;
    this.timer = 0;
    this.isReading = false;
    document.addEventListener('visibilitychange', () => this.schedule(0));
    this.schedule(0);
  }

  /// Nothing is read while the page is hidden: the timer starts again when it is shown.
  schedule(delayMs) {
    clearTimeout(this.timer);
    if (document.visibilityState === 'visible') this.timer = setTimeout(() => this.read(), delayMs);
  }

  async read() {
    if (this.isReading) return;
    this.isReading = true;
    const {status, text} = await fetchMetrics(this.key(), AbortSignal.timeout(POLL_SLOW_MS));
    this.isReading = false;
    const isGood = status === 200;
    if (isGood) this.show(parseMetrics(text));
    else this.showAbsence(status);
    this.schedule(isGood ? POLL_MS : POLL_SLOW_MS);
  }

  show(samples) {
    const now = {atMs: performance.now(), total: requestsTotal(samples)};
    const rate = requestRate(this.before, now);
    this.before = now;
    const figures = busyFigures(samples);
    const all = [
      ...figures.map(({label, value, help}) => [
        label,
        Number(value.toFixed(2)).toLocaleString('en-US'),
        help,
      ]),
      ...(rate === null
        ? []
        : [['requests a second', rate.toFixed(1), 'Over the last two readings.']]),
    ];
    show(byId('queue-note'), `read every ${POLL_MS / 1000} s`);
    show(
      byId('queue'),
      all.length === 0
        ? h('p', {class: 'hint'}, 'The server’s metrics have no queue figures.')
        : h(
            'dl',
            {class: 'figures'},
            all.map(([label, value, help]) =>
              h('div', {title: help || null}, h('dt', {}, label), h('dd', {}, value)),
            ),
          ),
    );
  }

  showAbsence(status) {
    const words =
      status === 0
        ? 'The server cannot be reached.'
        : status === 401
          ? 'Needs the API key.'
          : `No metrics (${status}).`;
    this.before = null;
    show(byId('queue-note'));
    show(byId('queue'), h('p', {class: 'hint'}, words));
  }
}
