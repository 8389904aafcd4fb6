import { numberedIds } from '../config/agent-ids.js';
import { type ConfigProblemCode, ProblemList } from '../config/config-problem.js';
import type { ProjectSource } from '../config/project-source.js';
import type { FileAgentConfig } from '@suzumio/contract/model/project-config';
import type { TeamView } from '@suzumio/contract/model/profile';
import { everyMember } from './start-from-profiles.js';

/**
 * Adds agents for the members of a team to a file: the one entry whose profile is `*` becomes one agent for each member
 * whom no other entry names, numbered like counted agents, by nickname.
 *
 * @throws {ConfigErrors} where that is impossible
 */
export function withMembers(source: ProjectSource, members: TeamView['members']): ProjectSource {
  const { config } = source;
  const entries = Object.entries(config.agents);
  const named = new Set(entries.map(([, { profile }]) => profile));
  const left = members.filter(({ id, nickname }) => !named.has(id) && !named.has(nickname));
  const [pattern, second] = entries.filter(([, { profile }]) => profile === everyMember).map(([id]) => id);
  if (pattern === undefined) return source;
  const problems = new ProblemList();
  const refuse = (id: string, code: ConfigProblemCode, message: string): void =>
    problems.add(code, source.locate(['agents', id, 'profile']), message);
  if (second !== undefined) {
    refuse(
      second,
      'profile-duplicate',
      `one entry stands for all members ("${everyMember}"), without a count: not two`,
    );
  }
  const ids = numberedIds(pattern, left.length);
  for (const id of ids) {
    if (Object.hasOwn(config.agents, id)) refuse(id, 'agent-duplicate', `the id ${id} is needed for a member`);
  }
  if (!problems.isEmpty) throw problems.toError();
  const agents = entries.flatMap(([id, agent]): [string, FileAgentConfig][] =>
    id === pattern
      ? left.map(({ nickname }, index) => [ids[index] ?? id, { ...agent, base: pattern, profile: nickname }])
      : [[id, agent]],
  );
  return {
    ...source,
    config: {
      ...config,
      agents: Object.fromEntries(agents),
      channels: config.channels.map(({ name, members: readers }) => ({
        name,
        members: readers.flatMap((id) => (id === pattern ? ids : [id])),
      })),
    },
    locate: ([section, id, ...rest]) => {
      const isMember = section === 'agents' && typeof id === 'string' && ids.includes(id);
      return source.locate(
        isMember ? [section, pattern, ...rest] : [section, id, ...rest].filter((one) => one !== undefined),
      );
    },
  };
}
