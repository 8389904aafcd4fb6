import { type ReactNode, useId, useRef } from 'react';
import { wordsOf } from '../../api.js';
import { type KeyName, keyTable } from '../key-table.js';
import { Key } from '../keys.js';
import { AboutContext, useOnPage } from '../on-page.js';
import { useKeptFocus } from './kept-focus.js';
import type { Run } from './use-run.js';

/** Acts that belong together, with what became of the last. */
export function Bar({
  label,
  run,
  className = '',
  children,
}: {
  label: string;
  run: Run;
  className?: string;
  children: ReactNode;
}) {
  const place = useRef<HTMLDivElement>(null);
  const kept = useKeptFocus(place);
  return (
    <div className={`bar ${className}`} role="group" aria-label={label} tabIndex={-1} ref={place} {...kept}>
      <AboutContext value={label}>{children}</AboutContext>
      <Outcome run={run} />
    </div>
  );
}

/** What became of an act: said politely where it is done, and in the server's words where it is not. */
export function Outcome({ run: { said, error, again } }: { run: Run }) {
  return (
    <div className="outcome">
      <p role="status">{said}</p>
      {error === null ? null : (
        <div role="alert" className="outcome-refused">
          <p>{wordsOf(error)}</p>
          {again === undefined ? null : (
            <button type="button" className="button" onClick={again}>
              Try again
            </button>
          )}
        </div>
      )}
    </div>
  );
}

/** A button, with a sentence that says what it will do; without one where it only opens what says so. */
export function ActButton({
  does,
  will,
  isFilled = false,
  hotkey,
  isToldAbove = false,
  run,
  onAct,
}: ({ does: string; will: string } | { does: `${string}…`; will?: never }) & {
  /** Whether what it will do is to be read already, for all rows of a list. */
  isToldAbove?: boolean;
  isFilled?: boolean;
  hotkey?: KeyName | undefined;
  run: Run;
  onAct: () => void;
}) {
  const id = useId();
  const button = useRef<HTMLButtonElement>(null);
  // Rows of a list all have the same: what each is about stands in its row alone.
  useOnPage(isToldAbove ? undefined : { does, will, hotkey, act: onAct, show: () => button.current?.focus() });
  return (
    <span className="act">
      <button
        type="button"
        ref={button}
        className={isFilled ? 'button button-filled' : 'button'}
        aria-describedby={will === undefined ? undefined : id}
        aria-disabled={run.isPending || undefined}
        aria-keyshortcuts={hotkey && keyTable[hotkey].press}
        onClick={onAct}
      >
        {does}
        {hotkey === undefined ? null : <Key name={hotkey} />}
      </button>
      {will === undefined ? null : (
        <span className={isToldAbove ? 'visually-hidden' : 'act-will'} id={id}>
          {will}
        </span>
      )}
    </span>
  );
}
