import type { AttemptRef, AttemptStats, ClaimAnswer } from '@suzumio/protocol/attempts';
import type { FailureCode } from '@suzumio/protocol/failure-codes';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import type { DoorOptions } from '../door/door.js';
import type { Sandbox, TurnEngine } from '../engine/turn-engine.js';
import { type AttemptClient, whileUnavailable } from '../toolhost/toolhost-client.js';
import { Attempt, type Outcome } from './attempt.js';
import type { AttemptState } from './attempt-states.js';
import { Lease } from './lease.js';
import type { StopSwitch } from './stop-switch.js';
import type { Stopwatch } from './stopwatch.js';
import type { WorkerParts } from './worker-parts.js';

export interface LeasedAttemptParts extends WorkerParts {
  ref: AttemptRef;
  claim: ClaimAnswer;
  client: AttemptClient;
  door: Pick<DoorOptions, 'runnerUrl' | 'exchange' | 'onRefused'>;
  state: AttemptState;
  /** When the claim was first sent. */
  sentAtMs: number;
  stop: StopSwitch;
  stopwatch: Stopwatch;
}

/** Reporting goes on for as long as the attempt is ours; a shutdown does not wait for that. */
const reportPatienceMs = 3_600_000;
const lastReportPatienceMs = 5_000;

/** Failures that any other turn would meet here as well. Whatever else keeps a turn from starting may be its project's. */
const ofThisHost: ReadonlySet<FailureCode> = new Set(['engine-unreachable', 'disk-full']);

/** An attempt with its lease around it: the lease is kept while it runs, and its outcome is reported under it. */
export class LeasedAttempt {
  /** Whether the ToolHost had ended it before its report came. */
  #overBefore = false;

  constructor(private readonly parts: LeasedAttemptParts) {}

  async run(): Promise<void> {
    const { config, claim, client, stop, stopwatch, sentAtMs, now, logger } = this.parts;
    const lease = new Lease({
      heartbeat: (timeoutMs, signal) => client.heartbeat(timeoutMs, signal),
      sentAtMs,
      leaseMs: claim.leaseMs,
      heartbeatMs: config.limits.heartbeatMs,
      // A short lease keeps most of its time.
      marginMs: Math.min(config.limits.fenceMarginMs, claim.leaseMs / 4),
      now,
      onMissed: (error) => logger.warn({ err: error }, 'a heartbeat failed'),
      onLost: (reason) => stop.stop(reason),
    });
    lease.start();
    const engine = this.parts.engines[claim.backend];
    const attempt = engine && this.#attempt(engine, lease);
    let outcome: Outcome = { kind: 'abandoned' };
    try {
      outcome = (await attempt?.run()) ?? notEnabled(claim.backend);
      const taken = await this.#report(outcome, attempt);
      if (taken && outcome.kind === 'completed') await attempt?.settle();
    } finally {
      await lease.stop();
      // Where the ToolHost ended the attempt, as when it waits for a provider, its container has nothing to show.
      const failed = outcome.kind !== 'completed' && stop.reason !== 'cancelled' && !this.#overBefore;
      attempt?.sandbox?.release(failed ? 'failed' : 'completed');
      await attempt?.cleanUp();
    }
    stopwatch.lap('reported');
    this.#tell(outcome);
  }

  #attempt(engine: TurnEngine, lease: Lease): Attempt {
    const { config, states, state, stop } = this.parts;
    return new Attempt({
      ...this.parts,
      engine,
      requireLease: () => {
        if (!lease.held) stop.stop('fenced');
        stop.stopped.throwIfAborted();
      },
      limits: config.limits,
      relayPorts: config.relay.ports,
      onStarted: (sandbox: Sandbox) => states.write({ ...state, sandbox: { engine: engine.name, id: sandbox.id } }),
    });
  }

  /** Whether the ToolHost has taken the report. */
  async #report(outcome: Outcome, attempt: Attempt | undefined): Promise<boolean> {
    const { client, stop, logger } = this.parts;
    if (outcome.kind === 'abandoned') return false;
    const { stopwatch } = this.parts;
    const stats: AttemptStats = {
      stagesMs: stopwatch.stagesMs,
      ...(attempt?.sandbox ? { container: attempt.sandbox.id.slice(0, 100) } : {}),
      ...(attempt?.exitCode === undefined ? {} : { exitCode: attempt.exitCode }),
    };
    const patienceMs = stop.reason === 'shutdown' ? lastReportPatienceMs : reportPatienceMs;
    const send = (report: Outcome & { kind: 'completed' | 'failed' }) =>
      retry(
        () =>
          report.kind === 'completed'
            ? client.complete({
                output: report.output,
                ...('snapshot' in report ? { snapshot: report.snapshot } : { unsaved: report.unsaved }),
                stats,
              })
            : client.fail({ failure: report.failure, stats }),
        { ...whileUnavailable, patienceMs, signal: stop.abandoned },
      );
    try {
      await send(outcome);
      return true;
    } catch (error) {
      if (error instanceof HttpRefusal && error.code === 'attempt-over') {
        this.#overBefore = true;
        logger.debug({ outcome: outcome.kind }, 'the ToolHost had ended an attempt before it was reported');
        return false;
      }
      logger.warn({ err: error }, 'the ToolHost did not take the report of an attempt');
      // It is not over, and yet what was reported is not acceptable: say at least that it ended.
      if (error instanceof HttpRefusal && ![401, 404, 409].includes(error.status) && outcome.kind === 'completed') {
        const message = `The ToolHost refused the turn's outcome: ${error.message}`.slice(0, 2000);
        await send({ kind: 'failed', failure: { code: 'worker-lost', message } }).catch((again: unknown) =>
          logger.warn({ err: again }, 'nor did it take that it failed'),
        );
      }
      return false;
    }
  }

  #tell(outcome: Outcome): void {
    const { stopwatch, metrics, logger, stop, now, sentAtMs, onSuspect } = this.parts;
    const { stagesMs } = stopwatch;
    for (const [stage, tookMs] of Object.entries(stagesMs)) metrics?.stageDuration.observeMs({ stage }, tookMs);
    metrics?.stageDuration.observeMs({ stage: 'total' }, now() - sentAtMs);
    if (stop.reason) metrics?.attemptsStopped.inc({ reason: stop.reason });
    const failure = outcome.kind === 'failed' ? outcome.failure : undefined;
    logger.info({ outcome: outcome.kind, code: failure?.code, stopped: stop.reason, stagesMs }, 'an attempt has ended');
    if (failure && ofThisHost.has(failure.code)) onSuspect();
  }
}

function notEnabled(backend: string): Outcome {
  const message = `This worker's policy does not allow what the turn asks for: backend: turns may not run in ${backend} (policy: backends).`;
  return { kind: 'failed', failure: { code: 'policy-denied', message } };
}
