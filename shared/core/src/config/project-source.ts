import type { FileConfig, ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ConfigPath } from './config-node.js';
import type { ConfigProblem, Place } from './config-problem.js';

/** A valid project file, without the profiles that its agents start from. */
export interface ProjectSource {
  readonly config: FileConfig;
  /** The file's text. */
  readonly sourceText: string;
  /** Real paths of the file and of all that it imports; empty for a posted text. */
  readonly files: readonly string[];
  /** Warnings of what is allowed but probably not meant. */
  readonly warnings: readonly ConfigProblem[];
  /** What the file has of the published format that has no effect here, and why. */
  readonly notes: readonly ConfigProblem[];
  /** The position of a field of `config`; for a default, where it would be. */
  locate(path: ConfigPath): Place;
}

/** A valid project file, complete with its agents' profiles. */
export interface LoadedProject extends ProjectSource {
  readonly config: ProjectConfig;
}
