import type { ModelToolCall } from '@suzumio/protocol/model-chat';
import { type Attached, AttachedFields, type AttachedSize } from './attached.js';
import { newCallId } from './call-ids.js';
import { ObjectEnd } from './object-end.js';
import type { WireToolCall } from './wire.js';
import { ProviderFailure } from './provider-failure.js';

/**
 * How many calls of an answer are kept: OpenAI refuses conversations with more, and its clients refuse such streams.
 */
const maxCalls = 128;

/** How many calls one answer may have: a model that makes more is in a loop, and its answer is cut off. */
const maxCallsInAnswer = 256;

interface Call {
  index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  readonly end: ObjectEnd;
  readonly attached: AttachedFields;
  /** In its function. */
  readonly within: AttachedFields;
}

/** Builds the calls of an answer from their parts, which may be interleaved. */
export class AnswerCalls {
  readonly #calls: Call[] = [];

  /** @param counted is called with every part of a call, and throws where the answer is too long */
  constructor(
    private readonly counted: (piece: string) => string,
    private readonly attachedSize: AttachedSize,
  ) {}

  get none(): boolean {
    return this.#calls.length === 0;
  }

  /** Adds the parts of calls in one chunk. */
  addParts(parts: readonly WireToolCall[]): void {
    const named = new Set<Call>();
    for (const part of parts) {
      const call = this.#callOf(part, named);
      if (part.function?.name) named.add(call);
      this.#write(call, part);
    }
  }

  /** Adds whole calls: each is new, unless it repeats one. */
  addWhole(calls: readonly WireToolCall[]): void {
    for (const [position, whole] of calls.entries()) {
      const known = this.#calls[position];
      if (known && isRepeated(known, whole) && known.arguments === argumentsOf(whole)) {
        attach(known, whole);
        continue;
      }
      this.#write(this.#begin(undefined), whole);
    }
  }

  /** Takes what is attached to calls that have come in parts, from a message that repeats them. */
  attach(calls: readonly WireToolCall[]): void {
    for (const [position, whole] of calls.entries()) {
      const known = this.#calls.find(({ id }) => id !== '' && id === whole.id) ?? this.#calls[position];
      if (known) attach(known, whole);
    }
  }

  /** The calls so far. Each gets a unique id, because results refer to it. */
  all(): ModelToolCall[] {
    const taken = new Set<string>();
    return this.#calls.slice(0, maxCalls).map(({ id, name, arguments: written }) => {
      const own = id === '' || taken.has(id) ? newCallId() : id;
      taken.add(own);
      return { id: own, name, arguments: written };
    });
  }

  /** What is attached to the calls, under the ids that they were given. */
  attached(calls: readonly ModelToolCall[]): NonNullable<Attached['calls']> {
    return calls.flatMap(({ id }, at) => {
      const call = this.#calls[at]?.attached.all;
      const within = this.#calls[at]?.within.all;
      return call || within ? [{ id, ...(call ? { call } : {}), ...(within ? { function: within } : {}) }] : [];
    });
  }

  /** Which of the calls has an index in its answer. */
  slotOf(index: number): number {
    return this.#calls.findIndex((call) => call.index === index);
  }

  /**
   * The call that a part belongs to: by its index; without one, by its id; without either, the latest.
   *
   * @param named the calls that were named in the same chunk
   */
  #callOf(part: WireToolCall, named: ReadonlySet<Call>): Call {
    const { index, id } = part;
    const calls = this.#calls;
    const known =
      index !== undefined && index !== null
        ? calls.findLast((call) => call.index === index)
        : id
          ? calls.findLast((call) => call.id === id)
          : calls.at(-1);
    return known && !beginsAnother(known, part, named) ? known : this.#begin(index ?? undefined);
  }

  #begin(index: number | undefined): Call {
    if (this.#calls.length === maxCallsInAnswer) {
      throw new ProviderFailure('answer-too-large', `the answer holds more than ${maxCallsInAnswer} tool calls`);
    }
    const call = {
      index,
      id: '',
      name: '',
      arguments: '',
      end: new ObjectEnd(),
      attached: new AttachedFields(this.attachedSize),
      within: new AttachedFields(this.attachedSize),
    };
    this.#calls.push(call);
    return call;
  }

  #write(call: Call, part: WireToolCall): void {
    const name = this.counted(part.function?.name ?? '');
    if (!isRepeated(call, part)) call.name += name;
    call.id ||= part.id ?? '';
    const written = this.counted(argumentsOf(part));
    call.arguments += written;
    call.end.add(written);
    call.attached.add(part);
    if (part.function) call.within.add(part.function);
  }
}

/** Takes what is attached to a whole call. */
function attach(call: Call, whole: WireToolCall): void {
  call.attached.replace(whole);
  if (whole.function) call.within.replace(whole.function);
}

/**
 * Whether a part that seems to continue a call begins the next: some servers send each call whole, and all under the
 * first index, or all under one id. A name begins another call after arguments, after another name in the same chunk,
 * or where it differs from that of the call with this id. An id alone begins none: some servers give each part a new
 * one.
 */
function beginsAnother(call: Call, part: WireToolCall, named: ReadonlySet<Call>): boolean {
  if (!part.function?.name) return false;
  if (named.has(call)) return true;
  if (isRepeated(call, part)) return call.end.reached && argumentsOf(part) !== '';
  return call.arguments !== '' || (call.name !== '' && Boolean(part.id && call.id));
}

/** Whether a part repeats its call's id and name. */
function isRepeated(call: Call, { id, function: called }: WireToolCall): boolean {
  return (id ?? '') === call.id && id !== '' && call.name !== '' && called?.name === call.name;
}

function argumentsOf({ function: called }: WireToolCall): string {
  const written = called?.arguments ?? '';
  return typeof written === 'string' ? written : JSON.stringify(written);
}
