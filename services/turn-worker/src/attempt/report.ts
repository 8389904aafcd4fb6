import type { AttemptStats, CompleteRequest } from '@suzumio/protocol/attempts';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import type { TurnOutput } from '@suzumio/protocol/runner';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { type AttemptClient, whileUnavailable } from '../toolhost/toolhost-client.js';
import type { Kept } from './agent-workspace.js';
import type { StopSwitch } from './stop-switch.js';

export type Outcome =
  | ({ kind: 'completed'; output: TurnOutput } & Kept)
  | { kind: 'failed'; failure: Failure }
  | { kind: 'abandoned' };

/** The ToolHost's answer to a report; `over` where it had ended the attempt before, `none` where none came in time. */
export type Reported = 'taken' | 'over' | 'rejected' | 'none';

/** Reports are retried as long as the attempt is this worker's; a shutdown does not wait for that. */
const patienceMs = 3_600_000;
const shutdownPatienceMs = 5_000;

/** Reports an outcome, unless the attempt was abandoned. */
export async function report(
  outcome: Outcome,
  stats: AttemptStats,
  { client, stop, logger }: { client: AttemptClient; stop: StopSwitch; logger: Logger },
): Promise<Reported> {
  if (outcome.kind === 'abandoned') return 'none';
  const send = (said: Exclude<Outcome, { kind: 'abandoned' }>) =>
    retry(
      () =>
        said.kind === 'completed'
          ? client.complete(completionOf(said, stats))
          : client.fail({ failure: said.failure, stats }),
      {
        ...whileUnavailable,
        patienceMs: stop.reason === 'shutdown' ? shutdownPatienceMs : patienceMs,
        signal: stop.abandoned,
      },
    );
  try {
    await send(outcome);
    return 'taken';
  } catch (error) {
    if (error instanceof HttpRefusal && error.code === 'attempt-over') {
      logger.debug({ outcome: outcome.kind }, 'the ToolHost had ended an attempt before it was reported');
      return 'over';
    }
    if (stop.abandoned.aborted) {
      // Its report may be why: it was recorded, and its answer came too late.
      logger.info({ outcome: outcome.kind }, 'an attempt was over before its report was answered');
      return 'none';
    }
    logger.warn({ err: error }, 'the ToolHost rejected the report of an attempt');
    // The attempt is not over, but the report is invalid: report a failure instead.
    if (error instanceof HttpRefusal && ![401, 404, 409].includes(error.status) && outcome.kind === 'completed') {
      const message = `The ToolHost refused the turn's outcome: ${error.message}`.slice(0, 2000);
      await send({ kind: 'failed', failure: { code: 'worker-lost', message } }).catch((again: unknown) =>
        logger.warn({ err: again }, 'the failure report was rejected, too'),
      );
    }
    return 'rejected';
  }
}

function completionOf(outcome: Outcome & { kind: 'completed' }, stats: AttemptStats): CompleteRequest {
  const { output } = outcome;
  return 'snapshot' in outcome
    ? { output, snapshot: outcome.snapshot, stats }
    : { output, unsaved: outcome.unsaved, stats };
}
