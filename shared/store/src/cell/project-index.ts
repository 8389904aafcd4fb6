import type { Labels } from '@suzumio/contract/model/labels';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectStatus } from '@suzumio/contract/model/project-status';
import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import { definedOf, type Page, type Part, readPart } from '../sqlite/page.js';
import type { ProjectDeletions } from './project-deletions.js';
import type { Teams } from './teams.js';

/** A project's entry in the catalog. */
export interface NewEntry {
  status: ProjectStatus;
  labels: Labels;
  epoch: number;
  /** The team whose standing project this is: `instead` of its present one, or only where it has none. */
  standing?: { team: string; instead: boolean } | undefined;
}

/** Which projects are listed. */
export interface ProjectListing extends Page<string> {
  /** Only this one. */
  only?: string | undefined;
  /** Only projects with all of these labels. */
  labels?: readonly (readonly [key: string, value: string])[] | undefined;
  /** Only projects with one of these statuses. */
  statuses?: readonly ProjectStatus[] | undefined;
}

export interface ListedProject {
  id: string;
  status: ProjectStatus;
  labels: Labels;
  createdAtMs: number;
}

/** What an entry repeats of its project's database. */
export interface Entry {
  readonly status: ProjectStatus;
  /** Whether it neither runs nor has turns that still run. */
  readonly settled: boolean;
  readonly labels: Labels;
}

/** What projects are listed by: the moment of their making, then their id. */
export function placeOfProject({ createdAtMs, id }: Pick<ListedProject, 'createdAtMs' | 'id'>): string {
  return `${String(createdAtMs).padStart(15, '0')}.${id}`;
}

/** The projects of the catalog. Its status of a project may lag behind; it errs only toward `running`. */
export class ProjectIndex {
  constructor(
    private readonly db: CatalogDatabase,
    private readonly deletions: ProjectDeletions,
    private readonly teams: Teams,
  ) {}

  /** Every project's id, oldest first. */
  all(): { id: string; status: ProjectStatus }[] {
    return this.db.reader.all(
      'SELECT id, status FROM projects WHERE deleting_epoch IS NULL ORDER BY created_at_ms, id',
    );
  }

  /** A page of the projects, by {@link placeOfProject}. */
  list({ only, labels = [], statuses, ...page }: ProjectListing): Part<ListedProject, string> {
    return readPart<
      { id: string; status: ProjectStatus; labels_json: string; created_at_ms: number },
      ListedProject,
      string
    >(
      this.db.reader,
      {
        from: 'projects',
        columns: 'id, status, labels_json, created_at_ms',
        key: `printf('%015d.%s', created_at_ms, id)`,
        where: [
          'deleting_epoch IS NULL',
          only === undefined ? undefined : 'id = :only',
          statuses === undefined ? undefined : 'status IN (SELECT value FROM json_each(:statuses))',
          ...labels.map(
            (_label, i) => `EXISTS (SELECT 1 FROM json_each(labels_json) WHERE key = :key${i} AND value = :value${i})`,
          ),
        ],
        params: {
          ...definedOf({ only, statuses: statuses && JSON.stringify(statuses) }),
          ...Object.fromEntries(
            labels.flatMap(([key, value], i) => [
              [`key${i}`, key],
              [`value${i}`, value],
            ]),
          ),
        },
        grows: false,
      },
      page,
      (row) => ({
        id: row.id,
        status: row.status,
        labels: JSON.parse(row.labels_json) as Labels,
        createdAtMs: row.created_at_ms,
      }),
    );
  }

  /** Projects that may need scheduling: running, or not running with turns that still run. */
  unsettled(): string[] {
    return this.db.reader
      .all<{ id: string }>('SELECT id FROM projects WHERE settled = 0 AND deleting_epoch IS NULL ORDER BY id')
      .map((row) => row.id);
  }

