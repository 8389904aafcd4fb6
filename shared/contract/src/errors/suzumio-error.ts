import { type ErrorCode, errorCodes } from './codes.js';

/** Facts that belong to an error: ids, names, limits. Never a secret, never a body. */
export type ErrorDetails = Readonly<Record<string, string | number | boolean | readonly string[] | null | undefined>>;

/**
 * The one error type that Suzumio throws on purpose. Its message is a sentence for a person: what, where, and what
 * would be right.
 */
export class SuzumioError extends Error {
  override readonly name = 'SuzumioError';

  constructor(
    readonly code: ErrorCode,
    message: string,
    readonly details: ErrorDetails = {},
    options?: { cause?: unknown },
  ) {
    super(message, options);
  }

  /** The HTTP status that this error answers with. */
  get status(): number {
    return errorCodes[this.code].status;
  }

  /** Whether the same request may succeed later. */
  get retryable(): boolean {
    return errorCodes[this.code].retryable;
  }
}

/** Whether `error` is a {@link SuzumioError}, optionally with one of `codes`. */
export function isSuzumioError(error: unknown, ...codes: ErrorCode[]): error is SuzumioError {
  return error instanceof SuzumioError && (codes.length === 0 || codes.includes(error.code));
}

/** The message of anything that can be thrown. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
