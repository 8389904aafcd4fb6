import type { StoreContext } from './context.js';
import type { Sql, SqlReader } from './sql.js';
import type { Writer } from './writer.js';

/** Whether a provider may be asked. */
export type Admission =
  | { ask: true }
  /** It is away: nobody asks before `untilMs`, or somebody is trying it right now. */
  | { ask: false; untilMs: number; lastError: string };

interface Row {
  failures: number;
  closed_until_ms: number;
  probe_until_ms: number;
  last_error: string;
}

/** One call a minute is little to pay for noticing soon that a provider is back. */
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** The longest that a provider may ask to be left alone. */
const longestRetryAfterMs = 15 * 60_000;
/** Whoever waits for another's probe looks again after this. */
const probeWaitMs = 2_000;

/**
 * The cell's knowledge of which providers are away. After a failure nobody asks for a while, which doubles; then one
 * call goes through, and what becomes of it decides for all: of many agents that wait for a provider, one tries it.
 */
export class Providers {
  constructor(
    private readonly sql: Sql,
    private readonly writer: Writer,
    private readonly context: StoreContext,
  ) {}

  /**
   * Asks whether a call may be made.
   *
   * @param probeMs how long a call may take: where it is the one that tries the provider, others wait for it that long
   */
  async admit(provider: string, probeMs: number): Promise<Admission> {
    // A provider that is well has no row, and costs no transaction.
    if (!this.#row(provider)) return { ask: true };
    return this.writer.write(() => {
      const row = this.#row(provider);
      const now = this.context.now();
      if (!row) return { ask: true };
      const { last_error: lastError } = row;
      if (row.closed_until_ms > now) return { ask: false, untilMs: row.closed_until_ms, lastError };
      if (row.probe_until_ms > now) return { ask: false, untilMs: now + probeWaitMs, lastError };
      this.sql.run('UPDATE providers_away SET probe_until_ms = :until WHERE provider = :provider', {
        provider,
        until: now + probeMs,
      });
      return { ask: true };
    });
  }

  /** The provider answered: whoever waits for it may go on. */
  async answered(provider: string): Promise<void> {
    if (!this.#row(provider)) return;
    await this.writer.write(() => this.sql.run('DELETE FROM providers_away WHERE provider = :provider', { provider }));
  }

  /**
   * The provider failed. Calls that were under way together fail together, and count once.
   *
   * @param retryAfterMs how long it asked to be left alone
   * @returns when it may be asked again
   */
  async failed(provider: string, error: string, retryAfterMs = 0): Promise<number> {
    return this.writer.write(() => {
      const now = this.context.now();
      const row = this.#row(provider);
      const already = row !== undefined && row.closed_until_ms > now;
      const failures = (row?.failures ?? 0) + (already ? 0 : 1);
      const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      const until = already
        ? Math.max(row.closed_until_ms, now + Math.min(retryAfterMs, longestRetryAfterMs))
        : now + Math.max(pauseMs, Math.min(retryAfterMs, longestRetryAfterMs));
      this.sql.run(
        `INSERT INTO providers_away (provider, failures, closed_until_ms, probe_until_ms, last_error, since_ms)
         VALUES (:provider, :failures, :until, 0, :error, :now)
         ON CONFLICT (provider) DO UPDATE SET failures = :failures, closed_until_ms = :until, probe_until_ms = 0,
           last_error = :error`,
        { provider, failures, until, error: error.slice(0, 500), now },
      );
      return until;
    });
  }

  /** The providers that are away, with when they may be asked again: at once where that has passed. */
  away(): ReadonlyMap<string, number> {
    return readProvidersAway(this.sql);
  }

  #row(provider: string): Row | undefined {
    return this.sql.get<Row>(
      'SELECT failures, closed_until_ms, probe_until_ms, last_error FROM providers_away WHERE provider = :provider',
      { provider },
    );
  }
}

/** The providers that are away, as a catalog says it. */
export function readProvidersAway(reader: SqlReader): ReadonlyMap<string, number> {
  const rows = reader.all<{ provider: string; until: number }>(
    'SELECT provider, max(closed_until_ms, probe_until_ms) AS until FROM providers_away',
  );
  return new Map(rows.map(({ provider, until }) => [provider, until]));
}
