import { wordsOf } from '../api.js';

/** What could not be read, in the server's words, in its place; with another try. */
export function Failure({ error, again }: { error: unknown; again: () => void }) {
  return (
    <div className="failure" role="alert">
      <p>{wordsOf(error)}</p>
      <button type="button" className="button" onClick={again}>
        Try again
      </button>
    </div>
  );
}
