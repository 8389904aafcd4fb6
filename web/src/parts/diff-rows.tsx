import { structuredPatch } from 'diff';
import { useMemo } from 'react';
import { visible } from './visible.js';

const mostLineChars = 4_000;
const mostRows = 2_000;
/** Comparing takes time that grows with the differences: it gives up after this many, or this long. */
const bounds = { context: 3, maxEditLength: 4_000, timeout: 500 };

interface Row {
  kind: 'same' | 'added' | 'removed' | 'gap';
  old: number | null;
  new: number | null;
  text: string;
}

/** What differs between two texts, line by line. */
export function DiffRows({ before, after }: { before: string; after: string }) {
  const rows = useMemo(() => rowsOf(before, after), [before, after]);
  if (rows === undefined) return <p className="empty-line">They differ in too much to be shown line by line.</p>;
  if (rows.length === 0) return <p className="empty-line">They are the same.</p>;
  return (
    <div className="diff" role="table" aria-label="Differences">
      {rows.slice(0, mostRows).map((row, index) => (
        <div key={index} role="row" className={`diff-row diff-${row.kind}`}>
          <span role="cell" className="diff-number">
            {row.old}
          </span>
          <span role="cell" className="diff-number">
            {row.new}
          </span>
          <code translate="no" role="cell" className="diff-text">
            {row.kind === 'added' ? '+ ' : row.kind === 'removed' ? '- ' : '  '}
            {visible(row.text.slice(0, mostLineChars))}
          </code>
        </div>
      ))}
      {rows.length > mostRows ? <p className="empty-line">and {rows.length - mostRows} more lines</p> : null}
    </div>
  );
}

function rowsOf(before: string, after: string): Row[] | undefined {
  const patch = structuredPatch('', '', before, after, '', '', bounds) as
    | { hunks: { oldStart: number; newStart: number; lines: string[] }[] }
    | undefined;
  return patch?.hunks.flatMap(({ oldStart, newStart, lines }): Row[] => {
    let [old, next] = [oldStart, newStart];
    const gap: Row = { kind: 'gap', old: null, new: null, text: `line ${newStart}` };
    const rows = lines.flatMap((line): Row[] => {
      const text = line.slice(1);
      if (line.startsWith('+')) return [{ kind: 'added', old: null, new: next++, text }];
      if (line.startsWith('-')) return [{ kind: 'removed', old: old++, new: null, text }];
      return line.startsWith('\\') ? [] : [{ kind: 'same', old: old++, new: next++, text }];
    });
    return [gap, ...rows];
  });
}
