import * as z from 'zod';
import { line, wholeNumber } from './scalar-config.js';

/** Whether a repository is named by a URL rather than by a path of the host. */
export function isGitUrl(git: string): boolean {
  return /^[a-z][a-z0-9+.-]*:\/\//i.test(git);
}

/** What is wrong with the name of a repository. */
function problemOfGit(git: string): string | undefined {
  if (git.includes('*')) return 'must not hold *';
  if (!isGitUrl(git)) {
    const isScpLike = /^[^/]+:/.test(git);
    return isScpLike ? 'only https:// addresses and paths are cloned: write https://host/path' : undefined;
  }
  const url = URL.parse(git);
  if (url === null) return 'expected an address such as https://host/path, or a path';
  if (url.protocol === 'file:') return 'write the path itself, without file://';
  if (!['https:', 'http:'].includes(url.protocol)) return `${url.protocol}// is not cloned: write https://host/path`;
  if (url.username !== '' || url.password !== '') return 'must name no user and hold no password or token';
  return url.search === '' && url.hash === '' ? undefined : 'must have no ? and no #';
}

/** As Git itself restricts names, and without what its commands would take for more than a name. */
function isRefName(name: string): boolean {
  return !/[\0-\x20\x7f~^:?*[\\]|\.\.|@\{|\/\/|\/\.|^[-./+@]|[./]$|\.lock(?:\/|$)/.test(name);
}

/** Stands for the agent's id in the name of its branch. */
const agentMark = '{{agent}}';

const refName = line(250).refine(isRefName, {
  error: 'expected the name of a branch or a tag, or the id of a commit',
});
const branchName = line(250).refine((name) => isRefName(name.replaceAll(agentMark, 'agent')), {
  error: `expected the name of a branch, in which ${agentMark} stands for the agent's id`,
});

/** What a new workspace begins with: a copy of a directory, or a clone of a repository on a branch of its own. */
export const workspaceConfig = z
  .strictObject({
    from: z.exactOptional(line(4096)),
    /** An `https://` address, or a path of the worker's host that is absolute once loaded. */
    git: z.exactOptional(
      line(2048).refine((git) => problemOfGit(git) === undefined, {
        error: ({ input }) => problemOfGit(String(input)) ?? '',
      }),
    ),
    /** A branch, a tag or the id of a commit. @default the repository's own default branch */
    ref: z.exactOptional(refName),
    /** How many commits of its history are fetched. @default all */
    depth: z.exactOptional(wholeNumber(1, 1_000_000)),
    /** The agent's branch. @default `suzumio/{{agent}}` */
    branch: z.exactOptional(branchName),
  })
  .refine(({ from, git }) => (from === undefined) !== (git === undefined), {
    error: 'a workspace needs either from or git',
  })
  .refine(({ git, ref, depth, branch }) => git !== undefined || (ref ?? depth ?? branch) === undefined, {
    error: 'ref, depth and branch are of a workspace with git',
  });
export type WorkspaceConfig = z.infer<typeof workspaceConfig>;

/** An agent's branch. */
export function branchOf(branch: string | undefined, agent: string): string {
  return (branch ?? `suzumio/${agentMark}`).replaceAll(agentMark, agent);
}
