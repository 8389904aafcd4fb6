import { constants } from 'node:fs';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import * as z from 'zod';
import { SandboxRefusal } from './paths/refusal.js';
import { missing, openedFile, type Place, refuseUnlessFile } from './paths/roots.js';
import { ripgrep, type RipgrepEnd, type RipgrepOptions } from './processes/ripgrep.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { binaryKind, sampleBytes } from './text/file-kind.js';
import { counted, lasted } from './text/legible.js';

type Input = SandboxInput<'file.search'>;

const maxLineChars = 500;
/** How many files are named that match after a NUL. */
const maxNulFiles = 5;

const text = z.union([
  z.object({ text: z.string() }).transform((value) => value.text),
  z.object({ bytes: z.base64() }).transform(({ bytes }) => Buffer.from(bytes, 'base64').toString()),
]);

/** What ripgrep tells with `--json`. */
const told = z.discriminatedUnion('type', [
  z.object({ type: z.literal('begin'), data: z.object({ path: text }) }),
  z.object({
    type: z.enum(['match', 'context']),
    data: z.object({ path: text, lines: text, line_number: z.number() }),
  }),
  z.object({ type: z.enum(['end', 'summary']) }),
]);

export async function searchFiles(
  input: Input,
  { roots, env, limits }: Sandbox,
  call: SandboxCall,
): Promise<SandboxResponse> {
  return roots.at(input.path, {}, async (place) => {
    if (!place.facts) throw await missing(place);
    const isDirectory = place.facts.isDirectory();
    if (!isDirectory) refuseUnlessFile(place);
    const directory = await place.directory.enter(isDirectory ? place.name : '.');
    try {
      const where = isDirectory ? '.' : `./${place.name}`;
      // What file.read shows as a text is one here, too, though there is a NUL in it somewhere.
      const asText = !isDirectory && (await isShownAsText(place));
      const base = roots.shown(isDirectory ? place.path : place.path.slice(0, place.path.lastIndexOf('/')));
      const found = new Found(input, base === '.' ? '' : `${base}/`);
      const options = { env, signal: call.signal, timeoutMs: limits.searchMs };
      const end = await ripgrep(
        directory.self,
        [...argsOf(input), ...(asText ? ['--text'] : []), '--', input.pattern, where],
        options,
        (line, isCut) => found.take(line, isCut),
      );
      if (!isDirectory || !found.isEmpty || end.ended !== undefined) return found.answer(end, limits.searchMs);
      return found.answer(end, limits.searchMs, await filesWithNul(directory.self, input, options));
    } finally {
      await directory.close();
    }
  });
}

async function isShownAsText(place: Place): Promise<boolean> {
  const file = await openedFile(place, constants.O_RDONLY);
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(sampleBytes), 0, sampleBytes, 0);
    return binaryKind(buffer.subarray(0, bytesRead)) === undefined;
  } finally {
    await file.close();
  }
}

/** Some files of a directory that match after a NUL, where a search of all has ended with that. */
async function filesWithNul(directory: string, input: Input, options: RipgrepOptions): Promise<string[]> {
  const files: string[] = [];
  const args = [...argsOf(input).filter((arg) => arg !== '--json'), '--files-with-matches', '--binary'];
  await ripgrep(directory, [...args, '--', input.pattern, '.'], options, (line) => {
    files.push(line.toString().replace(/^\.\//, ''));
    return files.length < maxNulFiles;
  });
  return files;
}

function argsOf({ glob, literal, ignoreCase, context, ignored }: Input): string[] {
  return [
    '--json',
    // In one order, so that what is cut off is always the same.
    '--sort=path',
    ...(glob === undefined ? [] : ['--glob', glob]),
    ...(literal ? ['--fixed-strings'] : []),
    ...(ignoreCase ? ['--ignore-case'] : []),
    ...(context > 0 ? ['--context', String(context)] : []),
    ...(ignored ? ['--no-ignore'] : []),
  ];
}

/** What a search has found so far, within its bounds. */
class Found {
  readonly #lines: string[] = [];
  #bytes = 0;
  #matches = 0;
  #files = 0;
  #path = '';
  #lastNumber = 0;
  #isFull = false;

  constructor(
    private readonly input: Input,
    private readonly prefix: string,
  ) {}

  /** @returns whether more is wanted */
  take(line: Buffer, isCut: boolean): boolean {
    if (isCut) return this.#takeLong(line);
    const message = told.safeParse(JSON.parse(line.toString()));
    if (message.data?.type === 'begin') {
      this.#path = this.prefix + message.data.data.path.replace(/^\.\//, '');
      this.#lastNumber = 0;
      this.#files += 1;
    }
    if (message.data?.type !== 'match' && message.data?.type !== 'context') return true;
    const { type, data } = message.data;
    return this.#add(type === 'match', data.line_number, data.lines.replace(/\r?\n$/, '').replaceAll('\0', '␀'));
  }

  /** A line of which only the beginning was read. */
  #takeLong(line: Buffer): boolean {
    if (!line.toString('latin1', 0, 20).startsWith('{"type":"match"')) return true;
    return this.#add(true, undefined, '[a match in a very long line]');
  }

  #add(isMatch: boolean, number: number | undefined, line: string): boolean {
    if (isMatch && this.#matches === this.input.maxMatches) return this.#full();
    const isApart = this.input.context > 0 && number !== undefined && number !== this.#lastNumber + 1;
    if (isApart && this.#lines.length > 0) this.#lines.push('--');
    this.#lastNumber = number ?? this.#lastNumber;
    const text = line.length > maxLineChars ? `${line.slice(0, maxLineChars).toWellFormed()}… [line cut]` : line;
    const mark = isMatch ? ':' : '-';
    const shown = `${this.#path}${mark}${number ?? '?'}${mark}${text}`;
    this.#bytes += Buffer.byteLength(shown) + 1;
    if (this.#bytes > this.input.maxBytes && this.#lines.length > 0) return this.#full();
    this.#lines.push(shown);
    if (isMatch) this.#matches += 1;
    return true;
  }

  #full(): false {
    this.#isFull = true;
    return false;
  }

  get isEmpty(): boolean {
    return this.#matches === 0;
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
    if (ended === 'by-time') notes.push(`Ended after ${lasted(searchMs)}, before all was searched.`);
    if (exitCode === 2 && errors !== '') notes.push(`Not all could be searched: ${errors.slice(0, maxLineChars)}`);
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
