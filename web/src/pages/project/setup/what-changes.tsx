import { useEffect, useId, useRef } from 'react';
import { some } from '../../../parts/numbers.js';
import { Changes } from './changes.js';
import type { Checked } from './check-file.js';

/** What a file changes, looked at first, and then the button that applies it. */
export function WhatChanges({
  checked,
  isSame,
  isLooked,
  look,
  isPending,
  apply,
  problemsId,
}: {
  /** Unknown while it is being checked. */
  checked: Checked | undefined;
  /** Whether nothing was written yet. */
  isSame: boolean;
  /** Whether it was asked what this very text changes. */
  isLooked: boolean;
  look: () => void;
  isPending: boolean;
  apply: () => void;
  problemsId: string;
}) {
  const id = useId();
  const place = useRef<HTMLElement>(null);
  const difference = checked?.difference;
  const isShown = isLooked && difference !== undefined;
  useEffect(() => {
    // The button that was pressed is gone: what it has shown is read next.
    if (isShown) place.current?.focus();
  }, [isShown]);
  if (isSame) {
    return <p className="quiet">Once something is written, what it changes is shown here, before it is applied.</p>;
  }
  if (!isShown) {
    const problems = checked?.problems.length ?? 0;
    return (
      <section className="setup-what" aria-label="What changes">
        <p id={id} className={problems > 0 ? 'make-count' : 'quiet'}>
          {problems > 0
            ? `${some(problems, 'problem')} to mend first.`
            : 'Nothing is changed yet: first you see what would be, and when it counts.'}
        </p>
        <button
          type="button"
          className="button button-filled"
          aria-describedby={problems > 0 ? `${id} ${problemsId}` : id}
          aria-disabled={difference === undefined || undefined}
          onClick={() => {
            if (difference !== undefined) look();
          }}
        >
          {checked === undefined ? 'Checking…' : 'Show what changes'}
        </button>
      </section>
    );
  }
  const { version, changes } = difference;
  const refused = changes.filter(({ effect }) => effect === 'refused').length;
  return (
    <section className="setup-what" aria-label="What changes" tabIndex={-1} ref={place}>
      <h2>What changes</h2>
      {changes.length === 0 ? (
        <p>No field changes, only the text of the file, such as its comments.</p>
      ) : (
        <Changes label="What changes" changes={changes} isWanted />
      )}
      {refused > 0 ? (
        <p id={id} className="make-refused">
          {refused === 1 ? 'One change is' : `${refused} changes are`} refused: a living project cannot take{' '}
          {refused === 1 ? 'it' : 'them'}. Take {refused === 1 ? 'it' : 'them'} out of the file to apply the rest.
        </p>
      ) : (
        <>
          <p id={id} className="quiet">
            Turns that run end with what they began with, but for what counts at once. Version {version} is kept, and
            can be brought back.
          </p>
          <button
            type="button"
            className="button button-filled"
            aria-describedby={id}
            aria-disabled={isPending || undefined}
            onClick={apply}
          >
            {isPending ? 'Applying…' : `Apply as version ${version + 1}`}
          </button>
        </>
      )}
    </section>
  );
}
