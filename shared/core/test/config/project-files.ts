import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type ConfigProblem, ConfigErrors } from '@suzumio/core/config/config-problem';
import { loadProjectFile } from '@suzumio/runtime/disk/load-project-file';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import type { Environment } from '@suzumio/core/config/environment';
import { mountable } from '../../../../test/support/mountable.js';

export type Files = Readonly<Record<string, string | Uint8Array>>;

/** Runs `use` with a directory of its own that holds `files`; the directory is gone afterwards. */
export function withFiles<Result>(files: Files, use: (directory: string) => Result): Result {
  const directory = realpathSync(mkdtempSync(join(mountable, 'suzumio-config-')));
  try {
    for (const [name, content] of Object.entries(files)) {
      mkdirSync(dirname(join(directory, name)), { recursive: true });
      writeFileSync(join(directory, name), content);
    }
    return use(directory);
  } finally {
    rmSync(directory, { recursive: true, force: true });
  }
}

/** Loads `project.yaml` of `files`. */
export function load(files: Files | string, env: Environment = {}): LoadedProject {
  const all = typeof files === 'string' ? { 'project.yaml': files } : files;
  return withFiles(all, (directory) => loadProjectFile(join(directory, 'project.yaml'), { env }));
}

/** A problem, with the file's name relative to the project's directory. */
export type Found = Pick<ConfigProblem, 'code' | 'file' | 'line' | 'column' | 'message'>;

/** What loading `project.yaml` of `files` finds wrong. */
export function problemsOf(files: Files | string, options: { env?: Environment; configRoot?: string } = {}): Found[] {
  const all = typeof files === 'string' ? { 'project.yaml': files } : files;
  return withFiles(all, (directory) => {
    const short = (text: string) => text.replaceAll(`${directory}/`, '');
    return problemsIn(() =>
      loadProjectFile(join(directory, 'project.yaml'), {
        env: options.env ?? {},
        ...(options.configRoot !== undefined && { configRoot: join(directory, options.configRoot) }),
      }),
    ).map((problem) => ({ ...problem, file: short(problem.file), message: short(problem.message) }));
  });
}

/** The problems that `act` throws; anything else it throws is passed on. */
export function problemsIn(act: () => unknown): Found[] {
  try {
    act();
    return [];
  } catch (error) {
    if (error instanceof ConfigErrors) return [...error.problems];
    throw error;
  }
}

/** `code line:column`, the part of a problem that is stable. */
export function brief(problem: Found): string {
  return `${problem.code} ${problem.line}:${problem.column}`;
}

/** The smallest project; `rest` is appended. */
export function minimal(rest = ''): string {
  return `name: demo
task: Do it.
agents:
  editor:
    role: editor
    prompt: Edit.
${rest}`;
}
