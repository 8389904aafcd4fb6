import { type FilePatch, type Hunk, PatchError } from './file-patch.js';
import { fromByteString } from '../text/lines.js';
import { type Header, parseGitHeader, pathIn } from './parse-git-header.js';

const hunkHeader = /^@@(?: -(\d+)(?:,(\d+))? \+\d+(?:,(\d+))? @@)?/;

/**
 * Reads a unified diff, as of `git diff` or `diff -u`, as byte string. Hunks whose header has wrong counts, or no
 * numbers, are read by their lines: models miscount.
 *
 * @throws PatchError
 */
export function parseUnifiedDiff(text: string): FilePatch[] {
  const patches = new DiffParser(text.split('\n')).files();
  if (patches.length === 0) {
    throw new PatchError('patch-invalid', 'The patch has no file: it begins with "--- a/path" and "+++ b/path".');
  }
  return patches;
}

class DiffParser {
  #at = 0;

  constructor(private readonly lines: readonly string[]) {}

  files(): FilePatch[] {
    const patches: FilePatch[] = [];
    while (this.#at < this.lines.length) {
      const header = this.#header();
      if (!header) continue;
      const hunks: Hunk[] = [];
      while (this.#skipsToHunk()) hunks.push(this.#hunk());
      patches.push(finished(header, hunks));
    }
    return patches;
  }

  /** Reads what names a file. Undefined, one line further, where no file begins. */
  #header(): Header | undefined {
    const line = this.#line();
    if (line.startsWith('diff --git ')) {
      const header = parseGitHeader(this.lines, this.#at);
      this.#at = header.end;
      return this.#isFileHeader() ? { ...this.#names(true), ...header } : header;
    }
    if (this.#isFileHeader()) return this.#names(false);
    if (/^@@ .*@@/.test(line)) {
      throw new PatchError(
        'patch-invalid',
        `Line ${this.#at + 1} begins a hunk, but no "--- a/path" and "+++ b/path" name its file.`,
      );
    }
    this.#at += 1;
    return undefined;
  }

  #names(isGit: boolean): Header {
    const [from, to] = [this.#line().slice(4), this.#line(1).slice(4)];
    this.#at += 2;
    return { from: pathIn(from), to: pathIn(to), isGit };
  }

  /** Whether a hunk of this file follows; what is between the hunks of a file says nothing. */
  #skipsToHunk(): boolean {
    for (; this.#at < this.lines.length; this.#at += 1) {
      if (this.#line().startsWith('@@')) return true;
      if (this.#line().startsWith('diff --git ') || this.#isFileHeader()) return false;
    }
    return false;
  }

  #hunk(): Hunk {
    const place = this.#at + 1;
    const [, oldStart, oldCount, newCount] = hunkHeader.exec(this.#line()) ?? [];
    this.#at += 1;
    const start = this.#at;
    const counted = oldStart === undefined ? undefined : this.#body(Number(oldCount ?? 1), Number(newCount ?? 1));
    if (!counted) this.#at = start;
    const lines = counted ?? this.#bodyByPrefix();
    if (!lines.some((line) => line.startsWith('+') || line.startsWith('-'))) {
      throw new PatchError('patch-invalid', `The hunk at line ${place} of the patch changes nothing.`);
    }
    return {
      oldStart: oldStart === undefined ? undefined : Number(oldStart),
      emptyEnd: counted ? this.#emptyBefore(this.#at, start) : 0,
      ...bodyOf(lines),
    };
  }

  /** The lines of a hunk by its counts; undefined where the counts are wrong. */
  #body(oldCount: number, newCount: number): string[] | undefined {
    const lines: string[] = [];
    let [oldLeft, newLeft] = [oldCount, newCount];
    while (oldLeft > 0 || newLeft > 0 || this.#line().startsWith('\\')) {
      if (this.#at >= this.lines.length) return undefined;
      const line = contextIfEmpty(this.#line());
      if (!/^[ +\\-]/.test(line)) return undefined;
      if (line.startsWith(' ') || line.startsWith('-')) oldLeft -= 1;
      if (line.startsWith(' ') || line.startsWith('+')) newLeft -= 1;
      lines.push(line);
      this.#at += 1;
    }
    const next = this.#line();
    const isOver = this.#at >= this.lines.length || !/^[ +-]/.test(next) || this.#isFileHeader() || next === '-- ';
    return oldLeft === 0 && newLeft === 0 && isOver ? lines : undefined;
  }

  #bodyByPrefix(): string[] {
    const lines: string[] = [];
    for (; this.#at < this.lines.length; this.#at += 1) {
      const line = contextIfEmpty(this.#line());
      if (!/^[ +\\-]/.test(line) || this.#isFileHeader()) break;
      lines.push(line);
    }
    // Empty lines at its end are the patch's own.
    for (let end = this.#at; lines.at(-1) === ' ' && this.lines[end - 1] === ''; end -= 1) lines.pop();
    return lines;
  }

  #emptyBefore(end: number, start: number): number {
    let at = end;
    while (at > start && isEmpty(this.lines[at - 1] ?? '')) at -= 1;
    return end - at;
  }

  #isFileHeader(): boolean {
    return this.#line().startsWith('--- ') && this.#line(1).startsWith('+++ ');
  }

  #line(ahead = 0): string {
    return this.lines[this.#at + ahead] ?? '';
  }
}

/** Mail programs and models cut off the space that an empty line of context is. */
function contextIfEmpty(line: string): string {
  return isEmpty(line) ? ` ${line}` : line;
}

const isEmpty = (line: string): boolean => line === '' || line === '\r';

function bodyOf(body: readonly string[]): Pick<Hunk, 'lines' | 'oldWithoutBreak' | 'newWithoutBreak'> {
  let oldWithoutBreak = false;
  let newWithoutBreak = false;
  for (const [index, line] of body.entries()) {
    const before = body[index - 1]?.[0];
    if (!line.startsWith('\\') || before === undefined) continue;
    if (before !== '+') oldWithoutBreak = true;
    if (before !== '-') newWithoutBreak = true;
  }
  return { lines: body.filter((line) => !line.startsWith('\\')), oldWithoutBreak, newWithoutBreak };
}

function finished(header: Header, hunks: readonly Hunk[]): FilePatch {
  const { isCopy = false, executable } = header;
  const { from, to } = plainNames(header);
  if (from === undefined && to === undefined) throw new PatchError('patch-invalid', 'A file of the patch has no name.');
  return {
    from: from === undefined ? undefined : fromByteString(from),
    to: to === undefined ? undefined : fromByteString(to),
    isCopy,
    executable,
    hunks,
  };
}

/** The names without the prefixes `a/` and `b/`. */
function plainNames({ from, to, isGit, isMove }: Header): Pick<Header, 'from' | 'to'> {
  if (isMove === true) return { from, to };
  const arePrefixed = from?.startsWith('a/') !== false && to?.startsWith('b/') !== false;
  if (arePrefixed) return { from: from?.slice(2), to: to?.slice(2) };
  // Outside Git a file may be compared with its backup; only Git says that one was renamed.
  return isGit || from === undefined || to === undefined ? { from, to } : { from: to, to };
}
