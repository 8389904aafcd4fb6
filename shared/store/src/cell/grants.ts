import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Grant, grantSchema, withGrant } from '@suzumio/core/policy/grant';
import type { Policy } from '@suzumio/core/policy/policy';
import type { DataDirectory } from './data-directory.js';

/** The file of a grant, in its project's directory. */
export const grantFileName = 'grant.json';

/** The policy for each project: the host's, with what the project's creator allowed. */
export function policyWithGrants(policy: Policy, directory: DataDirectory): (project: string) => Policy {
  return (project) => {
    const grant = grantOf(directory, project);
    return grant ? withGrant(policy, grant) : policy;
  };
}

/** The directories in which the grants of a data directory's projects let agents write. */
export function writableByGrants(directory: DataDirectory): string[] {
  const projects = existsSync(directory.projectsDir) ? readdirSync(directory.projectsDir) : [];
  return [...new Set(projects.flatMap((project) => grantOf(directory, project)?.directories ?? []))];
}

function grantOf(directory: DataDirectory, project: string): Grant | undefined {
  const file = join(directory.projectsDir, project, grantFileName);
  if (!existsSync(file)) return undefined;
  return grantSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}
