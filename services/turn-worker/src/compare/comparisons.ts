import { randomBytes } from 'node:crypto';
import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import type { ComparisonOutcome, ComparisonRefusal, RepositoryDiffJob } from '@suzumio/protocol/repository-diff';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Host } from '../attempt/host.js';
import type { Cells } from '../toolhost/cells.js';
import { whileUnavailable } from '../toolhost/toolhost-client.js';
import { compareInSandbox } from './compare-in-sandbox.js';

export interface ComparisonsOptions {
  cells: Cells;
  host: Host;
  /** What the sandbox is made of. */
  image: string;
  logger: Logger;
  /** Aborted when this worker stops. */
  stopping: AbortSignal;
  /** From when a comparison is taken. */
  timeoutMs: number;
}

/** How long handing in what came of a comparison is tried: afterwards the ToolHost has given it up. */
const endPatienceMs = 20_000;
/** The same while this worker stops. */
const lastWordsMs = 3_000;

/** Compares commits of shared repositories, beside turns, one comparison at a time. */
export class Comparisons {
  #running: Promise<void> = Promise.resolve();

  constructor(private readonly options: ComparisonsOptions) {}

  /** Resolves once the job is done. Never rejects. */
  run(job: RepositoryDiffJob): Promise<void> {
    const logger = this.options.logger.child({ cell: job.cell, project: job.project, diff: job.diff });
    const done = this.#running.then(() =>
      this.#take(job, logger).catch((error: unknown) => logger.warn({ err: error }, 'commits could not be compared')),
    );
    return (this.#running = done);
  }

  /** Resolves once none runs; called when `stopping` is aborted. */
  async close(): Promise<void> {
    await this.#running;
  }

  async #take(job: RepositoryDiffJob, logger: Logger): Promise<void> {
    const { cells, stopping } = this.options;
    const cell = cells.get(job.cell);
    if (cell === undefined || stopping.aborted) return;
    const client = cell.toolhost.comparison(job, randomBytes(16).toString('hex'));
    const { timeoutMs } = this.options;
    const late = AbortSignal.timeout(timeoutMs);
    const signal = AbortSignal.any([stopping, late]);
    let granted: Awaited<ReturnType<typeof client.claim>>;
    try {
      granted = await cells.ask(cell, () =>
        retry(() => client.claim(), { ...whileUnavailable, patienceMs: timeoutMs, signal }),
      );
    } catch (error) {
      if (!(error instanceof HttpRefusal)) throw error;
      logger.debug({ code: error.code }, 'dropped a comparison that nobody waits for');
      return;
    }
    const startedAtMs = performance.now();
    const outcome = await compareInSandbox(job, granted, { ...this.options, client, signal, logger }).catch(
      (error: unknown): ComparisonOutcome => {
        logger.warn({ err: error }, 'commits could not be compared');
        return { refused: refusalOf(error, { late, stopping, timeoutMs }) };
      },
    );
    const refused = 'refused' in outcome ? outcome.refused.code : undefined;
    logger.info({ refused, tookMs: Math.round(performance.now() - startedAtMs) }, 'commits were compared');
    const patienceMs = this.options.stopping.aborted ? lastWordsMs : endPatienceMs;
    await retry(() => client.end(outcome), { ...whileUnavailable, patienceMs });
  }
}

function refusalOf(
  error: unknown,
  { late, stopping, timeoutMs }: { late: AbortSignal; stopping: AbortSignal; timeoutMs: number },
): ComparisonRefusal {
  if (stopping.aborted) {
    return { code: 'git-diff-failed', message: 'The worker that compared them was stopped: ask again.' };
  }
  if (late.aborted) {
    const seconds = String(Math.round(timeoutMs / 1000));
    return { code: 'git-diff-too-slow', message: `Comparing them took longer than ${seconds} s, and was ended.` };
  }
  return { code: 'git-diff-failed', message: messageOf(error).slice(0, 1_500) };
}