  /**
   * Adds a project under a free name. `place` moves its directory there in the same transaction, while no other process
   * can give or take names; what `place` writes belongs to that transaction. What a killed process left under the name
   * is overwritten.
   *
   * @throws SuzumioError `project-exists` while an earlier one of its name is being deleted, and what `place` throws
   */
  async add(project: string, entry: NewEntry, place: (tx: CatalogTx) => void = () => undefined): Promise<void> {
    const { status, labels, epoch } = entry;
    await this.db.write((tx) => {
      if (this.deletions.pendingEpoch(project) !== undefined || this.deletions.formerEpoch(project) >= epoch) {
        throw new SuzumioError('project-exists', `The project "${project}" is just being deleted; try again soon.`, {
          project,
        });
      }
      tx.run(
        `INSERT INTO projects (id, status, settled, created_at_ms, labels_json)
         VALUES (:project, :status, :settled, :now, :labels)
         ON CONFLICT (id) DO UPDATE SET created_at_ms = :now, labels_json = :labels, settled = min(settled, :settled),
           status = CASE :settled WHEN 0 THEN :status ELSE status END`,
        {
          project,
          status,
          settled: status === 'running' ? 0 : 1,
          now: tx.nowMs,
          labels: JSON.stringify(labels),
        },
      );
      if (epoch > 1) this.deletions.noteFormer(tx, project, epoch - 1);
      if (entry.standing) this.teams.stand(tx, entry.standing, project);
      place(tx);
    });
  }

  /** The epoch in which a project created now begins. */
  firstEpoch(project: string): number {
    const { first_epoch: least } = this.db.reader.get<{ first_epoch: number }>(
      'SELECT first_epoch FROM data_directory',
    ) ?? {
      first_epoch: 1,
    };
    return Math.max(least, this.deletions.formerEpoch(project) + 1);
  }

  /** Removes an entry. The project of a directory that is there is added again at the next start. */
  async remove(project: string): Promise<void> {
    await this.db.write((tx) =>
      tx.run('DELETE FROM projects WHERE id = :project AND deleting_epoch IS NULL', { project }),
    );
  }

  /** Records that a project has begun a new epoch: earlier ones are gone. */
  async noteEpoch(project: string, { epoch }: { epoch: number }): Promise<void> {
    await this.db.write((tx) => this.deletions.noteFormer(tx, project, epoch - 1));
  }

  /** Whether a project is listed or being deleted. */
  knows(project: string): boolean {
    return this.db.reader.get('SELECT 1 FROM projects WHERE id = :project', { project }) !== undefined;
  }

  /** Whether the catalog has a project that is not being deleted. */
  lists(project: string): boolean {
    return (
      this.db.reader.get('SELECT 1 FROM projects WHERE id = :project AND deleting_epoch IS NULL', { project }) !==
      undefined
    );
  }

  /** Records that a project is about to run. Comes before the transition's own commit. */
  async noteRunning(project: string): Promise<void> {
    await this.db.write((tx) =>
      tx.run(`UPDATE projects SET status = 'running', settled = 0 WHERE id = :project`, { project }),
    );
  }

  /** Whether this is what a project's entry says. */
  says(project: string, { status, settled, labels }: Entry): boolean {
    const row = this.db.reader.get<{ status: string; settled: number; labels_json: string }>(
      'SELECT status, settled, labels_json FROM projects WHERE id = :project',
      { project },
    );
    return row?.status === status && row.settled === (settled ? 1 : 0) && row.labels_json === JSON.stringify(labels);
  }

  /**
   * Records that what an entry repeats is about to change. Comes before that commit, so that a sweep compares the two
   * even where this process is killed.
   */
  async noteChange(project: string): Promise<void> {
    await this.db.write((tx) => tx.run('UPDATE projects SET settled = 0 WHERE id = :project', { project }));
  }

  /**
   * Records what a project's database says. Comes after a commit that changed it, and reads again after its own: a change
   * that came between is not overwritten for long.
   */
  async noteStatus(project: string, read: () => Omit<Entry, 'labels'> & Partial<Pick<Entry, 'labels'>>): Promise<void> {
    const told = ({ status, settled, labels }: ReturnType<typeof read>) => JSON.stringify([status, settled, labels]);
    for (let noted = read(); ;) {
      const { status, settled, labels } = noted;
      await this.db.write((tx) =>
        tx.run(
          `UPDATE projects SET status = :status, settled = :settled, labels_json = coalesce(:labels, labels_json)
           WHERE id = :project`,
          { project, status, settled: settled ? 1 : 0, labels: labels === undefined ? null : JSON.stringify(labels) },
        ),
      );
      const now = read();
      if (told(now) === told(noted)) return;
      noted = now;
    }
  }
}
