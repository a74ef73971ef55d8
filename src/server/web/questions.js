// What a question is: the checks the page makes before it sends anything, and the lists of options
// that editor, answers and order check share. The server has the last word; these checks only catch
// what would make form and request disagree, or what is sure to be refused.

import {JsonNumber, JsonObject, compactJson} from './json.js';

export const TYPES = ['choice', 'score', 'noul'];
export const TYPE_WORDS = {choice: 'choice', score: 'score', noul: 'yes / no'};

/// A value as the words a person reads: texts as they are, everything else as JSON.
export function shownText(value) {
  return typeof value === 'string' ? value : compactJson(value);
}

/// The value of criteria's `true` or `false`, whose names are found in any case.
export function noulSide(criteria, side) {
  if (!(criteria instanceof JsonObject)) return null;
  const entry = criteria.entries.findLast(([key]) => key.toLowerCase() === side);
  return entry ? entry[1] : null;
}

/// Options in the order of `criteria`: {key, label, description}, where key is what `probabilities`
/// is keyed by. Empty where the definition has none that can be listed.
export function optionsOf(definition) {
  if (!(definition instanceof JsonObject)) return [];
  const criteria = definition.get('criteria');
  switch (definition.get('type')) {
    case 'choice':
      if (Array.isArray(criteria)) return criteria.map((label) => option(labelText(label), null));
      if (!(criteria instanceof JsonObject)) return [];
      return criteria.names().map((label) => option(label, criteria.get(label)));
    case 'score':
      if (!Array.isArray(criteria)) return [];
      return criteria.map((level, i) => ({
        key: String(i),
        label: String(i),
        description: shownText(level),
      }));
    case 'noul':
      return ['false', 'true'].map((side) => noulOption(definition, criteria, side));
    default:
      return [];
  }
}

function option(label, description) {
  const text = description === null || description === '' ? '' : shownText(description);
  return {key: label, label, description: text};
}

function noulOption(definition, criteria, side) {
  const labels = definition.get('labels');
  const word = labels instanceof JsonObject ? labels.get(side) : null;
  const description = noulSide(criteria, side);
  return {
    key: side,
    label: typeof word === 'string' ? word : {true: 'yes', false: 'no'}[side],
    description: description === null ? '' : shownText(description),
  };
}

/// A label of a list as the text it is keyed by: Python's words for what is no text.
function labelText(label) {
  if (label === true) return 'True';
  if (label === false) return 'False';
  return shownText(label);
}

/// The questions as an object. A list of different texts is short for yes/no questions.
export function questionsObject(value) {
  const isList = Array.isArray(value) && value.every((item) => typeof item === 'string');
  if (!isList) return value;
  return new JsonObject(
    value.map((text) => [text, JsonObject.of({type: 'noul', instructions: text})]),
  );
}

/// Everything that keeps these questions from being sent: [{question, field, message}], where
/// question is an index (null: the whole), field a name the editor knows or null.
export function checkQuestions(questions) {
  if (!(questions instanceof JsonObject)) {
    return [
      problem(
        null,
        null,
        'Questions are an object: a name for each question, then its definition.',
      ),
    ];
  }
  if (questions.entries.length === 0) return [problem(null, null, 'Add at least one question.')];
  const names = questions.names();
  return names.flatMap((name, index) => [
    ...checkName(names, name, index),
    ...checkDefinition(questions.entries[index][1], name, index),
  ]);
}

function problem(question, field, message) {
  return {question, field, message};
}

function checkName(names, name, index) {
  if (name.trim() === '')
    return [problem(index, 'name', 'Give the question a name; its answer comes back under it.')];
  if (names.indexOf(name) !== index) {
    return [
      problem(index, 'name', `Another question is named “${name}”; each needs a name of its own.`),
    ];
  }
  return [];
}

function checkDefinition(definition, name, index) {
  if (!(definition instanceof JsonObject)) {
    return [
      problem(index, null, `“${name}” needs a definition: an object with type and instructions.`),
    ];
  }
  const type = definition.get('type');
  if (!TYPES.includes(type)) {
    const found = type === undefined ? 'has no type' : `has the type ${compactJson(type)}`;
    return [problem(index, 'type', `“${name}” ${found}; use choice, score or noul.`)];
  }
  const criteria = definition.get('criteria');
  return {choice: checkChoice, score: checkScore, noul: checkNoul}[type](
    definition,
    criteria,
    name,
    index,
  );
}

