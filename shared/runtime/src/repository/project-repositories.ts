import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { FileConfig } from '@suzumio/contract/model/project-config';
import { isGitUrl } from '@suzumio/contract/model/workspace-config';
import { ConfigErrors, type ConfigProblem } from '@suzumio/core/config/config-problem';
import type { ProjectSource } from '@suzumio/core/config/project-source';
import { cloneOf, workspaceLimitsOf } from '@suzumio/core/config/sandbox-of';
import { maxContentBytes } from '@suzumio/protocol/content';
import { defaultIgnored } from '@suzumio/protocol/ignored-roots';
import { inspectRepository, type RepositoryRequest } from './inspect-repository.js';
import { RepositoryProblem } from './repository-problem.js';

/** A repository of this host that a project clones, and why it cannot. */
export interface ClonedRepository {
  /** The first agent that is to have a clone of it. */
  readonly agent: string;
  readonly path: string;
  readonly problem: RepositoryProblem;
}

export interface InspectionOptions {
  /** Whether a path is inspected. @default each */
  readonly mayInspect?: (path: string) => boolean;
  /** The project as it is: what it clones already is not inspected again. */
  readonly known?: FileConfig | undefined;
}

/** The repositories of this host that cannot be cloned, each once. One that takes too long is left to the worker. */
export async function problemsOfRepositories(
  config: FileConfig,
  { mayInspect = () => true, known }: InspectionOptions = {},
): Promise<ClonedRepository[]> {
  const { maxBytes, maxFiles } = workspaceLimitsOf(config);
  const bounds = { maxBytes, maxEntries: maxFiles, maxFileBytes: maxContentBytes };
  const ignored = config.workspace?.ignore ?? defaultIgnored;
  const shared = config.git?.shared === true;
  const seen = new Set(known ? [...requestsOf(known)].map(([, request]) => keyOf(request)) : []);
  const found: ClonedRepository[] = [];
  for (const [agent, request] of requestsOf(config)) {
    const key = keyOf(request);
    if (seen.has(key) || !mayInspect(request.git)) continue;
    seen.add(key);
    try {
      await inspectRepository(request, { bounds, ignored, shared });
    } catch (error) {
      if (error instanceof RepositoryProblem) {
        // The worker may be on another machine, which has it.
        if (error.code !== 'git-missing') found.push({ agent, path: request.git, problem: error });
      } else if ((error as Error).name !== 'AbortError') throw error;
    }
  }
  return found;
}

/** Agents differ in their branch alone. */
const keyOf = ({ git, ref, depth, lfs, submodules }: RepositoryRequest) =>
  JSON.stringify([git, ref, depth, lfs, submodules]);

function* requestsOf(config: FileConfig): Generator<[agent: string, request: RepositoryRequest]> {
  for (const agent of Object.keys(config.agents)) {
    const clone = cloneOf(config, agent);
    if (!clone || isGitUrl(clone.git)) continue;
    yield [agent, clone];
  }
}

/** What is wrong with a file for its repositories, and what may come to be right. */
export async function inspectProject(
  source: Pick<ProjectSource, 'config' | 'locate'>,
  options?: InspectionOptions,
): Promise<{ problems: ConfigProblem[]; warnings: ConfigProblem[] }> {
  const problems: ConfigProblem[] = [];
  const warnings: ConfigProblem[] = [];
  for (const { agent, path, problem } of await problemsOfRepositories(source.config, options)) {
    const at = ['agents', agent, 'workspace', 'git'];
    const message = problem.isAbsent ? absent(path) : problem.message;
    // Both may come to be there before a turn needs them.
    const mayCome = problem.isAbsent || problem.code === 'ref-unknown';
    const found: ConfigProblem = { ...source.locate(at), code: 'repository-invalid', path: at.join('.'), message };
    (mayCome ? warnings : problems).push(found);
  }
  return { problems, warnings };
}

/**
 * Refuses a file whose repositories no turn could clone.
 *
 * @returns warnings of those that are not there yet
 * @throws {ConfigErrors} `invalid-config`
 */
export async function requireRepositories(
  source: Pick<ProjectSource, 'config' | 'locate'>,
  options?: InspectionOptions,
): Promise<ConfigProblem[]> {
  const { problems, warnings } = await inspectProject(source, options);
  if (problems.length > 0) throw new ConfigErrors(problems);
  return warnings;
}

function absent(path: string): string {
  const above = repositoryAbove(path);
  const hint = above === undefined ? '' : ` (it is part of one: name ${above})`;
  return `${path} is no Git repository${hint}; turns that clone it fail until it is one.`;
}

function repositoryAbove(path: string): string | undefined {
  const above = dirname(path);
  if (above === path) return undefined;
  return existsSync(join(above, '.git')) ? above : repositoryAbove(above);
}
