import { dirname } from 'node:path';
import { z } from 'zod';
import type { ProjectSource } from '../config/project-source.js';
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

/** A policy with what one project was allowed. The person who agreed to its providers also agreed to their prices. */
export function withGrant(policy: Policy, { directories, images, providers }: Grant): Policy {
  return {
    ...policy,
    images: [...policy.images, ...images],
    mounts: { roots: [...policy.mounts.roots, ...directories.map((path) => ({ path, readonly: false }))] },
    providers: [...policy.providers, ...providers.map((one) => ({ ...one, ownPrices: true }))],
  };
}
