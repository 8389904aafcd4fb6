import type { StoreContext } from './context.js';
import type { Sql, SqlReader } from './sql.js';
import type { Writer } from './writer.js';

/** Whether a provider may be asked. */
export type Admission =
  /** @property probe whether this call tries the provider, and others wait for what becomes of it */
  | { ask: true; probe: boolean }
  /** It is away: nobody asks before `untilMs`, or somebody is trying it right now. */
  | { ask: false; untilMs: number; lastError: string };

interface Row {
  failures: number;
  closed_until_ms: number;
  probe_until_ms: number;
  /** 1 where it has begun to answer whoever tried it. */
  answering: number;
  last_error: string;
  since_ms: number;
}

/** What a failure did: until when nobody asks the provider, and since when it has answered nobody to the end. */
export interface ProviderAway {
  untilMs: number;
  sinceMs: number;
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
   * @param leaseMs how long its process is believed without a word: where it is the one that tries the provider, others
   *   wait for it that long
   * @param call names it
   */
  async admit(provider: string, leaseMs: number, call: string): Promise<Admission> {
    // A provider that is well has no row, and costs no transaction.
    if (!this.#row(provider)) return { ask: true, probe: false };
    return this.writer.write(() => {
      const row = this.#row(provider);
      const now = this.context.now();
      if (!row || row.answering === 1) return { ask: true, probe: false };
      const { last_error: lastError } = row;
      if (row.closed_until_ms > now) return { ask: false, untilMs: row.closed_until_ms, lastError };
      if (row.probe_until_ms > now) return { ask: false, untilMs: now + probeWaitMs, lastError };
      this.sql.run(
        'UPDATE providers_away SET probe_until_ms = :until, probe_owner = :call WHERE provider = :provider',
        { provider, call, until: now + leaseMs },
      );
      return { ask: true, probe: true };
    });
  }

  /** The call that tries a provider is still at it. */
  async stillTrying(provider: string, call: string, leaseMs: number): Promise<void> {
    await this.writer.write(() =>
      this.sql.run(
        `UPDATE providers_away SET probe_until_ms = :until
         WHERE provider = :provider AND probe_owner = :call AND probe_until_ms > 0`,
        { provider, call, until: this.context.now() + leaseMs },
      ),
    );
  }

  /** The provider has begun to answer whoever tried it: the others need not wait until that has all of it. */
  async answering(provider: string, call: string): Promise<void> {
    await this.writer.write(() =>
      this.sql.run(
        `UPDATE providers_away SET answering = 1, closed_until_ms = 0, probe_until_ms = 0
         WHERE provider = :provider AND probe_owner = :call AND probe_until_ms > 0`,
        { provider, call },
      ),
    );
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
   */
  async failed(provider: string, error: string, retryAfterMs = 0): Promise<ProviderAway> {
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
           answering = 0, last_error = :error`,
        { provider, failures, until, error: error.slice(0, 500), now },
      );
      return { untilMs: until, sinceMs: row?.since_ms ?? now };
    });
  }

  /** The providers that are away, with when they may be asked again: at once where that has passed. */
  away(): ReadonlyMap<string, number> {
    return readProvidersAway(this.sql);
  }

  #row(provider: string): Row | undefined {
    return this.sql.get<Row>(
      'SELECT failures, closed_until_ms, probe_until_ms, answering, last_error, since_ms FROM providers_away WHERE provider = :provider',
      { provider },
    );
  }
}

/** The providers that are away, as a catalog says it. */
export function readProvidersAway(reader: SqlReader): ReadonlyMap<string, number> {
  const rows = reader.all<{ provider: string; until: number }>(
    'SELECT provider, max(closed_until_ms, probe_until_ms) AS until FROM providers_away WHERE answering = 0',
  );
  return new Map(rows.map(({ provider, until }) => [provider, until]));
}
