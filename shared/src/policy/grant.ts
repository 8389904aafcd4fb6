import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import type { ProjectSource } from '../config/project-source.js';
import type { DataDirectory } from '../store/data-directory.js';
import type { Denial } from './denial.js';
import { type Policy, policySchema } from './policy.js';

/**
 * What a person allowed one project by making it from a file of their own disk, beyond the policy of that host. Kept
 * with the project, where only the control plane writes, and good on that host only.
 */
export const grantSchema = z.strictObject({
  /** May be mounted, also for writing. */
  directories: z.array(z.string()),
  images: z.array(z.string()),
  providers: policySchema.shape.providers.unwrap(),
});
export type Grant = z.infer<typeof grantSchema>;

/** Where a grant is, in the directory of its project. */
export const grantFileName = 'grant.json';

/**
 * What making a project from a file of one's own disk allows of what a policy does not: its directory, its image, and
 * those providers that its maker has agreed to. Undefined where nothing of these is asked for.
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
    providers: [...providers],
  };
  return Object.values(grant).some((list) => list.length > 0) ? grant : undefined;
}

/** The directory of a project file, to copy workspaces from; none where that would be the whole disk. */
export function directoryOf([file]: ProjectSource['files']): string[] {
  const directory = file === undefined ? '/' : dirname(file);
  return directory === '/' ? [] : [directory];
}

/** A policy with what one project was allowed. Whoever agreed to its providers is believed what they cost. */
export function withGrant(policy: Policy, { directories, images, providers }: Grant): Policy {
  return {
    ...policy,
    images: [...policy.images, ...images],
    mounts: { roots: [...policy.mounts.roots, ...directories.map((path) => ({ path, readonly: false }))] },
    providers: [...policy.providers, ...providers.map((one) => ({ ...one, ownPrices: true }))],
  };
}

/** The policy for each project of a data directory: that of the host, and what the project's maker allowed. */
export function policyWithGrants(policy: Policy, directory: DataDirectory): (project: string) => Policy {
  return (project) => {
    const file = join(directory.projectDir(project), grantFileName);
    if (!existsSync(file)) return policy;
    return withGrant(policy, grantSchema.parse(JSON.parse(readFileSync(file, 'utf8'))));
  };
}
