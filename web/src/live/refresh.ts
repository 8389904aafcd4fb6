import type { QueryKey } from '@tanstack/react-query';
import { keys, queries } from '../api.js';
import type { Told } from './leader.js';

/** Between two readings of the same; the first one after a while is at once. */
const restMs = 300;

/** When each was read last, and what is to be read again, by key. */
const rests = new Map<string, { again: boolean }>();

/** Reads again what an event is about. */
export function refresh(told: Told): void {
  switch (told.kind) {
    case 'event':
      readAgain(keys.project(told.project));
      readAgain(keys.inbox);
      readAgain(keys.projects);
      break;
    case 'deleted':
      readAgain(keys.inbox);
      readAgain(keys.projects);
      readAgain(keys.project(told.project));
      break;
    case 'reset':
      void queries.invalidateQueries(told.project === undefined ? {} : { queryKey: keys.project(told.project) });
      break;
    default:
  }
}

/** At once, then at most every {@link restMs}: a burst of events is read once. */
function readAgain(queryKey: QueryKey): void {
  const key = JSON.stringify(queryKey);
  const resting = rests.get(key);
  if (resting) {
    resting.again = true;
    return;
  }
  const rest = { again: false };
  rests.set(key, rest);
  void queries.invalidateQueries({ queryKey });
  setTimeout(() => {
    rests.delete(key);
    if (rest.again) readAgain(queryKey);
  }, restMs);
}
