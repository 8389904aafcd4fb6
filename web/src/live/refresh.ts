import type { QueryKey } from '@tanstack/react-query';
import { keys, queries } from '../api.js';
import type { Told } from './leader.js';

/** Between two readings of the same: the first is at once, and the more events follow each other, the longer it is. */
const restsMs = { first: 50, last: 400 };

/** When each was read last, and what is to be read again, by key. */
const rests = new Map<string, { again: boolean }>();

/** Reads again what an event is about. */
export function refresh(told: Exclude<Told, { kind: 'hello' | 'state' }>): void {
  if (told.kind === 'old') {
    markOld(undefined);
    return;
  }
  if (told.kind === 'reset') {
    forget(told.project);
    return;
  }
  if (told.kind === 'event' && redacting.has(told.type)) forget(told.project);
  for (const queryKey of [keys.project(told.project), keys.inbox, keys.projects]) readAgain(queryKey);
  if (told.kind !== 'event' || deciding.has(told.type)) readAgain(keys.decided);
  // It is not among what is counted.
  if (told.kind === 'event' && told.isMailToUser) readAgain(keys.news);
}

/** Events by which somebody decides what waited; a retried turn is queued. */
const deciding = new Set([
  'project.completed',
  'project.changes-requested',
  'turn.queued',
  'agent.reset',
  'budget.changed',
  'project.resumed',
  'agent.resumed',
]);

const redacting = new Set(['message.redacted', 'artifact.redacted', 'memory.redacted']);

/** Has nothing left of what was read of a project, or of all, that of turns that have ended included; what is on show is read anew. */
function forget(project: string | undefined): void {
  const isOfIt = ([kind, of]: QueryKey) => kind !== keys.session[0] && (project === undefined || of === project);
  queries.resetQueries({ predicate: ({ queryKey }) => isOfIt(queryKey) }).catch(() => undefined);
}

/** Has what is on show read again now, and everything else when it is shown. A failure is shown in its place. */
function markOld(queryKey: QueryKey | undefined): void {
  const old = queryKey === undefined ? {} : { queryKey };
  queries.invalidateQueries(old).catch(() => undefined);
  // What is being read for the first time goes on, and may have been read before: it is read again when it is there.
  for (const query of queries.getQueryCache().findAll({ ...old, fetchStatus: 'fetching' })) {
    if (query.state.data !== undefined) continue;
    const again = () => queries.invalidateQueries({ queryKey: query.queryKey, exact: true });
    query.promise?.then(again).catch(() => undefined);
  }
}

/** At once, then as often as {@link restsMs} lets: a burst of events is read a few times. */
function readAgain(queryKey: QueryKey, restMs = restsMs.first): void {
  const key = JSON.stringify(queryKey);
  const resting = rests.get(key);
  if (resting) {
    resting.again = true;
    return;
  }
  const rest = { again: false };
  rests.set(key, rest);
  markOld(queryKey);
  setTimeout(() => {
    rests.delete(key);
    if (rest.again) readAgain(queryKey, Math.min(restMs * 2, restsMs.last));
  }, restMs);
}
