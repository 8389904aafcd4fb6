import { setTimeout as sleep } from 'node:timers/promises';
import { type AttemptRef, type ClaimAnswer, maxGoneProjects, type ProjectRef } from '@suzumio/protocol/attempts';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { TurnJob } from '@suzumio/protocol/turn-job';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Cell } from '../toolhost/cells.js';
import type { RefusalCode } from '../door/door.js';
import { newClaimId, whileUnavailable } from '../toolhost/toolhost-client.js';
import type { AttemptState } from './attempt-states.js';
import { LeasedAttempt } from './leased-attempt.js';
import { StopSwitch } from './stop-switch.js';
import { Stopwatch } from './stopwatch.js';
import type { WorkerParts } from './worker-parts.js';

interface Running {
  ref: AttemptRef;
  stop: StopSwitch;
  /** Never rejects. */
  done: Promise<void>;
}

/** Why there is no turn to claim any more: its project was deleted, and another one may have its name. */
const deleted: ReadonlySet<string> = new Set<ErrorCode>(['project-unknown', 'turn-unknown']);

/** How long after the grace of a shutdown killing and reporting may take. */
const lastWordsMs = 8_000;

/** Takes jobs to their end: claims each turn and runs its attempt; one attempt of an agent at a time. */
export class AttemptRunner {
  readonly #jobs = new Set<Promise<void>>();
  /** By agent: the attempt that has its workspace now, or is next to have it. */
  readonly #running = new Map<string, Running>();
  /** Every attempt that something may still be running of. */
  readonly #active = new Set<AttemptRef>();

  constructor(private readonly parts: WorkerParts) {
    parts.metrics?.attemptsRunning.set(0);
  }

