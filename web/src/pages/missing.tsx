import { Link } from 'wouter';

/** Nothing is at this address. */
export function Missing() {
  return (
    <div className="empty">
      <h1>Nothing is here</h1>
      <p>The address names no page.</p>
      <Link href="/" className="button">
        Open the inbox
      </Link>
    </div>
  );
}
