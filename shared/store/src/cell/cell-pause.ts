import type { Pause } from '@suzumio/contract/model/pause';
import type { CatalogDatabase } from '../sqlite/catalog-database.js';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import { type IdempotencyKey } from '../sqlite/once.js';

/** The pause of the whole cell: while it lasts, no project starts turns, and workers get none. */
export class CellPause {
  constructor(private readonly db: CatalogDatabase) {}

  /** The present pause, if any. */
  get current(): Pause | null {
    return readCellPause(this.db.reader);
  }

  /** Pauses the cell. Pausing again replaces the reason. */
  async begin(actor: string, reason: string | undefined, key?: IdempotencyKey): Promise<Pause> {
    return this.db.writeOnce(key, (tx) => {
      const pause = { by: actor, at: iso(tx.nowMs), reason: reason ?? null };
      tx.run(
        `INSERT INTO cell_pause (id, pause_json) VALUES (1, :pause) ON CONFLICT (id) DO UPDATE SET pause_json = :pause`,
        { pause: JSON.stringify(pause) },
      );
      return pause;
    });
  }

  /** Resumes the cell. Projects and agents that were paused on their own stay paused. */
  async end(key?: IdempotencyKey): Promise<void> {
    await this.db.writeOnce(key, (tx) => {
      tx.run('DELETE FROM cell_pause');
      return null;
    });
  }
}

export function readCellPause(reader: SqlReader): Pause | null {
  const row = reader.get<{ pause_json: string }>('SELECT pause_json FROM cell_pause');
  return row ? (JSON.parse(row.pause_json) as Pause) : null;
}
