import { replaceSimilar } from './similar-texts.js';

/**
 * The replacement of the lines of a file that are similar to a hunk's, as byte strings: lines that stay are as the file has them, and
 * of those that change what the patch does not change is.
 *
 * @param beside a line of the file beside them
 */
export function afterSimilar(hunk: readonly string[], found: readonly string[], beside: string): string[] {
  const wanted = hunk.filter((line) => !line.startsWith('+')).map((line) => line.slice(1));
  const fit = fitTo(found, wanted, found[0] ?? beside);
  const after: string[] = [];
  let [removed, own, added]: [string[], string[], string[]] = [[], [], []];
  let at = 0;
  const flush = (): void => {
    after.push(...changed(own, removed, added).map(fit));
    [removed, own, added] = [[], [], []];
  };
  for (const line of hunk) {
    if (line.startsWith('+')) added.push(line.slice(1));
    else if (line.startsWith('-')) {
      removed.push(line.slice(1));
      own.push(found[at++] ?? '');
    } else {
      flush();
      after.push(found[at++] ?? '');
    }
  }
  flush();
  return after;
}

function changed(own: readonly string[], removed: readonly string[], added: readonly string[]): string[] {
  if (added.length === 0 || removed.length === 0) return [...added];
  const alike = (a: readonly string[], b: readonly string[], c: readonly string[]): string[] =>
    replaceSimilar(`${a.join('\n')}\n`, `${b.join('\n')}\n`, `${c.join('\n')}\n`)
      .split('\n')
      .slice(0, -1);
  if (removed.length !== added.length) return alike(own, removed, added);
  return own.flatMap((line, index) => alike([line], [removed[index] ?? ''], [added[index] ?? '']));
}

/** Gives a line the indentation and the line ending that lines of a file have where a patch has other ones. */
export function fitTo(found: readonly string[], wanted: readonly string[], like: string): (line: string) => string {
  const width = tabWidth(found, wanted);
  const ending = like.endsWith('\r') ? '\r' : '';
  return (line) => {
    const [, indent = '', rest = ''] = /^([ \t]*)([^]*)$/.exec(line) ?? [];
    const text = (width === undefined ? indent : reindented(indent, width)) + rest;
    return ending === '' || text.endsWith('\r') ? text : text + ending;
  };
}

/** How many spaces a patch has for each tab of a file, negative where it has tabs for spaces; undefined where that is not always so. */
function tabWidth(found: readonly string[], wanted: readonly string[]): number | undefined {
  const widths = new Set<number>();
  for (const [index, line] of found.entries()) {
    const [own = '', sought = ''] = [line, wanted[index] ?? ''].map((one) => /^[ \t]*(?=[^\s])/.exec(one)?.[0]);
    if (own === sought) continue;
    if (/^\t+$/.test(own) && /^ +$/.test(sought)) widths.add(sought.length / own.length);
    else if (/^ +$/.test(own) && /^\t+$/.test(sought)) widths.add(-own.length / sought.length);
    else return undefined;
  }
  const [width, ...others] = widths;
  return width === undefined || others.length > 0 || !Number.isInteger(width) ? undefined : width;
}

function reindented(indent: string, width: number): string {
  const spaces = indent.replaceAll('\t', ' '.repeat(Math.abs(width)));
  if (width < 0) return spaces;
  return '\t'.repeat(Math.floor(spaces.length / width)) + ' '.repeat(spaces.length % width);
}
