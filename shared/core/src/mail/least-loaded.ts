/** An agent that can be assigned work, with its present load. */
export interface Candidate {
  readonly id: string;
  readonly unread: number;
  /** Its tasks that are neither done nor declined. */
  readonly unfinishedTasks: number;
  /** When its last turn ended; absent where it never had one. It is `working` while it has one. */
  readonly idleSinceMs?: number;
  readonly working: boolean;
}

/**
 * The agent that gets the next task: the one with the least unread mail, then the fewest unfinished tasks, then the
 * longest idle time, then the first id.
 */
export function leastLoaded(candidates: readonly [Candidate, ...Candidate[]]): string {
  return candidates.reduce((best, other) => (byLoad(other, best) < 0 ? other : best)).id;
}

function byLoad(a: Candidate, b: Candidate): number {
  return (
    a.unread - b.unread ||
    a.unfinishedTasks - b.unfinishedTasks ||
    compare(idleSince(a), idleSince(b)) ||
    compare(a.id, b.id)
  );
}

/** An agent without turns has always been idle; a working one is not. */
function idleSince({ working, idleSinceMs }: Candidate): number {
  return working ? Infinity : (idleSinceMs ?? -Infinity);
}

function compare<Value extends number | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
