/** A refusal by Suzumio, with its stable code, such as `recipient-unknown`. */
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

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return this.status >= 500 || this.status === 408 || this.status === 429;
  }
}

/**
 * Throw this when something that your code needs is temporarily unavailable: the turn is retried, after 5 s at first
 * and 15 minutes at most, for as long as the project file's `turn.providerPatience` says. Any other error fails the
 * turn.
 */
export class RetryLater extends Error {
  override readonly name = 'RetryLater';
}

/** The reason of a turn's aborted signal: from then on nothing that the turn does takes effect. */
export class TurnLost extends Error {
  override readonly name = 'TurnLost';
}

export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
