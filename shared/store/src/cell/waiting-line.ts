import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { dealPlaces } from '@suzumio/core/mail/round-robin';
import type { SqlReader } from '../sqlite/sql.js';

/** What a deal gave a project: how many places, and where in the line it was and is now. */
export interface Share {
  places: number;
  from: number;
  to: number;
}

/**
 * The projects that have turns for which the queue had no place, in the order in which they get one. It is kept in the
 * catalog so that all schedulers of the cell go round the same line; while there are places for all it is empty, and
 * nothing is written.
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

  /** Puts a project at the end of the line; one that stands in it keeps its place. A project that is gone is left out. */
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
   * Gives a project that was dealt a place which another scheduler had taken the position back that it had in the line,
   * unless it was dealt another one meanwhile.
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

/** The projects of a catalog that wait for a place, the next one first. */
export function readWaitingLine(reader: SqlReader): string[] {
  return reader
    .all<{ project: string }>('SELECT project FROM waiting_line ORDER BY position')
    .map(({ project }) => project);
}
