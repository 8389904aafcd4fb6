import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { isBusy, type Sql } from './sql.js';

/** Hooks and limits of a writer. */
export interface WriterOptions {
  /** Runs inside the transaction, before the first job; throws to refuse the batch. */
  begin?: () => void;
  /** Runs inside the transaction, after the last job. */
  finish?: () => void;
  /** Runs after each commit. */
  committed?: () => void;
  random: () => number;
  /** How long a batch waits for other writers, in milliseconds. */
  patienceMs?: number;
  /** Called after each transaction with its outcome and its duration since it asked for the lock. */
  observe?: (outcome: TransactionOutcome, durationMs: number) => void;
  /**
   * Called with what `committed` or `observe` threw. The transaction's outcome stands, and its verbs are answered.
   * @default thrown again where nothing catches it, which ends the process
   */
  hookFailed?: (error: unknown) => void;
}

/**
 * - `rolled-back`: nothing was kept; where one verb of a batch failed and the others were kept, it is `committed`
 * - `busy`: other writers held the database for too long
 */
export type TransactionOutcome = 'committed' | 'rolled-back' | 'busy';

interface Job {
  run: () => unknown;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

const maxBatch = 64;

/**
 * Runs writing verbs as immediate transactions. Verbs that arrive together share one transaction, each in a savepoint
 * of its own, so that a busy project pays for one `fsync` rather than for one each; none is answered before the commit.
 *
 * A deferred transaction that reads and then writes fails at once under other writers, whatever the busy timeout says;
 * so every transaction here takes the write lock first, and waits for it asynchronously.
 */
export class Writer {
  #queue: Job[] = [];
  #flushing = false;
  #idle: (() => void)[] = [];

  constructor(
    private readonly sql: Sql,
    private readonly options: WriterOptions,
  ) {}

  /**
   * Runs `verb` in a transaction and answers after its commit.
   *
   * @throws whatever `verb` throws (its changes are undone); SuzumioError `store-busy` when other writers held the
   *   database for too long.
   */
  write<Result>(verb: () => Result): Promise<Result> {
    return new Promise<Result>((resolve, reject) => {
      this.#queue.push({ run: verb, resolve: resolve as (value: unknown) => void, reject });
      if (!this.#flushing) {
        this.#flushing = true;
        setImmediate(() => this.#flush(performance.now()));
      }
    });
  }

  /** Resolves when no job is pending. */
  async idle(): Promise<void> {
    if (this.#flushing) await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #flush(askedMs: number): void {
    const batch = this.#queue.splice(0, maxBatch);
    try {
      this.sql.run('BEGIN IMMEDIATE');
    } catch (error) {
      this.#refused(batch, error, askedMs);
      return;
    }
    this.#commit(batch, askedMs);
    this.#next();
  }

  #refused(batch: Job[], error: unknown, askedMs: number): void {
    if (isBusy(error) && performance.now() < askedMs + (this.options.patienceMs ?? 5000)) {
      this.#queue.unshift(...batch);
      setTimeout(() => this.#flush(askedMs), 5 + this.options.random() * 45);
      return;
    }
    this.#observe(isBusy(error) ? 'busy' : 'rolled-back', askedMs);
    const answer = isBusy(error)
      ? new SuzumioError(
          'store-busy',
          `${this.sql.file} was being written by others for ${String((this.options.patienceMs ?? 5000) / 1000)} s; try again.`,
          { file: this.sql.file },
          { cause: error },
        )
      : error;
    for (const job of batch) job.reject(answer);
    this.#next();
  }

  #commit(batch: Job[], askedMs: number): void {
    const settled: (() => void)[] = [];
    try {
      this.options.begin?.();
      // A single job needs no savepoint: if it fails there is nothing else to commit.
      const [only] = batch;
      if (only && batch.length === 1) settled.push(runAlone(only));
      else for (const job of batch) settled.push(this.#inSavepoint(job));
      this.options.finish?.();
      this.sql.run('COMMIT');
    } catch (error) {
      if (this.sql.handle.inTransaction) this.sql.run('ROLLBACK');
      this.#observe('rolled-back', askedMs);
      for (const job of batch) job.reject(error);
      return;
    }
    this.#observe('committed', askedMs);
    this.#hook(() => this.options.committed?.());
    for (const settle of settled) settle();
  }

  #inSavepoint(job: Job): () => void {
    this.sql.run('SAVEPOINT verb');
    try {
      const value = job.run();
      this.sql.run('RELEASE verb');
      return () => job.resolve(value);
    } catch (error) {
      // A full disk or an I/O error has ended the whole transaction: nothing of this batch may be reported as done.
      if (!this.sql.handle.inTransaction) throw error;
      this.sql.run('ROLLBACK TO verb');
      this.sql.run('RELEASE verb');
      return () => job.reject(error);
    }
  }

  #observe(outcome: TransactionOutcome, askedMs: number): void {
    this.#hook(() => this.options.observe?.(outcome, performance.now() - askedMs));
  }

  #hook(call: () => void): void {
    try {
      call();
    } catch (error) {
      const { hookFailed = uncaught } = this.options;
      hookFailed(error);
    }
  }

  #next(): void {
    if (this.#queue.length > 0) {
      setImmediate(() => this.#flush(performance.now()));
      return;
    }
    this.#flushing = false;
    for (const resolve of this.#idle.splice(0)) resolve();
  }
}

function uncaught(error: unknown): void {
  setImmediate(() => {
    throw error;
  });
}

function runAlone(job: Job): () => void {
  const value = job.run();
  return () => job.resolve(value);
}
