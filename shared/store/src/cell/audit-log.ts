import type { AuditEntry } from '@suzumio/contract/model/access-token';
import type { StoreContext } from '../sqlite/context.js';
import { iso, type Page } from '../sqlite/page.js';
import type { Sql } from '../sqlite/sql.js';
import type { Writer } from '../sqlite/writer.js';

/** How many entries are kept. */
const mostEntries = 10_000;

/** What the holders of good tokens tried and may not: the newest entries of it. */
export class AuditLog {
  constructor(
    private readonly sql: Sql,
    private readonly writer: Writer,
    private readonly context: StoreContext,
  ) {}

  async add(entry: Omit<AuditEntry, 'seq' | 'at'>): Promise<void> {
    await this.writer.write(() => {
      const { lastInsertRowid } = this.sql.run(
        `INSERT INTO audit (at_ms, token, method, route, project, code)
         VALUES (:now, :token, :method, :route, :project, :code)`,
        { ...entry, now: this.context.now() },
      );
      this.sql.run('DELETE FROM audit WHERE seq <= :last', { last: lastInsertRowid - mostEntries });
    });
  }

  /** Oldest first. */
  list({ limit, after }: Page): AuditEntry[] {
    const columns = 'SELECT seq, at_ms, token, method, route, project, code FROM audit';
    const rows =
      after === undefined
        ? this.sql.all<AuditRow>(`${columns} ORDER BY seq DESC LIMIT :limit`, { limit }).reverse()
        : this.sql.all<AuditRow>(`${columns} WHERE seq > :after ORDER BY seq LIMIT :limit`, { after, limit });
    return rows.map(({ at_ms, ...row }) => ({ ...row, at: iso(at_ms) }));
  }
}

interface AuditRow extends Omit<AuditEntry, 'at'> {
  at_ms: number;
}
