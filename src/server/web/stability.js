// Whether a decision depends on the order of its options. The place of an option is part of what
// the model reads, so the same question is asked again with its options reversed and rotated. Its
// answers come back under the same labels, and what moves is the order's doing.

import {optionsOf, orderOf} from './questions.js';
import {answerOptions, decisionOf, scoreOf} from './answers_data.js';

/// Other orders asked of one question, at most: reversed, then rotations spread evenly.
export const ORDERS_MAX = 6;

/// Permutations of `base` other than itself: [{name, order}].
export function otherOrders(base, max = ORDERS_MAX) {
  const count = base.length;
  const seen = new Set([base.join()]);
  const found = [];
  const add = (name, order) => {
    if (seen.has(order.join()) || found.length >= max) return;
    seen.add(order.join());
    found.push({name, order});
  };
  add('reversed', [...base].reverse());
  for (const shift of shifts(count, max - 1)) {
    add(`rotated by ${shift}`, [...base.slice(shift), ...base.slice(0, shift)]);
  }
  return found;
}

/// 1..count-1, or `max` of them spread evenly.
function shifts(count, max) {
  const all = count - 1;
  const picked = Math.min(all, max);
  return Array.from({length: Math.max(0, picked)}, (_, i) => 1 + Math.floor((i * all) / picked));
}

/// What to ask: rounds of Map(name -> order). Round 0 has every question in its own order; one
/// with fewer other orders than another is left out of the later rounds.
export function plannedRounds(questions) {
  const plans = questions.entries
    .map(([name, definition]) => ({
      name,
      base: orderOf(definition),
      options: optionsOf(definition),
    }))
    .filter(({base, options}) => base.length === options.length && options.length > 1)
    .map(({name, base}) => ({
      name,
      orders: [{name: 'as asked', order: base}, ...otherOrders(base)],
    }));
  const count = Math.max(0, ...plans.map(({orders}) => orders.length));
  return Array.from(
    {length: count},
    (_, round) =>
      new Map(
        plans
          .filter(({orders}) => round < orders.length)
          .map(({name, orders}) => [name, orders[round]]),
      ),
  );
}

/// Compares one question's answers, the first being the one in the order asked: {decisions,
/// isStable, changed: how many of the others differ, ranges: Map(key -> [min, max]), spread: the
/// widest range, scores: [min, max] or null}.
export function compareAnswers(definition, answers) {
  const decisions = answers.map((answer) => decisionOf(definition, answer));
  const changed = decisions.slice(1).filter(({key}) => key !== decisions[0].key).length;
  const ranges = new Map();
  for (const answer of answers) {
    for (const {key, probability} of answerOptions(definition, answer)) {
      if (probability === null) continue;
      const [low, high] = ranges.get(key) ?? [probability, probability];
      ranges.set(key, [Math.min(low, probability), Math.max(high, probability)]);
    }
  }
  const spread = Math.max(0, ...[...ranges.values()].map(([low, high]) => high - low));
  const scores = answers.map(scoreOf).filter((score) => score !== null);
  return {
    decisions,
    changed,
    isStable: changed === 0,
    ranges,
    spread,
    scores: scores.length > 0 ? [Math.min(...scores), Math.max(...scores)] : null,
  };
}
