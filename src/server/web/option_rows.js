// The rows of a question's criteria: options of a choice, levels of a score, sides of a yes/no.

import {h} from './dom.js';
import {icon} from './icons.js';
import {JsonObject} from './json.js';
import {noulSide} from './questions.js';
import {valueField} from './value_field.js';

const SIDES = [
  ['true', 'Yes means'],
  ['false', 'No means'],
];

/// The rows as an element; null where the form cannot show the criteria. `edited()` after a text
/// changed, `redraw(path)` after rows came, went or moved.
export function optionRows(context) {
  const criteria = context.definition.get('criteria');
  const isNone = criteria === undefined || criteria === null;
  switch (context.definition.get('type')) {
    case 'choice':
      if (Array.isArray(criteria) && criteria.every((label) => typeof label === 'string')) {
        return choiceRows(
          context,
          criteria.map((label) => [label, null]),
        );
      }
      return isNone || criteria instanceof JsonObject
        ? choiceRows(context, criteria?.entries ?? [])
        : null;
    case 'score':
      return isNone || Array.isArray(criteria) ? scoreRows(context, criteria ?? []) : null;
    case 'noul':
      return isNone || criteria instanceof JsonObject ? noulRows(context, criteria) : null;
    default:
      return null;
  }
}

/// Adds an empty option or level; returns the path of its first field.
export function addOption(definition, index) {
  definition.delete('option_order');
  if (definition.get('type') === 'score') {
    const levels = definition.get('criteria') ?? [];
    definition.set('criteria', [...levels, '']);
    return `${index}/level-${levels.length}`;
  }
  const options = optionObject(definition);
  let label = 'option';
  for (let i = 2; options.has(label); ++i) label = `option_${i}`;
  options.entries.push([label, null]);
  return `${index}/label-${options.entries.length - 1}`;
}

/// A choice's criteria as an object; a list of labels becomes one.
function optionObject(definition) {
  const criteria = definition.get('criteria');
  if (criteria instanceof JsonObject) return criteria;
  const labels = Array.isArray(criteria) ? criteria : [];
  const object = new JsonObject(labels.map((label) => [label, null]));
  definition.set('criteria', object);
  return object;
}

function rowTools({what, position, count, list, context, field}) {
  const {definition, index, redraw} = context;
  const change = (edit, to) => {
    definition.delete('option_order');
    edit(list());
    redraw(to < 0 ? `${index}/instructions` : `${index}/${field}-${to}`);
  };
  const up = () => change((items) => swap(items, position, position - 1), position - 1);
  const remove = () => change((items) => items.splice(position, 1), Math.min(position, count - 2));
  const byKey = (event) => {
    const to = position + ({ArrowUp: -1, ArrowDown: 1}[event.key] ?? 0);
    if (!event.altKey || to === position || to < 0 || to >= count) return;
    event.preventDefault();
    change((items) => swap(items, position, to), to);
  };
  const tool = (picture, label, disabled, click) =>
    h(
      'button',
      {type: 'button', class: 'tool', 'aria-label': label, title: label, disabled, on: {click}},
      icon(picture),
    );
  return {
    byKey,
    tools: h(
      'div',
      {class: 'tools'},
      tool('up', `Move ${what} up (Alt and arrow keys in its field)`, position === 0, up),
      tool('remove', `Remove ${what}`, false, remove),
    ),
  };
}

function swap(items, a, b) {
  [items[a], items[b]] = [items[b], items[a]];
}

function choiceRows(context, entries) {
  const {definition, index, problemId, edited} = context;
  const rows = entries.map(([label, description], position) => {
    const {byKey, tools} = rowTools({
      what: `option ${position + 1}`,
      position,
      count: entries.length,
      context,
      field: 'label',
      list: () => optionObject(definition).entries,
    });
    const rename = (event) => {
      optionObject(definition).entries[position][0] = event.target.value;
      edited();
    };
    return h(
      'li',
      {class: 'option'},
      h('input', {
        type: 'text',
        value: label,
        class: 'label',
        'data-path': `${index}/label-${position}`,
        'aria-label': `Label of option ${position + 1}`,
        'aria-describedby': problemId,
        spellcheck: 'false',
        placeholder: 'label',
        on: {input: rename, keydown: byKey},
      }),
      valueField({
        value: description,
        path: `${index}/description-${position}`,
        problemId,
        edited,
        fieldProblems: context.fieldProblems,
        label: `Description of option ${position + 1}`,
        placeholder: 'description (optional)',
        onValue: (value) => {
          optionObject(definition).entries[position][1] = value;
        },
      }),
      tools,
    );
  });
  return h('ul', {class: 'options choice', 'aria-label': 'Options'}, rows);
}

function scoreRows(context, levels) {
  const {definition, index, problemId, edited} = context;
  const rows = levels.map((level, position) => {
    const {byKey, tools} = rowTools({
      what: `level ${position}`,
      position,
      count: levels.length,
      context,
      field: 'level',
      list: () => definition.get('criteria'),
    });
    return h(
      'li',
      {class: 'option'},
      h('span', {class: 'place', 'aria-hidden': 'true'}, position),
      valueField({
        value: level,
        path: `${index}/level-${position}`,
        problemId,
        edited,
        keydown: byKey,
        fieldProblems: context.fieldProblems,
        label: `Level ${position}`,
        placeholder: position === 0 ? 'lowest' : 'description',
        onValue: (value) => {
          definition.get('criteria')[position] = value ?? '';
        },
      }),
      tools,
    );
  });
  return h('ul', {class: 'options score', 'aria-label': 'Levels, lowest first'}, rows);
}

function noulRows(context, criteria) {
  const {definition, index, problemId, edited} = context;
  const rows = SIDES.map(([side, words]) =>
    h(
      'li',
      {class: 'option'},
      h('span', {class: 'side', 'aria-hidden': 'true'}, words),
      valueField({
        value: noulSide(criteria, side),
        path: `${index}/${side}`,
        problemId,
        edited,
        fieldProblems: context.fieldProblems,
        label: words,
        placeholder: 'optional',
        onValue: (value) => setSide(definition, side, value),
      }),
    ),
  );
  return h('ul', {class: 'options noul', 'aria-label': 'What yes and no mean'}, rows);
}

function setSide(definition, side, value) {
  const criteria = definition.get('criteria') ?? new JsonObject();
  const name = criteria.names().find((key) => key.toLowerCase() === side) ?? side;
  if (value === null) criteria.delete(name);
  else criteria.set(name, value);
  if (criteria.entries.length === 0) definition.delete('criteria');
  else definition.set('criteria', criteria);
}
