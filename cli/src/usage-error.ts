/** A usage error that only the command's body can detect, or a confirmation that was declined; nothing was done. */
export class UsageError extends Error {
  override readonly name = 'UsageError';

  constructor(
    message: string,
    /** The command that would be right, without `suzumio`. */
    readonly next?: string,
  ) {
    super(message);
  }
}
