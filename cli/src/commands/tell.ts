import { sayJson, say, sayNext, type Session } from '../session.js';

/** Says what was done: the server's answer to a program; to a person a sentence, and what may come next. */
export function tell(session: Session, answer: unknown, lines: readonly string[], ...next: readonly string[]): void {
  sayJson(session, answer);
  say(session, ...lines);
  sayNext(session, ...next);
}
