import { hostname } from 'node:os';
import { SuzumioError } from '../errors/suzumio-error.js';
import type { ProjectStatus } from '../model/project-status.js';
import { hashToken, sameHash } from './tokens.js';
import type { StoreContext } from './context.js';
import type { DataDirectory } from './data-directory.js';
import { migrate } from './migrate.js';
import { catalogMigrations } from './migrations/catalog.js';
import { Sql } from './sql.js';
import { Writer } from './writer.js';

/** Who a request comes from. */
export interface ApiIdentity {
  /** The token's name: the actor of what the request does. */
  name: string;
  scope: 'read' | 'write' | 'admin' | 'handler';
  project: string | null;
}

/** A control-plane process as the others see it. */
export interface ProcessIdentity {
  service: string;
  cell: string;
  /** What carries this process's jobs: two processes that differ here must not share a data directory. */
  transport: string;
}

/** A process counts as alive for this long after its last beat. */
const beatMs = 1_000;
const aliveMs = 5_000;

/**
 * The cell's index: which projects there are, which tokens are good, which processes serve. What it says of a project
 * may be behind; it errs only toward `running`.
 */
export class Catalog {
  readonly #sql: Sql;
  readonly #writer: Writer;

  private constructor(
    sql: Sql,
    private readonly context: StoreContext,
  ) {
    this.#sql = sql;
    this.#writer = new Writer(sql, { random: context.random });
  }

  static open(directory: DataDirectory, context: StoreContext): Catalog {
    const sql = Sql.open(directory.catalogFile);
    try {
      migrate(sql, catalogMigrations);
    } catch (error) {
      sql.close();
      throw error;
    }
    return new Catalog(sql, context);
  }

  /** Every project's id, oldest first. */
  projects(): { id: string; status: ProjectStatus }[] {
    return this.#sql.all('SELECT id, status FROM projects ORDER BY created_at_ms, id');
  }

  /** Projects in which something may be left to do: running, or not running with turns that still run. */
  unsettledProjects(): string[] {
    return this.#sql.all<{ id: string }>('SELECT id FROM projects WHERE settled = 0 ORDER BY id').map((row) => row.id);
  }

