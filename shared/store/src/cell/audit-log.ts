import type { ActView, CellAct } from '@suzumio/contract/model/acts';
import type { AuditEntry } from '@suzumio/contract/model/access-token';
import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { definedOf, iso, type Page, type Part, readPart } from '../sqlite/page.js';

/** How many entries are kept. */
const mostEntries = 10_000;

/** The code of what was done. In its row, the method is the act, and the route its subject. */
const done = 'done';

/** What holders of valid tokens did to the cell, and tried without permission: the newest entries. */
export class AuditLog {
  constructor(private readonly db: CatalogDatabase) {}

  /** Records a refusal. */
  add(entry: Omit<AuditEntry, 'seq' | 'at'>): Promise<void> {
    return this.#add(entry);
  }

  /** Records something that was done to the cell. */
  note(
    act: CellAct,
    { actor, subject, project }: { actor: string; subject?: string; project?: string },
  ): Promise<void> {
    return this.#add({ token: actor, method: act, route: subject ?? '', project: project ?? null, code: done });
  }

  async #add(entry: Omit<AuditEntry, 'seq' | 'at'>): Promise<void> {
    await this.db.write((tx) => {
      const { lastInsertRowid } = tx.run(
        `INSERT INTO audit (at_ms, token, method, route, project, code)
         VALUES (:now, :token, :method, :route, :project, :code)`,
        { ...entry, now: tx.nowMs },
      );
      tx.run('DELETE FROM audit WHERE seq <= :last', { last: lastInsertRowid - mostEntries });
    });
  }

  /** What was done to the cell, the newest first, and the numbers of that. */
  acts(page: Page & { actor?: string | undefined; until?: number | undefined }): Part<{ seq: number; act: ActView }> {
    const { actor, until } = page;
    return readPart<AuditRow, { seq: number; act: ActView }>(
      this.db.reader,
      {
        from: 'audit',
        columns: 'seq, at_ms, token, method, route, project, code',
        key: 'seq',
        filters: [
          `code = '${done}'`,
          actor === undefined ? undefined : 'token = :actor',
          until === undefined ? undefined : 'at_ms < :until',
        ],
        params: definedOf({ actor, until }),
      },
      page,
      ({ seq, at_ms, token, method, route, project }) => ({
        seq,
        act: {
          at: iso(at_ms),
          actor: token,
          type: method,
          project,
          subject: route === '' ? null : route,
          turn: null,
          data: {},
        },
      }),
    );
  }

  /** Refusals, the oldest first. */
  list(page: Page): Part<AuditEntry> {
    return readPart<AuditRow, AuditEntry>(
      this.db.reader,
      {
        from: 'audit',
        columns: 'seq, at_ms, token, method, route, project, code',
        key: 'seq',
        filters: [`code <> '${done}'`],
      },
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
