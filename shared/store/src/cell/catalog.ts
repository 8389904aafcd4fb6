import { hostname } from 'node:os';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Labels } from '@suzumio/contract/model/labels';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import { ApiTokens } from './api-tokens.js';
import { AuditLog } from './audit-log.js';
import { CellPause } from './cell-pause.js';
import type { StoreContext } from '../sqlite/context.js';
import type { DataDirectory } from './data-directory.js';
import { epochFrom, filePlace, placeOf, samePlace } from '../projects/file-place.js';
import { assertNotNewer, migrate } from '../sqlite/migrate.js';
import { catalogMigrations } from './migrations.js';
import { Profiles } from './profiles.js';
import type { ProjectStoreHooks } from '../projects/project-store.js';
import { ProjectDeletions } from './project-deletions.js';
import { immediately, Sql, type SqlParams } from '../sqlite/sql.js';
import { Providers } from '../models/providers.js';
import { ReachedHosts } from '../models/reached-hosts.js';
import { aliveMs, beatMs, isAlive, readCatalogFacts } from './services.js';
import { Spending } from '../models/spending.js';
import { Teams } from './teams.js';
import type { Json } from '../sqlite/tx.js';
import { WaitingLine } from './waiting-line.js';
import { answeredBefore, type IdempotencyKey, type KeyedTx, keyedTx } from '../sqlite/once.js';
import { Writer } from '../sqlite/writer.js';

/** A control-plane process as the others see it. */
export interface ProcessIdentity {
  service: string;
  cell: string;
  /** What carries this process's jobs: two processes that differ here must not share a data directory. */
  transport: string;
}

/** What is put into the catalog of a new project, or of one that it lacks. */
export interface NewEntry {
  status: ProjectStatus;
  labels: Labels;
  epoch: number;
  /** The team whose standing project it is: in the place of another one, or only where it has none. */
  standing?: { team: string; instead: boolean } | undefined;
}

/** Which projects are listed. */
export interface ProjectListing {
  /** Only this one. */
  only?: string | undefined;
  /** Those that have all of these labels. */
  labels?: readonly (readonly [key: string, value: string])[] | undefined;
  /** Those that have one of these statuses. */
  statuses?: readonly ProjectStatus[] | undefined;
  /** The place after which the list goes on: `next` of the part before. */
  after?: { createdAtMs: number; id: string } | undefined;
  limit: number;
}

export interface ListedProject {
  id: string;
  status: ProjectStatus;
  labels: Labels;
  createdAtMs: number;
}

type CatalogHooks = Pick<ProjectStoreHooks, 'onOutdated'>;

const newestSchema = catalogMigrations.at(-1)?.version ?? 0;

/**
 * The cell's index: which projects there are, which tokens are good, which processes serve. What it says of a project
 * may be behind; it errs only toward `running`.
 */
export class Catalog {
  readonly #sql: Sql;
  readonly #writer: Writer;
  /** Which tokens are good. */
  readonly tokens: ApiTokens;
  /** What holders of good tokens were refused. */
  readonly audit: AuditLog;
  /** Which projects are being deleted: no list shows them. */
  readonly deletions: ProjectDeletions;

  /** Identities that outlive projects. */
  readonly profiles: Profiles;
  /** What they are in. */
  readonly teams: Teams;

  /** Which models are away. */
  readonly providers: Providers;
  /** Which of their hosts were ever reached. */
  readonly reached: ReachedHosts;
  /** What the cell spends. */
  readonly spending: Spending;
  /** Whether the whole cell is paused. */
  readonly pause: CellPause;
  /** Which projects wait for a place in the queue. */
  readonly waitingLine: WaitingLine;

