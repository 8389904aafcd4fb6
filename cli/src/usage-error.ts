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

/**
 * Refuses options that would do nothing.
 *
 * @param given whether each is given
 * @throws UsageError that names those which are, and goes on with `why`
 */
export function refuseOptions(given: Readonly<Record<string, boolean>>, why: string, next?: string): void {
  const names = Object.keys(given).filter((name) => given[name]);
  if (names.length > 0) throw new UsageError(`${names.join(' and ')} ${why}`, next);
}
