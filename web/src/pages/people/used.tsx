import { useNow } from '../../parts/time.js';
import { span } from '../../parts/numbers.js';

/** To within how long it is known when something was used. */
const knownToMs = 5 * 60_000;

/** When a token or a session was last used: no more exactly than that is known. */
export function Used({ at }: { at: string | null }) {
  const now = useNow(10_000);
  if (at === null) return <>never used</>;
  const ago = Math.max(0, now - Date.parse(at));
  return (
    <time dateTime={at} title={`${at.replace('T', ' ').replace(/\.\d+Z$/, '')} UTC`}>
      {ago <= knownToMs ? 'used just now' : `used ${span(ago)} ago`}
    </time>
  );
}
