import { SuzumioError } from '@suzumio/sdk/client';
import { wordsOf } from '../api.js';
import { visible } from './visible.js';

/** What could not be read, in the server's words, in its place; with another try, or what else leads on. */
export function Failure({ error, again }: { error: unknown; again: () => void }) {
  const isOther = error instanceof SuzumioError && error.code === 'not-found';
  return (
    <div className="failure" role="alert">
      <p>
        {visible(wordsOf(error))}
        {isOther ? ' This server is of another version than this page: load the page anew.' : ''}
      </p>
      <button type="button" className="button" onClick={isOther ? () => location.reload() : again}>
        {isOther ? 'Load anew' : 'Try again'}
      </button>
    </div>
  );
}
