import { setTimeout as sleep } from 'node:timers/promises';
import {
  type AttemptRef,
  type ClaimAnswer,
  type ClaimRequest,
  maxGoneProjects,
  type ProjectRef,
} from '@suzumio/protocol/attempts';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { TurnJob } from '@suzumio/protocol/turn-job';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Cell, Cells } from '../toolhost/cells.js';
import { newClaimId, whileUnavailable } from '../toolhost/toolhost-client.js';
import type { AttemptState } from './attempt-states.js';
import { Attempt } from './attempt.js';
import type { GrantedTurn } from './granted-turn.js';
import type { Host } from './host.js';
import { measureMounts } from './measure-mounts.js';
import type { StopSwitch } from './stop-switch.js';
import { Stopwatch } from './stopwatch.js';
import type { WorkerContext } from './worker-context.js';

interface Running {
  ref: AttemptRef;
  stop: StopSwitch;
  /** Never rejects. */
  done: Promise<void>;
}

/** Refusals of a claim for a turn that no longer exists: its project was deleted, and its name may be another's. */
const deleted: ReadonlySet<string> = new Set<ErrorCode>(['project-unknown', 'turn-unknown']);

/** How long killing and reporting may take after a shutdown's grace period. */
const lastWordsMs = 8_000;

/** Runs jobs: claims each turn and runs its attempt, one attempt of an agent at a time. */
export class AttemptRunner {
  readonly #jobs = new Set<Promise<void>>();
  /** By agent: the attempt that has its workspace, or is next to have it. */
  readonly #running = new Map<string, Running>();
  /** Every attempt that may still have something running. */
  readonly #active = new Set<AttemptRef>();

  constructor(
    private readonly cells: Cells,
    private readonly host: Host,
    private readonly context: WorkerContext,
  ) {
    context.metrics?.attemptsRunning.set(0);
  }

  /** How many jobs run. */
  get busy(): number {
    return this.#jobs.size;
  }

  /** Resolves once the job is finished, successfully or not. */
  async run(job: TurnJob): Promise<void> {
    const logger = this.context.logger.child({ cell: job.cell, project: job.project, turn: job.turn });
    const cell = this.cells.get(job.cell);
    if (cell === undefined) {
      logger.warn('dropped a job of a cell that this worker does not serve');
      this.context.metrics?.turnJobsTaken.inc({ outcome: 'refused' });
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
   * Those of `projects` that were deleted, and that have nothing running here.
   *
   * @throws HttpUnavailable, HttpRefusal from the ToolHost
   */
  async gone(projects: readonly ProjectRef[]): Promise<ProjectRef[]> {
    const { cells } = this;
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
   * Lets attempts run on for `graceMs`, or until `hurry`, then kills and reports them; called when `stopping` is aborted.
   * Resolves when nothing runs any more, within a bound.
   */
  async close(graceMs: number, hurry?: AbortSignal): Promise<void> {
    if (this.#jobs.size > 0) {
      const over = new AbortController();
      const all = Promise.all(this.#jobs);
      const pause = (ms: number) => sleep(ms, undefined, { signal: over.signal }).catch(() => undefined);
      const grace = AbortSignal.any([over.signal, ...(hurry ? [hurry] : [])]);
      await Promise.race([all, sleep(graceMs, undefined, { signal: grace }).catch(() => undefined)]);
      for (const { stop } of this.#running.values()) stop.stop('shutdown');
      await Promise.race([all, pause(lastWordsMs)]);
      over.abort();
    }
  }

  async #take(job: TurnJob, cell: Cell, logger: Logger): Promise<void> {
    const { states, metrics, now } = this.context;
    const stopwatch = new Stopwatch(now);
    const state: AttemptState = { claimId: newClaimId(), cell: job.cell, project: job.project, turn: job.turn };
    const sentAtMs = now();
    await states.write(state);
    try {
      const claim = await this.#claim(job, cell, state.claimId, logger);
      metrics?.turnJobsTaken.inc({ outcome: typeof claim === 'string' ? claim : 'claimed' });
      if (typeof claim === 'string') return;
      stopwatch.lap('claimed');
      const agent = claim.input.agent.id;
      const { epoch, attempt } = claim;
      const ref = { cell: job.cell, project: job.project, epoch, agent, turn: job.turn, attempt };
      await this.#runAlone(cell, {
        ref,
        claim,
        state: { ...state, granted: { ref, leaseToken: claim.leaseToken } },
        sentAtMs,
        stopwatch,
        logger: logger.child({ agent, attempt }),
      });
    } finally {
      await states.remove(state.claimId);
    }
  }

  async #claim(job: TurnJob, cell: Cell, claimId: string, logger: Logger): Promise<ClaimAnswer | 'refused' | 'failed'> {
    const { worker, stopping } = this.context;
    const engine = Object.values(this.host.engines)[0]?.name ?? worker;
    const ask = (mounts: ClaimRequest['mounts']) =>
      retry(() => this.cells.ask(cell, () => cell.toolhost.claim(job, { claimId, engine, mounts })), {
        ...whileUnavailable,
        patienceMs: this.host.limits.claimPatienceMs,
        signal: stopping,
      });
    try {
      let answer = await ask('unmeasured');
      if ('measure' in answer) answer = await ask(await measureMounts(this.host, job, answer.measure));
      if ('measure' in answer) throw new Error('the ToolHost asks again for sizes that it was told');
      return answer;
    } catch (error) {
      if (error instanceof HttpRefusal && (error.status === 409 || deleted.has(error.code))) {
        logger.debug({ code: error.code }, 'dropped a job whose turn cannot run now');
        return 'refused';
      }
      logger.warn({ err: error }, 'a turn could not be claimed');
      return 'failed';
    }
  }

  /** Runs an attempt once no other of its agent runs. The latest one supersedes the others. */
  async #runAlone(cell: Cell, turn: GrantedTurn): Promise<void> {
    const { states, metrics, stopping, onCancelled } = this.context;
    const { ref, logger } = turn;
    const key = [ref.cell, ref.project, ref.agent].join('/');
    const earlier = this.#running.get(key);
    if (earlier?.ref.turn === ref.turn && earlier.ref.attempt >= ref.attempt) {
      logger.info('dropped a superseded attempt');
      return;
    }
    const attempt = new Attempt(turn, cell, this.host, this.context);
    const { stop } = attempt;
    if (stopping.aborted) stop.stop('shutdown');
    earlier?.stop.stop('superseded');
    await states.write(turn.state).catch((error: unknown) => {
      // The attempt runs all the same; without the record it only goes unnoticed if this process dies.
      logger.warn({ err: error }, 'the record of a claim could not be written');
    });
    const work = (async () => {
      await earlier?.done;
      await attempt.run();
    })();
    const running: Running = { ref, stop, done: work.catch(() => undefined) };
    this.#running.set(key, running);
    this.#active.add(ref);
    metrics?.attemptsRunning.inc();
    try {
      await work;
    } finally {
      metrics?.attemptsRunning.dec();
      if (this.#running.get(key) === running) this.#running.delete(key);
      this.#active.delete(ref);
      if (stop.reason === 'cancelled') onCancelled();
    }
  }
}

function isOf(attempt: AttemptRef, { cell, project, epoch }: ProjectRef): boolean {
  return attempt.cell === cell && attempt.project === project && attempt.epoch === epoch;
}
