import { DiffRows } from './diff-rows.js';
import { visible } from './visible.js';
import { yamlLines } from './yaml-lines.js';

/** A value that is longer, or has lines, is compared line by line. */
const mostInline = 80;

/** What a value was, and what it is. */
export function TwoValues({ before, after }: { before?: unknown; after?: unknown }) {
  const [old, next] = [textOf(before), textOf(after)];
  if (isLong(old) || isLong(next)) {
    // A list that goes on is no change of what was its last line.
    const end = old.endsWith('\n') || next.endsWith('\n') ? '' : '\n';
    return <DiffRows before={old && old + end} after={next && next + end} />;
  }
  return (
    <p className="change-values">
      {before == null ? (
        <span className="quiet">nothing</span>
      ) : (
        <del>
          <bdi>{visible(old)}</bdi>
        </del>
      )}
      <span aria-hidden>→</span>
      <span className="visually-hidden">becomes</span>
      {after == null ? (
        <span className="quiet">nothing</span>
      ) : (
        <ins>
          <bdi>{visible(next)}</bdi>
        </ins>
      )}
    </p>
  );
}

/** A text as it is, since what differs may be at its end; anything else as it would stand in a file. */
function textOf(value: unknown): string {
  if (value === null || value === undefined) return '';
  if (typeof value === 'string') return value === '' ? '""' : value;
  return yamlLines(value)
    .map(({ lead, text }) => lead + text)
    .join('\n');
}

function isLong(text: string): boolean {
  return text.length > mostInline || text.includes('\n');
}
