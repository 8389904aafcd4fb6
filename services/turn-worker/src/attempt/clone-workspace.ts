import type { AttemptRef, ClaimAnswer } from '@suzumio/protocol/attempts';
import { authorOf } from '@suzumio/protocol/git-author';
import { type CloneRequest, type Repository, repositoryOf } from '@suzumio/protocol/repository';
import { retry } from '@suzumio/protocol/retry';
import type { Logger } from '@suzumio/runtime/observability/logger';
import { AttemptFailure } from '../engine/attempt-failure.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import type { Workspace } from '../workspace/workspaces.js';
import { bringToSnapshot, captureSnapshot, contentRetry } from './agent-workspace.js';
import { type Host, requireAllowed } from './host.js';
import type { StopSwitch } from './stop-switch.js';

/**
 * Makes an agent's empty workspace a clone, and has it recorded before anything runs there: all later attempts, here or
 * on another host, begin with the same clone.
 *
 * @throws AttemptFailure that says what is wrong with the repository
 */
export async function cloneWorkspace(
  workspace: Workspace,
  clone: CloneRequest,
  { ref, claim }: { ref: AttemptRef; claim: ClaimAnswer },
  { host, ...by }: { host: Host; client: AttemptClient; stop: StopSwitch; logger: Logger },
): Promise<Repository> {
  const { client, stop } = by;
  await workspace.expectWrites();
  const check = (git: string) => void requireAllowed(host, ref, { ...claim, clone: { ...clone, git } });
  const { bounds, ignored } = workspace;
  const to = { author: authorOf(claim.input), bounds, check, ignored, signal: stop.stopped };
  const { commit, tracked } = await host.repositories.clone(clone, workspace.directory, to);
  workspace.track(tracked);
  const kept = await captureSnapshot(workspace, host.limits.captureMs, by);
  if ('unsaved' in kept) {
    const code = kept.unsaved.code === 'quota-exceeded' ? 'quota-exceeded' : 'disk-full';
    throw new AttemptFailure(code, `The clone of ${clone.git} could not be stored: ${kept.unsaved.message}`);
  }
  const { snapshot } = kept;
  if (snapshot === null) throw new Error('a clone has files');
  await retry(() => client.putBase({ commit, snapshot, tracked }), contentRetry(stop));
  // The files get their owner.
  await bringToSnapshot(workspace, snapshot, by);
  return repositoryOf(clone, commit);
}
