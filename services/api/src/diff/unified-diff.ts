import { quotedPath } from '@suzumio/protocol/quoted-path';
import { type CommonLines, commonLines, type Comparisons } from './common-lines.js';

/** A file before or after a change: its mode as git writes it, and its text. */
export interface TextState {
  mode: string;
  text: string;
}

const context = 3;

/**
 * One file's change as a unified diff, as git writes it.
 *
 * @param before undefined where it was added, `after` where it was removed
 */
export function unifiedDiff(
  path: string,
  before: TextState | undefined,
  after: TextState | undefined,
  comparisons: Comparisons,
): string {
  const [from, to] = [quotedPath(`a/${path}`), quotedPath(`b/${path}`)];
  const hunks = hunksOf(linesOf(before?.text ?? ''), linesOf(after?.text ?? ''), comparisons);
  const named = (name: string, state: TextState | undefined) =>
    // The tab ends a name with a space in it.
    state === undefined ? '/dev/null' : `${name}${name.includes(' ') ? '\t' : ''}`;
  return [
    `diff --git ${from} ${to}\n`,
    ...modesOf(before?.mode, after?.mode).map((line) => `${line}\n`),
    ...(hunks.length === 0 ? [] : [`--- ${named(from, before)}\n`, `+++ ${named(to, after)}\n`]),
    ...hunks,
  ].join('');
}

function modesOf(before: string | undefined, after: string | undefined): string[] {
  if (before === undefined) return [`new file mode ${after ?? ''}`];
  if (after === undefined) return [`deleted file mode ${before}`];
  return before === after ? [] : [`old mode ${before}`, `new mode ${after}`];
}

/** The lines of a text, each with its line feed. */
function linesOf(text: string): string[] {
  return text === '' ? [] : text.split(/(?<=\n)/);
}

function hunksOf(before: readonly string[], after: readonly string[], comparisons: Comparisons): string[] {
  const hunks: Hunk[] = [];
  for (const change of changesBetween(commonLines(before, after, comparisons), before.length, after.length)) {
    const last = hunks.at(-1);
    if (last !== undefined && change.before - last.beforeEnd <= 2 * context) last.add(change);
    else hunks.push(new Hunk(change));
  }
  return hunks.map((hunk) => hunk.print(before, after));
}

/** Lines that were replaced: from these places on, so many of each. */
interface Change {
  before: number;
  removed: number;
  after: number;
  added: number;
}

/** What is between the common lines. */
function changesBetween(common: readonly CommonLines[], beforeLength: number, afterLength: number): Change[] {
  const changes: Change[] = [];
  let [at, to] = [0, 0];
  for (const run of [...common, { before: beforeLength, after: afterLength, length: 0 }]) {
    const change = { before: at, removed: run.before - at, after: to, added: run.after - to };
    if (change.removed + change.added > 0) changes.push(change);
    [at, to] = [run.before + run.length, run.after + run.length];
  }
  return changes;
}

/** Changes that are near each other, with the lines around them. */
class Hunk {
  readonly #changes: Change[];

  constructor(first: Change) {
    this.#changes = [first];
  }

  get beforeEnd(): number {
    const { before, removed } = this.#last;
    return before + removed;
  }

  add(change: Change): void {
    this.#changes.push(change);
  }

  print(before: readonly string[], after: readonly string[]): string {
    const first = this.#changes[0] ?? this.#last;
    const last = this.#last;
    const ahead = Math.min(context, first.before);
    const behind = Math.min(context, before.length - this.beforeEnd);
    const start = { before: first.before - ahead, after: first.after - ahead };
    const lines: string[] = [];
    let at = start.before;
    for (const { before: from, removed, after: to, added } of this.#changes) {
      lines.push(...before.slice(at, from).map((line) => printed(' ', line)));
      lines.push(...before.slice(from, from + removed).map((line) => printed('-', line)));
      lines.push(...after.slice(to, to + added).map((line) => printed('+', line)));
      at = from + removed;
    }
    lines.push(...before.slice(at, at + behind).map((line) => printed(' ', line)));
    const lengths = {
      before: this.beforeEnd + behind - start.before,
      after: last.after + last.added + behind - start.after,
    };
    return `@@ -${range(start.before, lengths.before)} +${range(start.after, lengths.after)} @@\n${lines.join('')}`;
  }

  get #last(): Change {
    const last = this.#changes.at(-1);
    if (!last) throw new Error('a hunk has a change');
    return last;
  }
}

/** Lines are counted from 1; a range without lines is named by the line before it. */
function range(start: number, length: number): string {
  const first = length === 0 ? start : start + 1;
  return length === 1 ? String(first) : `${String(first)},${String(length)}`;
}

function printed(sign: string, line: string): string {
  return line.endsWith('\n') ? `${sign}${line}` : `${sign}${line}\n\\ No newline at end of file\n`;
}
