import { SuzumioError } from './errors.js';
import type { Http } from './http.js';
import type { Lease } from './lease.js';
import type { Mail, Priority, TaskState } from './turn.js';
import type { ClaimedTurn, ShownImage, ToolResponse } from './wire.js';

/** How a call is recognised when a turn is retried. */
export interface CallOptions {
  /**
   * The call's key in its turn: 1 to 100 letters, digits and `_.:-`. Without one, its number is used: the third call of
   * an attempt is the third call of the next.
   */
  readonly idempotencyKey?: string;
}

interface MessageText extends CallOptions {
  readonly body: string;
  /** @default 'P1' */
  readonly priority?: Priority;
  /** Published artifacts: ids, or names. */
  readonly attachments?: readonly string[];
}

/** A message to an agent (by id or name), to `user`, or to a channel. */
export interface Message extends MessageText {
  readonly recipient?: string;
  readonly channel?: string;
}

/** An answer, in the thread of what it answers. */
export interface Reply extends Message {
  /** The message to answer. @default the turn's message, where it has only one */
  readonly message?: Mail | string;
  /** The new state of that thread's task. */
  readonly task?: Exclude<TaskState, 'open'>;
}

/** A message to a whole team, or to every agent. */
export interface Broadcast extends MessageText {
  readonly team?: string;
}

/** Work for the least loaded agent with this role. */
export interface Assignment extends MessageText {
  readonly role: string;
  readonly team?: string;
}

/** A file to publish. */
export interface NewArtifact extends CallOptions {
  readonly name: string;
  readonly content: string | Uint8Array;
  readonly description?: string;
}

/** A published or attached artifact: by id, or by name, which means the newest artifact of that name. */
export interface WantedFile extends CallOptions {
  readonly id?: string;
  readonly name?: string;
  /** One file of a directory. */
  readonly path?: string;
  /** The most bytes that are read into memory. @default 67_108_864 */
  readonly maxBytes?: number;
}

export interface Sent {
  /** The message's id. */
  readonly id: string;
  /** The agents that it wakes. */
  readonly recipients: readonly string[];
}

export interface Replied extends Sent {
  readonly threadId: string;
}

export interface Assigned {
  /** The task's id, which is its message's. */
  readonly id: string;
  readonly assignee: string;
}

export interface Published {
  readonly id: string;
  readonly name: string;
  readonly sha256: string;
  readonly sizeBytes: number;
}

/** A tool's answer: for a model, and for programs. */
export interface ToolAnswer {
  readonly output: unknown;
  readonly metadata: Readonly<Record<string, unknown>>;
  /** The image that was read, if the call read one: `ctx.read` gets its bytes. */
  readonly image?: ShownImage;
}

/**
 * What a turn can do. Each call takes effect once, however often the turn is retried; one that is refused throws a
 * {@link SuzumioError}, and is refused again when the turn is retried.
 */
export interface TurnContext {
  /** Aborted when the turn is lost: stop, since nothing takes effect any more. */
  readonly signal: AbortSignal;
  send(message: Message): Promise<Sent>;
  reply(reply: Reply): Promise<Replied>;
  broadcast(broadcast: Broadcast): Promise<Sent>;
  assign(assignment: Assignment): Promise<Assigned>;
  publish(artifact: NewArtifact): Promise<Published>;
  /**
   * Reads a file of any content: an attachment of the turn's mail (`ctx.read(attachment)`), or any published file. The
   * agent needs the tool `artifacts.read`.
   *
   * @throws RangeError for more than `maxBytes`, TypeError for a directory without `path`
   */
  read(file: WantedFile): Promise<Uint8Array>;
  /** Submits the project's report. The turn can do nothing after it. */
  submit(report: string, options?: CallOptions): Promise<{ readonly version: number }>;
  /** Calls any of the agent's tools, such as `artifacts.read`. */
  call(tool: string, input: object, options?: CallOptions): Promise<ToolAnswer>;
}

const defaultMostBytes = 64 * 1024 * 1024;

/**
 * The calls of one attempt, in order.
 *
 * @internal
 */
