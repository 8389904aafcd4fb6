import { useMemo } from 'react';
import { wordsOf } from '../../api.js';
import { count, some } from '../../parts/numbers.js';
import { visible } from '../../parts/visible.js';
import type { Marked } from './editor.js';

const mostShown = 50;

/** What is wrong with a file, each problem leading to its place. */
export function Problems({
  id,
  checked,
  error,
  isFresh,
  go,
}: {
  id: string;
  checked: Readonly<Record<'problems' | 'warnings' | 'notes', readonly Marked[]>> | undefined;
  error: Error | null;
  isFresh: boolean;
  go: (problem: Marked) => void;
}) {
  const problems = checked?.problems ?? [];
  const said = [
    ...problems.map((problem) => ({ ...problem, kind: '' })),
    ...(checked?.warnings ?? []).map((warning) => ({ ...warning, kind: 'Probably not meant: ' })),
    ...(checked?.notes ?? []).map((note) => ({ ...note, kind: 'Note: ' })),
  ];
  const words = useMemo(() => {
    if (checked === undefined) return '';
    return problems.length === 0 ? 'Nothing is wrong with this file.' : some(problems.length, 'problem');
  }, [checked, problems.length]);
  return (
    <div className="make-problems" id={id}>
      {error ? (
        <p role="alert">
          It could not be checked: <bdi>{wordsOf(error)}</bdi>
        </p>
      ) : null}
      <p role="status" className={problems.length > 0 ? 'make-count' : 'quiet'}>
        {isFresh || checked === undefined ? words : `${words} Checking…`}
      </p>
      <ul>
        {said.slice(0, mostShown).map((problem) => (
          <li key={`${problem.line}:${problem.column} ${problem.message}`}>
            <button type="button" className="make-problem" onClick={() => go(problem)}>
              <span className="make-place">
                {problem.line}:{problem.column}
              </span>{' '}
              <span>
                {problem.kind === '' ? null : <b>{problem.kind}</b>}
                <bdi>{visible(problem.message.slice(0, 1_000))}</bdi>
              </span>
            </button>
          </li>
        ))}
      </ul>
      {said.length > mostShown ? <p className="quiet">and {count(said.length - mostShown)} more</p> : null}
    </div>
  );
}
