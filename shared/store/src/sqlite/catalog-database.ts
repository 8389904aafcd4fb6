import type { StoreContext } from './context.js';
import { answeredBefore, type IdempotencyKey, once } from './once.js';
import type { Sql, SqlReader } from './sql.js';
import type { Json, Tx } from './tx.js';
import { Writer } from './writer.js';

/** One transaction on the catalog, committed or rolled back as a whole. */
export type CatalogTx = SqlReader & Pick<Tx, 'nowMs' | 'newId' | 'run'>;

/** The catalog's database: reads at any time, writes through {@link write}, as a project's. */
export class CatalogDatabase {
  readonly #writer: Writer;

  /** @param begin runs first in each transaction */
  constructor(
    private readonly sql: Sql,
    private readonly context: StoreContext,
    begin: () => void,
  ) {
    this.#writer = new Writer(sql, { random: context.random, begin });
  }

  get file(): string {
    return this.sql.file;
  }

  get nowMs(): number {
    return this.context.now();
  }

  /** Reads outside transactions see the last commit. */
  get reader(): SqlReader {
    return this.sql;
  }

  /**
   * Runs one transaction, answered after its commit.
   *
   * @throws what `verb` throws; SuzumioError `store-busy`, `schema-newer`
   */
  write<Result>(verb: (tx: CatalogTx) => Result): Promise<Result> {
    return this.#writer.write(() => verb(this.#tx()));
  }

  /**
   * Like {@link write}, once for a key: a repeated request gets the recorded answer.
   *
   * @throws SuzumioError `idempotency-mismatch` when the key came with another body before
   */
  writeOnce<Answer extends Json>(key: IdempotencyKey | undefined, verb: (tx: CatalogTx) => Answer): Promise<Answer> {
    return this.write((tx) => once(tx, key, () => verb(tx)));
  }

  /**
   * The recorded answer to an earlier request with this key.
   *
   * @throws SuzumioError `idempotency-mismatch` when its key came with another body then
   */
  answeredBefore<Answer extends Json>(key: IdempotencyKey): Answer | undefined {
    return answeredBefore<Answer>(this.#tx(), key);
  }

  /** Waits for running transactions, then closes the file. */
  async close(): Promise<void> {
    await this.#writer.idle();
    this.sql.close();
  }

  #tx(): CatalogTx {
    const { sql, context } = this;
    return {
      nowMs: context.now(),
      newId: (prefix) => context.id(prefix),
      get: (statement, params) => sql.get(statement, params),
      all: (statement, params) => sql.all(statement, params),
      run: (statement, params) => sql.run(statement, params),
    };
  }
}
