// Small drawings for buttons.

import {svg} from './dom.js';

const PATHS = {
  up: 'M4 10l4-4 4 4',
  down: 'M4 6l4 4 4-4',
  remove: 'M4.5 4.5l7 7m0-7l-7 7',
  add: 'M8 3.5v9M3.5 8h9',
};

export function icon(name) {
  return svg(
    'svg',
    {
      class: 'icon',
      viewBox: '0 0 16 16',
      width: 16,
      height: 16,
      'aria-hidden': 'true',
      focusable: 'false',
    },
    svg('path', {d: PATHS[name]}),
  );
}
