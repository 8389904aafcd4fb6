import { maxContentBytes } from '@suzumio/protocol/content';
import type { WorkspaceLimits } from '@suzumio/protocol/workspace-manifest';

/** How much a workspace may hold. */
export interface WorkspaceBounds {
  maxBytes: number;
  /** The largest file that can be stored. */
  maxFileBytes: number;
  maxEntries: number;
}

/** The bounds of a workspace with these limits. */
export function boundsOf({ maxBytes, maxFiles }: WorkspaceLimits): WorkspaceBounds {
  return { maxBytes, maxEntries: maxFiles, maxFileBytes: maxContentBytes };
}
