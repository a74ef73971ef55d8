// JSON that keeps what a request means: members in the order they were written, repeated names, and
// numbers digit for digit. The browser's own parser moves labels such as "10" and "2" in front of
// the others, and the order of options is part of what the model reads.

const DEPTH_MAX = 256;

/// An object as its list of members; names may repeat, as they may while somebody types.
export class JsonObject {
  constructor(entries = []) {
    this.entries = entries;
  }

  static of(members) {
    return new JsonObject(Object.entries(members));
  }

  /// The value of a name, the last one where it repeats; undefined where there is none.
  get(name) {
    for (let i = this.entries.length - 1; i >= 0; --i) {
      if (this.entries[i][0] === name) return this.entries[i][1];
    }
    return undefined;
  }

  has(name) {
    return this.entries.some(([key]) => key === name);
  }

  /// Replaces the value in place, or adds the member at the end.
  set(name, value) {
    const entry = this.entries.findLast(([key]) => key === name);
    if (entry) entry[1] = value;
    else this.entries.push([name, value]);
    return this;
  }

  delete(name) {
    this.entries = this.entries.filter(([key]) => key !== name);
  }

  names() {
    return this.entries.map(([key]) => key);
  }
}

/// A number as it was written.
export class JsonNumber {
  constructor(text) {
    this.text = text;
  }

  valueOf() {
    return Number(this.text);
  }
}

/// Where a text stops being JSON, counted from 1 as an editor counts.
export class JsonError extends Error {
  constructor(text, offset, message) {
    const before = text.slice(0, offset);
    const line = before.split('\n').length;
    const column = offset - (before.lastIndexOf('\n') + 1) + 1;
    super(`line ${line}, column ${column}: ${message}`);
    this.offset = offset;
    this.line = line;
    this.column = column;
  }
}

const BLANK = /[ \t\n\r]*/y;
const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const PLAIN = /[^"\\\u0000-\u001f]*/y;
const ESCAPE = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const WORD = /[\p{L}\p{N}_$+.-]+/uy;
const LITERALS = new Map([
  ['true', true],
  ['false', false],
  ['null', null],
]);

class Parser {
  constructor(text) {
    this.text = text;
    this.at = 0;
  }

  fail(message, offset = this.at) {
    throw new JsonError(this.text, offset, message);
  }

  take(pattern) {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.text);
    if (!found) return null;
    this.at = pattern.lastIndex;
    return found[0];
  }

  /// The next character after blanks, as a message shows it.
  found() {
    if (this.at >= this.text.length) return 'the end';
    const shown = String.fromCodePoint(this.text.codePointAt(this.at));
    return shown === '\n' ? 'a line break' : `“${shown}”`;
  }

  next() {
    this.take(BLANK);
    return this.text[this.at];
  }

  document() {
    if (this.next() === undefined) this.fail('nothing here yet; a value is needed');
    const value = this.value(0);
    if (this.next() !== undefined)
      this.fail(`the value ends before this, but ${this.found()} follows`);
    return value;
  }

  value(depth) {
    if (depth > DEPTH_MAX) this.fail(`nested deeper than ${DEPTH_MAX} levels`);
    const first = this.next();
    if (first === '{') return this.object(depth);
    if (first === '[') return this.array(depth);
    if (first === '"') return this.string();
    if (first === "'") this.fail('texts need double quotes: "…", not \'…\'');
    if (first === '/') this.fail('JSON has no comments');
    const begin = this.at;
    const number = this.take(NUMBER);
    const rest = this.take(WORD);
    if (number !== null && rest === null) return new JsonNumber(number);
    const word = this.text.slice(begin, this.at);
    if (LITERALS.has(word)) return LITERALS.get(word);
    if (word) this.fail(`“${word}” is not a value; a text needs double quotes: "${word}"`, begin);
    return this.fail(`a value is needed here, but ${this.found()} stands here`);
  }

  object(depth) {
    const open = this.at++;
    const entries = [];
    if (this.next() === '}') {
      this.at++;
      return new JsonObject(entries);
    }
    for (;;) {
      this.memberName(open, entries.length);
      const name = this.string();
      if (this.next() !== ':')
        this.fail(`a colon is needed after “${name}”, but ${this.found()} stands here`);
      this.at++;
      entries.push([name, this.value(depth + 1)]);
      if (this.closes('}', open, 'member')) return new JsonObject(entries);
    }
  }

  memberName(open, count) {
    const first = this.next();
    if (first === '"') return;
    if (first === undefined) this.fail('this “{” is never closed', open);
    if (first === '}' && count > 0) this.fail('no comma before “}”');
    this.fail(`a name in double quotes is needed here, but ${this.found()} stands here`);
  }

  array(depth) {
    const open = this.at++;
    const values = [];
    if (this.next() === ']') {
      this.at++;
      return values;
    }
    for (;;) {
      if (this.next() === ']') this.fail('no comma before “]”');
      if (this.next() === undefined) this.fail('this “[” is never closed', open);
      values.push(this.value(depth + 1));
      if (this.closes(']', open, 'value')) return values;
    }
  }

  /// Steps over a comma or the closing bracket; true at the bracket.
  closes(bracket, open, what) {
    const next = this.next();
    if (next === undefined) this.fail(`this “${this.text[open]}” is never closed`, open);
    if (next !== ',' && next !== bracket) {
      this.fail(
        `a comma or “${bracket}” is needed after this ${what}, but ${this.found()} stands here`,
      );
    }
    this.at++;
    return next === bracket;
  }

  string() {
    const begin = this.at++;
    for (;;) {
      this.take(PLAIN);
      const stop = this.text[this.at];
      if (stop === '"') break;
      if (stop === undefined) this.fail('this text is never closed', begin);
      if (stop === '\n' || stop === '\r') this.fail('a line break inside a text is written \\n');
      if (stop !== '\\') this.fail('a control character inside a text is written \\u00..');
      if (this.take(ESCAPE) === null)
        this.fail('after \\ comes one of " \\ / b f n r t or u and four hex digits');
    }
    this.at++;
    return JSON.parse(this.text.slice(begin, this.at));
  }
}

