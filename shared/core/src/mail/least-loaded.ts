/** An agent that work can be given to, with what it has to do already. */
export interface Candidate {
  readonly id: string;
  readonly unread: number;
  /** Tasks that it was assigned and has neither done nor declined. */
  readonly unfinishedTasks: number;
  /** When its last turn ended; absent where it never had one. It is `working` while it has one. */
  readonly idleSinceMs?: number;
  readonly working: boolean;
}

/**
 * The agent that gets the next piece of work: the one with the least unread mail; of those, the one with the fewest
 * unfinished tasks; of those, the one that has been idle longest; of those, the one whose id comes first.
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

/** Who never had a turn has been idle for ever, and who has one now is not. */
function idleSince({ working, idleSinceMs }: Candidate): number {
  return working ? Infinity : (idleSinceMs ?? -Infinity);
}

function compare<Value extends number | string>(a: Value, b: Value): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
