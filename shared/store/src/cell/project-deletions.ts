import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import { unknownProject } from '../sqlite/store-fault.js';
import { type IdempotencyKey } from '../sqlite/once.js';

/** A deletion that is under way. */
export interface PendingDeletion {
  project: string;
  /** Of the project that is deleted: another one of its name has a later one. */
  epoch: number;
}

/**
 * Which projects of the catalog are being deleted. Their names are taken until {@link finish}, and no list shows them.
 */
export class ProjectDeletions {
  constructor(private readonly db: CatalogDatabase) {}

  pending(): PendingDeletion[] {
    return this.db.reader.all(
      'SELECT id AS project, deleting_epoch AS epoch FROM projects WHERE deleting_epoch IS NOT NULL ORDER BY id',
    );
  }

  /** The epoch of a project that is being deleted. */
  pendingEpoch(project: string): number | undefined {
    const row = this.db.reader.get<{ epoch: number | null }>(
      'SELECT deleting_epoch AS epoch FROM projects WHERE id = :project',
      { project },
    );
    return row?.epoch ?? undefined;
  }

  /**
   * Says that a project is to be deleted. From now on its deletion is carried out, whatever happens to this process.
   *
   * @param epoch of the project as it was found; undefined where there is none
   * @throws SuzumioError `project-unknown` when there is none of that epoch any more, unless `key` says that this is a
   *   request which has been here; `idempotency-mismatch`
   */
  async announce(project: string, epoch: number | undefined, key?: IdempotencyKey): Promise<void> {
    await this.db.writeOnce(key, (tx) => {
      if (epoch === undefined || this.formerEpoch(project) >= epoch) throw unknownProject(project);
      tx.run(
        `INSERT INTO projects (id, status, settled, created_at_ms, deleting_epoch)
         VALUES (:project, 'stopped', 1, :nowMs, :epoch)
         ON CONFLICT (id) DO UPDATE SET deleting_epoch = :epoch`,
        { project, nowMs: tx.nowMs, epoch },
      );
      return null;
    });
  }

  /**
   * Gives a name back, in one step with whatever else has it: `move` takes the project's directory from its place. While
   * the catalog is locked nobody can put another one there. Tokens that were for this project alone are revoked: they
   * would open the next one of its name. Does nothing where the deletion is finished already.
   */
  async finish({ project, epoch }: PendingDeletion, move: () => void): Promise<void> {
    await this.db.write((tx) => {
      if (this.pendingEpoch(project) !== epoch) return;
      this.noteFormer(tx, project, epoch);
      tx.run('UPDATE tokens SET revoked_at_ms = :now WHERE project = :project AND revoked_at_ms IS NULL', {
        project,
        now: tx.nowMs,
      });
      tx.run('DELETE FROM projects WHERE id = :project', { project });
      move();
    });
  }

  /** Says, in a transaction of the catalog, that nothing is left of what was under a name up to an epoch. */
  noteFormer(tx: CatalogTx, project: string, epoch: number): void {
    tx.run(
      `INSERT INTO former_projects (id, epoch) VALUES (:project, :epoch)
       ON CONFLICT (id) DO UPDATE SET epoch = max(epoch, :epoch)`,
      { project, epoch },
    );
  }

  /** Whether a project was deleted, or is just being. */
  includes(project: string, epoch: number): boolean {
    return (this.pendingEpoch(project) ?? this.formerEpoch(project)) >= epoch;
  }

  /** Runs `body` while nobody can give or take names, where the catalog knows of no project called this. */
  async ifUnknown(project: string, body: () => void): Promise<void> {
    await this.db.write(() => {
      if (!this.db.reader.get('SELECT 1 FROM projects WHERE id = :project', { project })) body();
    });
  }

  /** The last epoch under this name; 0 where nothing of it was deleted. */
  formerEpoch(project: string): number {
    const row = this.db.reader.get<{ epoch: number }>('SELECT epoch FROM former_projects WHERE id = :project', {
      project,
    });
    return row?.epoch ?? 0;
  }
}
