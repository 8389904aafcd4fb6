import type { ToldByRunner } from '@suzumio/protocol/failure-codes';
import { doorAwayExitCode } from '@suzumio/protocol/door';

/** The exit codes of the runner and of the shim, beyond those that a script asks for. */
export const exitCodes = {
  done: 0,
  /** The turn failed: a step failed, a tool refused, the script is wrong. */
  turnFailed: 1,
  /** The shim was started without a command. */
  usage: 64,
  /** `input.json` is missing, is no valid input, or is of a newer protocol. */
  inputInvalid: 65,
  /** A defect of the runner itself. */
  internal: 70,
  /** The door did not answer for as long as the input's limits allow. */
  doorAway: doorAwayExitCode,
  /** The input requests a mode that this runner does not support. */
  notSupported: 78,
} as const;

/** The turn cannot continue: a sentence for the log, and the exit code. */
export class TurnFailure extends Error {
  override readonly name = 'TurnFailure';

  constructor(
    message: string,
    readonly exitCode: number = exitCodes.turnFailed,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

/** The turn cannot continue, for a reason with a code of its own, which is written to `output.json`. */
export class ToldFailure extends TurnFailure {
  constructor(
    readonly code: ToldByRunner,
    message: string,
  ) {
    super(message);
  }
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
