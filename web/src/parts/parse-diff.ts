/** A row of a file's diff. */
export interface DiffRow {
  kind: 'same' | 'added' | 'removed' | 'gap' | 'note';
  before?: number;
  after?: number;
  text: string;
  /** What of the text has changed, from one character to another, where another line stands in its place. */
  changed?: readonly [from: number, to: number];
}

/** One file of a diff. */
export interface DiffFile {
  path: string;
  change: 'added' | 'changed' | 'removed';
  added: number;
  removed: number;
  rows: DiffRow[];
}

/** A diff by files, and what it says of those that it lacks. */
export interface Diff {
  files: DiffFile[];
  notes: string[];
}

/** Reads a unified diff as the API and Git write it. */
export function parseDiff(text: string): Diff {
  const diff: Diff = { files: [], notes: [] };
  let file: DiffFile | undefined;
  let [before, after, inHunk] = [0, 0, { before: 0, after: 0 }];
  const lines = text.split('\n');
  if (lines.at(-1) === '') lines.pop();
  for (const line of lines) {
    if (file && (inHunk.before > 0 || inHunk.after > 0)) {
      const [sign, rest] = [line[0], line.slice(1)];
      if (sign === '+') {
        file.rows.push({ kind: 'added', after: after++, text: rest });
        file.added += 1;
        inHunk.after -= 1;
      } else if (sign === '-') {
        file.rows.push({ kind: 'removed', before: before++, text: rest });
        file.removed += 1;
        inHunk.before -= 1;
      } else if (sign === '\\') {
        file.rows.push({ kind: 'note', text: 'no line break at the end' });
      } else {
        file.rows.push({ kind: 'same', before: before++, after: after++, text: rest });
        inHunk = { before: inHunk.before - 1, after: inHunk.after - 1 };
      }
      continue;
    }
    if (line.startsWith('diff --git ')) {
      file = { path: pathIn(line), change: 'changed', added: 0, removed: 0, rows: [] };
      diff.files.push(file);
      continue;
    }
    if (line.startsWith('# ')) {
      diff.notes.push(line.slice(2));
      continue;
    }
    if (!file) continue;
    const hunk = /^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/.exec(line);
    if (hunk) {
      [before, after] = [Number(hunk[1]), Number(hunk[3])];
      inHunk = { before: Number(hunk[2] ?? 1), after: Number(hunk[4] ?? 1) };
      if (file.change === 'changed' && (file.rows.length > 0 || before > 1)) {
        file.rows.push({ kind: 'gap', text: `from line ${after}` });
      }
    } else if (line.startsWith('new file')) {
      file.change = 'added';
      file.rows.push({ kind: 'gap', text: line.endsWith('120000') ? 'new link' : 'new file' });
    } else if (line.startsWith('deleted file')) {
      file.change = 'removed';
      file.rows.push({ kind: 'gap', text: 'removed' });
    } else if (line.startsWith('new mode')) {
      file.rows.push({ kind: 'gap', text: line.endsWith('755') ? 'may be run now' : 'may not be run now' });
    } else if (line === 'GIT binary patch') {
      file.rows.push({ kind: 'gap', text: 'no text' });
    } else if (line.startsWith('\\')) {
      file.rows.push({ kind: 'note', text: 'no line break at the end' });
    }
  }
  for (const { rows } of diff.files) markChanges(rows);
  return diff;
}

/** `diff --git a/x b/x`: both names are the same, in quotes or not. */
function pathIn(line: string): string {
  const names = line.slice('diff --git '.length);
  const name = names.slice((names.length + 1) / 2);
  if (!name.startsWith('"')) return name.slice(2);
  return name.slice(3, -1).replaceAll(/\\(\d{3}|.)/g, (_, escaped: string) => unescaped(escaped));
}

const escapes: Readonly<Record<string, string>> = { n: '\n', t: '\t', r: '\r' };

function unescaped(escaped: string): string {
  return escaped.length === 3 ? String.fromCharCode(Number.parseInt(escaped, 8)) : (escapes[escaped] ?? escaped);
}

/** The longest line that is compared with another. */
const mostCompared = 2_000;

/** Where as many lines were added as removed, each is compared with the one that it stands for. */
function markChanges(rows: DiffRow[]): void {
  for (let at = 0; at < rows.length; at += 1) {
    if (rows[at]?.kind !== 'removed') continue;
    const start = at;
    while (rows[at]?.kind === 'removed') at += 1;
    const middle = at;
    while (rows[at]?.kind === 'added') at += 1;
    const length = middle - start;
    for (let row = 0; row < Math.min(length, at - middle); row += 1) compare(rows[start + row], rows[middle + row]);
    at -= 1;
  }
}

function compare(one: DiffRow | undefined, other: DiffRow | undefined): void {
  if (!one || !other || one.text.length > mostCompared || other.text.length > mostCompared) return;
  const shorter = Math.min(one.text.length, other.text.length);
  let first = 0;
  while (first < shorter && one.text[first] === other.text[first]) first += 1;
  let last = 0;
  while (last < shorter - first && one.text.at(-1 - last) === other.text.at(-1 - last)) last += 1;
  // Lines that have little in common are better read whole.
  if (first + last < Math.max(one.text.length, other.text.length) / 4) return;
  one.changed = [first, one.text.length - last];
  other.changed = [first, other.text.length - last];
}
