import { say, type Session } from '../session.js';

/** Says of what was read in the data directory that nothing goes on there. */
export function sayUnserved(session: Session): void {
  say(session, '', `No server is running for ${session.root}: this is how it was left, and it goes on when one runs.`);
}
