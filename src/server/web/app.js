// The page: reads the request from the panels, sends it, and shows what came back.

import {answerBlocks} from './answers.js';
import {FIGURES} from './answers_data.js';
import {ConnectionPanel} from './connection.js';
import {curlCommand} from './curl.js';
import {byId, h, show} from './dom.js';
import {QuestionEditor} from './editor.js';
import {EXAMPLES} from './examples.js';
import {noReply, notSent, replyFailure, unreadableReply} from './failure.js';
import {JsonObject, fromPlain} from './json.js';
import {shownMs} from './latency.js';
import {LatencyPanel, QueuePanel} from './live.js';
import {orderPanel} from './order_panel.js';
import {withOrders} from './questions.js';
import {RawPanel} from './raw.js';
import {requestBody, sendDecisions} from './request.js';
import {compareAnswers, plannedRounds} from './stability.js';
import {StatePanel} from './state_panel.js';
import {usagePanel} from './usage.js';

const WAIT_MS_MAX = 120000;
const PREVIEW_PAUSE_MS = 120;
const isNarrow = () => matchMedia('(max-width: 60rem)').matches;
const isCalm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

class Page {
  constructor() {
    this.running = null; // AbortController of the request in flight
    this.previewTimer = 0;
    const onChange = () => this.changed();
    this.raw = new RawPanel((body) =>
      curlCommand({
        url: new URL('v1/systemone', document.baseURI).href,
        body,
        hasKey: this.connection.key() !== '',
      }),
    );
    this.state = new StatePanel(onChange);
    this.editor = new QuestionEditor(onChange);
    this.latency = new LatencyPanel();
    this.connection = new ConnectionPanel(onChange);
    this.queue = new QueuePanel(() => this.connection.key());
    byId('overflow').addEventListener('change', onChange);
    byId('run').addEventListener('click', () => this.run(true));
    byId('cancel').addEventListener('click', () => this.running?.abort());
    byId('check-order').addEventListener('click', () => this.checkOrder());
    document.addEventListener('keydown', (event) => {
      if (event.key !== 'Enter' || !(event.ctrlKey || event.metaKey)) return;
      event.preventDefault();
      this.run(false);
    });
    if (/Mac|iPhone|iPad/.test(navigator.platform)) show(byId('run-keys'), '⌘ Enter');
    this.showExamples();
    show(
      byId('meanings'),
      FIGURES.map(({label, meaning}) => [h('dt', {}, label), h('dd', {}, meaning)]),
    );
  }

  showExamples() {
    const buttons = EXAMPLES.map((example) =>
      h(
        'button',
        {
          type: 'button',
          class: 'chip',
          'aria-pressed': 'false',
          title: example.hint,
          on: {click: () => this.useExample(example, buttons)},
        },
        example.name,
      ),
    );
    show(byId('examples'), buttons);
    this.useExample(EXAMPLES[0], buttons);
  }

  useExample(example, buttons) {
    buttons.forEach((button, i) =>
      button.setAttribute('aria-pressed', String(EXAMPLES[i] === example)),
    );
    show(byId('example-hint'), example.hint);
    this.state.set(example.state);
    this.editor.setQuestions(fromPlain(example.questions));
  }

  /// {request} as requestBody takes it, or {problems, mend}.
  readRequest() {
    const {value, problem} = this.state.read();
    if (this.connection.problem()) {
      return {problems: [this.connection.problem()], mend: () => this.connection.focusKey()};
    }
    if (problem !== undefined)
      return {problems: [`Text: ${problem}`], mend: () => this.state.area.focus()};
    const problems = this.editor.problems();
    if (problems.length > 0) {
      return {
        problems: problems.map(({message}) => message),
        mend: () => this.editor.focusProblem(),
      };
    }
    return {
      request: {
        state: value,
        model: this.connection.model(),
        questions: this.editor.questions,
        overflow: byId('overflow').value,
      },
    };
  }

  changed() {
    clearTimeout(this.previewTimer);
    this.previewTimer = setTimeout(() => this.preview(), PREVIEW_PAUSE_MS);
  }

  preview() {
    clearTimeout(this.previewTimer);
    const {request, problems} = this.readRequest();
    if (request) this.raw.showRequest(requestBody(request));
    else this.raw.showRequest(null, problems.join('\n'));
  }

  async run(scrolls) {
    if (this.running) return;
    const {request, problems, mend} = this.readRequest();
    this.preview();
    if (!request) {
      show(byId('error'), notSent(problems, {mend}));
      return;
    }
    const reply = await this.work('Asking…', (signal) =>
      sendDecisions(requestBody(request), this.connection.key(), signal),
    );
    if (reply) this.showReply(reply, this.withCopiedQuestions(request));
    if (scrolls && isNarrow()) {
      byId('answers-card').scrollIntoView({block: 'start', behavior: isCalm() ? 'auto' : 'smooth'});
    }
  }

