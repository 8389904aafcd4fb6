import { isWithin } from '@suzumio/core/policy/host-paths';
import type { BindMount } from './container-options.js';

/** A turn's container, as the engine lists it. */
export interface MountingContainer {
  id: string;
  /** Whether it was created but not started: its mounts do not exist yet. */
  isStarting: boolean;
  mounts: readonly BindMount[];
}

/**
 * Whether a container may start beside the engine's others. The engine follows links when it mounts, so a process that
 * can write above a mount's source could put a link in its place after the check. Existing mounts are safe, and so is a
 * source that two containers share: it cannot be moved from within.
 *
 * - `movable`: another container could move the source of one of its mounts
 * - `movesOthers`: it could move the source of a mount of a starting container
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
