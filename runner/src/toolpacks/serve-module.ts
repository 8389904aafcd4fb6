import { AsyncLocalStorage } from 'node:async_hooks';
import type { Writable } from 'node:stream';
import { pathToFileURL } from 'node:url';
import { answerOf, maxModuleLineBytes, type PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import { messageOf } from '../turn-failure.js';
import type { FromModule, ModuleFacts, ModuleFault, ToModule } from './module-protocol.js';

type Handler = (input: unknown) => unknown;
type Handlers = Readonly<Record<string, unknown>>;

/** The longest answer, and the most that its controller is asked with. */
const mostAnswerBytes = maxModuleLineBytes / 2;

/** The longest sentence of a fault. */
const maxMessageChars = 4_000;

/** How a call of the controller failed, which its handler may pass on. */
class SupportFailed extends Error {
  override readonly name = 'SupportFailed';

  constructor(
    readonly code: string | undefined,
    message: string,
  ) {
    super(message);
  }
}

/** Serves the calls of one toolpack's tools by its runner module. */
export class ServedModule {
  readonly #current = new AsyncLocalStorage<number>();
  readonly #asked = new Map<number, PromiseWithResolvers<PackAnswer>>();
  #handlers: Promise<Handlers> | undefined;
  #asks = 0;

  constructor(private readonly output: Writable) {}

  /** Takes what the runner tells it. */
  take(told: ToModule): void {
    if ('load' in told) {
      this.#handlers = this.#load(told.load.module, told.load.facts);
      // It is told with each call.
      this.#handlers.catch(() => undefined);
    } else if ('call' in told) {
      this.#call(told.call, told.tool, told.input).catch(fail);
    } else {
      const asked = this.#asked.get(told.told);
      this.#asked.delete(told.told);
      if ('error' in told.answer) {
        const { code, message } = told.answer.error;
        asked?.reject(new SupportFailed(code, message));
      } else asked?.resolve(told.answer);
    }
  }

  /** Tells its runner what has broken, outside of any call. */
  breakDown(error: unknown): void {
    this.#send({ broken: shortMessage(error) });
  }

  async #load(path: string, facts: ModuleFacts): Promise<Handlers> {
    const module = (await import(pathToFileURL(path).href)) as Handlers;
    const make = module['createRunnerToolpack'] ?? module['default'];
    if (typeof make !== 'function')
      throw new Error('it exports no createRunnerToolpack, and no function as its default');
    const made: unknown = await (make as Handler)({
      ...facts,
      callSupport: (tool: unknown, input: unknown) => this.#ask({ tool, input: input ?? {} }),
      recordSignal: (signal: unknown) => this.#ask({ signal }),
    });
    if (!isObject(made)) throw new Error('it makes nothing that has handlers');
    return isObject(made['tools']) ? made['tools'] : made;
  }

  async #call(call: number, tool: string, input: unknown): Promise<void> {
    this.#send({ done: call, answer: await this.#outcome(call, tool, input) });
  }

  async #outcome(call: number, tool: string, input: unknown): Promise<PackAnswer | { error: ModuleFault }> {
    let handlers: Handlers | undefined;
    try {
      handlers = await this.#handlers;
    } catch (error) {
      return { error: { message: `the runner module cannot be loaded: ${shortMessage(error)}` } };
    }
    const handler = handlers?.[tool];
    // What every object has is no handler: a tool may be called toString.
    const isHandler = typeof handler === 'function' && handler !== (Object.prototype as Handlers)[tool];
    if (!isHandler) return { error: { message: `the runner module has no handler for ${tool}` } };
    try {
      return checked(await this.#current.run(call, () => (handler as Handler)(input)));
    } catch (error) {
      const code = error instanceof SupportFailed ? error.code : undefined;
      return { error: { code, message: shortMessage(error) } };
    }
  }

  /** Asks the controller, through the runner, for the call that is under way. */
  async #ask(what: unknown): Promise<PackAnswer> {
    const call = this.#current.getStore();
    if (call === undefined) throw new Error('This belongs to a call of a tool, and none is under way.');
    const bytes = Buffer.byteLength(JSON.stringify(what));
    if (bytes > mostAnswerBytes) {
      const message = `What the controller is asked has ${String(bytes)} bytes, and may have ${String(mostAnswerBytes)}.`;
      throw new Error(message);
    }
    const asked = Promise.withResolvers<PackAnswer>();
    this.#asks += 1;
    this.#asked.set(this.#asks, asked);
    this.#send({ ask: this.#asks, call, what });
    return asked.promise;
  }

  #send(message: FromModule): void {
    this.output.write(`${JSON.stringify(message)}\n`);
  }
}

/** What a handler has answered, as JSON has it. */
function checked(value: unknown): PackAnswer | { error: ModuleFault } {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (error) {
    return invalidAnswer(`it is no JSON: ${shortMessage(error)}`);
  }
  const bytes = Buffer.byteLength(text ?? '');
  if (bytes > mostAnswerBytes)
    return invalidAnswer(`it has ${String(bytes)} bytes, and may have ${String(mostAnswerBytes)}`);
  const answer = answerOf(text === undefined ? undefined : JSON.parse(text));
  return 'fault' in answer ? invalidAnswer(answer.fault) : answer;
}

/** A defect of this program: its runner is told by its end. */
function fail(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

function invalidAnswer(fault: string): { error: ModuleFault } {
  const message = `its answer is not {output, title?, metadata?}: ${fault}`;
  return { error: { code: 'toolpack-answer-invalid', message } };
}

function shortMessage(error: unknown): string {
  return messageOf(error).slice(0, maxMessageChars);
}

function isObject(value: unknown): value is Handlers {
  return typeof value === 'object' && value !== null;
}
