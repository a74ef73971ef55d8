// The result of asking again with other orders of options.

import {shownShare} from './answers.js';
import {h} from './dom.js';

const orders = (count) => `${count} other ${count === 1 ? 'order' : 'orders'}`;

/// `results`: Map(question -> {names: of the orders, comparison}). Questions with one option, which
/// have no other order, are in `skipped`.
export function orderPanel(results, skipped) {
  const unstable = [...results.values()].filter(({comparison}) => !comparison.isStable).length;
  return h(
    'section',
    {class: unstable ? 'order bad' : 'order good', 'aria-label': 'Order stability'},
    h('p', {class: 'order-head'}, headWords(unstable, results.size)),
    results.size === 0
      ? null
      : h(
          'div',
          {
            class: 'scroll',
            role: 'region',
            tabIndex: 0,
            'aria-label': 'Order stability by question',
          },
          table(results),
        ),
    results.size === 0
      ? null
      : h('p', {class: 'hint'}, 'The line under each bar spans its probability over all orders.'),
    skipped.length > 0 ? h('p', {class: 'hint'}, `One option only: ${skipped.join(', ')}.`) : null,
    results.size === 0
      ? null
      : h(
          'details',
          {},
          h('summary', {}, 'Decision in each order'),
          [...results].map(([name, result]) => eachOrder(name, result)),
        ),
  );
}

function headWords(unstable, count) {
  if (count === 0) return 'No question here has a second order of options.';
  if (unstable === 0) return 'Every decision stays in every order that was tried.';
  const decisions = count === 1 ? 'decision' : 'decisions';
  const depend = unstable === 1 ? 'depends' : 'depend';
  return `${unstable} of ${count} ${decisions} ${depend} on the order of the options.`;
}

function table(results) {
  const heads = ['Question', 'Decision', 'Spread'];
  return h(
    'table',
    {},
    h(
      'thead',
      {},
      h(
        'tr',
        {},
        heads.map((head) => h('th', {scope: 'col'}, head)),
      ),
    ),
    h(
      'tbody',
      {},
      [...results].map(([name, {comparison}]) =>
        h(
          'tr',
          {},
          h('th', {scope: 'row'}, name),
          h('td', {}, verdict(comparison)),
          h(
            'td',
            {title: 'The widest range of one option’s probability over all orders.'},
            spread(comparison),
          ),
        ),
      ),
    ),
  );
}

function verdict({isStable, changed, decisions}) {
  const others = decisions.length - 1;
  return isStable
    ? [h('span', {class: 'tag good'}, 'stays'), ` in ${orders(others)}`]
    : [h('span', {class: 'tag bad'}, 'changes'), ` in ${changed} of ${orders(others)}`];
}

function spread({spread: widest, scores}) {
  const points = `${(widest * 100).toFixed(1)} points`;
  return scores === null
    ? points
    : `${points}; score ${scores[0].toFixed(2)}–${scores[1].toFixed(2)}`;
}

function eachOrder(name, {names, comparison}) {
  return h(
    'div',
    {class: 'each-order'},
    h('h4', {}, name),
    h(
      'ul',
      {},
      comparison.decisions.map(({text, key, description, probability}, i) =>
        h(
          'li',
          {class: key === comparison.decisions[0].key ? null : 'moved'},
          h('span', {}, names[i]),
          h('b', {}, text),
          comparison.scores === null ? null : h('span', {}, description),
          h('span', {class: 'share'}, shownShare(probability)),
        ),
      ),
    ),
  );
}
