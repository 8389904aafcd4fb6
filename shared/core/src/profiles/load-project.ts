import type { LoadedProject } from '../config/project-source.js';
import { readProjectText } from '../config/read-project.js';
import { noProfiles, type ProfileRegistry } from './registry.js';
import { startFromProfiles } from './start-from-profiles.js';

/** The profiles that agents may start from. @default none */
export interface ProfileOptions {
  readonly profiles?: ProfileRegistry | undefined;
}

/**
 * Loads a posted project file, with the profiles that its agents start from.
 *
 * @throws {ConfigErrors} with everything that is wrong
 */
export function loadProjectText(text: string, fileName: string, { profiles }: ProfileOptions = {}): LoadedProject {
  return startFromProfiles(readProjectText(text, fileName), profiles ?? noProfiles);
}
