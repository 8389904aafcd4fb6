import { dirname } from 'node:path';
import * as z from 'zod';
import type { ProjectSource } from '../config/project-source.js';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import type { Denial } from './denial.js';
import { isExternal, mountedFor } from '../config/sandbox-of.js';
import { type HostPaths, isWithin, realPath } from './host-paths.js';
import { type Policy, policySchema } from './policy.js';
import { isNamedIn } from './resolve-policy.js';

/**
 * What a person allowed one project by creating it from a file on their own disk, beyond that host's policy. Stored
 * with the project, where only the control plane writes, and valid on that host only. Paths have their links resolved, as
 * they were when the grant was made.
 */
export const grantSchema = z.strictObject({
  /** Directories that may be mounted, also for writing. */
  directories: z.array(z.string()),
  /** Directories that may be mounted for reading only. */
  readonly: z.array(z.string()).default([]),
  images: z.array(z.string()),
  /** Addresses and paths of repositories that may be cloned. */
  git: z.array(z.string()).default([]),
  /** Directories of toolpacks that may be loaded. */
  toolpacks: z.array(z.string()).default([]),
  providers: policySchema.shape.providers.unwrap(),
});
export type Grant = z.infer<typeof grantSchema>;

/** What a person agreed to beyond a policy. */
export interface Agreed {
  readonly providers: readonly Grant['providers'][number][];
  /** Directories of toolpacks. */
  readonly toolpacks: readonly string[];
}

/**
 * The grant that creating a project from a file on one's own disk gives beyond a policy: its directory, its image, its
 * repositories, and the toolpacks and providers that its creator agreed to. Undefined where it needs none.
 *
 * @param denials what the policy does not allow it
 */
export function grantFor(
  { config, files }: Pick<ProjectSource, 'config' | 'files'>,
  denials: readonly Denial[],
  { policy, providers, toolpacks, host }: Agreed & { policy: Policy; host: HostPaths },
): Grant | undefined {
  const denied = new Set(denials.map(({ rule }) => rule));
  const mounts = denied.has('mounts.roots');
  const grant: Grant = {
    // What a rule of the policy names would mean what an agent has put there, once the policy is read again.
    directories: mounts ? writableMounts(config, files, host).filter((directory) => !isNamedIn(policy, directory)) : [],
    readonly: mounts ? directoryOf(files) : [],
    images: denied.has('images') ? [config.backend.image] : [],
    git: denied.has('git') ? ownRepositories(config, files, host) : [],
    toolpacks: toolpacks.map((directory) => realPath(directory, host)),
    providers: [...providers],
  };
  return Object.values(grant).some((list) => list.length > 0) ? grant : undefined;
}

/** The directory of a project file, to copy workspaces from; empty where that would be the whole disk. */
export function directoryOf([file]: ProjectSource['files']): string[] {
  const directory = file === undefined ? '/' : dirname(file);
  return directory === '/' ? [] : [directory];
}

/** What a project mounts for writing of the directory of its file. */
function writableMounts(config: ProjectSource['config'], files: ProjectSource['files'], host: HostPaths): string[] {
  const agents = Object.values(config.agents).filter((agent) => !isExternal(agent));
  const mounts = agents.flatMap((agent) => mountedFor(config, agent)).filter(({ readonly }) => !readonly);
  const sources = [...new Set(mounts.map(({ source }) => source))].map((source) => realPath(source, host));
  return [...new Set(sources)].filter((source) => directoryOf(files).some((own) => isWithin(source, own)));
}

/** The repositories that a person could clone without Suzumio: those at `https://` addresses, and those beside the file. */
function ownRepositories(
  { agents }: ProjectSource['config'],
  files: ProjectSource['files'],
  host: HostPaths,
): string[] {
  const named = Object.values(agents).flatMap(({ workspace }) => workspace?.git ?? []);
  const isOwn = (git: string) =>
    isGitUrl(git) ? /^https:/i.test(git) : directoryOf(files).some((directory) => isWithin(git, directory));
  return [...new Set(named.map((git) => (isGitUrl(git) ? git : realPath(git, host))).filter(isOwn))];
}

/** A policy with one project's grant. Who agreed to its providers also agreed to their prices. */
export function withGrant(policy: Policy, grant: Grant): Policy {
  const { directories, readonly, images, git, toolpacks, providers } = grant;
  const roots = [
    ...directories.map((path) => ({ path, readonly: false })),
    ...readonly.map((path) => ({ path, readonly: true })),
  ];
  return {
    ...policy,
    images: [...policy.images, ...images],
    git: [...policy.git, ...git],
    mounts: { roots: [...policy.mounts.roots, ...roots] },
    toolpacks: { ...policy.toolpacks, directories: [...policy.toolpacks.directories, ...toolpacks] },
    providers: [...policy.providers, ...providers.map((one) => ({ ...one, ownPrices: true }))],
  };
}
