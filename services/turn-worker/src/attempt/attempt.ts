import type { AttemptStats } from '@suzumio/protocol/attempts';
import type { Failure, FailureCode } from '@suzumio/protocol/failure-codes';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { Lease } from '@suzumio/protocol/lease';
import { LiveReports } from '../door/live-reports.js';
import { SandboxSteps } from '../door/sandbox-steps.js';
import { failureOf } from '../engine/attempt-failure.js';
import type { Sandbox, TurnEngine } from '../engine/turn-engine.js';
import type { Cell } from '../toolhost/cells.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import type { Lacking } from './agent-workspace.js';
import { conclude } from './conclude.js';
import { type GrantedTurn, placeOf } from './granted-turn.js';
import type { Host } from './host.js';
import { LiveCaptures } from './live-captures.js';
import { openDoor } from './open-door.js';
import { type Prepared, prepareAttempt } from './prepare-attempt.js';
import { type Outcome, report, type Reported } from './report.js';
import { runnerInput } from './runner-input.js';
import { startSandbox } from './start-sandbox.js';
import { StopSwitch } from './stop-switch.js';
import type { TurnDirectory } from './turn-directory.js';
import { type Watched, watchSandbox } from './watch-sandbox.js';
import type { WorkerContext } from './worker-context.js';

/** Refusals that mean that the attempt is over; any other means a wrong request. */
const over = new Set([401, 403, 404, 409, 410]);

/** Failures that any turn would meet on this host. Other failures to start may be the project's. */
const ofThisHost: ReadonlySet<FailureCode> = new Set(['engine-unreachable', 'disk-full']);

const shutDown: Failure = { code: 'worker-shutdown', message: 'The worker was shut down before the turn had ended.' };

/**
 * One attempt, from a granted claim to its report: lease, workspace, input, door, sandbox, end, output, snapshot. When
 * `run` resolves nothing of it runs any more, unless the engine could not be made to kill it.
 */
export class Attempt {
  readonly stop = new StopSwitch();
  readonly #client: AttemptClient;
  readonly #lease: Lease;
  readonly #live: LiveReports;
  #directory: TurnDirectory | undefined;
  #sandbox: Sandbox | undefined;
  /** Its first steps may come before it is known here. */
  readonly #started = Promise.withResolvers<Sandbox>();
  #watched: Watched | undefined;
  /** What the newest capture of its workspace lacks. */
  #lacks: Lacking = {};

  constructor(
    private readonly turn: GrantedTurn,
    private readonly cell: Cell,
    private readonly host: Host,
    private readonly context: WorkerContext,
  ) {
    this.#client = cell.toolhost.attempt(turn.ref, turn.claim.leaseToken);
    this.#live = new LiveReports((report) => this.#client.live(report));
    this.#lease = this.#newLease();
  }

  /** Runs the attempt under its lease, and reports the outcome. */
  async run(): Promise<void> {
    this.#lease.start();
    let outcome: Outcome = { kind: 'abandoned' };
    let reported: Reported = 'none';
    try {
      outcome = await this.#outcome();
      reported = await report(outcome, this.#stats(), {
        client: this.#client,
        stop: this.stop,
        logger: this.turn.logger,
      });
    } finally {
      await this.#lease.stop();
      // Where the ToolHost ended the attempt, for instance to wait for a provider, its container has nothing to show.
      const failed = outcome.kind !== 'completed' && this.stop.reason !== 'cancelled' && reported !== 'over';
      this.#sandbox?.release(failed ? 'failed' : 'completed');
      // A sandbox that could not be killed may still write there; the worker's next start removes it.
      if (this.#sandbox === undefined || this.#watched !== undefined) await this.#directory?.remove();
    }
    this.turn.stopwatch.lap('reported');
    this.#tell(outcome);
  }

