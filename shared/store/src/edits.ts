import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Who changes something that others may change at the same time. */
export interface Edit {
  actor: string;
  /** The version that was read before. Without it, the newest is changed, whichever that is. */
  base?: number | undefined;
}

/**
 * @param what as it begins a sentence
 * @param changed the fields that were changed since
 * @throws SuzumioError `edit-conflict` where another version is the newest
 */
export function requireNewest(
  what: string,
  base: number | undefined,
  { version, editedBy: by }: { version: number; editedBy: string | null },
  changed: readonly string[],
): void {
  if (base === undefined || base === version) return;
  const whose = by === null ? '' : ` (${by})`;
  const which =
    changed.length === 0 ? '' : `; ${changed.join(', ')} ${changed.length === 1 ? 'is' : 'are'} not what was read`;
  throw new SuzumioError(
    'edit-conflict',
    `${what} was read at version ${String(base)}, and is at version ${String(version)} by now${whose}${which}. Nothing was changed: look at what it is by now, and name that version.`,
    { base, version, by, changed },
  );
}
