import type { AttemptRef, ClaimAnswer } from '@suzumio/protocol/attempts';
import { artifactsPath } from '@suzumio/protocol/own-artifacts';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { ArtifactsDirectories, PreparedSandbox } from '../engine/turn-engine.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import type { Workspace } from '../workspace/workspaces.js';
import { bringing } from './agent-workspace.js';
import type { Host } from './host.js';
import type { StopSwitch } from './stop-switch.js';

/** The directories of a turn's artifacts, filled. */
export interface PreparedArtifacts extends ArtifactsDirectories {
  /** How many of others' artifacts cannot be there. */
  left: number;
}

/**
 * Fills the directory in which a turn finds what others have published. Its agent's own directory is restored with its workspace.
 *
 * @throws AttemptFailure `workspace-unavailable`, and what `stop` was stopped with
 */
export async function prepareArtifacts(
  { ownArtifacts: own }: Pick<Workspace, 'ownArtifacts'>,
  sandbox: PreparedSandbox,
  { ref, claim: { artifacts } }: { ref: AttemptRef; claim: ClaimAnswer },
  { host, ...by }: { host: Host; client: AttemptClient; stop: StopSwitch },
): Promise<PreparedArtifacts | undefined> {
  if (!artifacts) return undefined;
  const { agent } = ref;
  const others = await host.workspaces.others(ref, sandbox.owner);
  const directories = { all: others.directory, own };
  const isMounted = sandbox.artifactsSeen(directories, agent).all !== directories.all;
  const seen = { ...artifacts, agent, ...(isMounted ? {} : { link: own }) };
  const failed = 'What others have published could not be brought to this host.';
  const left = await bringing((fetch) => others.bringTo(seen, fetch, by.stop.stopped), failed, by);
  return { ...directories, left };
}

type Mounts = NonNullable<RunnerTurnInput['sandbox']>['mounts'];

/** The directories as roots of the runner's tools, by the paths by which agents know them. */
export function artifactsRoots(
  { sandbox, artifacts }: { sandbox: Pick<PreparedSandbox, 'artifactsSeen'>; artifacts: PreparedArtifacts | undefined },
  agent: string,
): Mounts {
  if (!artifacts) return [];
  const { all, own } = sandbox.artifactsSeen(artifacts, agent);
  const as = (path: string, known: string) => (path === known ? {} : { as: known });
  return [
    { path: own, readonly: false, ...as(own, `${artifactsPath}/${agent}`) },
    { path: all, readonly: true, ...as(all, artifactsPath) },
  ];
}
