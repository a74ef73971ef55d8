// Building the page from data. Every text becomes a text node and every attribute is named here by
// the program, so nothing that a person, a model or a server writes is ever read as markup.

const SVG = 'http://www.w3.org/2000/svg';
// Set as properties, because their attributes only give a first value.
const PROPERTIES = new Set([
  'value',
  'checked',
  'disabled',
  'selected',
  'hidden',
  'readOnly',
  'open',
  'tabIndex',
  'htmlFor',
  'className',
]);

/// h('p', {class: 'note', on: {click}}, 'text', node, null): children that are null are left out.
export function h(tag, attributes = {}, ...children) {
  return fill(document.createElement(tag), attributes, children);
}

/// The same for elements of a drawing.
export function svg(tag, attributes = {}, ...children) {
  return fill(document.createElementNS(SVG, tag), attributes, children);
}

function fill(element, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (name === 'on') {
      for (const [event, handler] of Object.entries(value))
        element.addEventListener(event, handler);
    } else if (PROPERTIES.has(name)) {
      element[name] = value;
    } else {
      element.setAttribute(name, value === true ? '' : String(value));
    }
  }
  append(element, children);
  return element;
}

function append(element, children) {
  for (const child of children.flat(Infinity)) {
    if (child === null || child === undefined) continue;
    element.append(child instanceof Node ? child : document.createTextNode(String(child)));
  }
}

/// Replaces all children.
export function show(element, ...children) {
  element.replaceChildren();
  append(element, children);
}

export const byId = (id) => document.getElementById(id);

/// A length between 0 and 1 for the style sheet. Through the object model: the page's policy
/// forbids style attributes.
export function setShare(element, name, share) {
  element.style.setProperty(name, String(Math.min(1, Math.max(0, share))));
  return element;
}

/// Tabs as the ARIA pattern has them: arrow keys move, only the chosen tab is in the focus order.
/// `onChoose` gets the tab's `data-tab`. Returns a function that chooses one.
export function tabs(list, onChoose) {
  const buttons = [...list.querySelectorAll('[role=tab]')];
  const choose = (name) => {
    for (const button of buttons) {
      const isChosen = button.dataset.tab === name;
      button.setAttribute('aria-selected', String(isChosen));
      button.tabIndex = isChosen ? 0 : -1;
      byId(button.getAttribute('aria-controls')).hidden = !isChosen;
    }
    onChoose(name);
  };
  const steps = {ArrowRight: 1, ArrowLeft: -1};
  list.addEventListener('click', (event) => {
    const button = event.target.closest('[role=tab]');
    if (button) choose(button.dataset.tab);
  });
  list.addEventListener('keydown', (event) => {
    const at = buttons.indexOf(document.activeElement);
    const ends = {Home: 0, End: buttons.length - 1};
    const to = event.key in ends ? ends[event.key] : at + (steps[event.key] ?? 0);
    const next = buttons[(to + buttons.length) % buttons.length];
    if (at < 0 || next === buttons[at]) return;
    event.preventDefault();
    choose(next.dataset.tab);
    next.focus();
  });
  return choose;
}

/// Copies a text; false where the browser does not allow it (a page that is not a secure context).
export async function copyText(text, element) {
  try {
    await navigator.clipboard.writeText(text);
    return true;
  } catch {
    const selection = getSelection();
    selection.selectAllChildren(element);
    return document.execCommand('copy');
  }
}
