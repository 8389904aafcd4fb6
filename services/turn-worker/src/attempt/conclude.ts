import { delay, retry } from '@suzumio/protocol/retry';
import { createRedactor } from '@suzumio/runtime/observability/redactor';
import type { WorkerLimits } from '../config.js';
import type { Disturbance, Sandbox } from '../engine/turn-engine.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import { captureSnapshot, contentRetry } from './agent-workspace.js';
import type { GrantedTurn } from './granted-turn.js';
import { type Ending, isSignalDeath, judgeEnding } from './judge-ending.js';
import type { Prepared } from './prepare-attempt.js';
import type { Outcome } from './report.js';
import type { StopSwitch } from './stop-switch.js';
import type { Watched } from './watch-sandbox.js';

export interface ConcludeOptions {
  turn: GrantedTurn;
  client: AttemptClient;
  stop: StopSwitch;
  limits: WorkerLimits;
  /** Aborted when this worker stops. */
  stopping: AbortSignal;
}

/** Judges how the sandbox ended, sends its log, and keeps the workspace of a completed turn. */
export async function conclude(
  { workspace, directory }: Prepared,
  sandbox: Sandbox,
  watched: Watched & Pick<Ending, 'captureFailure'>,
  options: ConcludeOptions,
): Promise<Outcome> {
  const { client, stop, limits, stopping } = options;
  const { claim, logger, stopwatch } = options.turn;
  const said = await sandbox.log().catch((error: unknown) => {
    // The turn counts even without its log.
    logger.warn({ err: error }, 'the log of a turn could not be read');
    return Buffer.alloc(0);
  });
  await waitForAftermath(sandbox, watched, options);
  const log = createRedactor([claim.toolToken, claim.leaseToken]).redact(said.toString('utf8'));
  const verdict = judgeEnding({
    ...watched,
    disturbed: sandbox.disturbed.aborted ? (sandbox.disturbed.reason as Disturbance) : undefined,
    stopping: stopping.aborted,
    output: await directory.readOutput(limits.maxOutputBytes),
    stopped: stop.reason,
    log,
    timeoutMs: claim.timeoutMs,
    memoryBytes: claim.sandbox.memoryBytes,
  });
  const logSent = sendLog(log, options).catch((error: unknown) =>
    logger.warn({ err: error }, 'the log of a turn could not be sent'),
  );
  try {
    if (verdict.kind === 'failed') return verdict;
    const kept = await captureSnapshot(workspace, limits.captureMs, { client, stop, logger });
    if (!('snapshot' in kept)) return { ...verdict, ...kept };
    // Before the report: once that is taken, the agent's next turn may write here.
    await workspace.settle(kept.snapshot).catch((error: unknown) => {
      // Without the record, the workspace is only read once more.
      logger.warn({ err: error }, 'the record of a workspace could not be written');
    });
    return { ...verdict, ...kept };
  } finally {
    await logSent;
    stopwatch.lap('captured');
  }
}

/** A host or engine that shuts down kills some turns first; a moment later it shows that this was the cause. */
async function waitForAftermath(
  { disturbed }: Sandbox,
  { end }: Watched,
  { turn, stop, limits, stopping }: ConcludeOptions,
): Promise<void> {
  if (stop.reason !== undefined || !isSignalDeath(end)) return;
  turn.logger.debug({ exitCode: end.exitCode }, 'a turn was ended by a signal');
  await delay(limits.aftermathMs, AbortSignal.any([disturbed, stopping, stop.stopped]));
}

async function sendLog(log: string, { client, stop, limits }: ConcludeOptions): Promise<void> {
  if (log === '') return;
  const bytes = Buffer.from(log).subarray(-limits.maxLogBytes);
  await retry(() => client.putLog(bytes), contentRetry(stop));
}