/// Errors: JsonError.
export function parseJson(text) {
  return new Parser(text).document();
}

const isScalar = (value) => !(value instanceof JsonObject) && !Array.isArray(value);

function scalarText(value) {
  return value instanceof JsonNumber ? value.text : JSON.stringify(value);
}

function parts(value, member, scalar) {
  if (Array.isArray(value)) return value.map(member);
  if (value instanceof JsonObject) {
    return value.entries.map(([key, inner]) => JSON.stringify(key) + scalar + member(inner));
  }
  return null;
}

/// Plain objects, lists and values as this module holds them. Names must not look like numbers.
export function fromPlain(value) {
  if (Array.isArray(value)) return value.map(fromPlain);
  if (typeof value === 'number') return new JsonNumber(String(value));
  if (value === null || typeof value !== 'object') return value;
  return new JsonObject(Object.entries(value).map(([name, inner]) => [name, fromPlain(inner)]));
}

/// JSON without blanks, as a client sends it.
export function compactJson(value) {
  const inner = parts(value, compactJson, ':');
  if (inner === null) return scalarText(value);
  return Array.isArray(value) ? `[${inner.join(',')}]` : `{${inner.join(',')}}`;
}

const LINE_MAX = 72;

function onOneLine(value) {
  const children = Array.isArray(value) ? value : value.entries.map(([, inner]) => inner);
  if (children.length > 0 && !children.every(isScalar)) return null;
  const text = parts(value, scalarText, ': ').join(', ');
  if (text.length > LINE_MAX) return null;
  return Array.isArray(value) ? `[${text}]` : `{${text}}`;
}

/// JSON for people: two blanks a level, short lists of plain values on one line.
export function prettyJson(value, margin = '', isRoot = true) {
  if (isScalar(value)) return scalarText(value);
  const short = isRoot ? null : onOneLine(value);
  if (short !== null) return short;
  const deeper = `${margin}  `;
  const inner = parts(value, (child) => prettyJson(child, deeper, false), ': ');
  const [open, close] = Array.isArray(value) ? '[]' : '{}';
  if (inner.length === 0) return open + close;
  return `${open}\n${inner.map((part) => deeper + part).join(',\n')}\n${margin}${close}`;
}
