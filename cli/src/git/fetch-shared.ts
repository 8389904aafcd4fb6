import { GitFailed } from '@suzumio/runner/work-tree/run-git';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { oneLine } from '@suzumio/core/prompt/body';
import type { RefUpdate } from '@suzumio/protocol/shared-repository';
import { idsIn } from './ids-in.js';
import { teamMirror, type TeamMirrorOptions } from './team-mirror.js';

/** Where a person's repository has the branches of a team. */
export function trackingPrefix(project: string): string {
  return `refs/remotes/suzumio/${project}/`;
}

/**
 * Fetches the branches of a team's shared repository into a person's own, as those of a remote. No branch, no tag and no file of the
 * person's changes.
 *
 * @returns which of them have moved, by their names in the person's repository
 * @throws SuzumioError `git-refused`
 */
export async function fetchShared(options: TeamMirrorOptions): Promise<RefUpdate[]> {
  const { own, project } = options;
  const prefix = trackingPrefix(project);
  try {
    const mirror = await teamMirror(options);
    const tracked = () => idsIn((args) => own.git(args), prefix);
    const before = await tracked();
    // Whatever agents have pushed is looked at once more, by the person's own Git.
    const checked = ['-c', 'fetch.fsckObjects=true', '-c', 'fetch.writeCommitGraph=false'];
    const plain = ['--quiet', '--no-tags', '--no-write-fetch-head', '--no-recurse-submodules', '--no-auto-maintenance'];
    await own.git([...checked, 'fetch', ...plain, '--prune', mirror, `+refs/heads/*:${prefix}*`]);
    return movedBetween(before, await tracked());
  } catch (error) {
    if (!(error instanceof GitFailed)) throw error;
    const message = `Nothing was fetched. git says: ${oneLine(error.message)}`;
    throw new SuzumioError('git-refused', message, {}, { cause: error });
  }
}

/** What has moved from one state of references to another. */
export function movedBetween(before: ReadonlyMap<string, string>, after: ReadonlyMap<string, string>): RefUpdate[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].sort();
  return names
    .map((ref) => ({ ref, from: before.get(ref) ?? null, to: after.get(ref) ?? null }))
    .filter(({ from, to }) => from !== to);
}
