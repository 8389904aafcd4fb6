import { PatchError } from './file-patch.js';

/** What names a file in a patch. */
export interface Header {
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly isGit: boolean;
  /** That the names are those of a rename or copy, which have no prefixes. */
  readonly isMove?: boolean;
  readonly isCopy?: boolean;
  readonly executable?: boolean | undefined;
}

/**
 * Reads `diff --git` and the lines that may follow it, up to the hunks or `---`.
 *
 * @returns also the place after it
 * @throws PatchError `patch-unsupported` for binary files, links and submodules
 */
export function parseGitHeader(lines: readonly string[], start: number): Header & { readonly end: number } {
  const names = namesIn((lines[start] ?? '').replace(/\r$/, '').slice('diff --git '.length));
  let { from, to } = names;
  let isMove = false;
  let isCopy = false;
  let executable: boolean | undefined;
  let end = start + 1;
  for (; end < lines.length; end += 1) {
    const line = (lines[end] ?? '').replace(/\r$/, '');
    const [, key, value = ''] = extended.exec(line) ?? [];
    if (key === undefined) break;
    if (key === 'GIT binary patch' || key === 'Binary files ') {
      throw new PatchError(
        'patch-unsupported',
        `${JSON.stringify(to ?? from)} is binary: write it with a command instead.`,
      );
    }
    if (key.endsWith('mode ')) executable = isProgram(value, to ?? from);
    if (key === 'new file mode ') from = undefined;
    if (key === 'deleted file mode ') to = undefined;
    if (key.endsWith(' from ')) [from, isMove] = [unquoted(value), true];
    if (key.endsWith(' to ')) [to, isMove] = [unquoted(value), true];
    if (key === 'copy from ') isCopy = true;
  }
  if (to === undefined) executable = undefined;
  return { from, to, isGit: true, isMove, isCopy, executable, end };
}

const extended =
  /^(old mode |new mode |new file mode |deleted file mode |copy from |copy to |rename from |rename to |similarity index |dissimilarity index |index |Binary files |GIT binary patch)(.*)$/;

function isProgram(mode: string, path: string | undefined): boolean {
  if (!mode.startsWith('100')) {
    const what = mode.startsWith('120') ? 'a link' : mode.startsWith('160') ? 'a submodule' : `of mode ${mode}`;
    throw new PatchError('patch-unsupported', `${JSON.stringify(path)} is ${what}: a patch is for files only.`);
  }
  return (Number.parseInt(mode, 8) & 0o100) !== 0;
}

/** The path in `--- path` or `+++ path`; undefined for no file. */
export function pathIn(written: string): string | undefined {
  const line = written.replace(/\r$/, '');
  const [name = '', time] = line.startsWith('"') ? [line] : line.split('\t');
  // With -N, diff names a file that is not there by the beginning of time.
  if (name.trimEnd() === '/dev/null' || (time !== undefined && Date.parse(isoOf(time)) === 0)) return undefined;
  return unquoted(name);
}

function isoOf(time: string): string {
  return time.replace(/^(\S+) (\S+?)(?:\.0+)? ([+-]\d\d)(\d\d)$/, '$1T$2$3:$4');
}

/** The two names of `diff --git a/x b/x`; without a space or a quote they are the same but for their prefixes. */
function namesIn(written: string): Pick<Header, 'from' | 'to'> {
  if (written.startsWith('"') || written.endsWith('"')) {
    const [, first = '', second = ''] = /^("(?:[^"\\]|\\.)*"|.+?) ("(?:[^"\\]|\\.)*"|.+)$/.exec(written) ?? [];
    return { from: unquoted(first), to: unquoted(second) };
  }
  const half = (written.length - 1) / 2;
  return { from: written.slice(0, half), to: written.slice(half + 1) };
}

const escapes: Readonly<Record<string, string>> = {
  a: '\x07',
  b: '\b',
  t: '\t',
  n: '\n',
  v: '\v',
  f: '\f',
  r: '\r',
  '"': '"',
  '\\': '\\',
};

/** A name that Git has written in quotes, with C's escapes. */
function unquoted(name: string): string {
  if (!/^".*"$/.test(name)) return name;
  return name
    .slice(1, -1)
    .replace(
      /\\([0-7]{3}|.)/g,
      (_, escape: string) => escapes[escape] ?? String.fromCharCode(Number.parseInt(escape, 8)),
    );
}
