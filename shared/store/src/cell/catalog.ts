import { Adaptations } from '../models/adaptations.js';
import { Circuits } from '../models/circuits.js';
import { ReachedHosts } from '../models/reached-hosts.js';
import { Spending } from '../models/spending.js';
import { epochFrom, filePlace, placeOf, samePlace } from '../projects/file-place.js';
import type { ProjectStoreHooks } from '../projects/project-store.js';
import { CatalogDatabase } from '../sqlite/catalog-database.js';
import type { StoreContext } from '../sqlite/context.js';
import { assertNotNewer, migrate } from '../sqlite/migrate.js';
import type { IdempotencyKey } from '../sqlite/once.js';
import { immediately, Sql } from '../sqlite/sql.js';
import { isUnreadable } from '../sqlite/store-fault.js';
import type { Json } from '../sqlite/tx.js';
import { ApiTokens } from './api-tokens.js';
import { AuditLog } from './audit-log.js';
import { CellPause } from './cell-pause.js';
import { CellTimeline } from './cell-timeline.js';
import type { DataDirectory } from './data-directory.js';
import { catalogMigrations } from './migrations.js';
import { InboxReads } from './inbox-reads.js';
import { Processes } from './processes.js';
import { ProfileNotes } from './profile-notes.js';
import { Profiles } from './profiles.js';
import { ProjectDeletions } from './project-deletions.js';
import { ProjectIndex } from './project-index.js';
import { readCatalogFacts } from './services.js';
import { Sessions } from './sessions.js';
import { Teams } from './teams.js';
import { WaitingLine } from './waiting-line.js';

type CatalogHooks = Pick<ProjectStoreHooks, 'onOutdated'>;

const newestSchema = catalogMigrations.at(-1)?.version ?? 0;

/** The cell's index, a class for each of its subjects. */
export class Catalog {
  readonly tokens: ApiTokens;
  readonly sessions: Sessions;
  readonly audit: AuditLog;
  readonly deletions: ProjectDeletions;

  readonly profiles: Profiles;
  readonly profileNotes: ProfileNotes;
  readonly teams: Teams;
  readonly projects: ProjectIndex;

  readonly circuits: Circuits;
  readonly adaptations: Adaptations;
  readonly reached: ReachedHosts;
  readonly spending: Spending;
  readonly pause: CellPause;
  readonly waitingLine: WaitingLine;
  readonly inboxReads: InboxReads;
  /** The order in which what happened in all projects is told. */
  readonly timeline: CellTimeline;

  readonly processes: Processes;

  private constructor(
    private readonly db: CatalogDatabase,
    /** Whether the catalog is a copy of the file that it was last opened in. */
    readonly copied: boolean,
  ) {
    this.tokens = new ApiTokens(db);
    this.sessions = new Sessions(db);
    this.audit = new AuditLog(db);
    this.deletions = new ProjectDeletions(db);
    this.profiles = new Profiles(db);
    this.profileNotes = new ProfileNotes(db, this.profiles);
    this.teams = new Teams(db);
    this.projects = new ProjectIndex(db, this.deletions, this.teams);
    this.circuits = new Circuits(db);
    this.adaptations = new Adaptations(db);
    this.reached = new ReachedHosts(db);
    this.spending = new Spending(db);
    this.pause = new CellPause(db);
    this.waitingLine = new WaitingLine(db);
    this.inboxReads = new InboxReads(db);
    this.timeline = new CellTimeline(db);
    this.processes = new Processes(db);
  }

  static open(directory: DataDirectory, context: StoreContext, hooks: CatalogHooks = {}): Catalog {
    const sql = openCatalogFile(directory);
    try {
      migrate(sql, catalogMigrations);
      const db = new CatalogDatabase(sql, context, () => {
        try {
          assertNotNewer(sql, newestSchema);
        } catch (error) {
          hooks.onOutdated?.(error);
          throw error;
        }
      });
      return new Catalog(db, recognise(sql, context.now()));
    } catch (error) {
      sql.close();
      throw error;
    }
  }

  /**
   * Opens a catalogue to look at: nothing is made, written or migrated. Where there is none, it is an empty one.
   *
   * @throws SuzumioError `data-dir-invalid` where this process may not look; `schema-newer`
   */
  static openForReading(directory: DataDirectory, context: StoreContext): Catalog {
    const exists = directory.exists();
    const sql = exists ? openCatalogFile(directory, { readonly: true }) : Sql.open(':memory:');
    try {
      if (exists) assertNotNewer(sql, newestSchema);
      else migrate(sql, catalogMigrations);
      return new Catalog(new CatalogDatabase(sql, context, () => undefined), false);
    } catch (error) {
      sql.close();
      throw error;
    }
  }

  /**
   * The recorded answer to an earlier request with this key.
   *
   * @throws SuzumioError `idempotency-mismatch` when its key came with another body then
   */
  answeredBefore<Answer extends Json>(key: IdempotencyKey): Answer | undefined {
    return this.db.answeredBefore<Answer>(key);
  }

  /** What outside a project's own state decides whether its agents get turns. */
  factsFor(project: string): ReturnType<typeof readCatalogFacts> {
    return readCatalogFacts(this.db.reader, project, this.db.nowMs);
  }

  async close(): Promise<void> {
    await this.db.close();
  }
}

/**
 * Opens the catalog's file. To read it, too, files beside it may have to be made.
 *
 * @throws SuzumioError `data-dir-invalid` where this process may not, as in another user's directory
 */
export function openCatalogFile(directory: DataDirectory, options: { readonly?: boolean } = {}): Sql {
  try {
    return Sql.open(directory.catalogFile, options);
  } catch (error) {
    throw isUnreadable(error) ? directory.unreadable(error) : error;
  }
}

/** Whether the catalog is a copy: its file is not the one that it was last opened in. */
function recognise(sql: Sql, nowMs: number): boolean {
  const isOwn = () => {
    const row = sql.get<{ place_json: string }>('SELECT place_json FROM data_directory');
    return row && samePlace(filePlace.parse(JSON.parse(row.place_json)), placeOf(sql.file));
  };
  if (isOwn() === true) return false;
  return immediately(sql, () => {
    // Another process may have been first.
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
