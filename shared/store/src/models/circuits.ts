import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import type { SqlReader } from '../sqlite/sql.js';

/** Whether a model may be asked. */
export type Admission =
  /** @property probe whether this call is the half-open probe, whose result the others wait for */
  | { ask: true; probe: boolean }
  /** The circuit is open until `untilMs`, or another call probes it, or another project is to probe it first. */
  | { ask: false; untilMs: number; lastError: string };

/** The caller and its circuit: one model at one provider, with one key. */
export interface Caller {
  circuit: string;
  project: string;
  /** The call's id. */
  call: string;
}

/** How a call failed. */
export interface CircuitFailure {
  /**
   * For whom the circuit opens: `all` where the provider itself is at fault, `project` where the call or a setting of
   * its project may be.
   */
  opensFor: 'all' | 'project';
  error: string;
  /** The provider's `Retry-After`. */
  retryAfterMs?: number | undefined;
}

/** The circuit as a failure left it. */
export interface CircuitOpened {
  /** When the next probe may be sent. */
  untilMs: number;
  /** Since when no call has been answered in full. */
  sinceMs: number;
  /** Whether the circuit was closed before. */
  first: boolean;
}

interface Row {
  /** The project that the circuit is open for; '' for all. */
  scope: string;
  failures: number;
  open_until_ms: number;
  probe_until_ms: number;
  /** 1 where the model has begun to answer the probe. */
  answering: number;
  last_error: string;
  since_ms: number;
}

/** At the longest back-off, one probe a minute: a low price for noticing soon that a model is back. */
const firstPauseMs = 5_000;
const longestPauseMs = 60_000;
/** The longest `Retry-After` that is honoured. */
const longestRetryAfterMs = 15 * 60_000;
/** After this, a waiting call checks on another's probe again. */
const probeWaitMs = 2_000;
/**
 * The longest that one probe blocks other calls: a project sets how long its answers may take, and other projects do
 * not wait for that.
 */
const longestTryMs = 60_000;
/**
 * How long the next project in line has for its probe; then any project may send one, since the first may have no call
 * left to make.
 */
const turnToTryMs = 5_000;
/** A circuit untouched for so long is deleted: a waiting call would have probed it. */
const forgottenAfterMs = 24 * 3_600_000;

/**
 * The cell's circuit breakers, one for each model at each provider. A failure opens the circuit for a back-off, which
 * doubles; then one call probes, and its result decides for all. Projects take turns at probing, so that a project
 * whose calls always fail blocks no other.
 */
export class Circuits {
  constructor(private readonly db: CatalogDatabase) {}

  /**
   * Asks whether a call may be made.
   *
   * @param leaseMs how long the caller's process may miss heartbeats: other calls wait for its probe that long
   */
  async admit(caller: Caller, leaseMs: number): Promise<Admission> {
    // A closed circuit has no row, and costs no transaction.
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
   * Extends the half-open probe's lease. Other calls wait for a probe for a minute in all.
   *
   * @param sinceMs when the probe began
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

  /** The model has begun to answer the probe: other calls need not wait for the rest. */
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
   * Closes the circuit: waiting calls may proceed.
   *
   * @returns whether the circuit was open
   */
  async answered(circuit: string): Promise<boolean> {
    if (!this.db.reader.get('SELECT 1 FROM circuits WHERE circuit = :circuit LIMIT 1', { circuit })) return false;
    return this.db.write((tx) => {
      tx.run('DELETE FROM circuit_waiters WHERE circuit = :circuit', { circuit });
      return tx.run('DELETE FROM circuits WHERE circuit = :circuit', { circuit }).changes > 0;
    });
  }

  /** Opens the circuit after a failure. Calls that ran at the same time fail together, and count once. */
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
      // The call's other probes have no result: another call may send them.
      tx.run('UPDATE circuits SET probe_until_ms = 0 WHERE circuit = :circuit AND probe_owner = :call', {
        circuit,
        call,
      });
      this.#hasTried(tx, caller);
      return { untilMs: until, sinceMs: row?.since_ms ?? now, first: row === undefined };
    });
  }

  /** {@link readOpenCircuits} as of now. */
  away(project: string): ReadonlyMap<string, number> {
    return readOpenCircuits(this.db.reader, project);
  }

  /** When a circuit may be probed, where that is not now. */
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
    // The projects first in line have missed their turn.
    tx.run(
      `DELETE FROM circuit_waiters WHERE circuit = :circuit AND :scope = ''
         AND (${inTurn}) < (SELECT ${inTurn} FROM circuit_waiters WHERE circuit = :circuit AND project = :project)`,
      { circuit, project, scope },
    );
    if (scope === everyone) this.#hasTried(tx, { circuit, project, call });
  }

  /** Adds a project to the line; one that is in it keeps its place. */
  #waits(tx: CatalogTx, { circuit, project }: Caller): void {
    tx.run(
      `INSERT INTO circuit_waiters (circuit, project, since_ms) VALUES (:circuit, :project, :now)
       ON CONFLICT (circuit, project) DO NOTHING`,
      { circuit, project, now: tx.nowMs },
    );
  }

  /** Moves a project that has probed to the end of the line. */
  #hasTried(tx: CatalogTx, { circuit, project }: Caller): void {
    tx.run(
      `INSERT INTO circuit_waiters (circuit, project, since_ms, tried_at_ms) VALUES (:circuit, :project, :now, :now)
       ON CONFLICT (circuit, project) DO UPDATE SET tried_at_ms = :now`,
      { circuit, project, now: tx.nowMs },
    );
  }

  /** Deletes old circuits: project files name models freely, so rows would pile up. */
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

/**
 * The order of probing: the project that has not probed for longest; among those that never have, the one waiting for
 * longest.
 */
const inTurn = 'tried_at_ms, since_ms, project';

/**
 * The circuits that are open for a project, and when it may probe them: at once where the back-off has passed. Where
 * another project is next in line, that one's time is allowed for.
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
