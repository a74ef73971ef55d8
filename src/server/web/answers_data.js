// Reading one answer: its options with probabilities, its decision, its figures.

import {JsonNumber, JsonObject} from './json.js';
import {optionsOf, shownText} from './questions.js';

/// A number of a response; null for anything else.
export function numberOf(value) {
  if (!(value instanceof JsonNumber)) return null;
  const number = Number(value);
  return Number.isFinite(number) ? number : null;
}

const member = (answer, name) => (answer instanceof JsonObject ? answer.get(name) : undefined);

/// Options in the order of the question, then whatever else the answer lists:
/// [{key, label, description, probability}]; probability is null where the answer has none.
export function answerOptions(definition, answer) {
  const options = optionsOf(definition);
  const yes = numberOf(member(answer, 'noul'));
  if (member(answer, 'type') === 'noul') {
    return options
      .map((option) => ({...option, probability: noulShare(option.key, yes)}))
      .reverse();
  }
  const probabilities = member(answer, 'probabilities');
  const listed = probabilities instanceof JsonObject ? probabilities : new JsonObject();
  const known = new Set(options.map(({key}) => key));
  const others = listed
    .names()
    .filter((name) => !known.has(name))
    .map((name) => ({key: name, label: name, description: ''}));
  return [...options, ...others].map((option) => ({
    ...option,
    probability: numberOf(listed.get(option.key)),
  }));
}

function noulShare(key, yes) {
  if (yes === null) return null;
  return key === 'true' ? yes : 1 - yes;
}

/// The number of a score answer; null for other types.
export function scoreOf(answer) {
  return member(answer, 'type') === 'score' ? numberOf(member(answer, 'score')) : null;
}

/// What was decided: {key, text, description, probability}. Of a score the most likely level, of a
/// yes/no the likelier side.
export function decisionOf(definition, answer) {
  const options = answerOptions(definition, answer);
  const choice = member(answer, 'choice');
  if (member(answer, 'type') === 'choice' && choice !== undefined) {
    const key = keyOfChoice(options, choice);
    return decided(options.find((option) => option.key === key) ?? {key}, shownText(choice));
  }
  let best = {key: '', label: ''};
  for (const option of decidingOrder(answer, options)) {
    if (option.probability === null) continue;
    if (best.probability === undefined || option.probability > best.probability) best = option;
  }
  return decided(best, best.label);
}

function decided({key, description = '', probability = null}, text) {
  return {key, text, description, probability};
}

/// Of equals the first wins; a yes/no of exactly one half is a yes.
function decidingOrder(answer, options) {
  return member(answer, 'type') === 'noul'
    ? options.filter(({key}) => key === 'true').concat(options.filter(({key}) => key !== 'true'))
    : options;
}

/// `choice` keeps its JSON type, the keys of probabilities are texts.
function keyOfChoice(options, choice) {
  const shown = shownText(choice);
  const same = options.find(({key}) => key === shown || key.toLowerCase() === shown);
  return same ? same.key : shown;
}

// Names of figures that an answer may carry, in the order they are shown.
export const FIGURES = [
  {
    name: 'answer_confidence',
    label: 'answer confidence',
    meaning: 'The probability of the reported answer. It is the number to gate on, for every type.',
  },
  {
    name: 'confidence',
    label: 'confidence',
    meaning:
      'How concentrated the whole distribution is: one minus its normalised entropy. Not a ' +
      'probability, and not comparable between questions with different numbers of options.',
  },
  {
    name: 'x_jev_confidence',
    label: 'Jev confidence',
    meaning:
      'The confidence that clients of the hosted service expect: how far the answer is above ' +
      'an even split.',
  },
  {
    name: 'act_probability',
    label: 'act',
    meaning:
      'What the act head of the checkpoint says. It carries no usable signal on the published ' +
      'checkpoints.',
  },
];

/// The figures an answer carries: [{name, label, meaning, value}].
export function figuresOf(answer) {
  return FIGURES.flatMap((figure) => {
    const holder = figure.name === 'act_probability' ? member(answer, 'action') : answer;
    const value = numberOf(member(holder, figure.name));
    return value === null ? [] : [{...figure, value}];
  });
}

/// The server's own figures about one request: the first of the blocks it may carry.
export function serverBlock(response) {
  for (const name of ['layard', 'laya_apple', 'runtime']) {
    const block = member(response, name);
    if (block instanceof JsonObject) return block;
  }
  return new JsonObject();
}
