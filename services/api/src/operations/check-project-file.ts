import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { CheckProjectFileAnswer, FiledProject, FileProblem } from '@suzumio/contract/operations/project-files';
import { ConfigErrors, type ConfigProblem } from '@suzumio/core/config/config-problem';
import { configLimits } from '@suzumio/core/config/limits';
import type { LoadedProject } from '@suzumio/core/config/project-source';
import { backendOf, isExternal, mountedFor } from '@suzumio/core/config/sandbox-of';
import { presetOf } from '@suzumio/core/budgets/presets';
import type { AllowedDirectories } from '@suzumio/core/policy/check-project';
import { loadProjectText } from '@suzumio/core/profiles/load-project';
import { inspectProject } from '@suzumio/runtime/repository/project-repositories';
import { toolpackFault } from '@suzumio/store/content/take-toolpacks';
import type { ApiContext } from '../context.js';
import { admitPosted, objectionsTo, problemsOf } from './admit-posted.js';

/** The most agents, and the most directories, that one answer has. */
const mostItems = 100;

/** How much of a task is told. */
const mostTaskChars = 2000;

/** What creating a project from a posted file would refuse, and what the project would be. */
export async function checkPosted(context: ApiContext, file: string): Promise<CheckProjectFileAnswer> {
  const { cell } = context;
  let loaded: LoadedProject;
  try {
    loaded = loadProjectText(file, 'file', cell.catalog);
  } catch (error) {
    if (!(error instanceof ConfigErrors)) throw error;
    return { problems: shown(error.problems), warnings: [], notes: [], project: null };
  }
  const { config, warnings, notes } = loaded;
  const taken = cell.catalog.projects.all().some(({ id }) => id === config.name);
  const repositories = await inspected(context, loaded);
  const problems = [
    ...(taken ? [takenName(loaded)] : []),
    ...objectionsTo(context, loaded),
    ...(await toolpackProblems(context, loaded)),
    ...repositories.problems,
  ];
  const inOrder = problems.toSorted((one, other) => one.line - other.line || one.column - other.column);
  return {
    problems: shown(inOrder),
    warnings: shown([...warnings, ...repositories.warnings]),
    notes: shown(notes),
    project: projectOf(config),
  };
}

/** What is wrong with its toolpacks, as far as they may be loaded. */
async function toolpackProblems(context: ApiContext, loaded: LoadedProject): Promise<ConfigProblem[]> {
  let allowed: AllowedDirectories | undefined;
  const denied = problemsOf(() => (allowed = admitPosted(context, loaded)));
  if (allowed === undefined || denied.length > 0) return [];
  const message = await toolpackFault(loaded.config, allowed.mayLoad);
  if (message === undefined) return [];
  const path = ['tools', 'toolpacks'];
  return [{ ...loaded.locate(path), code: 'toolpack-invalid', path: path.join('.'), message }];
}

/** What is wrong with its repositories on this host, as far as they may be cloned. */
async function inspected(context: ApiContext, loaded: LoadedProject): ReturnType<typeof inspectProject> {
  if (problemsOf(() => admitPosted(context, loaded)).length > 0) return { problems: [], warnings: [] };
  return inspectProject(loaded, { mayInspect: (path) => context.host.lookUp(path) !== undefined });
}

function takenName(loaded: LoadedProject): Omit<ConfigProblem, 'code'> & { code: string } {
  const message = `name: there is a project ${loaded.config.name} already`;
  return { ...loaded.locate(['name']), code: 'project-exists', path: 'name', message };
}

function shown(problems: readonly (Omit<ConfigProblem, 'code'> & { code: string })[]): FileProblem[] {
  return problems
    .slice(0, configLimits.problems)
    .map(({ code, line, column, path = null, message }) => ({ code, line, column, path, message }));
}

function projectOf(config: ProjectConfig): FiledProject {
  const { name, task, channels, backend, budget = null } = config;
  const agents = Object.entries(config.agents);
  const hosted = agents.map(([, agent]) => agent).filter((agent) => !isExternal(agent));
  const contained = hosted.some((agent) => backendOf(config, agent) === 'docker');
  const copied = hosted.flatMap(({ workspace }) => workspace?.from ?? []);
  const mounted = hosted.flatMap((agent) => mountedFor(config, agent).map(({ source }) => source));
  const asked = backend.runner.mode === 'ai' ? Object.values(backend.runner.models?.providers ?? {}) : [];
  return {
    name,
    task: task.slice(0, mostTaskChars),
    agents: agents.slice(0, mostItems).map(([id, agent]) => ({
      id,
      displayName: agent.displayName ?? null,
      role: agent.role,
      backend: isExternal(agent) ? 'external' : backendOf(config, agent),
      model: isExternal(agent) || backend.runner.mode === 'mock' ? null : (presetOf(config, id) ?? null),
      budget: agent.budget ?? null,
    })),
    agentCount: agents.length,
    channels: channels.length,
    budget,
    image: contained ? backend.image : null,
    network: contained ? backend.docker.network : null,
    providers: asked.map((provider) => ({
      address: provider.baseURL ?? `\${${provider.baseURLEnv ?? ''}}`,
      key: provider.apiKeyEnv ?? '',
    })),
    directories: [...new Set([...copied, ...mounted])].slice(0, mostItems),
    repositories: [...new Set(hosted.flatMap(({ workspace }) => workspace?.git ?? []))].slice(0, mostItems),
  };
}