function checkChoice(definition, criteria, name, index) {
  const isObject = criteria instanceof JsonObject;
  if (!isObject && !Array.isArray(criteria)) {
    return [
      problem(
        index,
        'criteria',
        `“${name}” is a choice: criteria is an object of label and description.`,
      ),
    ];
  }
  const labels = isObject ? criteria.names() : criteria.map(labelText);
  if (labels.length === 0)
    return [problem(index, 'criteria', `“${name}” needs at least one option.`)];
  const repeated = labels.findIndex((label, i) => labels.indexOf(label) !== i);
  if (repeated < 0) return [];
  return [
    problem(
      index,
      `label-${repeated}`,
      `Option ${repeated + 1} of “${name}” repeats the label “${labels[repeated]}”.`,
    ),
  ];
}

function checkScore(definition, criteria, name, index) {
  if (!Array.isArray(criteria)) {
    return [
      problem(
        index,
        'criteria',
        `“${name}” is a score: criteria is a list of levels, lowest first.`,
      ),
    ];
  }
  if (criteria.length === 0)
    return [problem(index, 'criteria', `“${name}” needs at least one level.`)];
  return criteria.flatMap((level, i) =>
    level === null || level === ''
      ? [problem(index, `level-${i}`, `Level ${i} of “${name}” needs a description.`)]
      : [],
  );
}

function checkNoul(definition, criteria, name, index) {
  const isNone = criteria === undefined || criteria === null;
  if (!isNone && !(criteria instanceof JsonObject)) {
    return [
      problem(
        index,
        'criteria',
        `“${name}” is a yes/no question: criteria is an object with true and false.`,
      ),
    ];
  }
  const other = isNone
    ? undefined
    : criteria.names().find((key) => !['true', 'false'].includes(key.toLowerCase()));
  if (other !== undefined) {
    return [
      problem(
        index,
        'criteria',
        `“${name}” is a yes/no question: its criteria are true and false, not “${other}”.`,
      ),
    ];
  }
  const instructions = definition.get('instructions');
  const isBlank =
    instructions === undefined ||
    instructions === null ||
    (typeof instructions === 'string' && instructions.trim() === '');
  if (!isBlank || (!isNone && criteria.entries.some(([, side]) => side !== null && side !== '')))
    return [];
  return [problem(index, 'instructions', `Write what “${name}” asks.`)];
}

/// A name that no question has yet.
export function freeName(questions, stem) {
  for (let i = 1; ; ++i) {
    const name = i === 1 ? stem : `${stem}_${i}`;
    if (!questions.has(name)) return name;
  }
}

/// A definition to start from.
export function newDefinition(type) {
  const definition = JsonObject.of({type, instructions: ''});
  if (type === 'choice') definition.set('criteria', JsonObject.of({first: null, second: null}));
  if (type === 'score') definition.set('criteria', ['low', 'medium', 'high']);
  return definition;
}

/// The criteria that another type gets from these: labels and levels carry over, yes/no has none.
export function convertedCriteria(definition, type) {
  const options = optionsOf(definition);
  if (type === 'noul' || options.length === 0 || definition.get('type') === 'noul') {
    return newDefinition(type).get('criteria');
  }
  if (type === 'score') return options.map(({label, description}) => description || label);
  return new JsonObject(options.map(({description}) => [description, null]));
}

/// The option_order of a definition as numbers, or that of the criteria.
export function orderOf(definition) {
  const order = definition instanceof JsonObject ? definition.get('option_order') : undefined;
  if (Array.isArray(order)) return order.map(Number);
  return optionsOf(definition).map((_, i) => i);
}

/// The same questions with other orders of options: orders is a Map of name to permutation.
/// Questions that are not in it are left out.
export function withOrders(questions, orders) {
  const entries = questions.entries
    .filter(([name]) => orders.has(name))
    .map(([name, definition]) => {
      const copy = new JsonObject(definition.entries.map((entry) => [...entry]));
      copy.set(
        'option_order',
        orders.get(name).map((i) => new JsonNumber(String(i))),
      );
      return [name, copy];
    });
  return new JsonObject(entries);
}