  async #outcome(): Promise<Outcome> {
    const { stop } = this;
    const { backend } = this.turn.claim;
    const engine = this.host.engines[backend];
    if (!engine) return notEnabled(backend);
    try {
      const outcome = await this.#carryOut(engine);
      return stop.abandoned.aborted ? { kind: 'abandoned' } : outcome;
    } catch (error) {
      if (stop.abandoned.aborted) return { kind: 'abandoned' };
      if (stop.reason === 'shutdown') return { kind: 'failed', failure: shutDown };
      return { kind: 'failed', failure: failureOf(error, this.#sandbox !== undefined) };
    }
  }

  async #carryOut(engine: TurnEngine): Promise<Outcome> {
    const { turn, host, context, stop } = this;
    const { stopwatch } = turn;
    const prepared = await prepareAttempt(engine, {
      turn,
      place: placeOf(turn),
      host,
      client: this.#client,
      stop,
      requireLease: () => this.#requireLease(),
    });
    this.#directory = prepared.directory;
    const captures = this.#liveCaptures(prepared);
    const { door, at } = await this.#openDoor(prepared, new SandboxSteps(captures));
    try {
      const input = runnerInput(prepared, at, turn);
      await prepared.directory.writeInput(input);
      stopwatch.lap('prepared');
      this.#requireLease();
      this.#sandbox = await startSandbox(prepared, input, {
        turn,
        host,
        states: context.states,
        onConnection: (connection) => door.serve(connection),
      });
      this.#started.resolve(this.#sandbox);
      this.#watched = await this.#watch(prepared, this.#sandbox);
      stopwatch.lap('ran');
    } finally {
      await door.close();
      await captures.close();
      this.#lacks = { leftOut: captures.leftOut };
    }
    if (stop.abandoned.aborted) return { kind: 'abandoned' };
    const watched = { ...this.#watched, captureFailure: captures.failure };
    const outcome = await conclude(prepared, this.#sandbox, watched, {
      turn,
      client: this.#client,
      stop,
      limits: host.limits,
      stopping: context.stopping,
    });
    if ('lacks' in outcome) this.#lacks = outcome.lacks;
    return outcome;
  }

  #liveCaptures({ workspace }: Prepared): LiveCaptures {
    const { stop, host } = this;
    const { metrics, now } = this.context;
    const { captureMs } = host.limits;
    const { logger } = this.turn;
    return new LiveCaptures({
      workspace,
      whileReadable: async (work) => (await this.#started.promise).whileReadable(work),
      client: this.#client,
      stop,
      captureMs,
      logger,
      metrics,
      now,
    });
  }

  #openDoor({ sandbox, workspace, directory }: Prepared, steps: SandboxSteps): ReturnType<typeof openDoor> {
    const { claim, logger } = this.turn;
    const { runnerUrl, toRunners } = this.cell;
    return openDoor(sandbox, {
      runnerUrl,
      exchange: toRunners.exchange,
      steps,
      live: this.#live,
      onRefused: (code) => this.context.metrics?.requestsRefused.inc({ code }),
      beforeWrites: () => workspace.expectWrites(),
      token: claim.toolToken,
      logger,
      socket: directory.socket,
      relayPorts: this.host.relayPorts,
      workspace: workspace.directory,
      tools: claim.input.tools,
      client: this.#client,
    });
  }

  #watch({ sandbox: prepared, workspace, home, directory }: Prepared, sandbox: Sandbox): Promise<Watched> {
    const { limits, disk } = this.host;
    const { input } = this.turn.claim;
    return watchSandbox({
      sandbox,
      directory,
      workspace,
      home,
      disk,
      stop: this.stop,
      canMend: prepared.announcesWrites && input.sandbox !== undefined && input.runner.mode === 'ai',
      timeoutMs: this.turn.claim.timeoutMs,
      limits,
      ofHome: this.host.policyOf(this.turn.ref).ceilings,
      now: this.context.now,
    });
  }

  #newLease(): Lease {
    const { claim, sentAtMs, logger } = this.turn;
    const { limits } = this.host;
    return new Lease({
      heartbeat: async (timeoutMs, signal) => {
        const answer = await this.#client.heartbeat(timeoutMs, signal);
        this.#live.isFollowed = answer.followed === true;
        return answer;
      },
      sentAtMs,
      leaseMs: claim.leaseMs,
      heartbeatMs: limits.heartbeatMs,
      // A short lease keeps most of its duration.
      marginMs: Math.min(limits.fenceMarginMs, claim.leaseMs / 4),
      now: this.context.now,
      isOver: (error) => error instanceof HttpRefusal && over.has(error.status),
      onMissed: (error) => logger.warn({ err: error }, 'a heartbeat failed'),
      onLost: (reason) => this.stop.stop(reason),
    });
  }

  /** Throws unless this worker still owns the attempt. */
  #requireLease(): void {
    if (!this.#lease.held) this.stop.stop('fenced');
    this.stop.stopped.throwIfAborted();
  }

  #stats(): AttemptStats {
    const end = this.#watched?.end;
    return {
      stagesMs: this.turn.stopwatch.stagesMs,
      ...this.#lacks,
      ...(this.#sandbox ? { container: this.#sandbox.id.slice(0, 100) } : {}),
      ...(end === undefined || end.vanished ? {} : { exitCode: end.exitCode }),
    };
  }

  #tell(outcome: Outcome): void {
    const { metrics, now, onSuspect } = this.context;
    const { stopwatch, logger, sentAtMs } = this.turn;
    const { stagesMs } = stopwatch;
    for (const [stage, tookMs] of Object.entries(stagesMs)) metrics?.stageDuration.observeMs({ stage }, tookMs);
    metrics?.stageDuration.observeMs({ stage: 'total' }, now() - sentAtMs);
    const stopped = this.stop.reason;
    if (stopped) metrics?.attemptsStopped.inc({ reason: stopped });
    const failure = outcome.kind === 'failed' ? outcome.failure : undefined;
    logger.info({ outcome: outcome.kind, code: failure?.code, stopped, stagesMs }, 'an attempt has ended');
    if (failure && ofThisHost.has(failure.code)) onSuspect();
  }
}

function notEnabled(backend: string): Outcome {
  const message = `This worker's policy does not allow what the turn asks for: backend: turns may not run in ${backend} (policy: backends).`;
  return { kind: 'failed', failure: { code: 'policy-denied', message } };
}
