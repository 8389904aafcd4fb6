import type { CatalogDatabase } from '../sqlite/catalog-database.js';

/** An item of the inbox that is marked. */
export interface MarkedItem {
  item: string;
  /** Null where it is of no project. */
  project: string | null;
}

/** What people have marked as read in their inboxes. A mark goes with its project. */
export class InboxReads {
  constructor(private readonly db: CatalogDatabase) {}

  /** Those of the items that a reader has marked. */
  among(reader: string, items: readonly string[]): Set<string> {
    const rows = this.db.reader.all<{ item: string }>(
      'SELECT item FROM inbox_reads WHERE reader = :reader AND item IN (SELECT value FROM json_each(:items))',
      { reader, items: JSON.stringify(items) },
    );
    return new Set(rows.map(({ item }) => item));
  }

  /** How many messages of each project a reader has marked. */
  countMail(reader: string): Map<string, number> {
    const rows = this.db.reader.all<{ project: string; marked: number }>(
      `SELECT project, count(*) AS marked FROM inbox_reads
       WHERE reader = :reader AND substr(item, length(project) + 1, 9) = ':message:' GROUP BY project`,
      { reader },
    );
    return new Map(rows.map(({ project, marked }) => [project, marked]));
  }

  /** Marks items. Those of projects that are gone are left out. */
  async mark(reader: string, items: readonly MarkedItem[]): Promise<void> {
    await this.db.write((tx) => {
      for (const { item, project } of items) {
        tx.run(
          `INSERT INTO inbox_reads (reader, item, project, at_ms)
           SELECT :reader, :item, :project, :now
           WHERE :project IS NULL OR EXISTS (SELECT 1 FROM projects WHERE id = :project)
           ON CONFLICT DO NOTHING`,
          { reader, item, project, now: tx.nowMs },
        );
      }
    });
  }
}
