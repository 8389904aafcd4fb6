/** The lines from `start` until before `end`, which one side has replaced by its own. */
export interface Hunk {
  readonly start: number;
  readonly end: number;
  readonly lines: readonly string[];
}

/** More lines in one change are not looked for. */
const maxLinesLookedFor = 1_000;

/** Begins a conflict that nobody has resolved: it has the lines of both sides, and is the change of neither. */
const bothStand = /^<{7} /;

/** The lines of a text, each with its end. */
export function linesOf(text: string): string[] {
  return text.split(/(?<=\n)/).filter((line) => line !== '');
}

/**
 * Reads the changes of a side from a diff without context, as `git diff --unified=0` prints it.
 *
 * @param side the lines of that side
 */
export function hunksIn(diff: string, side: readonly string[]): Hunk[] {
  return [...diff.matchAll(/^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@/gm)].map((found) => {
    const [from = 0, removed = 1, to = 0, added = 1] = found
      .slice(1)
      .map((text: string | undefined) => (text === undefined ? undefined : Number(text)));
    // Where nothing is, Git names the line before.
    const start = removed === 0 ? from : from - 1;
    return { start, end: start + removed, lines: added === 0 ? [] : side.slice(to - 1, to - 1 + added) };
  });
}

/**
 * Merges what both sides have changed, also where one has the whole change of the other and more beside it: a person has taken an
 * agent's patch and gone on in the next line. Git sees a conflict in that.
 *
 * @returns undefined where the sides contradict each other
 */
export function mergeLines(
  base: readonly string[],
  ours: readonly Hunk[],
  theirs: readonly Hunk[],
): string[] | undefined {
  const merged: string[] = [];
  let at = 0;
  for (const place of places(ours, theirs)) {
    const hunks = agreed(place, base);
    if (!hunks) return undefined;
    merged.push(...applied(base, hunks, { from: at, until: place.end }));
    at = place.end;
  }
  return [...merged, ...base.slice(at)];
}

/** Changes of both sides that touch each other. */
interface Place {
  readonly ours: Hunk[];
  readonly theirs: Hunk[];
  start: number;
  end: number;
}

function places(ours: readonly Hunk[], theirs: readonly Hunk[]): Place[] {
  const all = [
    ...ours.map((hunk) => ({ side: 'ours' as const, hunk })),
    ...theirs.map((hunk) => ({ side: 'theirs' as const, hunk })),
  ].sort((one, other) => one.hunk.start - other.hunk.start);
  const found: Place[] = [];
  for (const { side, hunk } of all) {
    let place = found.at(-1);
    if (!place || hunk.start > place.end) found.push((place = { ours: [], theirs: [], ...hunk }));
    place[side].push(hunk);
    place.end = Math.max(place.end, hunk.end);
  }
  return found;
}

/** The changes of the side that has those of the other, too. */
function agreed({ ours, theirs, start, end }: Place, base: readonly string[]): readonly Hunk[] | undefined {
  if (hasAll(ours, theirs)) return ours;
  if (hasAll(theirs, ours)) return theirs;
  const [one, other] = [ours, theirs].map((hunks) => applied(base, hunks, { from: start, until: end }).join(''));
  return one === other ? ours : undefined;
}

/** Whether each change of `smaller` stands, as it is, in a change of `larger` at the same place. */
function hasAll(larger: readonly Hunk[], smaller: readonly Hunk[]): boolean {
  let searched: Hunk | undefined;
  let from = 0;
  return smaller.every(({ start, end, lines }) => {
    // Of lines that are gone without others in their place nobody can tell whether the other side meant them to go.
    if (lines.length < end - start || !lines.some((line) => /[\p{L}\p{N}]/u.test(line))) return false;
    const hunk = larger.find((other) => other.start <= start && other.end >= end);
    if (!hunk || hunk.lines.some((line) => bothStand.test(line))) return false;
    if (hunk !== searched) from = 0;
    searched = hunk;
    const at = indexOf(hunk.lines, lines, from);
    from = at + lines.length;
    return at >= 0;
  });
}

function indexOf(lines: readonly string[], wanted: readonly string[], from: number): number {
  if (wanted.length > maxLinesLookedFor) return -1;
  for (let at = from; at + wanted.length <= lines.length; at++) {
    if (wanted.every((line, offset) => lines[at + offset] === line)) return at;
  }
  return -1;
}

/** The lines of the base in a place, with the changes of one side. */
function applied(
  base: readonly string[],
  hunks: readonly Hunk[],
  { from, until }: { from: number; until: number },
): string[] {
  const lines: string[] = [];
  let at = from;
  for (const hunk of hunks) {
    lines.push(...base.slice(at, hunk.start), ...hunk.lines);
    at = hunk.end;
  }
  return [...lines, ...base.slice(at, until)];
}
