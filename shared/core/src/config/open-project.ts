import { dirname } from 'node:path';
import type { ConfigNode } from './config-node.js';
import type { ProblemList } from './config-problem.js';
import type { ImportContext } from './resolve-imports.js';
import type { SourceFiles } from './source-files.js';
import { fullBudget, readYaml } from './yaml-reader.js';

/** A project file that was read, before anything in it is resolved. */
export interface OpenedProject {
  readonly text: string;
  readonly parsed: ConfigNode;
  /** The directory of the file, links followed. */
  readonly directory: string;
  readonly context: ImportContext & { readonly realPath: string };
}

/**
 * Reads and parses a project file.
 *
 * @param options.configRoot the directory that imports must be in @default the file's own
 * @throws {ConfigErrors} where there is no file, or no such directory
 */
export function openProject(
  path: string,
  { configRoot: asked }: { readonly configRoot?: string | undefined },
  disk: SourceFiles,
  { problems, warnings }: { readonly problems: ProblemList; readonly warnings: ProblemList },
): OpenedProject {
  const start = { file: path, line: 1, column: 1 };
  const content = disk.readText(path);
  if (!content.ok) {
    problems.add(content.code, start, content.message);
    throw problems.toError();
  }
  const { text, realPath } = content;
  const directory = dirname(realPath);
  const budget = fullBudget();
  const parsed = readYaml(text, path, problems, budget);
  const configRoot = asked === undefined ? directory : disk.realDirectory(asked);
  if (configRoot === undefined) {
    problems.add('file-missing', start, `there is no directory ${asked ?? ''}`);
    throw problems.toError();
  }
  const files = new Set([realPath]);
  return { text, parsed, directory, context: { problems, warnings, disk, configRoot, files, budget, realPath } };
}
