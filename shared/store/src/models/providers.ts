import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import type { SqlReader } from '../sqlite/sql.js';

/** Whether a model may be asked. */
export type Admission =
  /** @property probe whether this call tries the model, and others wait for what becomes of it */
  | { ask: true; probe: boolean }
  /** Its circuit is open: nobody asks before `untilMs`, or somebody else is trying it, or is to try it first. */
  | { ask: false; untilMs: number; lastError: string };

/** Who asks, and what: one model at one provider, with one key. */
export interface Caller {
  circuit: string;
  project: string;
  /** The call's own name. */
  call: string;
}

/** How a question failed. */
export interface CircuitFailure {
  /**
   * Whom the circuit is opened for: `all` where the provider says something of itself, `project` where the question or
   * a setting of the project that asked may be the cause.
   */
  opensFor: 'all' | 'project';
  error: string;
  /** How long the provider asked to be left alone. */
  retryAfterMs?: number | undefined;
}

/** What a failure did. */
export interface CircuitOpened {
  /** Until when nobody asks. */
  untilMs: number;
  /** Since when the model has answered nobody to the end. */
  sinceMs: number;
  /** Whether all was well before. */
  first: boolean;
}

interface Row {
  /** The project that it is open for; '' for all. */
  scope: string;
  failures: number;
  open_until_ms: number;
  probe_until_ms: number;
  /** 1 where the model has begun to answer whoever tried it. */
  answering: number;
  last_error: string;
  since_ms: number;
}

/** One call a minute is little to pay for noticing soon that a model is back. */
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** The longest that a provider may ask to be left alone. */
const longestRetryAfterMs = 15 * 60_000;
/** Whoever waits for another's probe looks again after this. */
const probeWaitMs = 2_000;
/**
 * The longest that one call keeps others from trying: how long its answer may take is its project's to say, and while a
 * model is away nobody else is to wait for that.
 */
const longestTryMs = 60_000;
/** The project whose turn it is to try has so long for it, then any may: it may have nothing to ask any more. */
const turnToTryMs = 5_000;
/** Whoever waits tries more often than this: what nobody has tried for so long, nobody waits for. */
const forgottenAfterMs = 24 * 3_600_000;

/**
 * The cell's circuit breakers, one for each model at each provider. After a failure nobody asks for a while, which
 * doubles; then one call goes through, and what becomes of it decides for all: of many agents that wait for a model, one
 * tries it. Projects take turns at that, so that one whose questions always fail keeps no other waiting.
 */
export class Providers {
  constructor(private readonly db: CatalogDatabase) {}

  /**
   * Asks whether a call may be made.
   *
   * @param leaseMs how long its process is believed without a word: where it is the one that tries the model, others
   *   wait for it that long
   */
  async admit(caller: Caller, leaseMs: number): Promise<Admission> {
    // A model that is well has no row, and costs no transaction.
    if (this.#rows(caller).length === 0) return { ask: true, probe: false };
    return this.db.write((tx) => {
      const now = tx.nowMs;
      const rows = this.#rows(caller).filter(({ answering }) => answering === 0);
      const waits = rows.flatMap((row) => {
        const untilMs = this.#closedAgainAt(row, caller, now);
        return untilMs === undefined ? [] : [{ ask: false as const, untilMs, lastError: row.last_error }];
      });
      const [longest] = waits.sort((a, b) => b.untilMs - a.untilMs);
      if (longest) {
        this.#waits(tx, caller);
        return longest;
      }
      for (const { scope } of rows) this.#tries(tx, caller, scope, leaseMs);
      return { ask: true, probe: rows.length > 0 };
    });
  }

  /**
   * The half-open probe goes on. Other calls wait for it no longer than a minute in all.
   *
   * @param sinceMs when it began
   */
  async extendProbe({ circuit, call }: Caller, leaseMs: number, sinceMs: number): Promise<void> {
    await this.db.write((tx) =>
      tx.run(
        `UPDATE circuits SET probe_until_ms = :until
         WHERE circuit = :circuit AND probe_owner = :call AND probe_until_ms > 0`,
        { circuit, call, until: Math.min(tx.nowMs + leaseMs, sinceMs + longestTryMs) },
      ),
    );
  }

  /** The model has begun to answer whoever tried it: the others need not wait until that has all of it. */
  async answering({ circuit, call }: Caller): Promise<void> {
    await this.db.write((tx) =>
      tx.run(
        `UPDATE circuits SET answering = 1, open_until_ms = 0, probe_until_ms = 0
         WHERE circuit = :circuit AND probe_owner = :call AND probe_until_ms > 0`,
        { circuit, call },
      ),
    );
  }

  /**
   * The model answered: whoever waits for it may go on.
   *
   * @returns whether its circuit had been open
   */
  async answered(circuit: string): Promise<boolean> {
    if (!this.db.reader.get('SELECT 1 FROM circuits WHERE circuit = :circuit LIMIT 1', { circuit })) return false;
    return this.db.write((tx) => {
      tx.run('DELETE FROM circuit_waiters WHERE circuit = :circuit', { circuit });
      return tx.run('DELETE FROM circuits WHERE circuit = :circuit', { circuit }).changes > 0;
    });
  }

  /** A question failed. Calls that were under way together fail together, and count once. */
  async failed(caller: Caller, { opensFor, error, retryAfterMs = 0 }: CircuitFailure): Promise<CircuitOpened> {
    const { circuit, project, call } = caller;
    const scope = opensFor === 'all' ? everyone : project;
    return this.db.write((tx) => {
      const now = tx.nowMs;
      this.#forget(tx);
      const row = this.#rows(caller).find((one) => one.scope === scope);
      const already = row !== undefined && row.open_until_ms > now;
      const failures = (row?.failures ?? 0) + (already ? 0 : 1);
      const pauseMs = Math.min(firstPauseMs * 2 ** (failures - 1), longestPauseMs);
      const asked = Math.min(retryAfterMs, longestRetryAfterMs);
      const until = already ? Math.max(row.open_until_ms, now + asked) : now + Math.max(pauseMs, asked);
      tx.run(
        `INSERT INTO circuits (circuit, scope, failures, open_until_ms, probe_until_ms, last_error, since_ms)
         VALUES (:circuit, :scope, :failures, :until, 0, :error, :now)
         ON CONFLICT (circuit, scope) DO UPDATE SET failures = :failures, open_until_ms = :until, probe_until_ms = 0,
           answering = 0, last_error = :error`,
        { circuit, scope, failures, until, error: error.slice(0, 500), now },
      );
      // What else it was to try, it has not found out: another may.
      tx.run('UPDATE circuits SET probe_until_ms = 0 WHERE circuit = :circuit AND probe_owner = :call', {
        circuit,
        call,
      });
      this.#hasTried(tx, caller);
      return { untilMs: until, sinceMs: row?.since_ms ?? now, first: row === undefined };
    });
  }

  /** {@link readOpenCircuits} of the catalog as it is now. */
  away(project: string): ReadonlyMap<string, number> {
    return readOpenCircuits(this.db.reader, project);
  }

  /** When a circuit may be tried, where that is not now. */
  #closedAgainAt(row: Row, caller: Caller, now: number): number | undefined {
    if (row.open_until_ms > now) return row.open_until_ms;
    if (row.probe_until_ms > now) return now + probeWaitMs;
    const freeSinceMs = Math.max(row.open_until_ms, row.probe_until_ms);
    if (row.scope !== everyone || now >= freeSinceMs + turnToTryMs) return undefined;
    const next = this.db.reader.get<{ project: string }>(
      `SELECT project FROM circuit_waiters WHERE circuit = :circuit ORDER BY ${inTurn} LIMIT 1`,
      { circuit: caller.circuit },
    );
    if (next === undefined || next.project === caller.project) return undefined;
    return freeSinceMs + turnToTryMs;
  }

