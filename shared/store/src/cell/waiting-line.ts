import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { dealPlaces } from '@suzumio/core/mail/round-robin';
import type { SqlReader } from '../sqlite/sql.js';

/** What one deal gave a project: how many places, and its position in the line before and after. */
export interface Share {
  places: number;
  from: number;
  to: number;
}

/**
 * The projects with turns that found no place in the queue, in the order in which they get one. It is kept in the
 * catalog so that all schedulers of the cell share one line; while there are places for all it is empty, and nothing is
 * written.
 */
export class WaitingLine {
  constructor(private readonly db: CatalogDatabase) {}

  /** Whether no project waits. */
  get empty(): boolean {
    return this.db.reader.get('SELECT 1 FROM waiting_line LIMIT 1') === undefined;
  }

  has(project: string): boolean {
    return this.db.reader.get('SELECT 1 FROM waiting_line WHERE project = :project', { project }) !== undefined;
  }

  /** Appends a project to the line; one that is in it keeps its position. A deleted project is ignored. */
  async join(project: string): Promise<void> {
    if (this.has(project)) return;
    await this.db.write((tx) =>
      tx.run(
        `INSERT INTO waiting_line (project, position)
         SELECT id, (SELECT coalesce(max(position), 0) + 1 FROM waiting_line) FROM projects WHERE id = :project
         ON CONFLICT DO NOTHING`,
        { project },
      ),
    );
  }

  async leave(project: string): Promise<void> {
    if (!this.has(project)) return;
    await this.db.write((tx) => tx.run('DELETE FROM waiting_line WHERE project = :project', { project }));
  }

  /** Deals places along the line, as {@link dealPlaces} says. */
  async deal(places: number): Promise<ReadonlyMap<string, Share>> {
    return this.db.write((tx) => {
      const { shares, moved } = dealPlaces(readWaitingLine(this.db.reader), places);
      const from = new Map([...shares.keys()].map((project) => [project, this.#positionOf(project)]));
      for (const project of moved) {
        tx.run(
          `UPDATE waiting_line SET position = (SELECT max(position) + 1 FROM waiting_line) WHERE project = :project`,
          { project },
        );
      }
      return new Map(
        [...shares].map(([project, share]) => [
          project,
          { places: share, from: from.get(project) ?? 0, to: this.#positionOf(project) },
        ]),
      );
    });
  }

  /**
   * Restores the position of a project whose dealt place another scheduler had taken, unless it was dealt another one
   * meanwhile.
   */
  async putBack(project: string, { from, to }: Share): Promise<void> {
    await this.db.write((tx) =>
      tx.run(
        `UPDATE waiting_line SET position = iif(EXISTS (SELECT 1 FROM waiting_line WHERE position = :from),
           (SELECT min(position) - 1 FROM waiting_line), :from)
         WHERE project = :project AND position = :to AND :from <> :to`,
        { project, from, to },
      ),
    );
  }

  #positionOf(project: string): number {
    return (
      this.db.reader.get<{ position: number }>('SELECT position FROM waiting_line WHERE project = :project', {
        project,
      })?.position ?? 0
    );
  }
}

/** The waiting projects, the next one first. */
export function readWaitingLine(reader: SqlReader): string[] {
  return reader
    .all<{ project: string }>('SELECT project FROM waiting_line ORDER BY position')
    .map(({ project }) => project);
}
