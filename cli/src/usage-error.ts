/** The command was written wrongly in a way that only its body can see, or is not wanted after all; nothing was tried. */
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