  /** Names a project. One that is named already, by a process that was killed or is as fast, keeps what errs toward running. */
  async addProject(project: string, status: ProjectStatus): Promise<void> {
    await this.#writer.write(() =>
      this.#sql.run(
        `INSERT INTO projects (id, status, settled, created_at_ms) VALUES (:project, :status, :settled, :now)
         ON CONFLICT (id) DO UPDATE SET created_at_ms = :now, settled = min(settled, :settled),
           status = CASE :settled WHEN 0 THEN :status ELSE status END`,
        { project, status, settled: status === 'running' ? 0 : 1, now: this.context.now() },
      ),
    );
  }

  /** @param which a younger entry than `addedBeforeMs` is left: its project may be on its way */
  async removeProject(project: string, which: { addedBeforeMs?: number } = {}): Promise<void> {
    const { addedBeforeMs = Number.MAX_SAFE_INTEGER } = which;
    await this.#writer.write(() =>
      this.#sql.run('DELETE FROM projects WHERE id = :project AND created_at_ms < :before', {
        project,
        before: addedBeforeMs,
      }),
    );
  }

  /** Says that a project is about to run. Comes before the transition's own commit. */
  async noteRunning(project: string): Promise<void> {
    await this.#writer.write(() =>
      this.#sql.run(`UPDATE projects SET status = 'running', settled = 0 WHERE id = :project`, { project }),
    );
  }

  /**
   * Says what a project's database says now. Comes after a transition's commit, and looks again after its own: a start
   * that came between is not overwritten for long.
   */
  async noteStatus(project: string, read: () => { status: ProjectStatus; settled: boolean }): Promise<void> {
    let noted = read();
    for (;;) {
      const { status, settled } = noted;
      await this.#writer.write(() =>
        this.#sql.run('UPDATE projects SET status = :status, settled = :settled WHERE id = :project', {
          project,
          status,
          settled: settled ? 1 : 0,
        }),
      );
      const now = read();
      if (now.status === status && now.settled === settled) return;
      noted = now;
    }
  }

  /** Makes a token, in the place of one of that name. Only the hash of its secret is stored. */
  async addToken(token: {
    name: string;
    scope: ApiIdentity['scope'];
    secret: string;
    project?: string;
  }): Promise<void> {
    await this.#writer.write(() =>
      this.#sql.run(
        `INSERT INTO tokens (id, name, scope, project, hash, created_at_ms)
         VALUES (:id, :name, :scope, :project, :hash, :now)
         ON CONFLICT (name) DO UPDATE SET scope = :scope, project = :project, hash = :hash, created_at_ms = :now,
           expires_at_ms = NULL, revoked_at_ms = NULL`,
        {
          id: this.context.id('tok'),
          name: token.name,
          scope: token.scope,
          project: token.project ?? null,
          hash: hashToken(token.secret),
          now: this.context.now(),
        },
      ),
    );
  }

  /** Who holds this secret, if anybody. */
  identify(secret: string): ApiIdentity | undefined {
    const hash = hashToken(secret);
    const row = this.#sql.get<ApiIdentity & { hash: string }>(
      `SELECT name, scope, project, hash FROM tokens
       WHERE hash = :hash AND revoked_at_ms IS NULL AND (expires_at_ms IS NULL OR expires_at_ms > :now)`,
      { hash, now: this.context.now() },
    );
    if (!row || !sameHash(row.hash, hash)) return undefined;
    return { name: row.name, scope: row.scope, project: row.project };
  }

  /**
   * Registers a process and keeps saying that it lives, until the returned function is called.
   *
   * @throws SuzumioError `data-dir-in-use` when a live process serves this directory for another cell, over another
   *   transport or from another host.
   */
  async enlist(identity: ProcessIdentity): Promise<() => Promise<void>> {
    const id = this.context.id('proc');
    const host = hostname();
    await this.#writer.write(() => {
      const now = this.context.now();
      const other = this.#sql.get<{ service: string; cell: string; transport: string; host: string }>(
        `SELECT service, cell, transport, host FROM processes
         WHERE beat_at_ms > :alive AND (cell <> :cell OR transport <> :transport OR host <> :host)`,
        { alive: now - aliveMs, cell: identity.cell, transport: identity.transport, host },
      );
      if (other) {
        throw new SuzumioError(
          'data-dir-in-use',
          `${this.#sql.file} is in use by ${other.service} of cell "${other.cell}" on ${other.host} (${other.transport}). ` +
            'Stop that one first, or give this one a SUZUMIO_ROOT of its own.',
          { service: other.service, cell: other.cell, host: other.host },
        );
      }
      this.#sql.run('DELETE FROM processes WHERE beat_at_ms <= :old', { old: now - 60_000 });
      this.#sql.run(
        `INSERT INTO processes (id, service, cell, transport, host, serving_since_ms, beat_at_ms)
         VALUES (:id, :service, :cell, :transport, :host, :now, :now)`,
        { id, ...identity, host, now },
      );
    });
    return this.#keepBeating(id);
  }

  /**
   * Since when some ToolHost has served without pause, or undefined when none serves now. Leases are judged only
   * after a whole lease of service: while no ToolHost answers, no worker can extend one.
   */
  toolhostServingSince(): number | undefined {
    const row = this.#sql.get<{ since: number | null }>(
      `SELECT min(serving_since_ms) AS since FROM processes WHERE service = 'toolhost' AND beat_at_ms > :alive`,
      { alive: this.context.now() - 3 * beatMs },
    );
    return row?.since ?? undefined;
  }

  async close(): Promise<void> {
    await this.#writer.idle();
    this.#sql.close();
  }

  #keepBeating(id: string): () => Promise<void> {
    let last = this.context.now();
    let beating: Promise<unknown> = Promise.resolve();
    const beat = async () => {
      const now = this.context.now();
      // A process that was paused has answered nobody meanwhile, so its service begins anew.
      const paused = now - last > 3 * beatMs;
      last = now;
      try {
        await this.#writer.write(() =>
          this.#sql.run(
            `UPDATE processes SET beat_at_ms = :now, serving_since_ms = CASE WHEN :paused THEN :now ELSE serving_since_ms END
             WHERE id = :id`,
            { id, now, paused: paused ? 1 : 0 },
          ),
        );
      } catch {
        // The next beat says it again; a catalog that stays unwritable shows in every other write.
      }
    };
    const timer = setInterval(() => {
      beating = beat();
    }, beatMs);
    timer.unref();
    return async () => {
      clearInterval(timer);
      await beating;
      await this.#writer.write(() => this.#sql.run('DELETE FROM processes WHERE id = :id', { id }));
    };
  }
}
