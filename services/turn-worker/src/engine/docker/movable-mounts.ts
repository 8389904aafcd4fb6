import { isWithin } from '@suzumio/core/policy/host-paths';
import type { BindMount } from './container-options.js';

/** A container of a turn as the engine lists it, started or about to be. */
export interface MountingContainer {
  id: string;
  /** It was created and not started: its mounts are not made yet. */
  isStarting: boolean;
  mounts: readonly BindMount[];
}

/**
 * Whether a container may start beside the others of its engine. An engine follows links when it mounts, so whoever can
 * write in a directory above the source of a mount could put a link in its place after it was checked. What is mounted
 * already is out of reach, and so is a source that two containers share: from within it cannot be moved.
 *
 * - `movable`: another one may move the source of one of its mounts
 * - `movesOthers`: it could move the source of a mount of one that is just starting
 */
export function movableMounts(
  mounts: readonly BindMount[],
  others: readonly MountingContainer[],
): { movable?: string; movesOthers: boolean } {
  const movable = mounts.find((mount) => others.some((other) => canMove(other.mounts, mount)));
  const movesOthers = others.some(
    ({ isStarting, mounts: theirs }) => isStarting && theirs.some((mount) => canMove(mounts, mount)),
  );
  return { ...(movable ? { movable: movable.source } : {}), movesOthers };
}

function canMove(by: readonly BindMount[], { source }: BindMount): boolean {
  return by.some(({ source: above, writable }) => writable && above !== source && isWithin(source, above));
}
