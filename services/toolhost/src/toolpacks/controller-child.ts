import { readSync, writeSync } from 'node:fs';
import { pathToFileURL } from 'node:url';
import type { ControllerAsk, ControllerOrder, FromController, ToController } from './controller-protocol.js';

// The process of one call of a toolpack's controller module. Modules of the published format ask their store without waiting
// for a promise, so that what they ask is asked and answered at once, through the third descriptor.

const channel = 3;
const held: Buffer[] = [];

/** The longest answer. */
const mostAnswerBytes = 256 * 1024;

function readLine(): string {
  for (;;) {
    const end = held.at(-1)?.indexOf(10) ?? -1;
    if (end >= 0) {
      const last = held.pop() ?? Buffer.alloc(0);
      const line = Buffer.concat([...held, last.subarray(0, end)]).toString('utf8');
      held.length = 0;
      if (end + 1 < last.length) held.push(last.subarray(end + 1));
      return line;
    }
    const chunk = Buffer.alloc(64 * 1024);
    const read = whenReady(() => readSync(channel, chunk, 0, chunk.length, null));
    // The ToolHost has ended.
    if (read === 0) process.exit(1);
    held.push(chunk.subarray(0, read));
  }
}

function say(said: FromController): void {
  let rest = Buffer.from(`${JSON.stringify(said)}\n`);
  while (rest.length > 0) rest = rest.subarray(whenReady(() => writeSync(channel, rest, 0, rest.length)));
}

/** A descriptor may be one that does not wait. */
function whenReady(act: () => number): number {
  for (;;) {
    try {
      return act();
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2);
    }
  }
}

function ask(what: ControllerAsk, value: unknown = null): unknown {
  say({ ask: what, value });
  const reply = JSON.parse(readLine()) as ToController;
  if ('value' in reply) return reply.value;
  const { code, message } = reply.error;
  throw Object.assign(new Error(message), { code });
}

type Fields = Readonly<Record<string, unknown>>;

async function carryOut({ module: path, tool, input, ...facts }: ControllerOrder): Promise<unknown> {
  const { project, agent, activationId, toolpackId, root } = facts;
  const module = (await import(pathToFileURL(path).href)) as Fields;
  const make = module['createControllerToolpack'] ?? module['default'];
  if (typeof make !== 'function') {
    throw new Error('the controller module exports no createControllerToolpack, and no function as its default');
  }
  const made = (await (make as (context: unknown) => unknown)({
    project,
    agent,
    activationId,
    toolpackId,
    store: {
      paths: { root },
      config: () => ask('config'),
      listAgents: () => ask('listAgents'),
      sendMessage: (message: unknown) => ask('sendMessage', message),
    },
    recordSignal: (signal: unknown) => ask('recordSignal', signal),
  })) as Fields | null | undefined;
  const support = made?.['support'];
  if (typeof support === 'function') {
    return (support as (tool: string, input: unknown) => unknown).call(made, tool, input);
  }
  const handlers = (made?.['tools'] ?? made) as Fields | null | undefined;
  const handler = handlers?.[tool];
  // What every object has is no handler: a tool may be called toString.
  const isHandler = typeof handler === 'function' && handler !== (Object.prototype as Fields)[tool];
  if (!isHandler) throw new Error(`the controller module has no handler for ${tool}`);
  return (handler as (input: unknown) => unknown).call(handlers, input);
}

function answered(answer: unknown): FromController {
  try {
    const text = JSON.stringify(answer ?? null);
    const bytes = Buffer.byteLength(text);
    if (bytes > mostAnswerBytes) {
      return { invalid: `it has ${String(bytes)} bytes, and may have ${String(mostAnswerBytes)}` };
    }
    return { answer: JSON.parse(text) as unknown };
  } catch (error) {
    return { invalid: `it is no JSON: ${messageOf(error)}` };
  }
}

function messageOf(error: unknown): string {
  return (error instanceof Error ? error.message : String(error)).slice(0, 4_000);
}

try {
  say(answered(await carryOut(JSON.parse(readLine()) as ControllerOrder)));
} catch (error) {
  say({ failed: messageOf(error) });
}
// What the module has left running ends with its call.
process.exit(0);
