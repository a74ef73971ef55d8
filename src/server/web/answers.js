// Answers as bars, with the figures behind them and what was cut.

import {answerOptions, decisionOf, figuresOf, numberOf, scoreOf} from './answers_data.js';
import {h, setShare} from './dom.js';
import {JsonObject} from './json.js';
import {TYPE_WORDS, shownText} from './questions.js';

// A choice may have 255 options; what is beyond these is one click away.
const BARS_OPEN_MAX = 16;

export const shownShare = (share) => (share === null ? '–' : `${(share * 100).toFixed(1)}%`);

/// One block per answer, in the order of the response. `comparisons` is a Map of question to what
/// compareAnswers said, empty until the order was checked.
export function answerBlocks(questions, response, comparisons) {
  const answers = response.get('answers');
  if (!(answers instanceof JsonObject)) return [];
  const cut = cutQuestions(response);
  return answers.entries.map(([name, answer]) =>
    answerBlock({
      name,
      answer,
      definition: questions.get(name),
      isCut: cut.has(name),
      comparison: comparisons.get(name),
    }),
  );
}

function answerBlock({name, answer, definition, isCut, comparison}) {
  const type = answer instanceof JsonObject ? answer.get('type') : undefined;
  const options = answerOptions(definition, answer);
  const decision = decisionOf(definition, answer);
  const score = scoreOf(answer);
  return h(
    'article',
    {class: 'answer', 'aria-label': `Answer to ${name}`},
    h(
      'header',
      {class: 'answer-head'},
      h('h3', {}, name),
      h('span', {class: 'type'}, TYPE_WORDS[type] ?? shownText(type ?? 'unknown type')),
      isCut ? h('span', {class: 'tag warn'}, 'text cut') : null,
      answer instanceof JsonObject && answer.get('low_confidence') === true
        ? h('span', {class: 'tag warn'}, 'low confidence')
        : null,
      comparison ? stabilityTag(comparison) : null,
    ),
    instructionsLine(definition),
    headline(decision, score, options),
    windowLine(answer),
    bars(options, decision, comparison, score),
    figures(answer),
  );
}

function instructionsLine(definition) {
  const text = definition instanceof JsonObject ? definition.get('instructions') : undefined;
  return text === undefined || text === null || text === ''
    ? null
    : h('p', {class: 'asked'}, shownText(text));
}

function headline(decision, score, options) {
  const share = decision.probability === null ? '' : shownShare(decision.probability);
  if (score === null) {
    return h(
      'p',
      {class: 'decision'},
      h('strong', {}, decision.text || '–'),
      h('span', {class: 'share'}, share),
    );
  }
  const {text, description} = decision;
  const words = description ? `${text}, “${description}”` : text;
  return h(
    'p',
    {class: 'decision'},
    h('strong', {}, score.toFixed(2)),
    h(
      'span',
      {class: 'share'},
      `of 0–${Math.max(0, options.length - 1)}; most likely ${words} (${share})`,
    ),
  );
}

function windowLine(answer) {
  const part = answer instanceof JsonObject ? answer.get('window') : undefined;
  if (!(part instanceof JsonObject)) return null;
  const [index, start, end, count] = ['index', 'token_start', 'token_end', 'count'].map((key) =>
    numberOf(part.get(key)),
  );
  return h(
    'p',
    {class: 'hint'},
    `From window ${index === null ? '?' : index + 1} of ${count}, tokens ${start} to ${end}.`,
  );
}

function bars(options, decision, comparison, score) {
  const rows = options.map((option) =>
    bar(option, {
      isChosen: option.key === decision.key,
      isLevel: score !== null,
      range: comparison?.ranges.get(option.key),
    }),
  );
  const list = (items) => h('ul', {class: 'bars'}, items);
  const scale = score !== null && options.length > 1 ? scoreScale(score, options.length - 1) : null;
  if (rows.length <= BARS_OPEN_MAX) return [list(rows), scale];
  return [
    list(rows.slice(0, BARS_OPEN_MAX)),
    h(
      'details',
      {class: 'more'},
      h('summary', {}, `${rows.length - BARS_OPEN_MAX} more options`),
      list(rows.slice(BARS_OPEN_MAX)),
    ),
    scale,
  ];
}

function bar({label, description, probability}, {isChosen, isLevel, range}) {
  const share = shownShare(probability);
  const track = setShare(
    h(
      'span',
      {class: 'track', 'aria-hidden': 'true'},
      h('span', {class: 'fill'}),
      range ? whisker(range) : null,
    ),
    '--share',
    probability ?? 0,
  );
  return h(
    'li',
    {class: ['bar', isChosen ? 'chosen' : '', isLevel ? 'level' : ''].join(' ').trim()},
    h(
      'span',
      {class: 'bar-label'},
      h('b', {}, label === '' ? '(empty)' : label),
      description ? h('span', {class: 'bar-words'}, description) : null,
    ),
    track,
    h('span', {class: 'bar-share'}, share),
    isChosen ? h('span', {class: 'unseen'}, 'decided') : null,
    range
      ? h(
          'span',
          {class: 'unseen'},
          `in all orders ${shownShare(range[0])} to ${shownShare(range[1])}`,
        )
      : null,
  );
}

function whisker([low, high]) {
  const line = h('span', {class: 'whisker'});
  setShare(line, '--low', low);
  return setShare(line, '--high', high);
}

function scoreScale(score, top) {
  return h(
    'div',
    {class: 'scale', 'aria-hidden': 'true'},
    h('span', {}, '0'),
    setShare(
      h('span', {class: 'scale-line'}, h('span', {class: 'scale-dot'})),
      '--share',
      score / top,
    ),
    h('span', {}, top),
  );
}

function figures(answer) {
  const found = figuresOf(answer);
  if (found.length === 0) return null;
  return h(
    'dl',
    {class: 'figures'},
    found.map(({label, meaning, value}) =>
      h('div', {title: meaning}, h('dt', {}, label), h('dd', {}, value.toFixed(4))),
    ),
  );
}

function stabilityTag({isStable, changed, decisions}) {
  const others = decisions.length - 1;
  return isStable
    ? h('span', {class: 'tag good'}, `same in ${others} other ${others === 1 ? 'order' : 'orders'}`)
    : h(
        'span',
        {class: 'tag bad'},
        `changes in ${changed} of ${others} ${others === 1 ? 'order' : 'orders'}`,
      );
}

function cutQuestions(response) {
  const usage = response.get('usage');
  const list = usage instanceof JsonObject ? usage.get('truncated_questions') : undefined;
  return new Set(Array.isArray(list) ? list.map(shownText) : []);
}
