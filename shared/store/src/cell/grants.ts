import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { type Grant, grantSchema, withGrant } from '@suzumio/core/policy/grant';
import type { Policy } from '@suzumio/core/policy/policy';
import { unknownProject } from '../sqlite/store-fault.js';
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

/**
 * Allows a project more beyond this host's policy, at its owner's wish.
 *
 * @throws SuzumioError `project-unknown`
 */
export async function extendGrant(directory: DataDirectory, project: string, more: Grant): Promise<void> {
  if (!existsSync(directory.projectFile(project))) throw unknownProject(project);
  const before = grantOf(directory, project);
  const both = <Item>(one: readonly Item[] = [], other: readonly Item[]): Item[] => [
    ...one,
    ...other.filter((item) => !one.some((known) => isDeepStrictEqual(known, item))),
  ];
  const grant: Grant = {
    directories: both(before?.directories, more.directories),
    readonly: both(before?.readonly, more.readonly),
    images: both(before?.images, more.images),
    git: both(before?.git, more.git),
    toolpacks: both(before?.toolpacks, more.toolpacks),
    providers: both(before?.providers, more.providers),
  };
  const file = join(directory.projectDir(project), grantFileName);
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  await writeFile(temporary, JSON.stringify(grant), { mode: 0o600, flush: true });
  await rename(temporary, file);
}

function grantOf(directory: DataDirectory, project: string): Grant | undefined {
  const file = join(directory.projectsDir, project, grantFileName);
  if (!existsSync(file)) return undefined;
  return grantSchema.parse(JSON.parse(readFileSync(file, 'utf8')));
}
