import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import * as z from 'zod';
import { SandboxRefusal } from './paths/refusal.js';
import type { RipgrepEnd } from './processes/ripgrep.js';
import type { SandboxResponse } from './sandbox.js';
import { firstBytes, counted, lasted, legible } from './text/legible.js';
import { type LinePart, startOfCharacter } from './text/line-window.js';

type Input = SandboxInput<'file.search'>;

/** The longest line that is shown whole, and how much of a longer one is shown. */
export const maxLineBytes = 500;
/** How much of a longer one is shown before its first match. */
export const bytesBeforeMatch = 200;
/** How many matches in lines too long to be read at once are searched again. */
const maxLongLines = 20;

const maxErrorChars = 500;

/** A text as ripgrep prints it: its bytes, where it is no UTF-8. */
const text = z.union([
  z.object({ text: z.string() }).transform((value) => Buffer.from(value.text)),
  z.object({ bytes: z.base64() }).transform(({ bytes }) => Buffer.from(bytes, 'base64')),
]);

/** What ripgrep prints with `--json`. */
const output = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begin'), data: z.object({ path: text }) }),
  z.object({
    type: z.enum(['match', 'context']),
    data: z.object({
      path: text,
      lines: text,
      line_number: z.number(),
      submatches: z.array(z.object({ start: z.number() })),
    }),
  }),
  z.object({ type: z.enum(['end', 'summary']) }),
]);

/** A match in a line that was not read whole. */
export interface LongMatch {
  readonly path: string;
  /** Which of the file's matching lines it is, counted from 0. */
  readonly index: number;
}

/** Where a match is, and what is around it. */
export interface MatchPart {
  readonly line: number;
  readonly text: string;
  /** The bytes of its line that are in it, counted from 1, and how many the line has. */
  readonly part: LinePart;
}

/** What a search has found so far, within its bounds. */
export class SearchResults {
  readonly #lines: string[] = [];
  readonly #long: (LongMatch & { readonly at: number })[] = [];
  #bytes = 0;
  #matches = 0;
  #matchesOfFile = 0;
  #files = 0;
  #path = '';
  #lastNumber = 0;
  #isFull = false;
  #hasParts = false;

  constructor(
    private readonly input: Input,
    private readonly prefix: string,
  ) {}

  /** @returns whether more is wanted */
  take(line: Buffer, isCut: boolean): boolean {
    if (isCut) return this.#takeLong(line);
    const message = output.safeParse(JSON.parse(line.toString()));
    if (message.data?.type === 'begin') {
      this.#path = message.data.data.path.toString().replace(/^\.\//, '');
      this.#lastNumber = 0;
      this.#matchesOfFile = 0;
      this.#files += 1;
    }
    if (message.data?.type !== 'match' && message.data?.type !== 'context') return true;
    const { type, data } = message.data;
    const end = /\r?\n?$/.exec(data.lines.toString('latin1', data.lines.length - 2))?.[0].length ?? 0;
    const bytes = data.lines.subarray(0, data.lines.length - end);
    const shown = bytes.length <= maxLineBytes ? legible(bytes) : this.#around(bytes, data.submatches);
    return this.#add(type === 'match', data.line_number, shown);
  }