  private constructor(
    sql: Sql,
    private readonly context: StoreContext,
    hooks: CatalogHooks,
    /** Whether this process found that the catalog is a copy of the one that it was. */
    readonly copied: boolean,
  ) {
    this.#sql = sql;
    this.#writer = new Writer(sql, {
      random: context.random,
      begin() {
        try {
          assertNotNewer(sql, newestSchema);
        } catch (error) {
          hooks.onOutdated?.(error);
          throw error;
        }
      },
    });
    this.tokens = new ApiTokens(sql, this.#writer, context);
    this.audit = new AuditLog(sql, this.#writer, context);
    this.deletions = new ProjectDeletions(sql, this.#writer, context);
    this.profiles = new Profiles(sql, this.#writer, context);
    this.teams = new Teams(sql, this.#writer, context);
    this.providers = new Providers(sql, this.#writer, context);
    this.reached = new ReachedHosts(sql, this.#writer, context);
    this.spending = new Spending(sql, this.#writer, context);
    this.pause = new CellPause(sql, this.#writer, context);
    this.waitingLine = new WaitingLine(sql, this.#writer);
  }

  static open(directory: DataDirectory, context: StoreContext, hooks: CatalogHooks = {}): Catalog {
    const sql = Sql.open(directory.catalogFile);
    try {
      migrate(sql, catalogMigrations);
      return new Catalog(sql, context, hooks, recognise(sql, context.now()));
    } catch (error) {
      sql.close();
      throw error;
    }
  }

  /** Every project's id, oldest first. */
  projects(): { id: string; status: ProjectStatus }[] {
    return this.#sql.all('SELECT id, status FROM projects WHERE deleting_epoch IS NULL ORDER BY created_at_ms, id');
  }

  /** A part of the projects, oldest first. */
  listProjects({ only, labels = [], statuses, after, limit }: ProjectListing): ListedProject[] {
    const wanted = labels.map(
      (_, i) => `AND EXISTS (SELECT 1 FROM json_each(labels_json) WHERE key = :key${i} AND value = :value${i})`,
    );
    const params: SqlParams = Object.fromEntries(
      labels.flatMap(([key, value], i) => [
        [`key${i}`, key],
        [`value${i}`, value],
      ]),
    );
    return this.#sql
      .all<{ id: string; status: ProjectStatus; labels_json: string; created_at_ms: number }>(
        `SELECT id, status, labels_json, created_at_ms FROM projects
         WHERE deleting_epoch IS NULL AND (created_at_ms, id) > (:afterMs, :afterId)
           AND (:only IS NULL OR id = :only) AND (:statuses IS NULL OR status IN (SELECT value FROM json_each(:statuses)))
           ${wanted.join(' ')}
         ORDER BY created_at_ms, id LIMIT :limit`,
        {
          ...params,
          only: only ?? null,
          statuses: statuses === undefined ? null : JSON.stringify(statuses),
          afterMs: after?.createdAtMs ?? -1,
          afterId: after?.id ?? '',
          limit,
        },
      )
      .map((row) => ({
        id: row.id,
        status: row.status,
        labels: JSON.parse(row.labels_json) as Labels,
        createdAtMs: row.created_at_ms,
      }));
  }

  /** Projects in which something may be left to do: running, or not running with turns that still run. */
  unsettledProjects(): string[] {
    return this.#sql
      .all<{ id: string }>('SELECT id FROM projects WHERE settled = 0 AND deleting_epoch IS NULL ORDER BY id')
      .map((row) => row.id);
  }

  /**
   * Names a project, in one step with its coming to be: `place` puts its directory where it belongs, while nobody else
   * can give or take names. What a process that was killed left under the name is written over. What `place` writes is
   * part of that step.
   *
   * @throws SuzumioError `project-exists` while an earlier one of its name is being deleted, and what `place` throws
   */
  async addProject(project: string, entry: NewEntry, place: (tx: KeyedTx) => void = () => undefined): Promise<void> {
    const { status, labels, epoch } = entry;
    await this.#writer.write(() => {
      if (this.deletions.pendingEpoch(project) !== undefined || this.deletions.formerEpoch(project) >= epoch) {
        throw new SuzumioError('project-exists', `The project "${project}" is just being deleted; try again soon.`, {
          project,
        });
      }
      this.#sql.run(
        `INSERT INTO projects (id, status, settled, created_at_ms, labels_json)
         VALUES (:project, :status, :settled, :now, :labels)
         ON CONFLICT (id) DO UPDATE SET created_at_ms = :now, labels_json = :labels, settled = min(settled, :settled),
           status = CASE :settled WHEN 0 THEN :status ELSE status END`,
        {
          project,
          status,
          settled: status === 'running' ? 0 : 1,
          now: this.context.now(),
          labels: JSON.stringify(labels),
        },
      );
      if (epoch > 1) this.deletions.noteFormer(project, epoch - 1);
      if (entry.standing) this.teams.stand(entry.standing, project);
      place(this.#keyed());
    });
  }

  /** The epoch in which a project begins that is made now. */
  firstEpoch(project: string): number {
    const { first_epoch: least } = this.#sql.get<{ first_epoch: number }>('SELECT first_epoch FROM data_directory') ?? {
      first_epoch: 1,
    };
    return Math.max(least, this.deletions.formerEpoch(project) + 1);
  }

  /**
   * What a request about no single project was answered when it came before.
   *
   * @throws SuzumioError `idempotency-mismatch` when its key came with another body then
   */
  answeredBefore<Answer extends Json>(key: IdempotencyKey): Answer | undefined {
    return answeredBefore<Answer>(this.#keyed(), key);
  }

  /** @param which a younger entry than `addedBeforeMs` is left: its project may be on its way */
  async removeProject(project: string, which: { addedBeforeMs?: number } = {}): Promise<void> {
    const { addedBeforeMs = Number.MAX_SAFE_INTEGER } = which;
    await this.#writer.write(() =>
      this.#sql.run('DELETE FROM projects WHERE id = :project AND created_at_ms < :before AND deleting_epoch IS NULL', {
        project,
        before: addedBeforeMs,
      }),
    );
  }

  /** Says that a project has begun a new epoch: what there is of earlier ones is gone. */
  async noteEpoch(project: string, { epoch }: { epoch: number }): Promise<void> {
    await this.#writer.write(() => this.deletions.noteFormer(project, epoch - 1));
  }

  /** Whether a project is listed, or is just being deleted. */
  knows(project: string): boolean {
    return this.#sql.get('SELECT 1 FROM projects WHERE id = :project', { project }) !== undefined;
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
         WHERE ${isAlive} AND (cell <> :cell OR transport <> :transport OR host <> :host)`,
        { now, withinMs: aliveMs, cell: identity.cell, transport: identity.transport, host },
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
      `SELECT min(serving_since_ms) AS since FROM processes WHERE service = 'toolhost' AND ${isAlive}`,
      { now: this.context.now(), withinMs: 3 * beatMs },
    );
    return row?.since ?? undefined;
  }

  /** What decides, beside a project's own state, whether its agents get turns. */
  factsFor(project: string): ReturnType<typeof readCatalogFacts> {
    return readCatalogFacts(this.#sql, project, this.context.now());
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
      // A process that was paused has answered nobody meanwhile, so its service begins anew; and where the clock stepped
      // back, nobody can tell how long it has lasted.
      const anew = now - last > 3 * beatMs || now < last;
      last = now;
      try {
        await this.#writer.write(() =>
          this.#sql.run(
            `UPDATE processes SET beat_at_ms = :now, serving_since_ms = CASE WHEN :anew THEN :now ELSE serving_since_ms END
             WHERE id = :id`,
            { id, now, anew: anew ? 1 : 0 },
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

  #keyed(): KeyedTx {
    return keyedTx(this.#sql, this.context.now());
  }
}

/** Looks whether this is the file that the catalog was in when it was last opened; whether it is a copy of that. */
function recognise(sql: Sql, nowMs: number): boolean {
  const isOwn = () => {
    const row = sql.get<{ place_json: string }>('SELECT place_json FROM data_directory');
    return row && samePlace(filePlace.parse(JSON.parse(row.place_json)), placeOf(sql.file));
  };
  if (isOwn() === true) return false;
  return immediately(sql, () => {
    // Another process may have come first.
    const own = isOwn();
    if (own === true) return false;
    sql.run(
      `INSERT INTO data_directory (id, place_json, first_epoch) VALUES (1, :place, 1)
       ON CONFLICT (id) DO UPDATE SET place_json = :place, first_epoch = max(first_epoch + 1, :epoch)`,
      { place: JSON.stringify(placeOf(sql.file)), epoch: epochFrom(nowMs) },
    );
    return own === false;
  });
}
