import { ConfigErrors, type ConfigProblem, type ConfigProblemCode, ProblemList } from '../config/config-problem.js';
import { configLimits } from '../config/limits.js';
import type { LoadedProject, ProjectSource } from '../config/project-source.js';
import { hintFrom } from '@suzumio/contract/errors/suggest';
import {
  type AgentConfig,
  type FileAgentConfig,
  type FileConfig,
  projectConfig,
} from '@suzumio/contract/model/project-config';
import type { ProfileView } from '@suzumio/contract/model/profile';
import { fillPersona } from './persona.js';
import type { ProfileRegistry } from './registry.js';

/** In a standing project's file, the profile that means every member of the team whom the file does not name. */
export const everyMember = '*';

/**
 * Copies each named profile into its agent, except the fields that the file sets. Later changes of the profile do not
 * affect the project.
 *
 * @throws {ConfigErrors} `profile-unknown`, `profile-retired` where that is all that is wrong; `invalid-config`
 */
export function startFromProfiles(source: ProjectSource, profiles: ProfileRegistry): LoadedProject {
  const { config } = source;
  const problems = new ProblemList();
  const warnings = new ProblemList();
  const say = (list: ProblemList, id: string, code: ConfigProblemCode, message: string): void =>
    list.add(code, source.locate(['agents', id, 'profile']), message);
  const started = new Map<string, string>();
  let bytesLeft = configLimits.agentsBytes;
  const agents = Object.entries(config.agents).map(([id, agent]): [string, AgentConfig] => {
    if (agent.profile === undefined) return [id, complete(agent)];
    const found = lookUp(agent.profile, profiles);
    if ('code' in found) {
      say(problems, id, found.code, found.message);
      return [id, complete({ ...agent, role: '-', prompt: '-' })];
    }
    const twin = started.get(found.id);
    if (twin !== undefined) {
      const message = `agents ${twin} and ${id} start from one profile, ${found.nickname}: there is one of each in a project`;
      say(problems, id, 'profile-duplicate', message);
    }
    started.set(found.id, id);
    const missing = missingPreset(config, agent, found);
    if (missing !== undefined) say(warnings, id, 'preset-unknown', missing);
    const begun = agentFrom(id, agent, found, config, bytesLeft);
    bytesLeft -= begun?.prompt.length ?? Infinity;
    return [id, begun ?? complete({ ...agent, role: '-', prompt: '-' })];
  });
  for (const [id, { profile, displayName }] of agents) {
    if (profile === undefined || config.agents[id]?.displayName !== undefined) continue;
    const other = agents.find(([, agent]) => agent.profile !== profile && agent.displayName === displayName)?.[0];
    if (other === undefined || displayName === undefined) continue;
    const message = `${displayName} is the name of agent ${other}, too: give one of them another displayName`;
    say(problems, id, 'profile-name-clash', message);
  }
  refuseLarge(agents, bytesLeft, source, problems);
  if (!problems.isEmpty) throw refusalOf(problems.sorted());
  return {
    ...source,
    // Parsed again, so that fields from profiles get their usual order.
    config: projectConfig.parse({ ...config, agents: Object.fromEntries(agents) }),
    warnings: [...source.warnings, ...warnings.sorted()],
  };
}

function lookUp(name: string, profiles: ProfileRegistry): ProfileView | { code: ConfigProblemCode; message: string } {
  if (name === everyMember) {
    const message = `"${everyMember}" stands for the members of a team: suzumio teams up TEAM --from FILE`;
    return { code: 'profile-unknown', message };
  }
  const found = profiles.find(name);
  if (!found)
    return { code: 'profile-unknown', message: `unknown profile "${name}"${hintFrom(name, profiles.nicknames())}` };
  const { nickname, retiredAt } = found;
  if (retiredAt === null) return found;
  return {
    code: 'profile-retired',
    message: `the profile ${nickname} is retired: start from another`,
  };
}

/** @returns undefined where its prompt alone would be longer than `maxLength` */
function agentFrom(
  id: string,
  agent: FileAgentConfig,
  profile: ProfileView,
  config: FileConfig,
  maxLength: number,
): AgentConfig | undefined {
  const role = agent.role ?? profile.role;
  const team = agent.team ?? profile.team ?? undefined;
  const model = agent.model ?? preferred(config, profile);
  const skills = agent.skills ?? profile.skills;
  const values = {
    'project.name': config.name,
    'project.task': config.task.trimEnd(),
    'agent.id': id,
    'agent.nickname': profile.nickname,
    'agent.role': role,
    team: team ?? 'none',
  };
  const prompt = agent.prompt ?? fillPersona(profile.persona, values, maxLength);
  if (prompt === undefined) return undefined;
  return {
    ...agent,
    role,
    prompt,
    displayName: agent.displayName ?? profile.nickname,
    profile: profile.id,
    ...(team === undefined ? {} : { team }),
    ...(model === undefined ? {} : { model }),
    ...(skills.length === 0 ? {} : { skills }),
  };
}

/** The profile's preferred preset, if the project has it. */
function preferred({ backend }: FileConfig, { model }: ProfileView): string | undefined {
  return model !== null && Object.hasOwn(backend.runner.models?.presets ?? {}, model) ? model : undefined;
}

/** Warns that the project lacks the preferred preset, so that the agent uses the project's own. */
function missingPreset(config: FileConfig, agent: FileAgentConfig, profile: ProfileView): string | undefined {
  const { nickname, model } = profile;
  if (config.backend.runner.mode !== 'ai' || agent.model !== undefined || model === null) return undefined;
  if (preferred(config, profile) !== undefined) return undefined;
  return `${nickname} prefers the preset "${model}", and this project has none of that name: its own model is used`;
}

/** An agent without a profile is complete in the file. */
function complete(agent: FileAgentConfig): AgentConfig {
  const { role, prompt } = agent;
  if (role === undefined || prompt === undefined)
    throw new Error('an agent without a role or a prompt was let through');
  return { ...agent, role, prompt };
}

/** Fields from profiles count towards the file's limits. */
function refuseLarge(
  agents: readonly [string, AgentConfig][],
  bytesLeft: number,
  source: ProjectSource,
  problems: ProblemList,
): void {
  const place = source.locate(['agents']);
  if (agents.length > configLimits.agents) {
    const message = `agents: a project has at most ${String(configLimits.agents)} agents`;
    problems.add('too-large', place, message);
  }
  const bytes = agents.reduce((sum, [, agent]) => sum + JSON.stringify(agent).length, 0);
  if (bytesLeft >= 0 && bytes <= configLimits.agentsBytes) return;
  const message = `agents: more than ${String(configLimits.agentsBytes)} bytes with what their profiles say`;
  problems.add('too-large', place, message);
}

function refusalOf(problems: readonly ConfigProblem[]): ConfigErrors {
  const [first, ...others] = new Set(problems.map(({ code }) => code));
  const own = others.length === 0 && (first === 'profile-unknown' || first === 'profile-retired') ? first : undefined;
  return new ConfigErrors(problems, own);
}
