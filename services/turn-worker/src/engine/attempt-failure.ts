import { messageOf } from '@suzumio/contract/errors/suzumio-error';
import { type Failure, failureCodes } from '@suzumio/protocol/failure-codes';
import { errnoOf } from '../files/errno.js';
import { WorkspaceTooLarge } from '../workspace/workspace-errors.js';

/** An attempt cannot continue; carries what is reported to the ToolHost. */
export class AttemptFailure extends Error {
  override readonly name = 'AttemptFailure';

  constructor(
    readonly code: Failure['code'],
    message: string,
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }
}

/** The failure to report for an error that ended an attempt. `started` says whether its sandbox had started. */
export function failureOf(error: unknown, started: boolean): Failure {
  const { code, message } = classify(error, started);
  return { code, message: withCauses(message, error).slice(0, 2000) };
}

function classify(error: unknown, started: boolean): Pick<Failure, 'code' | 'message'> {
  if (error instanceof WorkspaceTooLarge) return { code: 'workspace-too-large', message: error.message };
  // A failure that does not count before the start has cost an attempt after it.
  if (started && (!(error instanceof AttemptFailure) || failureCodes[error.code] === 'before-start')) {
    return { code: 'worker-lost', message: `The worker could not carry the turn to its end: ${messageOf(error)}` };
  }
  if (error instanceof AttemptFailure) return error;
  if (errnoOf(error) === 'ENOSPC') return { code: 'disk-full', message: "The worker's disk is full." };
  return { code: 'container-start-failed', message: `The worker could not start the turn: ${messageOf(error)}` };
}

function withCauses(message: string, error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  if (cause === undefined) return message;
  const said = messageOf(cause);
  return withCauses(message.includes(said) ? message : `${message} (${said})`, cause);
}
