import type { AttemptRef, ClaimAnswer } from '@suzumio/protocol/attempts';
import type { Repository } from '@suzumio/protocol/repository';
import { sharedPack } from '@suzumio/protocol/shared-repository';
import type { LoadedToolpack } from '@suzumio/protocol/runner';
import { localPack, sandboxPacksOf } from '@suzumio/protocol/tool-names';
import { usualWorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { AttemptPlace, PreparedSandbox, TurnEngine } from '../engine/turn-engine.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import { boundsOf } from '../workspace/workspace-bounds.js';
import type { AgentHome, Workspace } from '../workspace/workspaces.js';
import { bringToSnapshot } from './agent-workspace.js';
import { bringToolpacks } from './bring-toolpacks.js';
import { type PreparedArtifacts, prepareArtifacts } from './prepare-artifacts.js';
import { cloneWorkspace } from './clone-workspace.js';
import { type Host, requireAllowed } from './host.js';
import { lookUpstream } from './look-upstream.js';
import type { StopSwitch } from './stop-switch.js';
import { TurnDirectory } from './turn-directory.js';

/** What is prepared before the sandbox starts. */
export interface Prepared {
  engine: TurnEngine;
  sandbox: PreparedSandbox;
  workspace: Workspace;
  /** The directories of artifacts; absent where the turn has none. */
  artifacts: PreparedArtifacts | undefined;
  /** What it is a clone of. */
  repository: Repository | undefined;
  /** Where its tools run programs. */
  home: AgentHome | undefined;
  directory: TurnDirectory;
  /** The local toolpacks that its runner loads. */
  toolpacks: readonly LoadedToolpack[];
}

export interface PrepareOptions {
  turn: { ref: AttemptRef; claim: ClaimAnswer; logger: Logger };
  place: AttemptPlace;
  host: Host;
  client: AttemptClient;
  stop: StopSwitch;
  /** Throws unless this worker still owns the attempt. */
  requireLease: () => void;
}

/**
 * Prepares what the sandbox needs: disk space, its image, the agent's workspace at its snapshot, a directory.
 *
 * @throws AttemptFailure, and what `stop` was stopped with
 */
export async function prepareAttempt(
  engine: TurnEngine,
  { turn: { ref, claim, logger }, place, host, client, stop, requireLease }: PrepareOptions,
): Promise<Prepared> {
  requireAllowed(host, ref, claim);
  await host.disk.requireRoom();
  // A stalled attempt may have a successor by now, whose sandbox must not be touched.
  requireLease();
  const [sandbox, isFree] = await Promise.all([engine.prepare(claim.sandbox, ref), engine.evict(place)]);
  if (!isFree) stop.stop('superseded');
  stop.stopped.throwIfAborted();
  const packs = requireTools(claim, sandbox.toolpacks);
  const bounds = boundsOf(claim.workspaceLimits ?? usualWorkspaceLimits);
  const { ignored = [], tracked = [] } = claim;
  const workspace = await host.workspaces.open(ref, sandbox.owner, { ignored, tracked, bounds });
  await bringToSnapshot(workspace, claim.snapshot, { client, stop });
  const artifacts = await prepareArtifacts(workspace, sandbox, { ref, claim }, { host, client, stop });
  const [of, by] = [
    { ref, claim },
    { host, client, stop, logger },
  ];
  const repository = claim.clone
    ? await cloneWorkspace(workspace, claim.clone, of, by)
    : claim.look
      ? await lookUpstream(workspace, claim.look, of, by)
      : claim.input.repository;
  // Without `sandbox` in its input, from a ToolHost of before, the runner does what a script says unannounced.
  if (!sandbox.announcesWrites || claim.input.sandbox === undefined) await workspace.expectWrites();
  const home = packs.includes('shell') ? await host.workspaces.home(ref, sandbox.owner) : undefined;
  const directory = await TurnDirectory.create(host.paths, ref, sandbox.owner);
  const at = { directory: directory.toolpacks, seen: sandbox.toolpacksSeen(directory.toolpacks) };
  const toolpacks = await bringToolpacks(claim.toolpacks ?? [], at, { client, stop }).catch(async (error: unknown) => {
    await directory.remove();
    throw error;
  });
  return { engine, sandbox, workspace, artifacts, repository, home, directory, toolpacks };
}

/**
 * The packs of the sandbox's tools that a turn may use, which what it runs in is to carry out.
 *
 * @throws AttemptFailure `image-without-tools`
 */
function requireTools({ input, sandbox, toolpacks: local = [] }: ClaimAnswer, toolpacks: readonly string[]): string[] {
  const packs = sandboxPacksOf(input.tools.map(({ name }) => name));
  const missing = packs.filter((pack) => !toolpacks.includes(pack));
  // What is no runner of Suzumio's is not told of the repository either.
  if (input.shared && missing.length === 0 && toolpacks.length > 0 && !toolpacks.includes(sharedPack)) {
    throw new AttemptFailure(
      'image-without-tools',
      `The runner in the image ${sandbox.image} is of an earlier release, which cannot use the repository that agents share. Bring ` +
        'the image to this release (npm run images), build your own on it, or take git.shared out of the project file.',
    );
  }
  if (local.length > 0 && !toolpacks.includes(localPack)) missing.push(...local.map(({ id }) => id));
  if (missing.length === 0) return packs;
  throw new AttemptFailure(
    'image-without-tools',
    `The runner in the image ${sandbox.image} has no tools of the toolpacks ${missing.join(' and ')}. Bring the image to this ` +
      'release (npm run images), build your own on it, or take them out of tools.toolpacks.',
  );
}
