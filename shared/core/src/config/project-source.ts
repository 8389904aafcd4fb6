import type { FileConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ConfigPath } from './config-node.js';
import type { ConfigProblem, Place } from './config-problem.js';

/** A project file that was found to be right, as far as it says everything itself: agents may start from profiles. */
export interface ProjectSource {
  readonly config: FileConfig;
  /** The file as it was written. */
  readonly sourceText: string;
  /** Real paths of the file and of all that it imports; empty for a posted text. */
  readonly files: readonly string[];
  /** What is allowed and probably not meant. */
  readonly warnings: readonly ConfigProblem[];
  /** Where a field of `config` was written; for a default, where it would be. */
  locate(path: ConfigPath): Place;
}

/** A project file that was found to be right, with all that its agents start from. */
export interface LoadedProject extends ProjectSource {
  readonly config: ProjectConfig;
}
