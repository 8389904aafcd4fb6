import { type ReactNode, useState } from 'react';

/** What an agent wrote in a form that people read, with its source beside it: one of them at a time. */
export function TwoWays({
  called,
  note = null,
  shown,
  source,
}: {
  /** What the form is called. */
  called: string;
  note?: ReactNode;
  shown: ReactNode;
  source: ReactNode;
}) {
  const [asSource, setAsSource] = useState(false);
  return (
    <>
      <div className="framed-head">
        <div className="switch" role="group" aria-label="Shown as">
          <button type="button" aria-pressed={!asSource} onClick={() => setAsSource(false)}>
            {called}
          </button>
          <button type="button" aria-pressed={asSource} onClick={() => setAsSource(true)}>
            Source
          </button>
        </div>
        {asSource ? null : note}
      </div>
      {asSource ? source : shown}
    </>
  );
}
