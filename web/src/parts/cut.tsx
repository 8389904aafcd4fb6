import { useState } from 'react';
import { Copyable } from './copy.js';
import { visible } from './visible.js';
import { bytes } from './numbers.js';

/** How much of a text is shown at first, and at the most: a browser lays out no more in one frame. */
const firstChars = 4_000;
const mostChars = 300_000;

/**
 * A text as it is, without line breaks of its own. The beginning of a long one, and the rest when it is asked for.
 *
 * @param isCut whether there is more of it than this, which is not here
 * @param end whether its end is shown in place of its beginning
 * @param whole the command that has all of it, where there is more
 * @param isProse whether somebody wrote it to be read
 */
export function Cut({
  text,
  isCut = false,
  end = false,
  whole,
  isProse = false,
}: {
  text: string;
  isCut?: boolean;
  end?: boolean;
  whole?: string;
  isProse?: boolean;
}) {
  const [all, setAll] = useState(false);
  const most = all ? mostChars : firstChars;
  const shown = end ? text.slice(-most) : text.slice(0, most);
  const missing = text.length - shown.length;
  const more =
    missing > 0 && !all ? (
      <button type="button" className="link-button" onClick={() => setAll(true)}>
        {text.length > mostChars
          ? `Show ${bytes(mostChars)} of ${bytes(text.length)}`
          : `Show all ${bytes(text.length)}`}
      </button>
    ) : missing > 0 || isCut ? (
      <span className="quiet">
        {missing > 0 ? `${bytes(missing)} more are not shown.` : 'There is more of it.'}
        {whole === undefined ? null : <Copyable text={whole} />}
      </span>
    ) : null;
  return (
    <div className={isProse ? 'cut cut-prose' : 'cut'}>
      {end ? more : null}
      <pre translate="no" className="cut-text" dir="auto" tabIndex={0}>
        {visible(shown)}
      </pre>
      {end ? null : more}
    </div>
  );
}
