// Tokens read, and what was cut for which question.

import {numberOf} from './answers_data.js';
import {h, setShare} from './dom.js';
import {JsonObject} from './json.js';
import {shownText} from './questions.js';

const count = (value) => (value === null ? '–' : value.toLocaleString('en-US'));

/// Nodes for the panel; null where the response says nothing about it.
export function usagePanel(response) {
  const usage = response.get('usage');
  if (!(usage instanceof JsonObject)) return null;
  const figure = (name) => numberOf(usage.get(name));
  const state = figure('state_tokens');
  const dropped = figure('state_tokens_dropped');
  return [
    state === null ? null : keptLine(state, dropped ?? 0),
    h(
      'dl',
      {class: 'figures'},
      pair(
        'prompt tokens',
        count(figure('input_tokens')),
        'Tokens of all rows that the model read.',
      ),
      pair('text', count(state), 'Tokens of the whole text.'),
      pair('cut', count(dropped), 'The most that any question had to drop.'),
      figure('windows') === null
        ? null
        : pair('windows', count(figure('windows')), 'Parts the text was read in.'),
    ),
    questionTable(response, usage),
    warningList(response),
  ];
}

function pair(label, value, meaning) {
  return h('div', {title: meaning}, h('dt', {}, label), h('dd', {}, value));
}

function keptLine(state, dropped) {
  const kept = Math.max(0, state - dropped);
  const line = setShare(
    h('span', {class: 'track kept', 'aria-hidden': 'true'}, h('span', {class: 'fill'})),
    '--share',
    state === 0 ? 1 : kept / state,
  );
  const words =
    dropped === 0
      ? `The whole text was read (${count(state)} tokens).`
      : `${count(kept)} of ${count(state)} tokens of the text were read, ${count(dropped)} cut.`;
  return h('div', {class: 'kept-line'}, h('p', {}, words), line);
}

function questionTable(response, usage) {
  const answers = response.get('answers');
  if (!(answers instanceof JsonObject) || answers.entries.length === 0) return null;
  const listed = usage.get('truncated_questions');
  const cut = new Set(Array.isArray(listed) ? listed.map(shownText) : []);
  const shortened = usage.get('options');
  return h(
    'div',
    {class: 'scroll', role: 'region', 'aria-label': 'What was cut for each question', tabIndex: 0},
    h(
      'table',
      {},
      h(
        'thead',
        {},
        h(
          'tr',
          {},
          ['Question', 'Text', 'Options'].map((head) => h('th', {scope: 'col'}, head)),
        ),
      ),
      h(
        'tbody',
        {},
        answers
          .names()
          .map((name) =>
            h(
              'tr',
              {},
              h('th', {scope: 'row'}, name),
              h('td', {}, cut.has(name) ? h('span', {class: 'tag warn'}, 'cut') : 'whole'),
              h(
                'td',
                {},
                optionsWords(shortened instanceof JsonObject ? shortened.get(name) : undefined),
              ),
            ),
          ),
      ),
    ),
  );
}

function optionsWords(entry) {
  if (!(entry instanceof JsonObject)) return 'whole';
  const [total, distinct, each] = ['total', 'distinct', 'tokens_per_option'].map((key) =>
    numberOf(entry.get(key)),
  );
  return h(
    'span',
    {class: 'tag warn'},
    `shortened to ${count(each)} tokens; ${count(distinct)} of ${count(total)} differ`,
  );
}

function warningList(response) {
  const warnings = response.get('warnings');
  if (!Array.isArray(warnings) || warnings.length === 0) return null;
  return h(
    'ul',
    {class: 'warnings', 'aria-label': 'Warnings'},
    warnings.map((text) => h('li', {}, shownText(text))),
  );
}
