import { useState } from 'react';
import { visible } from './visible.js';
import { bytes } from './numbers.js';

/** How much of a text is shown at first, and at the most: a browser lays out no more in one frame. */
const firstChars = 4_000;
const mostChars = 200_000;

/**
 * A text as it is, without line breaks of its own. The beginning of a long one, and the rest when it is asked for.
 *
 * @param isCut whether there is more of it than this, which is not here
 * @param end whether its end is shown in place of its beginning
 */
export function Cut({ text, isCut = false, end = false }: { text: string; isCut?: boolean; end?: boolean }) {
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
        {missing > 0 ? `${bytes(missing)} more are not shown.` : 'The rest is not kept here.'}
      </span>
    ) : null;
  return (
    <div className="cut">
      {end ? more : null}
      <pre className="cut-text" dir="auto" tabIndex={0}>
        {visible(shown)}
      </pre>
      {end ? null : more}
    </div>
  );
}
