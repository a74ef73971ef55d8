// Whom to ask and with which key. The key lives in its field and nowhere else.

import {byId, h, show} from './dom.js';
import {fetchModels, keyProblem} from './request.js';

const OTHER = '\u0000other';
const KEY_PAUSE_MS = 400;

export class ConnectionPanel {
  constructor(onChange) {
    this.onChange = onChange;
    this.models = [];
    this.asked = 0;
    let pause = 0;
    byId('connection').addEventListener('submit', (event) => {
      event.preventDefault();
      this.refresh();
    });
    byId('model').addEventListener('change', () => this.changed());
    byId('other-model').addEventListener('input', onChange);
    byId('key').addEventListener('input', () => {
      show(byId('key-problem'), this.problem());
      byId('key').setAttribute('aria-invalid', String(this.problem() !== ''));
      clearTimeout(pause);
      pause = setTimeout(() => this.refresh(), KEY_PAUSE_MS);
      onChange();
    });
    this.refresh();
  }

  key() {
    return this.problem() ? '' : byId('key').value;
  }

  problem() {
    return keyProblem(byId('key').value);
  }

  /// Empty for the server's own choice.
  model() {
    const chosen = byId('model').value;
    return chosen === OTHER ? byId('other-model').value.trim() : chosen;
  }

  focusKey() {
    byId('key').focus();
  }

  changed() {
    const isOther = byId('model').value === OTHER;
    byId('other-model-field').hidden = !isOther;
    if (isOther) byId('other-model').focus();
    this.onChange();
  }

  async refresh() {
    const turn = ++this.asked;
    const {status, models} = await fetchModels(this.key());
    if (turn !== this.asked) return;
    if (status === 200) this.models = models;
    this.showStatus(status);
    this.showModels();
  }

  showStatus(status) {
    const [state, words] = this.statusWords(status);
    byId('server').dataset.state = state;
    show(byId('server-words'), words);
  }

  statusWords(status) {
    if (status === 0) return ['bad', 'not reachable'];
    if (status === 401) return ['warn', 'needs an API key'];
    if (status !== 200) return ['warn', `no list of models (${status})`];
    const usual = this.models.find(({isDefault}) => isDefault) ?? this.models[0];
    return usual ? ['good', `${usual.name} ${usual.state}`] : ['warn', 'no models'];
  }

  showModels() {
    const select = byId('model');
    const chosen = select.value;
    const usual = this.models.find(({isDefault}) => isDefault);
    show(
      select,
      h('option', {value: ''}, usual ? `default (${usual.name})` : 'server’s default'),
      this.models.map(({name, description, state}) =>
        h(
          'option',
          {value: name, title: description || null},
          state === 'ready' ? name : `${name} (${state})`,
        ),
      ),
      h('option', {value: OTHER}, 'another name…'),
    );
    select.value = [...select.options].some(({value}) => value === chosen) ? chosen : '';
    this.changed();
  }
}
