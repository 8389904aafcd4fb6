import { constants } from 'node:fs';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { missing, openedFile, type Place, refuseUnlessFile } from './paths/roots.js';
import { ripgrep, type RipgrepOptions } from './processes/ripgrep.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { bytesBeforeMatch, type MatchPart, maxLineBytes, SearchResults } from './search-results.js';
import { encodingOf } from './text/encoding.js';
import { binaryKind, sampleOf } from './text/file-kind.js';
import { readWindow } from './text/line-window.js';

type Input = SandboxInput<'file.search'>;

/** How many files are named that match after a NUL. */
const maxNulFiles = 5;

/** Where a search runs, and how. */
interface Search {
  readonly input: Input;
  readonly directory: string;
  readonly options: RipgrepOptions;
  /** Its arguments for one file that is searched by its path. */
  readonly fileArgs: readonly string[];
}

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
      const base = roots.shown(isDirectory ? place.path : place.path.slice(0, place.path.lastIndexOf('/')));
      const prefix = base === '.' ? '' : `${base}/`;
      const found = new SearchResults(input, prefix);
      const options = { env, signal: call.signal, timeoutMs: limits.searchMs };
      const fileArgs = isDirectory ? [] : await argsOfFile(place);
      const search = { input, directory: directory.self, options, fileArgs };
      const end = await ripgrep(
        directory.self,
        [...argsOf(input), ...fileArgs, ...patternArgs(input), '--', where],
        options,
        (line, isCut) => found.take(line, isCut),
      );
      await found.showLong((path, indexes) =>
        roots.at(`${prefix}${path}`, {}, (at) => partsOfLongLines(search, at, path, indexes)),
      );
      if (!isDirectory || !found.isEmpty || end.ended !== undefined) return found.answer(end, limits.searchMs);
      return found.answer(end, limits.searchMs, await filesWithNul(search));
    } finally {
      await directory.close();
    }
  });
}

/** The arguments with which ripgrep reads a file as file.read does: a text, though a NUL may be in it, in its encoding. */
async function argsOfFile(place: Place): Promise<string[]> {
  const file = await openedFile(place, constants.O_RDONLY);
  try {
    const sample = await sampleOf(file);
    const { name, hasMark } = encodingOf(sample);
    if (name !== 'utf-8') return hasMark ? [] : ['--encoding', name];
    return binaryKind(sample) === undefined ? ['--text'] : [];
  } finally {
    await file.close();
  }
}

/** Searches again for matches in lines of one file that were too long to be read whole. */
async function partsOfLongLines(
  { input, directory, options, fileArgs }: Search,
  file: Place,
  path: string,
  indexes: readonly number[],
): Promise<Map<number, MatchPart>> {
  const args = ['--only-matching', '--column', '--line-number', '--no-heading', '--no-filename', '--color=never'];
  const found = new Map<number, { line: number; column: number }>();
  let [index, last] = [-1, 0];
  await ripgrep(
    directory,
    [...args, ...matchArgs(input), ...fileArgs, ...patternArgs(input), '--', `./${path}`],
    options,
    (printed) => {
      const [, line = 0, column = 0] = /^(\d+):(\d+):/.exec(printed.toString('latin1', 0, 40))?.map(Number) ?? [];
      if (line > last) {
        index += 1;
        last = line;
        if (indexes.includes(index)) found.set(index, { line, column });
      }
      return found.size < indexes.length;
    },
  );
  const parts = new Map<number, MatchPart>();
  const handle = await openedFile(file, constants.O_RDONLY);
  try {
    const encoding = encodingOf(await sampleOf(handle));
    for (const [at, { line, column }] of found) {
      const from = Math.max(1, column - bytesBeforeMatch);
      const wanted = { offset: line, limit: 1, maxBytes: maxLineBytes, column: from };
      const { lines, first } = await readWindow(handle, encoding, wanted, options.signal);
      if (first) parts.set(at, { line, text: lines[0]?.slice(`${line}\t`.length) ?? '', part: first });
    }
  } finally {
    await handle.close();
  }
  return parts;
}

/** Some files of a directory that match after a NUL, where a search of all has ended with that. */
async function filesWithNul({ input, directory, options }: Search): Promise<string[]> {
  const files: string[] = [];
  const args = [...argsOf(input).filter((arg) => arg !== '--json'), '--files-with-matches', '--binary'];
  await ripgrep(directory, [...args, ...patternArgs(input), '--', '.'], options, (line) => {
    files.push(line.toString().replace(/^\.\//, ''));
    return files.length < maxNulFiles;
  });
  return files;
}

function argsOf({ glob, context, ignored, ...input }: Input): string[] {
  return [
    '--json',
    // In one order, so that what is cut off is always the same.
    '--sort=path',
    ...(glob === undefined ? [] : formsOf(glob).flatMap((form) => ['--glob', form])),
    ...matchArgs(input),
    ...(context > 0 ? ['--context', String(context)] : []),
    ...(ignored ? ['--no-ignore'] : []),
  ];
}

function matchArgs({ literal, ignoreCase }: Pick<Input, 'literal' | 'ignoreCase'>): string[] {
  return [...(literal ? ['--fixed-strings'] : []), ...(ignoreCase ? ['--ignore-case'] : [])];
}

const patternArgs = ({ pattern }: Input): string[] => formsOf(pattern).map((form) => `--regexp=${form}`);

/** A text as it is written, and with its accents composed and decomposed: names and texts have them either way. */
function formsOf(text: string): string[] {
  return [...new Set([text, text.normalize('NFC'), text.normalize('NFD')])];
}
