import type { ReactNode } from 'react';
import { Outcome } from './bar.js';
import { Dialog } from './dialog.js';
import type { Run } from './use-run.js';

/** A dialog in which one act is asked for, after what follows of it. */
export function ActDialog({
  run,
  ask,
  done,
  next = 'Close',
  stay = 'Close',
  does,
  doing = does,
  will,
  isReady = true,
  children,
  ...frame
}: {
  title: ReactNode;
  className?: string;
  onClosed?: () => void;
  run: Run;
  /** Does it; without `done` it closes the dialog once it is done. */
  ask: (close: () => void) => void;
  /** What is said once it is done. */
  done?: (close: () => void) => ReactNode;
  /** The button that leads on from there. */
  next?: string;
  /** The button that leaves everything as it is. */
  stay?: string;
  /** The button that does it, and what it says meanwhile. There is none where nothing can be done. */
  does: string | undefined;
  doing?: string | undefined;
  /** The id of what says what follows. */
  will: string;
  isReady?: boolean;
  children: ReactNode | ((close: () => void) => ReactNode);
}) {
  return (
    <Dialog {...frame}>
      {(close) =>
        done && run.isDone ? (
          <>
            {done(close)}
            <div className="dialog-foot">
              <button type="button" className="button" data-next onClick={close}>
                {next}
              </button>
            </div>
          </>
        ) : (
          <form
            onSubmit={(event) => {
              event.preventDefault();
              if (isReady) ask(close);
            }}
          >
            {typeof children === 'function' ? children(close) : children}
            <Outcome run={run} />
            <div className="dialog-foot">
              <button type="button" className="button" onClick={close}>
                {stay}
              </button>
              {does === undefined ? null : (
                <button
                  type="submit"
                  className="button button-filled"
                  aria-describedby={will}
                  aria-disabled={!isReady || undefined}
                >
                  {run.isPending ? doing : does}
                </button>
              )}
            </div>
          </form>
        )
      }
    </Dialog>
  );
}
