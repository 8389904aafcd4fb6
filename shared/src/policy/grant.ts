import { dirname } from 'node:path';
import { z } from 'zod';
import type { LoadedProject } from '../config/load-project.js';
import { type Policy, policySchema } from './policy.js';

/**
 * What a person allowed one project by making it from a file of their own disk, beyond the policy of that host. Kept
 * with the project, in a data directory that nobody else writes to, and good on that host only.
 */
export const grantSchema = z.strictObject({
  /** May be mounted, also for writing, and copied from. */
  directories: z.array(z.string()),
  images: z.array(z.string()),
  providers: policySchema.shape.providers.unwrap(),
});
export type Grant = z.infer<typeof grantSchema>;

/** What making a project from a file of one's own disk allows: its directory, its image, and its providers. */
export function grantOf({ config, files }: Pick<LoadedProject, 'config' | 'files'>): Grant {
  const [file] = files;
  const directory = file === undefined ? '/' : dirname(file);
  const { image, runner } = config.backend;
  return {
    directories: directory === '/' ? [] : [directory],
    images: [image],
    providers: Object.values(runner.models?.providers ?? {}).map(({ baseURL, baseURLEnv, apiKeyEnv }) => ({
      ...(baseURL === undefined ? {} : { baseURL }),
      ...(baseURLEnv === undefined ? {} : { baseURLEnv }),
      ...(apiKeyEnv === undefined ? {} : { apiKeyEnv }),
    })),
  };
}

/** A policy with what one project was allowed. */
export function withGrant(policy: Policy, { directories, images, providers }: Grant): Policy {
  return {
    ...policy,
    images: [...policy.images, ...images],
    mounts: { roots: [...policy.mounts.roots, ...directories.map((path) => ({ path, readonly: false }))] },
    providers: [...policy.providers, ...providers],
  };
}

/**
 * The policy for the turns of one project. A worker that has one policy for all answers with that; `up` and `serve`, on
 * the host where projects are made, add what their maker allowed.
 */
export type PolicyOf = (of: { cell: string; project: string }) => Policy;
