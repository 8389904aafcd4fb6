import type { CatalogDatabase, CatalogTx } from '../sqlite/catalog-database.js';
import { unknownProject } from '../sqlite/store-fault.js';
import { type IdempotencyKey } from '../sqlite/once.js';

/** A deletion that is under way. */
export interface PendingDeletion {
  project: string;
  /** The deleted project's epoch: a later project of its name has a later one. */
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
   * Announces a project's deletion. From now on it is carried out, even if this process dies.
   *
   * @param epoch of the project as the caller found it; undefined where there is none
   * @throws SuzumioError `project-unknown` when that epoch no longer exists, unless `key` is of a request that was
   *   answered before; `idempotency-mismatch`
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
   * Frees a name and runs `move`, which takes the project's directory from its place, in one step: while the catalog is
   * locked no other process can put a directory there. Tokens for this project alone are revoked, since they would open
   * the next project of its name. Does nothing where the deletion is finished already.
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

  /** Records, in a transaction of the catalog, that nothing is left under a name up to an epoch. */
  noteFormer(tx: CatalogTx, project: string, epoch: number): void {
    tx.run(
      `INSERT INTO former_projects (id, epoch) VALUES (:project, :epoch)
       ON CONFLICT (id) DO UPDATE SET epoch = max(epoch, :epoch)`,
      { project, epoch },
    );
  }

  /** Whether a project was deleted or is being deleted. */
  includes(project: string, epoch: number): boolean {
    return (this.pendingEpoch(project) ?? this.formerEpoch(project)) >= epoch;
  }

  /** Runs `body` while no process can give or take names, if the catalog knows no project of this name. */
  async ifUnknown(project: string, body: () => void): Promise<void> {
    await this.db.write(() => {
      if (!this.db.reader.get('SELECT 1 FROM projects WHERE id = :project', { project })) body();
    });
  }

  /** The last deleted epoch under this name; 0 where there is none. */
  formerEpoch(project: string): number {
    const row = this.db.reader.get<{ epoch: number }>('SELECT epoch FROM former_projects WHERE id = :project', {
      project,
    });
    return row?.epoch ?? 0;
  }
}
