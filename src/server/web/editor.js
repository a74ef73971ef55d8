// The questions as a form and as JSON, two views of one value. What is typed in one shows in the
// other at once; while the JSON has an error the form shows the last good state and takes no edits.

import {byId, h, show, tabs} from './dom.js';
import {icon} from './icons.js';
import {JsonObject, parseJson, prettyJson} from './json.js';
import {addOption, optionRows} from './option_rows.js';
import {
  TYPES,
  TYPE_WORDS,
  checkQuestions,
  convertedCriteria,
  freeName,
  newDefinition,
  questionsObject,
} from './questions.js';
import {valueField} from './value_field.js';

const SHOWN_IN_FORM = new Set(['type', 'instructions', 'criteria']);

export class QuestionEditor {
  /// `onChange()` is called after every edit.
  constructor(onChange) {
    this.onChange = onChange;
    this.questions = new JsonObject();
    this.jsonProblem = '';
    this.fieldProblems = new Map();
    // definition -> {type: criteria}, so that trying another type loses nothing
    this.kept = new WeakMap();
    this.view = 'form';
    this.json = byId('question-json');
    this.json.addEventListener('input', () => this.readJson());
    this.choose = tabs(byId('question-tabs'), (name) => {
      this.view = name;
      this.showProblems();
    });
    for (const button of document.querySelectorAll('[data-add]')) {
      button.addEventListener('click', () => this.add(button.dataset.add));
    }
  }

  setQuestions(questions) {
    this.questions = questions;
    this.changed({form: true});
  }

  /// Why the questions cannot be sent, in the order of the page; empty when they can.
  problems() {
    if (this.jsonProblem) return [{question: null, field: null, message: this.jsonProblem}];
    const fields = [...this.fieldProblems].map(([path, message]) => {
      const [question, field] = path.split('/');
      return {question: Number(question), field, message};
    });
    return [...checkQuestions(this.questions), ...fields];
  }

  /// Puts the focus on the first thing to mend.
  focusProblem() {
    const [first] = this.problems();
    if (!first) return;
    if (this.jsonProblem || this.view === 'json' || first.question === null) {
      if (this.jsonProblem) this.choose('json');
      (this.view === 'json' ? this.json : document.querySelector('[data-add]')).focus();
      return;
    }
    const card = byId('question-list').children[first.question];
    (card.querySelector('[aria-invalid=true]') ?? card.querySelector('input')).focus();
  }

  readJson() {
    this.jsonProblem = '';
    try {
      const value = questionsObject(parseJson(this.json.value));
      if (value instanceof JsonObject) this.questions = value;
      else this.jsonProblem = checkQuestions(value)[0].message;
    } catch (error) {
      this.jsonProblem = error.message;
    }
    if (!this.jsonProblem) this.renderForm();
    this.showProblems();
    this.onChange();
  }

  /// After an edit in the form; `form` draws it anew, `focus` is the path that gets the focus then.
  changed({form = false, focus = null} = {}) {
    this.jsonProblem = '';
    this.json.value = prettyJson(this.questions);
    if (form) this.renderForm();
    this.showProblems();
    if (focus) document.querySelector(`[data-path="${focus}"]`)?.focus();
    this.onChange();
  }

  add(type) {
    const name = freeName(this.questions, {choice: 'choice', score: 'score', noul: 'yes_no'}[type]);
    this.questions.entries.push([name, newDefinition(type)]);
    this.changed({form: true, focus: `${this.questions.entries.length - 1}/instructions`});
  }

  renderForm() {
    this.fieldProblems.clear();
    show(
      byId('question-list'),
      this.questions.entries.map((entry, index) => this.card(entry, index)),
    );
  }

  showProblems() {
    const all = this.problems();
    const isBroken = this.jsonProblem !== '';
    byId('question-form').disabled = isBroken;
    const notice = byId('form-notice');
    notice.hidden = !isBroken;
    if (isBroken) {
      show(
        notice,
        h('p', {}, 'The JSON view has an error; below is the last state without one.'),
        h(
          'div',
          {class: 'actions'},
          h('button', {type: 'button', on: {click: () => this.choose('json')}}, 'Mend the JSON'),
          h(
            'button',
            {type: 'button', on: {click: () => this.changed({form: true})}},
            'Drop the JSON edits',
          ),
        ),
      );
    }
    this.json.setAttribute('aria-invalid', String(this.view === 'json' && all.length > 0));
    const listed = all.filter(({question}) => this.view === 'json' || question === null);
    show(
      byId('question-problem'),
      listed.map(({message}) => h('span', {}, message)),
    );
    [...byId('question-list').children].forEach((card, index) =>
      this.showCardProblems(card, index, all),
    );
  }

  showCardProblems(card, index, all) {
    const mine = all.filter(({question}) => question === index);
    for (const input of card.querySelectorAll('[data-path]')) {
      const field = input.dataset.path.split('/')[1];
      input.setAttribute('aria-invalid', String(mine.some((one) => one.field === field)));
    }
    show(
      card.querySelector('.problem'),
      mine.map(({message}) => h('span', {}, message)),
    );
  }