  /// Runs `task(signal)` with the page busy; undefined when it was cancelled or no reply came.
  async work(words, task) {
    const cancel = new AbortController();
    this.running = cancel;
    this.setBusy(words);
    show(byId('error'));
    try {
      return await task(AbortSignal.any([cancel.signal, AbortSignal.timeout(WAIT_MS_MAX)]));
    } catch (error) {
      if (cancel.signal.aborted) show(byId('status'), 'Cancelled.');
      else this.showFailure(noReply(error, {again: () => this.run(false)}));
      return undefined;
    } finally {
      this.running = null;
      this.setBusy('');
    }
  }

  setBusy(words) {
    const isBusy = words !== '';
    byId('run').setAttribute('aria-disabled', String(isBusy));
    byId('cancel').hidden = !isBusy;
    byId('answers-card').setAttribute('aria-busy', String(isBusy));
    byId('check-order').disabled = isBusy || !this.last;
    if (isBusy) show(byId('status'), words);
  }

  /// What is shown of an earlier answer would pass for this one's.
  showFailure(panel) {
    this.last = null;
    byId('check-order').disabled = true;
    byId('usage-card').hidden = true;
    show(byId('status'));
    show(byId('order-summary'));
    show(byId('answers'));
    show(byId('error'), panel);
  }

  showReply(reply, request) {
    this.raw.showResponse(reply);
    if (reply.status !== 200) {
      this.showFailure(
        replyFailure(reply, {
          again: () => this.run(false),
          enterKey: () => this.connection.focusKey(),
        }),
      );
      return;
    }
    if (!(reply.body instanceof JsonObject) || !(reply.body.get('answers') instanceof JsonObject)) {
      this.showFailure(unreadableReply(reply));
      return;
    }
    this.latency.add(reply);
    this.last = {request, response: reply.body};
    byId('check-order').disabled = false;
    this.showAnswers(new Map());
    show(byId('order-summary'));
    show(byId('status'), statusWords(reply));
  }

  showAnswers(comparisons) {
    const {request, response} = this.last;
    show(byId('answers'), answerBlocks(request.questions, response, comparisons));
    const usage = usagePanel(response);
    byId('usage-card').hidden = usage === null;
    if (usage) show(byId('usage'), usage);
  }

  /// The answers refer to the questions as they were asked, not as they are edited afterwards.
  withCopiedQuestions(request) {
    return {...request, questions: copied(request.questions)};
  }

  async checkOrder() {
    if (this.running || !this.last) return;
    const {request} = this.last;
    const rounds = plannedRounds(request.questions);
    const replies = [];
    await this.work('Asking in other orders…', async (signal) => {
      for (const [i, orders] of rounds.entries()) {
        show(byId('status'), `Asking in order ${i + 1} of ${rounds.length}…`);
        const body = requestBody({
          ...request,
          questions: withOrders(request.questions, ordersOnly(orders)),
        });
        const reply = await sendDecisions(body, this.connection.key(), signal);
        replies.push(reply);
        if (reply.status !== 200) break;
      }
      return replies;
    });
    const refused = replies.find(({status}) => status !== 200);
    if (refused) {
      show(byId('status'));
      show(
        byId('error'),
        replyFailure(refused, {
          again: () => this.checkOrder(),
          enterKey: () => this.connection.focusKey(),
        }),
      );
    } else if (this.last && replies.length === rounds.length) {
      this.showOrders(rounds, replies);
    }
  }

  showOrders(rounds, replies) {
    const {questions} = this.last.request;
    const results = new Map();
    for (const name of rounds[0]?.keys() ?? []) {
      const mine = rounds.flatMap((orders, i) =>
        orders.has(name) ? [[orders.get(name).name, replies[i]]] : [],
      );
      const answers = mine.map(([, reply]) => answerOf(reply, name));
      results.set(name, {
        names: mine.map(([order]) => order),
        comparison: compareAnswers(questions.get(name), answers),
      });
    }
    const skipped = questions.names().filter((name) => !results.has(name));
    show(byId('order-summary'), orderPanel(results, skipped));
    this.showAnswers(new Map([...results].map(([name, {comparison}]) => [name, comparison])));
    show(byId('status'), `${rounds.length} ${rounds.length === 1 ? 'order' : 'orders'} compared.`);
  }
}

function ordersOnly(orders) {
  return new Map([...orders].map(([name, {order}]) => [name, order]));
}

function answerOf(reply, name) {
  const answers = reply.body instanceof JsonObject ? reply.body.get('answers') : undefined;
  return answers instanceof JsonObject ? answers.get(name) : undefined;
}

function copied(value) {
  if (Array.isArray(value)) return value.map(copied);
  if (!(value instanceof JsonObject)) return value;
  return new JsonObject(value.entries.map(([name, inner]) => [name, copied(inner)]));
}

function statusWords({body, roundTripMs}) {
  const count = body.get('answers').entries.length;
  const routing = body.get('routing');
  const model = routing instanceof JsonObject ? routing.get('model') : undefined;
  const by = typeof model === 'string' ? ` by ${model}` : '';
  return `${count} ${count === 1 ? 'answer' : 'answers'}${by} in ${shownMs(roundTripMs)}.`;
}

new Page();
