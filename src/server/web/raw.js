// Request, response and curl command as text, with buttons that copy them.

import {byId, copyText, show, tabs} from './dom.js';
import {parseJson, prettyJson} from './json.js';

const SAID_MS = 2000;

export class RawPanel {
  /// `curl(body)` gives the command for a body.
  constructor(curl) {
    this.curl = curl;
    this.body = '';
    this.copied = {};
    tabs(byId('raw-tabs'), () => {});
    for (const button of document.querySelectorAll('[data-copy]')) {
      button.addEventListener('click', () => this.copy(button));
    }
    this.showResponse(null);
  }

  /// The body that would be sent now; null while it cannot be built, with the reason.
  showRequest(body, reason) {
    this.body = body;
    show(byId('raw-request'), body === null ? reason : prettyJson(parseJson(body)));
    show(byId('raw-curl'), body === null ? reason : this.curl(body));
  }

  showResponse(reply) {
    show(
      byId('raw-response'),
      reply === null
        ? 'Nothing was received yet.'
        : reply.body === undefined
          ? reply.text
          : prettyJson(reply.body),
    );
  }

  async copy(button) {
    const source = byId(button.dataset.copy);
    const isDone = await copyText(source.textContent, source);
    show(button, isDone ? 'Copied' : 'Press Ctrl C');
    show(byId('copy-status'), isDone ? 'Copied.' : 'Selected; press Ctrl and C to copy.');
    setTimeout(() => {
      show(button, 'Copy');
      show(byId('copy-status'));
    }, SAID_MS);
  }
}