  #around(bytes: Buffer, submatches: readonly { readonly start: number }[]): string {
    const wanted = Math.max(0, (submatches[0]?.start ?? 0) - bytesBeforeMatch);
    const start = startOfCharacter(bytes, wanted);
    const shown = firstBytes(bytes.subarray(start), maxLineBytes);
    const part = { from: start + 1, to: start + shown.length, bytes: bytes.length };
    return this.#part(legible(shown), part, submatches.length > 1 ? `, ${submatches.length} matches` : '');
  }

  /** What is around a match, marked with the byte that it begins with. */
  #part(text: string, { from, to, bytes }: LinePart, others = ''): string {
    this.#hasParts = true;
    return `[column ${from} of ${bytes}${others}]${from > 1 ? '…' : ''}${text}${to < bytes ? '…' : ''}`;
  }

  /** A line of which only the beginning was read. */
  #takeLong(line: Buffer): boolean {
    if (!line.toString('latin1', 0, 20).startsWith('{"type":"match"')) return true;
    const isWanted = this.#long.length < maxLongLines;
    const at = this.#lines.length;
    const match = { path: this.#path, index: this.#matchesOfFile, at };
    const more = this.#add(
      true,
      undefined,
      '[a match in a very long line: search for less, or in this file alone, to see it]',
    );
    if (more && isWanted) this.#long.push(match);
    return more;
  }

  #add(isMatch: boolean, number: number | undefined, shown: string): boolean {
    if (isMatch && this.#matches === this.input.maxMatches) return this.#full();
    const isApart = this.input.context > 0 && number !== undefined && number !== this.#lastNumber + 1;
    if (isApart && this.#lines.length > 0) this.#lines.push('--');
    this.#lastNumber = number ?? this.#lastNumber;
    const line = this.#line(isMatch ? ':' : '-', this.#path, number ?? '?', shown);
    this.#bytes += number === undefined ? maxLineBytes : Buffer.byteLength(line) + 1;
    if (this.#bytes > this.input.maxBytes && this.#lines.length > 0) return this.#full();
    this.#lines.push(line);
    if (isMatch) {
      this.#matches += 1;
      this.#matchesOfFile += 1;
    }
    return true;
  }

  #line(mark: string, path: string, number: number | string, shown: string): string {
    return `${this.prefix}${path}${mark}${number}${mark}${shown}`;
  }

  #full(): false {
    this.#isFull = true;
    return false;
  }

  get isEmpty(): boolean {
    return this.#matches === 0;
  }

  /** Shows matches in very long lines, by what `partsOf` finds of those of one file. */
  async showLong(
    partsOf: (path: string, indexes: readonly number[]) => Promise<ReadonlyMap<number, MatchPart>>,
  ): Promise<void> {
    for (const [path, matches] of Map.groupBy(this.#long, (match) => match.path)) {
      const parts = await partsOf(
        path,
        matches.map(({ index }) => index),
      );
      for (const { index, at } of matches) {
        const part = parts.get(index);
        if (part) this.#lines[at] = this.#line(':', path, part.line, this.#part(part.text, part.part));
      }
    }
  }

  /** @param withNul files that match, but only after a NUL */
  answer({ ended, exitCode, errors }: RipgrepEnd, searchMs: number, withNul: readonly string[] = []): SandboxResponse {
    if (exitCode === 2 && this.#matches === 0 && /regex|pattern|glob/i.test(errors)) {
      throw new SandboxRefusal(
        'pattern-invalid',
        `The search was not understood: ${errors}. Use literal for exact text.`,
      );
    }
    const notes: string[] = [];
    if (this.#isFull) notes.push(`There is more than ${counted(this.#matches, 'match', 'matches')}: search for less.`);
    else if (this.#matches === 0 && ended === undefined)
      notes.push(`Nothing matches${nulNote(withNul.map((file) => this.prefix + file))}.`);
    if (this.#hasParts) {
      notes.push(
        `Of longer lines, what is around the first match is shown: file.read with offset for the line and column shows more.`,
      );
    }
    if (ended === 'by-time') notes.push(`Ended after ${lasted(searchMs)}, before all was searched.`);
    if (exitCode === 2 && errors !== '') notes.push(`Not all could be searched: ${errors.slice(0, maxErrorChars)}`);
    return {
      output: [...this.#lines, ...(notes.length === 0 ? [] : [`[${notes.join(' ')}]`])].join('\n'),
      metadata: {
        matches: this.#matches,
        files: this.#files,
        truncated: this.#isFull || ended === 'by-time',
      },
    };
  }
}

function nulNote(files: readonly string[]): string {
  if (files.length === 0) return '';
  return ` in what is text alone; after NUL bytes, something does in ${files.map((file) => JSON.stringify(file)).join(', ')}: search such a file by its own path`;
}
