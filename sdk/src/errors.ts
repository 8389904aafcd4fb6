/** What Suzumio refused, with its stable code, such as `recipient-unknown`. */
export class SuzumioError extends Error {
  override readonly name = 'SuzumioError';

  constructor(
    readonly code: string,
    message: string,
    /** The HTTP status. */
    readonly status: number,
  ) {
    super(message);
  }
}

/**
 * Thrown by your code when something that it needs is away for now: the turn is tried again, after 5 s at first and after
 * 15 minutes at most, for as long as the project file's `turn.providerPatience` says. Any other error fails the turn.
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
}

/** Why a turn's signal was aborted: from then on nothing that it does takes effect. */
export class TurnLost extends Error {
  override readonly name = 'TurnLost';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