  card([name, definition], index) {
    const problemId = `question-problem-${index}`;
    const isObject = definition instanceof JsonObject;
    return h(
      'section',
      {class: 'question', 'aria-label': `Question ${index + 1}`},
      this.cardHead(name, definition, index, problemId),
      isObject ? this.cardBody(definition, index, problemId) : this.jsonOnly(),
      h('p', {class: 'problem', id: problemId, 'aria-live': 'polite'}),
    );
  }

  cardHead(name, definition, index, problemId) {
    const entry = this.questions.entries[index];
    const type = definition instanceof JsonObject ? definition.get('type') : undefined;
    const rename = (event) => {
      entry[0] = event.target.value;
      this.changed();
    };
    return h(
      'div',
      {class: 'question-head'},
      h(
        'label',
        {class: 'field grow'},
        h('span', {}, 'Name'),
        h('input', {
          type: 'text',
          value: name,
          'data-path': `${index}/name`,
          spellcheck: 'false',
          autocapitalize: 'off',
          'aria-describedby': problemId,
          on: {input: rename, keydown: (event) => this.moveByKey(event, index, 'name')},
        }),
      ),
      h('label', {class: 'field'}, h('span', {}, 'Type'), this.typeSelect(type, definition, index)),
      h(
        'div',
        {class: 'tools'},
        this.tool('up', `Move question ${index + 1} up`, index === 0, () => this.move(index, -1)),
        this.tool(
          'down',
          `Move question ${index + 1} down`,
          index === this.questions.entries.length - 1,
          () => this.move(index, 1),
        ),
        this.tool('remove', `Remove question ${index + 1}`, false, () => this.remove(index)),
      ),
    );
  }

  tool(picture, label, disabled, click) {
    return h(
      'button',
      {type: 'button', class: 'tool', 'aria-label': label, title: label, disabled, on: {click}},
      icon(picture),
    );
  }

  typeSelect(type, definition, index) {
    const known = TYPES.includes(type);
    const options = TYPES.map((value) =>
      h('option', {value, selected: value === type}, TYPE_WORDS[value]),
    );
    if (!known)
      options.unshift(
        h('option', {value: '', selected: true}, typeof type === 'string' ? type : '–'),
      );
    return h(
      'select',
      {
        'data-path': `${index}/type`,
        disabled: !(definition instanceof JsonObject),
        on: {change: (event) => this.changeType(definition, event.target.value, index)},
      },
      options,
    );
  }

  cardBody(definition, index, problemId) {
    const edited = () => this.changed();
    const redraw = (focus) => this.changed({form: true, focus});
    const rows = optionRows({
      definition,
      index,
      problemId,
      fieldProblems: this.fieldProblems,
      edited,
      redraw,
    });
    const extra = definition.names().filter((key) => !SHOWN_IN_FORM.has(key));
    return [
      h(
        'label',
        {class: 'field'},
        h('span', {}, 'Instructions'),
        valueField({
          value: definition.get('instructions'),
          path: `${index}/instructions`,
          problemId,
          rows: 2,
          fieldProblems: this.fieldProblems,
          edited,
          placeholder: 'What is asked about the text?',
          onValue: (value) => definition.set('instructions', value ?? ''),
        }),
      ),
      rows ?? this.jsonOnly(),
      rows && definition.get('type') !== 'noul'
        ? h(
            'button',
            {
              type: 'button',
              class: 'quiet add',
              on: {click: () => redraw(addOption(definition, index))},
            },
            icon('add'),
            definition.get('type') === 'score' ? 'Add a level' : 'Add an option',
          )
        : null,
      extra.length > 0
        ? h('p', {class: 'hint'}, `Also set, in the JSON view: ${extra.join(', ')}.`)
        : null,
    ];
  }

  jsonOnly() {
    return h(
      'p',
      {class: 'hint'},
      'This question has parts that the form cannot show. ',
      h(
        'button',
        {type: 'button', class: 'link', on: {click: () => this.choose('json')}},
        'Edit it as JSON',
      ),
    );
  }

  changeType(definition, type, index) {
    const before = definition.get('type');
    const kept = this.kept.get(definition) ?? {};
    const criteria = kept[type] ?? convertedCriteria(definition, type);
    kept[before] = definition.get('criteria');
    this.kept.set(definition, kept);
    definition.set('type', type);
    definition.delete('option_order');
    if (type !== 'noul') definition.delete('labels');
    if (criteria === undefined) definition.delete('criteria');
    else definition.set('criteria', criteria);
    this.changed({form: true, focus: `${index}/type`});
  }

  move(index, step) {
    const {entries} = this.questions;
    const to = index + step;
    if (to < 0 || to >= entries.length) return;
    [entries[index], entries[to]] = [entries[to], entries[index]];
    this.changed({form: true, focus: `${to}/name`});
  }

  moveByKey(event, index) {
    const step = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (!event.altKey || !step) return;
    event.preventDefault();
    this.move(index, step);
  }

  remove(index) {
    this.questions.entries.splice(index, 1);
    const left = this.questions.entries.length;
    this.changed({form: true, focus: left ? `${Math.min(index, left - 1)}/name` : null});
    if (left === 0) document.querySelector('[data-add]').focus();
  }
}
