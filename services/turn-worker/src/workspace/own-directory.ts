import { pathAsSeen } from '@suzumio/protocol/own-artifacts';

/**
 * An agent's own directory of artifacts. It lies beside its workspace, where programs of other agents find nothing of it, and is
 * part of the workspace's snapshots, under a name that nothing in the workspace has.
 */
export interface OwnDirectory {
  directory: string;
  agent: string;
}

/** A path of a snapshot, as its agent knows it. */
export function seenIn(own: OwnDirectory | undefined, path: string): string {
  return own ? pathAsSeen(path, own.agent) : path;
}
