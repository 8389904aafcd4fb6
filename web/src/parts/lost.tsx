import { useNow } from './time.js';

/** The connection is lost, since when, and that it is tried again. What is shown may be old. */
export function Lost({ since }: { since: number }) {
  const now = useNow(1_000);
  const seconds = Math.max(1, Math.round((now - since) / 1_000));
  const ago = seconds < 100 ? `${seconds} s` : `${Math.round(seconds / 60)} min`;
  return (
    <p className="lost" role="status">
      Connection lost {ago} ago. Trying again.
    </p>
  );
}