  #tries(tx: CatalogTx, { circuit, project, call }: Caller, scope: string, leaseMs: number): void {
    tx.run(
      'UPDATE circuits SET probe_until_ms = :until, probe_owner = :call WHERE circuit = :circuit AND scope = :scope',
      { circuit, scope, call, until: tx.nowMs + leaseMs },
    );
    // Those whose turn it was have let it pass.
    tx.run(
      `DELETE FROM circuit_waiters WHERE circuit = :circuit AND :scope = ''
         AND (${inTurn}) < (SELECT ${inTurn} FROM circuit_waiters WHERE circuit = :circuit AND project = :project)`,
      { circuit, project, scope },
    );
    if (scope === everyone) this.#hasTried(tx, { circuit, project, call });
  }

  /** A project that waits keeps its place. */
  #waits(tx: CatalogTx, { circuit, project }: Caller): void {
    tx.run(
      `INSERT INTO circuit_waiters (circuit, project, since_ms) VALUES (:circuit, :project, :now)
       ON CONFLICT (circuit, project) DO NOTHING`,
      { circuit, project, now: tx.nowMs },
    );
  }

  /** A project that has tried goes to the end of the line. */
  #hasTried(tx: CatalogTx, { circuit, project }: Caller): void {
    tx.run(
      `INSERT INTO circuit_waiters (circuit, project, since_ms, tried_at_ms) VALUES (:circuit, :project, :now, :now)
       ON CONFLICT (circuit, project) DO UPDATE SET tried_at_ms = :now`,
      { circuit, project, now: tx.nowMs },
    );
  }

  /** Files name models as they like, so circuits must not stay for ever. */
  #forget(tx: CatalogTx): void {
    const before = tx.nowMs - forgottenAfterMs;
    tx.run('DELETE FROM circuits WHERE max(open_until_ms, probe_until_ms, since_ms) < :before', { before });
    tx.run(
      `DELETE FROM circuit_waiters
       WHERE max(since_ms, tried_at_ms) < :before OR circuit NOT IN (SELECT circuit FROM circuits)`,
      { before },
    );
  }

  #rows({ circuit, project }: Pick<Caller, 'circuit' | 'project'>): Row[] {
    return this.db.reader.all<Row>(
      `SELECT scope, failures, open_until_ms, probe_until_ms, answering, last_error, since_ms FROM circuits
       WHERE circuit = :circuit AND scope IN ('', :project)`,
      { circuit, project },
    );
  }
}

/** The scope of a circuit that is open for all. */
const everyone = '';

/** Who tries next: whoever has not for longest, and of those that never have, who waits for longest. */
const inTurn = 'tried_at_ms, since_ms, project';

/**
 * The circuits that are open for a project, with when it may try them: at once where that has passed. Where it is
 * another project's turn to try, that one is given time for it.
 */
export function readOpenCircuits(reader: SqlReader, project: string): ReadonlyMap<string, number> {
  const rows = reader.all<{ circuit: string; until: number }>(
    `SELECT circuit, max(max(probe_until_ms, open_until_ms) + CASE WHEN scope = ''
         AND (SELECT project FROM circuit_waiters AS waiters WHERE waiters.circuit = circuits.circuit
           ORDER BY ${inTurn} LIMIT 1) <> :project THEN :turn ELSE 0 END) AS until
     FROM circuits WHERE answering = 0 AND scope IN ('', :project) GROUP BY circuit`,
    { project, turn: turnToTryMs },
  );
  return new Map(rows.map(({ circuit, until }) => [circuit, until]));
}
