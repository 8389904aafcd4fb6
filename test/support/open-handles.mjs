import { createHook } from 'node:async_hooks';
import { Server } from 'node:net';
import process from 'node:process';
import { setTimeout as sleep } from 'node:timers/promises';

/** The kinds of handles that keep a process alive until they are closed, by Node's names for them. */
const kinds = new Map([
  ['TCPSERVERWRAP', 'a server'],
  ['TCPWRAP', 'a connection'],
  ['TCPSOCKETWRAP', 'a connection'],
  ['PIPESERVERWRAP', 'a server of a local socket'],
  ['PIPEWRAP', 'a local socket or a pipe of a child process'],
  ['UDPWRAP', 'a datagram socket'],
  ['PROCESSWRAP', 'a child process'],
  ['WORKER', 'a thread'],
  ['FSEVENTWRAP', 'a watched file'],
  ['STATWATCHER', 'a watched file'],
  ['Timeout', 'a timer'],
]);

/** What is closed at a suite's end may need a moment until it is gone. */
const graceMs = 3_000;
const lookEveryMs = 20;

// They are opened where they are first used, and stay.
void [process.stdout, process.stderr, process.stdin];

/** Where each server was told to listen: its handle is made later where its address is looked up. */
const listening = new WeakMap();
const { listen } = Server.prototype;
Server.prototype.listen = function (...args) {
  listening.set(this, stackHere());
  return listen.apply(this, args);
};

/** Remembers where each handle was opened, from its creation on. */
export class OpenHandles {
  #open = new Map();
  #hook = createHook({
    trackPromises: false,
    init: (id, type, _trigger, resource) => {
      if (!kinds.has(type)) return;
      this.#open.set(id, { type, resource: new WeakRef(resource), opened: stackHere() });
    },
    destroy: (id) => this.#open.delete(id),
  }).enable();

  /** What keeps the process alive now: a sentence for each handle, with the place in the sources that opened it. */
  list() {
    return [...this.#open.values()].filter(isActive).map(sentenceOf);
  }

  /** @returns what is still open after a moment of grace */
  async leaked() {
    const until = performance.now() + graceMs;
    while (performance.now() < until) {
      if (this.list().length === 0) return [];
      await sleep(lookEveryMs);
    }
    return this.list();
  }

  stop() {
    this.#hook.disable();
    this.#open.clear();
  }
}

/** The pause between two looks is a timer, too. */
function isActive({ resource, opened }) {
  const handle = handleOf(resource);
  return handle !== undefined && (handle.hasRef?.() ?? true) && !opened.stack.includes('OpenHandles.leaked');
}

/** A socket that an agent of Node's gives to another request is wrapped anew. */
function handleOf(resource) {
  const found = resource.deref();
  return found?.handle ?? found;
}

function sentenceOf({ type, resource, opened }) {
  const handle = handleOf(resource);
  const symbols = Object.getOwnPropertySymbols(handle);
  const owner = handle[symbols.find(({ description }) => description === 'owner_symbol')];
  const details = [
    handle._idleTimeout && `of ${handle._idleTimeout} ms`,
    handle.pid && `with pid ${handle.pid}`,
    owner?.remotePort && `to port ${owner.remotePort}`,
  ];
  const frames = (listening.get(owner) ?? opened).stack.split('\n').slice(1);
  const ours = frames.filter((frame) => !/node:|node_modules|open-handles\.mjs|suite-kind\.ts/.test(frame));
  const place = ours.slice(0, 3).map((frame) => frame.trim().replace(/^at /, ''));
  const from =
    place.length > 0 ? place.join(', from ') : 'code of a package or of Node.js, as fetch where an answer is not read';
  return [kinds.get(type), ...details.filter(Boolean), 'opened by', from].join(' ');
}

function stackHere() {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = 30;
  const error = new Error('opened');
  Error.stackTraceLimit = stackTraceLimit;
  return error;
}
