import type { IncomingMessage } from 'node:http';
import { pipeline, type Readable } from 'node:stream';
import { constants, createBrotliDecompress, createUnzip } from 'node:zlib';
import { ObjectEnd } from './object-end.js';
import { ProviderFailure, unreadable } from './provider-failure.js';

/** The longest of what is read as one: an answer without streaming, an event, a line. */
const maxUnitChars = 16 * 1024 * 1024;
/** The most that a compressed answer may come to. */
const maxInflatedBytes = 256 * 1024 * 1024;
/** How much of what is no JSON is kept, for its words. */
const maxOtherChars = 16 * 1024;

/**
 * The bytes of a response, inflated where they are compressed: some proxies do that without being asked to, and some do not
 * say so.
 *
 * @throws ProviderFailure `answer-too-large`; an unreadable one for what cannot be inflated
 */
export async function* bytesOf(response: IncomingMessage): AsyncGenerator<Uint8Array> {
  const encoding = (response.headers['content-encoding'] ?? '').trim().toLowerCase();
  if (!['', 'identity', 'gzip', 'x-gzip', 'deflate', 'br'].includes(encoding)) {
    throw unreadable(`the provider encoded its answer as ${encoding.slice(0, 40)}, which it was not asked to`);
  }
  const source = response as AsyncIterable<Uint8Array>;
  if (encoding === 'br') yield* inflated(source, createBrotliDecompress());
  else if (encoding !== '' && encoding !== 'identity') yield* inflated(source, gunzip());
  else yield* undeclared(source);
}

/** Inflates what begins like gzip. */
async function* undeclared(source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  const chunks = source[Symbol.asyncIterator]();
  const first = await chunks.next();
  if (first.done === true) return;
  const all = (async function* () {
    yield first.value;
    for (;;) {
      const next = await chunks.next();
      if (next.done === true) return;
      yield next.value;
    }
  })();
  try {
    if (first.value[0] === 0x1f && first.value[1] === 0x8b) yield* inflated(all, gunzip());
    else yield* all;
  } finally {
    // Ends the response where its reader has enough.
    await chunks.return?.();
  }
}

/** Takes gzip and deflate, and what there is of an answer that was cut. */
const gunzip = () => createUnzip({ finishFlush: constants.Z_SYNC_FLUSH });

async function* inflated(
  source: AsyncIterable<Uint8Array>,
  inflate: Readable & NodeJS.WritableStream,
): AsyncGenerator<Uint8Array> {
  let failed: Error | undefined;
  // Its error comes from the loop, too.
  pipeline(source, inflate, (error) => (failed = error ?? undefined));
  let bytes = 0;
  try {
    for await (const chunk of inflate as AsyncIterable<Uint8Array>) {
      bytes += chunk.length;
      if (bytes > maxInflatedBytes) {
        throw new ProviderFailure('answer-too-large', `the answer is longer than ${maxInflatedBytes} bytes, inflated`);
      }
      yield chunk;
    }
  } catch (error) {
    const cause = failed ?? error;
    if (!/^(?:Z_|ERR_BROTLI|ERR__ERROR)/.test(codeOf(cause))) throw cause;
    throw unreadable(`the provider's answer cannot be inflated: ${(cause as Error).message}`);
  }
}

function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

/**
 * Finds the JSON objects in an answer by what it holds, whatever its content type says: one object, one on each line, or
 * server-sent events. Those may lack the empty lines between them: an event is complete where its object ends.
 */
export class AnswerBody {
  /** Pieces of a line that is not complete. */
  #line: string[] = [];
  #lineChars = 0;
  /** What is complete of an object, as event data or bare; undefined between objects. */
  #open: { text: string; readonly isData: boolean; readonly end: ObjectEnd } | undefined;
  /** The first object, if it is bare: it may be all there is. */
  #first: string | undefined;
  #count = 0;
  #other = '';
  #isDone = false;

  /** @param onObject is given the JSON of each event */
  constructor(private readonly onObject: (json: string) => void) {}

  /** Whether the end has been said. */
  get isDone(): boolean {
    return this.#isDone;
  }

  /** Whether it consists of events, as far as it has come. */
  get isStream(): boolean {
    return this.#count > (this.#first === undefined ? 0 : 1) || this.#isDone || this.#open?.isData === true;
  }

  /**
   * Takes the next piece of text.
   *
   * @throws ProviderFailure `answer-too-large`
   */
  feed(text: string): void {
    let from = 0;
    for (const {
      index,
      0: { length },
    } of text.matchAll(/\r\n?|\n/g)) {
      const line = this.#line.join('') + text.slice(from, index);
      this.#line = [];
      this.#lineChars = 0;
      from = index + length;
      this.#take(line);
    }
    const rest = text.slice(from);
    this.#line.push(rest);
    this.#lineChars += rest.length;
    this.#bound(this.#lineChars);
  }

  /**
   * Takes the end of the text.
   *
   * @returns what was no event, if there were none: the JSON of a whole answer, or something else
   */
  end(): string | undefined {
    this.#take(this.#line.join(''));
    this.#line = [];
    const left = this.#open?.text ?? '';
    if (this.#count === 0) return left || this.#other;
    if (this.#count === 1 && this.#first !== undefined) return `${this.#first}${left}`;
    if (left.trim() !== '') this.onObject(left);
    return undefined;
  }

  #take(line: string): void {
    if (this.#isDone) return;
    if (this.#open && !this.#open.isData) {
      this.#add(`${line}\n`);
      return;
    }
    const data = /^data: ?(.*)$/s.exec(line)?.[1];
    if (data !== undefined) this.#data(data);
    else if (line === '') this.#close();
    else if (!this.#open && /^\s*[[{]/.test(line)) {
      this.#open = { text: '', isData: false, end: new ObjectEnd() };
      this.#add(`${line}\n`);
    } else if (this.#other.length < maxOtherChars && !/^(?::|event:|id:|retry:)/.test(line)) {
      this.#other += `${line.slice(0, maxOtherChars)}\n`;
    }
  }

  #data(data: string): void {
    if (data.trim() === '[DONE]') {
      this.#close();
      this.#isDone = true;
      return;
    }
    if (!this.#open) this.#open = { text: '', isData: true, end: new ObjectEnd() };
    this.#add(this.#open.text === '' ? data : `\n${data}`);
  }

  #add(text: string): void {
    const open = this.#open;
    if (!open) return;
    this.#bound(open.text.length + text.length);
    // Only objects have an end that is known before the next line.
    const isObject = /^\s*\{/.test(open.text === '' ? text : open.text);
    const end = isObject ? open.end.add(text) : undefined;
    if (end === undefined) {
      open.text += text;
      return;
    }
    open.text += text.slice(0, end);
    this.#close();
    const rest = text.slice(end);
    if (rest.trim() !== '') this.#take(rest.trim());
  }

  /** Ends an object, or what was to be one. */
  #close(): void {
    const open = this.#open;
    this.#open = undefined;
    if (!open || open.text.trim() === '') return;
    this.#count += 1;
    if (this.#count === 1 && !open.isData) {
      this.#first = open.text;
      return;
    }
    if (this.#first !== undefined) {
      const first = this.#first;
      this.#first = undefined;
      this.onObject(first);
    }
    this.onObject(open.text);
  }

  #bound(chars: number): void {
    if (chars <= maxUnitChars) return;
    throw new ProviderFailure('answer-too-large', `a part of the answer is longer than ${maxUnitChars} characters`);
  }
}
