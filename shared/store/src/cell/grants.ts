import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { grantSchema, withGrant } from '@suzumio/core/policy/grant';
import type { Policy } from '@suzumio/core/policy/policy';
import type { DataDirectory } from './data-directory.js';

/** The file of a grant, in its project's directory. */
export const grantFileName = 'grant.json';

/** The policy for each project: the host's, with what the project's creator allowed. */
export function policyWithGrants(policy: Policy, directory: DataDirectory): (project: string) => Policy {
  return (project) => {
    const file = join(directory.projectDir(project), grantFileName);
    if (!existsSync(file)) return policy;
    return withGrant(policy, grantSchema.parse(JSON.parse(readFileSync(file, 'utf8'))));
  };
}
