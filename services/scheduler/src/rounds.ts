/** Work that is repeated until it is stopped. */
export interface Rounds {
  /** Begins a round now; if one runs, another follows at once. */
  now(): void;
  /** Begins no more rounds; resolves when the running one has ended. */
  stop(): Promise<void>;
}

/** Runs `round` at once and then `intervalMs` after each end, so that no two overlap. It must not reject. */
export function startRounds(intervalMs: number, round: () => Promise<void>): Rounds {
  const rounds = createRounds(round, intervalMs);
  rounds.now();
  return rounds;
}

/** Runs `round` on demand. Requests during a run share the next one. It must not reject. */
export function roundsOnDemand(round: () => Promise<void>): Rounds {
  return createRounds(round);
}

function createRounds(round: () => Promise<void>, intervalMs?: number): Rounds {
  let running: Promise<void> | undefined;
  let again = false;
  let stopped = false;
  let timer: NodeJS.Timeout | undefined;

  function begin(): void {
    if (stopped) return;
    again = running !== undefined;
    if (running) return;
    clearTimeout(timer);
    running = round().finally(() => {
      running = undefined;
      if (again) begin();
      else if (!stopped && intervalMs !== undefined) timer = setTimeout(begin, intervalMs);
    });
  }

  return {
    now: begin,
    async stop() {
      stopped = true;
      clearTimeout(timer);
      await running;
    },
  };
}

/** Runs `body` for each item, at most `limit` at a time, until `done` says to skip the rest. */
export async function forEachBounded<Item>(
  items: readonly Item[],
  limit: number,
  body: (item: Item) => Promise<unknown>,
  done: () => boolean = () => false,
): Promise<void> {
  const left = items.values();
  const lane = async () => {
    for (const item of left) {
      if (done()) return;
      await body(item);
    }
  };
  await Promise.all(Array.from({ length: Math.min(limit, items.length) }, lane));
}
