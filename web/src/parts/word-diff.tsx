import { diffWordsWithSpace } from 'diff';
import { useMemo } from 'react';
import { some } from './numbers.js';
import { visible } from './visible.js';

type Kind = 'same' | 'added' | 'removed';
interface Piece {
  readonly kind: Kind;
  readonly text: string;
}
interface Gap {
  readonly lines: number;
}

/** Comparing takes time that grows with the differences: it gives up after this many, or this long. */
const bounds = { maxEditLength: 8_000, timeout: 500 };
const maxChars = 200_000;
const maxLines = 2_000;
/** So many lines that are the same stand around what differs. */
const around = 2;

/** What differs between two texts, word by word, as text that runs on; long stretches that are the same are left out. */
export function WordDiff({ before, after }: { before: string; after: string }) {
  const lines = useMemo(() => linesOf(before, after), [before, after]);
  if (lines === undefined) return <p className="empty-line">They differ in too much to be shown word by word.</p>;
  if (lines.length === 0) return <p className="empty-line">They are the same.</p>;
  return (
    <div className="word-diff">
      {lines.slice(0, maxLines).map((line, index) =>
        'lines' in line ? (
          <p key={index} className="word-diff-gap">
            {some(line.lines, 'line')} the same
          </p>
        ) : (
          <p key={index}>
            {line.map(({ kind, text }, at) =>
              kind === 'added' ? (
                <ins key={at}>{visible(text)}</ins>
              ) : kind === 'removed' ? (
                <del key={at}>{visible(text)}</del>
              ) : (
                <span key={at}>{visible(text)}</span>
              ),
            )}
          </p>
        ),
      )}
      {lines.length > maxLines ? <p className="empty-line">and more below</p> : null}
    </div>
  );
}

/** The lines in which something differs, and those around them; undefined where there is too much. */
export function linesOf(before: string, after: string): (readonly Piece[] | Gap)[] | undefined {
  if (before.length + after.length > maxChars) return undefined;
  const parts = diffWordsWithSpace(before, after, bounds) as
    | { value: string; added?: boolean; removed?: boolean }[]
    | undefined;
  if (parts === undefined) return undefined;
  const lines: Piece[][] = [[]];
  for (const { value, added, removed } of parts) {
    const kind = added === true ? 'added' : removed === true ? 'removed' : 'same';
    for (const [at, text] of value.split('\n').entries()) {
      if (at > 0) lines.push([]);
      if (text !== '') lines.at(-1)?.push({ kind, text });
    }
  }
  const differs = lines.map((line) => line.some(({ kind }) => kind !== 'same'));
  const isNear = (at: number) => differs.slice(Math.max(0, at - around), at + around + 1).includes(true);
  const shown: (readonly Piece[] | Gap)[] = [];
  for (const [at, line] of lines.entries()) {
    if (line.length === 0) continue;
    const last = shown.at(-1);
    if (isNear(at)) shown.push(line);
    else if (last !== undefined && 'lines' in last) shown.splice(-1, 1, { lines: last.lines + 1 });
    else shown.push({ lines: 1 });
  }
  return differs.includes(true) ? shown : [];
}
