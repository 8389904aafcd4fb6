import type { Pause } from '@suzumio/contract/model/pause';
import type { StoreContext } from '../sqlite/context.js';
import { iso } from '../sqlite/page.js';
import type { Sql, SqlReader } from '../sqlite/sql.js';
import type { Json } from '../sqlite/tx.js';
import { type IdempotencyKey, keyedTx, once } from '../sqlite/once.js';
import type { Writer } from '../sqlite/writer.js';

/** The pause of the whole cell: while it lasts, no project starts turns, and none is given to a worker. */
export class CellPause {
  constructor(
    private readonly sql: Sql,
    private readonly writer: Writer,
    private readonly context: StoreContext,
  ) {}

  /** The pause that there is now. */
  get current(): Pause | null {
    return readCellPause(this.sql);
  }

  /** Pauses the cell; what is paused already is paused for the newer reason. */
  async begin(actor: string, reason: string | undefined, key?: IdempotencyKey): Promise<Pause> {
    return this.#once(key, (nowMs) => {
      const pause = { by: actor, at: iso(nowMs), reason: reason ?? null };
      this.sql.run(
        `INSERT INTO cell_pause (id, pause_json) VALUES (1, :pause) ON CONFLICT (id) DO UPDATE SET pause_json = :pause`,
        { pause: JSON.stringify(pause) },
      );
      return pause;
    });
  }

  /** Lets the cell go on. Projects and agents that were paused by themselves stay so. */
  async end(key?: IdempotencyKey): Promise<void> {
    await this.#once(key, () => {
      this.sql.run('DELETE FROM cell_pause');
      return null;
    });
  }

  #once<Answer extends Json>(key: IdempotencyKey | undefined, effect: (nowMs: number) => Answer): Promise<Answer> {
    return this.writer.write(() => {
      const nowMs = this.context.now();
      return once(keyedTx(this.sql, nowMs), key, () => effect(nowMs));
    });
  }
}

/** The cell's pause as a catalog says it. */
export function readCellPause(reader: SqlReader): Pause | null {
  const row = reader.get<{ pause_json: string }>('SELECT pause_json FROM cell_pause');
  return row ? (JSON.parse(row.pause_json) as Pause) : null;
}
