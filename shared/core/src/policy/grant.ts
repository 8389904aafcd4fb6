import { dirname } from 'node:path';
import { z } from 'zod';
import type { ProjectSource } from '../config/project-source.js';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import type { Denial } from './denial.js';
import { isWithin } from './host-paths.js';
import { type Policy, policySchema } from './policy.js';

/**
 * What a person allowed one project by creating it from a file on their own disk, beyond that host's policy. Stored
 * with the project, where only the control plane writes, and valid on that host only.
 */
export const grantSchema = z.strictObject({
  /** Directories that may be mounted, also for writing. */
  directories: z.array(z.string()),
  images: z.array(z.string()),
  /** Addresses and paths of repositories that may be cloned. */
  git: z.array(z.string()).default([]),
  providers: policySchema.shape.providers.unwrap(),
});
export type Grant = z.infer<typeof grantSchema>;

/**
 * The grant that creating a project from a file on one's own disk gives beyond a policy: its directory, its image, its
 * repositories, and the providers that its creator agreed to. Undefined where it needs none.
 */
export function grantFor(
  { config, files }: Pick<ProjectSource, 'config' | 'files'>,
  denials: readonly Denial[],
  providers: Grant['providers'],
): Grant | undefined {
  const denied = new Set(denials.map(({ rule }) => rule));
  const grant: Grant = {
    directories: denied.has('mounts.roots') ? directoryOf(files) : [],
    images: denied.has('images') ? [config.backend.image] : [],
    git: denied.has('git') ? ownRepositories(config, files) : [],
    providers: [...providers],
  };
  return Object.values(grant).some((list) => list.length > 0) ? grant : undefined;
}

/** The directory of a project file, to copy workspaces from; empty where that would be the whole disk. */
export function directoryOf([file]: ProjectSource['files']): string[] {
  const directory = file === undefined ? '/' : dirname(file);
  return directory === '/' ? [] : [directory];
}

/** The repositories that a person could clone without Suzumio: those at `https://` addresses, and those beside the file. */
function ownRepositories({ agents }: ProjectSource['config'], files: ProjectSource['files']): string[] {
  const named = Object.values(agents).flatMap(({ workspace }) => workspace?.git ?? []);
  const isOwn = (git: string) =>
    isGitUrl(git) ? /^https:/i.test(git) : directoryOf(files).some((directory) => isWithin(git, directory));
  return [...new Set(named.filter(isOwn))];
}

/** A policy with one project's grant. Who agreed to its providers also agreed to their prices. */
export function withGrant(policy: Policy, { directories, images, git, providers }: Grant): Policy {
  return {
    ...policy,
    images: [...policy.images, ...images],
    git: [...policy.git, ...git],
    mounts: { roots: [...policy.mounts.roots, ...directories.map((path) => ({ path, readonly: false }))] },
    providers: [...policy.providers, ...providers.map((one) => ({ ...one, ownPrices: true }))],
  };
}