export function turnContext(http: Http, turn: ClaimedTurn, lease: Lease): TurnContext {
  let calls = 0;
  const stepOf = ({ idempotencyKey: key }: CallOptions): string => {
    if (key === undefined) {
      calls += 1;
      return `sdk.${String(calls)}`;
    }
    if (/^[\w.:-]{1,100}$/.test(key)) return `key.${key}`;
    throw new TypeError('an idempotencyKey has 1 to 100 letters, digits and _.:-');
  };

  async function atStep(step: string, tool: string, input: object): Promise<ToolAnswer> {
    const body = { project: turn.project, agent: turn.agent.id, turn: turn.id, tool, input, step };
    const ask = { method: 'POST', path: '/tool', token: turn.toolToken, json: body } as const;
    const { output, metadata = {}, image } = await heeding(lease, http.repeat<ToolResponse>(ask, lease.over));
    return { output, metadata, ...(image === undefined ? {} : { image }) };
  }

  /** Numbered when it is called, even if it first waits for others. */
  async function call<Result>(tool: string, options: CallOptions, input: object): Promise<Result> {
    return (await atStep(stepOf(options), tool, input)).metadata as Result;
  }

  return {
    signal: lease.signal,
    async call(tool, input, options = {}) {
      return atStep(stepOf(options), tool, input);
    },
    async send({ idempotencyKey, ...message }) {
      return sent(await call('messages.send', keyed(idempotencyKey), message));
    },
    async reply({ idempotencyKey, message, ...reply }) {
      const input = { ...reply, message: idOf(message ?? onlyOne(turn.mail)) };
      const replied = await call<WireSent & { threadId: string }>('messages.reply', keyed(idempotencyKey), input);
      return { ...sent(replied), threadId: replied.threadId };
    },
    async broadcast({ idempotencyKey, ...broadcast }) {
      return sent(await call('messages.broadcast', keyed(idempotencyKey), broadcast));
    },
    async assign({ idempotencyKey, ...assignment }) {
      const { task, assignee } = await call<{ task: string; assignee: string }>(
        'tasks.assign',
        keyed(idempotencyKey),
        assignment,
      );
      return { id: task, assignee };
    },
    async publish({ idempotencyKey, name, content, description }) {
      const step = stepOf(keyed(idempotencyKey));
      const bytes = typeof content === 'string' ? new TextEncoder().encode(content) : new Uint8Array(content);
      const sha256 = hex(await crypto.subtle.digest('SHA-256', bytes));
      const upload = { method: 'PUT', path: `/content/${sha256}`, token: turn.toolToken, body: bytes } as const;
      await heeding(lease, http.repeat({ ...upload, timeoutMs: 120_000 }, lease.over));
      const input = { path: name, name, description, sha256, sizeBytes: bytes.length };
      return (await atStep(step, 'artifacts.publish', input)).metadata as unknown as Published;
    },
    async read({ idempotencyKey, id, name, path, maxBytes = defaultMostBytes }) {
      // An attachment has both.
      const which = id === undefined ? { name } : { id };
      const input = { ...which, path, to: 'file' };
      const found = await call<Handed>('artifacts.read', keyed(idempotencyKey), input);
      if (found.kind === 'directory')
        throw new TypeError(`${found.name} is a directory: name a file in it with "path"`);
      if (found.sizeBytes > maxBytes) {
        throw new RangeError(`${found.name} has ${String(found.sizeBytes)} bytes, more than ${String(maxBytes)}`);
      }
      const download = { method: 'GET', path: `/content/${found.sha256}`, token: turn.toolToken } as const;
      const ask = { ...download, answer: 'bytes', timeoutMs: 120_000 } as const;
      const bytes = await heeding(lease, http.repeat<Uint8Array<ArrayBuffer>>(ask, lease.over));
      if (hex(await crypto.subtle.digest('SHA-256', bytes)) === found.sha256) return bytes;
      throw new Error(`what arrived of ${found.name} is not what was published`);
    },
    async submit(report, options = {}) {
      return call('completion.submit', options, { report });
    },
  };
}

/** The metadata of `artifacts.read` for a file to fetch. */
interface Handed {
  name: string;
  kind: 'file' | 'directory';
  sha256: string;
  sizeBytes: number;
}

interface WireSent {
  message: string;
  recipients: string[];
}

function sent({ message, recipients }: WireSent): Sent {
  return { id: message, recipients };
}

function keyed(idempotencyKey: string | undefined): CallOptions {
  return idempotencyKey === undefined ? {} : { idempotencyKey };
}

function idOf(message: Mail | string): string {
  return typeof message === 'string' ? message : message.id;
}

function onlyOne(mail: readonly Mail[]): Mail {
  const [only, ...others] = mail;
  if (only && others.length === 0) return only;
  throw new TypeError(`this turn has ${String(mail.length)} messages: name the one that is answered`);
}

/** A turn whose token is no longer valid is lost, even before a heartbeat has said so. */
async function heeding<Result>(lease: Lease, work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof SuzumioError && error.status === 401) lease.lose(error.message);
    throw error;
  }
}

function hex(bytes: ArrayBuffer): string {
  return [...new Uint8Array(bytes)].map((byte) => byte.toString(16).padStart(2, '0')).join('');
}
