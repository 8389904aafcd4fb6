import { SuzumioError } from '@suzumio/sdk/client';
import { useId } from 'react';
import { Ago } from '../parts/time.js';
import { TwoValues } from '../parts/two-values.js';
import { visible } from '../parts/visible.js';
import type { Difference } from './difference.js';

/** Whether an edit was refused because another was faster. */
export function isConflict(error: Error | null): boolean {
  return error instanceof SuzumioError && error.code === 'edit-conflict';
}

/**
 * What another has changed of something while somebody was writing it.
 *
 * @param base the version that was read
 * @param save saves what is written on the newest version, now that this was seen
 */
export function Meanwhile({
  what,
  base,
  now: { version, editedBy, at },
  differences,
  isPending,
  save,
}: {
  what: string;
  base: number;
  now: { version: number; editedBy: string | null; at: string };
  differences: readonly Difference[];
  isPending: boolean;
  save: () => void;
}) {
  const id = useId();
  const mine = differences.filter(({ isMine }) => isMine).map(({ name }) => name);
  return (
    <section className="newer" aria-label="What was changed meanwhile">
      <div role="alert">
        <h3>{what} was changed meanwhile</h3>
        <p>
          {editedBy === null ? 'It is another' : <bdi>{visible(editedBy)}</bdi>}
          {editedBy === null ? ' ' : ' changed it '}
          <Ago at={at} inWords />. You began with version {base}, and version {version} is there by now. What you have
          written is kept.
        </p>
      </div>
      {differences.length === 0 ? (
        <p className="quiet">It says what you have read nevertheless.</p>
      ) : (
        <ol className="changes-list" aria-label="What the other has changed">
          {differences.map(({ name, before, after, isMine }) => (
            <li key={name} className="change">
              <p className="change-head">
                <b>{name}</b>
                <span className="quiet">{isMine ? 'you have changed it, too' : 'stays'}</span>
              </p>
              <TwoValues before={before} after={after} />
            </li>
          ))}
        </ol>
      )}
      <p id={id} className="quiet">
        {mine.length === 0
          ? 'Saving changes nothing of that.'
          : `Saving replaces ${mine.join(', ')} by what you have written, and nothing else.`}
      </p>
      <button
        type="button"
        className="button button-filled"
        aria-describedby={id}
        aria-disabled={isPending || undefined}
        onClick={save}
      >
        {isPending ? 'Saving…' : `Save on version ${version}`}
      </button>
    </section>
  );
}
