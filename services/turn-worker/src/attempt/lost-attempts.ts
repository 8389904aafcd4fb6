import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import type { Cells } from '../toolhost/cells.js';
import { whileUnavailable } from '../toolhost/toolhost-client.js';
import type { AttemptState, AttemptStates } from './attempt-states.js';

export interface LostAttemptsOptions {
  states: Pick<AttemptStates, 'remove'>;
  cells: Pick<Cells, 'get'>;
  /** How long an unanswered report is retried. The lease ends the attempt then. */
  patienceMs: number;
  /** Aborted when this worker stops: its next start continues. */
  stopping: AbortSignal;
  logger: Logger;
}

const failure = {
  code: 'worker-lost',
  message: 'The worker was ended while the turn ran; it has started again, and has killed what was left of the turn.',
} as const;

/**
 * Reports the attempts of this worker's previous process, so that their turns need not wait for their leases to expire.
 * Nothing of them may still run. A claim that is not known to be granted is left to its lease. Never rejects.
 */
export async function reportLostAttempts(left: readonly AttemptState[], options: LostAttemptsOptions): Promise<void> {
  await Promise.all(
    left.map((state) =>
      report(state, options).catch((error: unknown) =>
        options.logger.warn({ err: error, turn: state.turn }, 'a lost attempt could not be reported'),
      ),
    ),
  );
}

async function report({ claimId, granted }: AttemptState, options: LostAttemptsOptions): Promise<void> {
  const { states, cells, patienceMs, stopping, logger } = options;
  const cell = granted && cells.get(granted.ref.cell);
  if (cell) {
    const client = cell.toolhost.attempt(granted.ref, granted.leaseToken);
    try {
      await retry(() => client.fail({ failure }), { ...whileUnavailable, patienceMs, signal: stopping });
      logger.info(granted.ref, 'reported a lost attempt of the previous process');
    } catch (error) {
      if (stopping.aborted) return;
      // The attempt is over already.
      if (!(error instanceof HttpRefusal))
        logger.warn({ err: error, ...granted.ref }, 'a lost attempt was not reported');
    }
  }
  await states.remove(claimId);
}
