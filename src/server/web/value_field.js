// One field for a value that is nearly always a text. What is no text is shown and edited as JSON.

import {h} from './dom.js';
import {parseJson} from './json.js';
import {shownText} from './questions.js';

/// A text field; of several rows where `rows` is given. `onValue` gets a text, null for an empty
/// field, or the parsed value where the value was no text to begin with. While that does not parse,
/// the value stays as it was and `fieldProblems` has a message under `path`.
export function valueField({
  value,
  path,
  problemId,
  fieldProblems,
  edited,
  onValue,
  label,
  placeholder,
  rows,
  keydown,
}) {
  const isJson = value !== null && value !== undefined && typeof value !== 'string';
  const read = (event) => {
    fieldProblems.delete(path);
    try {
      onValue(isJson ? parseJson(event.target.value) : event.target.value || null);
    } catch (error) {
      fieldProblems.set(path, `This field holds JSON. ${error.message}`);
    }
    edited();
  };
  const attributes = {
    value: value === null || value === undefined ? '' : shownText(value),
    placeholder,
    'data-path': path,
    'aria-label': label,
    'aria-describedby': problemId,
    class: isJson ? 'code' : null,
    on: keydown ? {input: read, keydown} : {input: read},
  };
  return rows ? h('textarea', {...attributes, rows}) : h('input', {...attributes, type: 'text'});
}
