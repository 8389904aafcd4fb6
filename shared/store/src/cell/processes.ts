import { hostname } from 'node:os';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { aliveMs, beatMs, isAlive } from './services.js';

/** A control-plane process as its peers see it. */
export interface ProcessIdentity {
  service: string;
  cell: string;
  /** The transport of this process's jobs: processes with different transports must not share a data directory. */
  transport: string;
}

/** A process as its last beat left it. */
export interface SeenProcess {
  service: string;
  host: string;
  /** Since when it has served without interruption. */
  sinceMs: number;
  beatAtMs: number;
  alive: boolean;
}

/** The most processes that are listed. */
const mostListed = 100;

/** The processes that serve a cell, each as it registered itself. */
export class Processes {
  constructor(private readonly db: CatalogDatabase) {}

  /**
   * Registers a process and beats for it until the returned function is called.
   *
   * @throws SuzumioError `data-dir-in-use` when a live process serves this directory for another cell, over another
   *   transport or from another host.
   */
  async enlist(identity: ProcessIdentity): Promise<() => Promise<void>> {
    const host = hostname();
    const id = await this.db.write((tx) => {
      const now = tx.nowMs;
      const other = this.db.reader.get<{ service: string; cell: string; transport: string; host: string }>(
        `SELECT service, cell, transport, host FROM processes
         WHERE ${isAlive} AND (cell <> :cell OR transport <> :transport OR host <> :host)`,
        { now, withinMs: aliveMs, cell: identity.cell, transport: identity.transport, host },
      );
      if (other) {
        throw new SuzumioError(
          'data-dir-in-use',
          `${this.db.file} is in use by ${other.service} of cell "${other.cell}" on ${other.host} (${other.transport}). ` +
            'Stop that one first, or give this one a SUZUMIO_ROOT of its own.',
          { service: other.service, cell: other.cell, host: other.host },
        );
      }
      tx.run('DELETE FROM processes WHERE beat_at_ms <= :old', { old: now - 60_000 });
      const id = tx.newId('proc');
      tx.run(
        `INSERT INTO processes (id, service, cell, transport, host, serving_since_ms, beat_at_ms)
         VALUES (:id, :service, :cell, :transport, :host, :now, :now)`,
        { id, ...identity, host, now },
      );
      return id;
    });
    return this.#keepBeating(id);
  }

  /**
   * Since when a ToolHost has served without interruption; undefined when none does. Leases are judged only after a
   * whole lease of service: while no ToolHost answers, no worker can extend one.
   */
  toolhostServingSince(): number | undefined {
    const row = this.db.reader.get<{ since: number | null }>(
      `SELECT min(serving_since_ms) AS since FROM processes WHERE service = 'toolhost' AND ${isAlive}`,
      { now: this.db.nowMs, withinMs: 3 * beatMs },
    );
    return row?.since ?? undefined;
  }

  /** All that beat lately; one that stopped cleanly has left no trace. */
  seen(): SeenProcess[] {
    const rows = this.db.reader.all<Omit<SeenProcess, 'alive'> & { alive: 0 | 1 }>(
      `SELECT service, host, serving_since_ms AS sinceMs, beat_at_ms AS beatAtMs, (${isAlive}) AS alive FROM processes
       ORDER BY service, serving_since_ms LIMIT :most`,
      { now: this.db.nowMs, withinMs: aliveMs, most: mostListed },
    );
    return rows.map(({ alive, ...row }) => ({ ...row, alive: alive === 1 }));
  }

  #keepBeating(id: string): () => Promise<void> {
    let last = this.db.nowMs;
    let beating: Promise<unknown> = Promise.resolve();
    const beat = async () => {
      const now = this.db.nowMs;
      // A paused process has answered no requests, so its service starts over. After the clock stepped back, the length
      // of its service is unknown.
      const anew = now - last > 3 * beatMs || now < last;
      last = now;
      try {
        await this.db.write((tx) =>
          tx.run(
            `UPDATE processes SET beat_at_ms = :now, serving_since_ms = CASE WHEN :anew THEN :now ELSE serving_since_ms END
             WHERE id = :id`,
            { id, now, anew: anew ? 1 : 0 },
          ),
        );
      } catch {
        // The next beat retries; a catalog that stays unwritable fails every other write, too.
      }
    };
    const timer = setInterval(() => {
      beating = beat();
    }, beatMs);
    timer.unref();
    return async () => {
      clearInterval(timer);
      await beating;
      await this.db.write((tx) => tx.run('DELETE FROM processes WHERE id = :id', { id }));
    };
  }
}
