/** Where a turn finds what each has published, in a directory of its own; its agent's own is writable. */
export const artifactsPath = '/artifacts';

/** The variable with that path, which is another one where a turn runs as a process. */
export const artifactsVariable = 'SUZUMIO_ARTIFACTS_DIR';

/**
 * In a snapshot of an agent's workspace, the name of its own directory of artifacts. That lies beside the workspace, in which
 * nothing has this name.
 */
export const ownArtifacts = '.suzumio-artifacts';

/** Whether a path of a snapshot is in the agent's own directory of artifacts. */
export const isInOwnArtifacts = (path: string): boolean => path.startsWith(`${ownArtifacts}/`);

/** A path of a snapshot, as its agent knows it. */
export function pathAsSeen(path: string, agent: string): string {
  if (path !== ownArtifacts && !isInOwnArtifacts(path)) return path;
  return `${artifactsPath}/${agent}${path.slice(ownArtifacts.length)}`;
}

/**
 * Output of commands, files that a killed tool left half written, and what has the name under which snapshots have something else:
 * they end with the turn.
 */
export const isLeftover = (path: string) =>
  path === '.suzumio' || path === ownArtifacts || /(?:^|\/)\.suzumio-[^/]*\.tmp$/.test(path);
