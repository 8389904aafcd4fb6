import type { ModelToolCall } from '@suzumio/protocol/model-chat';
import type { WireToolCall } from './wire.js';
import { ProviderFailure } from './provider-failure.js';

/** The most calls of an answer that are kept: with more, OpenAI takes no conversation back, and its clients no stream. */
const maxCalls = 128;

/** The most calls in one answer: a model that asks for more goes in circles, and is not heard to the end. */
const maxCallsInAnswer = 256;

interface Call {
  index: number | undefined;
  id: string;
  name: string;
  arguments: string;
  readonly end: ObjectEnd;
}

/** Puts the calls of an answer together from their parts, of which several calls may have some at a time. */
export class AnswerCalls {
  readonly #calls: Call[] = [];

  /** @param counted is told of all that a call is made of, and may throw where it is too much */
  constructor(private readonly counted: (piece: string) => string) {}

  get none(): boolean {
    return this.#calls.length === 0;
  }

  /** Adds what one piece of an answer has of calls. */
  addParts(parts: readonly WireToolCall[]): void {
    const named = new Set<Call>();
    for (const part of parts) {
      const call = this.#callOf(part, named);
      if (part.function?.name) named.add(call);
      this.#write(call, part);
    }
  }

  /** Adds calls that came whole: each is one of its own, but for those that have come before. */
  addWhole(calls: readonly WireToolCall[]): void {
    for (const [position, whole] of calls.entries()) {
      const known = this.#calls[position];
      if (known && isRepeated(known, whole) && known.arguments === argumentsOf(whole)) continue;
      this.#write(this.#begin(undefined), whole);
    }
  }

  /**
   * The calls so far. They are answered by their ids, so each has one, and no two the same.
   *
   * @param place names those that came without an id, or with one that is taken
   */
  all(place: string): ModelToolCall[] {
    const calls = this.#calls.slice(0, maxCalls);
    const given = new Set(calls.map(({ id }) => id));
    const taken = new Set<string>();
    return calls.map(({ id, name, arguments: written }, index) => {
      let own = id;
      for (let suffix = ''; own === '' || taken.has(own) || (own !== id && given.has(own)); suffix += '_') {
        own = `call_${place}_${index}${suffix}`;
      }
      taken.add(own);
      return { id: own, name, arguments: written };
    });
  }

  /**
   * The call that a part belongs to: by its index; without one, by its id; without both, the one begun last.
   *
   * @param named the calls that got their name in the same piece
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
    const call = { index, id: '', name: '', arguments: '', end: new ObjectEnd() };
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
  }
}

/**
 * Whether a part that comes as one of a call is the first of the next: some servers send each call whole, and all as the
 * first, or all under one id. A name begins another call after arguments, beside another name in the same piece, or where
 * it is not the one that the call's id has. An id alone begins none: some servers give each part its own.
 */
function beginsAnother(call: Call, part: WireToolCall, named: ReadonlySet<Call>): boolean {
  if (!part.function?.name) return false;
  if (named.has(call)) return true;
  if (isRepeated(call, part)) return call.end.reached && argumentsOf(part) !== '';
  return call.arguments !== '' || (call.name !== '' && Boolean(part.id && call.id));
}

/** Whether a part says again what its call is. */
function isRepeated(call: Call, { id, function: called }: WireToolCall): boolean {
  return (id ?? '') === call.id && id !== '' && call.name !== '' && called?.name === call.name;
}

function argumentsOf({ function: called }: WireToolCall): string {
  const written = called?.arguments ?? '';
  return typeof written === 'string' ? written : JSON.stringify(written);
}

/** Follows a text that comes in pieces, and sees where the JSON object is whole with which it begins. */
class ObjectEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #reached = false;

  /** Whether nothing can follow any more but blanks. */
  get reached(): boolean {
    return this.#reached;
  }

  add(piece: string): void {
    for (const character of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '{') this.#depth += 1;
      else if (character === '}') {
        this.#depth -= 1;
        if (this.#depth === 0) this.#reached = true;
      }
    }
  }
}
