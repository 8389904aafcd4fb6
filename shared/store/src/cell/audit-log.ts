import type { AuditEntry } from '@suzumio/contract/model/access-token';
import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { iso, type Page, type Part, readPart } from '../sqlite/page.js';

/** How many entries are kept. */
const mostEntries = 10_000;

/** What holders of valid tokens tried without permission: the newest entries. */
export class AuditLog {
  constructor(private readonly db: CatalogDatabase) {}

  async add(entry: Omit<AuditEntry, 'seq' | 'at'>): Promise<void> {
    await this.db.write((tx) => {
      const { lastInsertRowid } = tx.run(
        `INSERT INTO audit (at_ms, token, method, route, project, code)
         VALUES (:now, :token, :method, :route, :project, :code)`,
        { ...entry, now: tx.nowMs },
      );
      tx.run('DELETE FROM audit WHERE seq <= :last', { last: lastInsertRowid - mostEntries });
    });
  }

  /** Oldest first. */
  list(page: Page): Part<AuditEntry> {
    return readPart<AuditRow, AuditEntry>(
      this.db.reader,
      { from: 'audit', columns: 'seq, at_ms, token, method, route, project, code', key: 'seq' },
      page,
      ({ seq, at_ms, token, method, route, project, code }) => ({
        seq,
        token,
        method,
        route,
        project,
        code,
        at: iso(at_ms),
      }),
    );
  }
}

interface AuditRow extends Omit<AuditEntry, 'at'> {
  at_ms: number;
}
