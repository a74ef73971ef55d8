// The text that is judged: plain, or JSON that the server turns into text itself.

import {byId, show} from './dom.js';
import {JsonObject, fromPlain, parseJson, prettyJson} from './json.js';

export class StatePanel {
  constructor(onChange) {
    this.onChange = onChange;
    this.isJson = false;
    this.area = byId('state');
    this.area.addEventListener('input', () => this.changed());
    byId('state-as-text').addEventListener('click', () => this.setForm(false));
    byId('state-as-json').addEventListener('click', () => this.setForm(true));
  }

  /// A text, or plain JSON.
  set(state) {
    this.isJson = typeof state !== 'string';
    this.area.value = this.isJson ? prettyJson(fromPlain(state)) : state;
    this.changed();
  }

  setForm(isJson) {
    this.isJson = isJson;
    this.changed();
  }

  /// {value} or {problem}.
  read() {
    if (!this.isJson) return {value: this.area.value};
    try {
      const value = parseJson(this.area.value);
      return value === null
        ? {problem: 'null is no state; give a text, an object or a list.'}
        : {value};
    } catch (error) {
      return {problem: error.message};
    }
  }

  changed() {
    const {value, problem} = this.read();
    byId('state-as-text').setAttribute('aria-pressed', String(!this.isJson));
    byId('state-as-json').setAttribute('aria-pressed', String(this.isJson));
    this.area.classList.toggle('code', this.isJson);
    this.area.spellcheck = !this.isJson;
    this.area.setAttribute('aria-invalid', String(problem !== undefined));
    show(byId('state-problem'), problem ?? '');
    show(byId('state-note'), this.note(value));
    this.onChange();
  }

  note(value) {
    const count = [...this.area.value].length;
    const size = `${count.toLocaleString('en-US')} ${count === 1 ? 'character' : 'characters'}`;
    if (!this.isJson)
      return looksLikeJson(this.area.value)
        ? `${size}. This looks like JSON; as text it is read as it stands.`
        : size;
    if (Array.isArray(value))
      return `${size}. Of a list that is too long the newest entries are kept.`;
    return size;
  }
}

function looksLikeJson(text) {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    const value = parseJson(text);
    return Array.isArray(value) || value instanceof JsonObject;
  } catch {
    return false;
  }
}
