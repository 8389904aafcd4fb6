import { quotedPath } from '@suzumio/protocol/quoted-path';

/** Where the text of a file is that could not be put back. */
export interface LeftFile {
  readonly path: string;
  /** The file that has the text. */
  readonly copy: string;
}

/** Files were not changed, for a reason that a person can act on. */
export class WorkTreeError extends Error {
  override readonly name = 'WorkTreeError';

  constructor(
    reason: string,
    /** Files that are not as they were. */
    readonly left: readonly LeftFile[] = [],
    options?: ErrorOptions,
    /** Whether files were moved before, and put back. */
    readonly isBegun = false,
  ) {
    super(left.length === 0 ? `Nothing was changed: ${reason}` : `${reason} ${leftSentence(left)}`, options);
  }
}

/** How many files a sentence names. */
const maxNamed = 20;

/** Says which files could not be put back, and where their text is. */
export function leftSentence(left: readonly LeftFile[]): string {
  const named = left
    .slice(0, maxNamed)
    .map(({ path, copy }) => `${quotedPath(path)} (its text is in ${quotedPath(copy)})`);
  const more = left.length > maxNamed ? ` and ${left.length - maxNamed} more` : '';
  return `All else is as it was, but not: ${named.join(', ')}${more}.`;
}
