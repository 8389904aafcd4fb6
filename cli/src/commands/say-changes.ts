import type { ConfigChange } from '@suzumio/contract/model/config-change';
import { changeLines } from '../render/config-changes.js';
import { count } from '../render/format.js';
import { say, type Session } from '../session.js';

/** Shows changes of a project's file, and how many there are. */
export function sayChanges(session: Session, changes: readonly ConfigChange[], none: string): void {
  if (changes.length === 0) say(session, none);
  else say(session, ...changeLines(changes, session), '', `${count(changes.length, 'change')}.`);
}