  /** Resolves when the job is done with, whatever came of it. */
  async run(job: TurnJob): Promise<void> {
    const logger = this.parts.logger.child({ cell: job.cell, project: job.project, turn: job.turn });
    const cell = this.parts.cells.get(job.cell);
    if (cell === undefined) {
      logger.warn('dropped a job of a cell that this worker does not serve');
      this.parts.metrics?.turnJobsTaken.inc({ outcome: 'refused' });
      return;
    }
    const done = this.#take(job, cell, logger).catch((error: unknown) =>
      logger.error({ err: error }, 'a job failed unexpectedly'),
    );
    this.#jobs.add(done);
    await done;
    this.#jobs.delete(done);
  }

  /**
   * Those of `projects` that were deleted, and of which nothing runs here any more.
   *
   * @throws HttpUnavailable, HttpRefusal when it cannot be asked
   */
  async gone(projects: readonly ProjectRef[]): Promise<ProjectRef[]> {
    const { cells } = this.parts;
    const gone: ProjectRef[] = [];
    for (const name of cells.open) {
      const cell = cells.get(name);
      const ours = cell ? projects.filter((project) => project.cell === name) : [];
      for (let at = 0; cell && at < ours.length; at += maxGoneProjects) {
        const part = ours.slice(at, at + maxGoneProjects).map(({ project, epoch }) => ({ project, epoch }));
        for (const { project, epoch } of await cell.toolhost.gone(part)) gone.push({ cell: name, project, epoch });
      }
    }
    return gone.filter((project) => ![...this.#active].some((active) => isOf(active, project)));
  }

  /**
   * Lets what runs go on for `graceMs`, then kills and reports it; called when `stopping` is aborted. Resolves when nothing
   * runs any more, within a bound.
   */
  async close(graceMs: number): Promise<void> {
    if (this.#jobs.size > 0) {
      const over = new AbortController();
      const all = Promise.all(this.#jobs);
      const pause = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
      await Promise.race([all, pause(graceMs)]);
      for (const { stop } of this.#running.values()) stop.stop('shutdown');
      await Promise.race([all, pause(lastWordsMs)]);
      over.abort();
    }
  }

  async #take(job: TurnJob, cell: Cell, logger: Logger): Promise<void> {
    const { states, metrics, now } = this.parts;
    const stopwatch = new Stopwatch(now);
    const state: AttemptState = { claimId: newClaimId(), cell: job.cell, project: job.project, turn: job.turn };
    const sentAtMs = now();
    await states.write(state);
    try {
      const claim = await this.#claim(job, cell, state.claimId, logger);
      metrics?.turnJobsTaken.inc({ outcome: typeof claim === 'string' ? claim : 'claimed' });
      if (typeof claim === 'string') return;
      stopwatch.lap('claimed');
      await this.#carryOut(job, cell, claim, { state, sentAtMs, stopwatch, logger });
    } finally {
      await states.remove(state.claimId);
    }
  }

  async #claim(job: TurnJob, cell: Cell, claimId: string, logger: Logger): Promise<ClaimAnswer | 'refused' | 'failed'> {
    const { cells, config, engines, worker, stopping } = this.parts;
    const engine = Object.values(engines)[0]?.name ?? worker;
    try {
      return await retry(() => cells.ask(cell, () => cell.toolhost.claim(job, claimId, engine)), {
        ...whileUnavailable,
        patienceMs: config.limits.claimPatienceMs,
        signal: stopping,
      });
    } catch (error) {
      if (error instanceof HttpRefusal && (error.status === 409 || deleted.has(error.code))) {
        logger.debug({ code: error.code }, 'a job was dropped: its turn is not to be run now');
        return 'refused';
      }
      logger.warn({ err: error }, 'a turn could not be claimed');
      return 'failed';
    }
  }

  async #carryOut(
    job: TurnJob,
    cell: Cell,
    claim: ClaimAnswer,
    parts: { state: AttemptState; sentAtMs: number; stopwatch: Stopwatch; logger: Logger },
  ): Promise<void> {
    const { attempt } = claim;
    const agent = claim.input.agent.id;
    const ref = { cell: job.cell, project: job.project, epoch: claim.epoch, agent, turn: job.turn, attempt };
    const key = [ref.cell, ref.project, ref.agent].join('/');
    const logger = parts.logger.child({ agent, attempt });
    const earlier = this.#running.get(key);
    if (earlier?.ref.turn === job.turn && earlier.ref.attempt >= attempt) {
      logger.info('dropped an attempt that a later one has replaced');
      return;
    }
    const stop = new StopSwitch();
    if (this.parts.stopping.aborted) stop.stop('shutdown');
    earlier?.stop.stop('superseded');
    const state: AttemptState = { ...parts.state, granted: { ref, leaseToken: claim.leaseToken } };
    await this.parts.states.write(state).catch((error: unknown) => {
      // It runs all the same; what is not written down only goes unnoticed if this process dies.
      logger.warn({ err: error }, 'a claim could not be written down');
    });
    const client = cell.toolhost.attempt(ref, claim.leaseToken);
    const door = {
      runnerUrl: cell.runnerUrl,
      exchange: cell.toRunners.exchange,
      onRefused: (code: RefusalCode) => this.parts.metrics?.requestsRefused.inc({ code }),
    };
    const leased = new LeasedAttempt({ ...this.parts, ...parts, state, ref, claim, client, door, stop, logger });
    const work = (async () => {
      await earlier?.done;
      await leased.run();
    })();
    const running: Running = { ref, stop, done: work.catch(() => undefined) };
    this.#running.set(key, running);
    this.#active.add(ref);
    this.parts.metrics?.attemptsRunning.inc();
    try {
      await work;
    } finally {
      this.parts.metrics?.attemptsRunning.dec();
      if (this.#running.get(key) === running) this.#running.delete(key);
      this.#active.delete(ref);
      if (stop.reason === 'cancelled') this.parts.onCancelled();
    }
  }
}

function isOf(attempt: AttemptRef, { cell, project, epoch }: ProjectRef): boolean {
  return attempt.cell === cell && attempt.project === project && attempt.epoch === epoch;
}
