import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import { importPublished, type ImportedFile } from '@suzumio/core/config/import-published';
import { type LoadFileOptions, readProject } from '@suzumio/core/config/read-project';
import type { ProfileOptions } from '@suzumio/core/profiles/load-project';
import { noProfiles } from '@suzumio/core/profiles/registry';
import { startFromProfiles } from '@suzumio/core/profiles/start-from-profiles';
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
 * Reads a project file from this machine's disk, without profiles.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function readProjectFile(path: string, options: LoadFileOptions): ProjectSource {
  return readProject(path, options, filesOnDisk);
}

/**
 * Reads a file of the published format from this machine's disk, as one of this format.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function importPublishedFile(path: string, options: Pick<LoadFileOptions, 'configRoot'>): ImportedFile {
  return importPublished(path, options, filesOnDisk);
}
