import { readFile, writeFile } from 'node:fs/promises';
import type { Git } from './work-tree.js';

/**
 * Gives a new file the line ends of the file that it replaces, where Git stores it alike with either. So a line that nobody has
 * changed keeps its bytes.
 *
 * @param options.was the file that is replaced
 * @param options.made the new one, as Git has checked it out
 * @param options.scratch a path at which a file may be made
 * @param options.files the directory with the attributes
 * @returns whether `made` has changed
 */
export async function keepLineEnds(
  git: Git,
  path: string,
  { was, made, scratch, files }: Readonly<Record<'was' | 'made' | 'scratch' | 'files', string>>,
): Promise<boolean> {
  // A byte is a character, whatever the encoding.
  const [before, after] = [await readFile(was, 'latin1'), await readFile(made, 'latin1')];
  if (before.includes('\0') || after.includes('\0')) return false;
  const end = onlyEndOf(before);
  if (end === undefined || end === (onlyEndOf(after) ?? end)) return false;
  await writeFile(scratch, after.replace(/\r?\n/g, end), 'latin1');
  const stored = (file: string) => git(['hash-object', `--path=${path}`, '--', file], { files });
  if ((await stored(scratch)) !== (await stored(made))) return false;
  await writeFile(made, await readFile(scratch));
  return true;
}

/** How all lines end that do; undefined where none does, or some do otherwise. */
function onlyEndOf(text: string): '\n' | '\r\n' | undefined {
  const all = text.match(/\r?\n/g) ?? [];
  const [first] = all;
  return all.every((end) => end === first) ? (first as '\n' | '\r\n' | undefined) : undefined;
}
