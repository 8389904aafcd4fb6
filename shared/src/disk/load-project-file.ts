import type { LoadedProject, ProjectSource } from '../config/project-source.js';
import { type LoadFileOptions, readProject } from '../config/read-project.js';
import type { ProfileOptions } from '../profiles/load-project.js';
import { noProfiles } from '../profiles/registry.js';
import { startFromProfiles } from '../profiles/start-from-profiles.js';
import { filesOnDisk } from './files.js';

/**
 * Loads a project file from this machine's disk, with the profiles that its agents start from.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function loadProjectFile(path: string, options: LoadFileOptions & ProfileOptions): LoadedProject {
  return startFromProfiles(readProjectFile(path, options), options.profiles ?? noProfiles);
}

/**
 * Reads a project file from this machine's disk, as far as it says everything itself.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function readProjectFile(path: string, options: LoadFileOptions): ProjectSource {
  return readProject(path, options, filesOnDisk);
}
