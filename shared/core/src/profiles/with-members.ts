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
 * @param ids the ids of agents that the project has or had, each with its profile: a member keeps its id, and nobody gets
 *   that of another
 * @throws {ConfigErrors} where that is impossible
 */
export function withMembers(
  source: ProjectSource,
  members: TeamView['members'],
  ids: ReadonlyMap<string, string | null> = new Map(),
): ProjectSource {
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
  const wanted = idsFor(left, numberedIds(pattern, left.length + ids.size), ids);
  for (const id of wanted) {
    if (Object.hasOwn(config.agents, id)) refuse(id, 'agent-duplicate', `the id ${id} is needed for a member`);
  }
  if (!problems.isEmpty) throw problems.toError();
  const agents = entries.flatMap(([id, agent]): [string, FileAgentConfig][] =>
    id === pattern
      ? left.map(({ nickname }, index) => [wanted[index] ?? id, { ...agent, base: pattern, profile: nickname }])
      : [[id, agent]],
  );
  return {
    ...source,
    config: {
      ...config,
      agents: Object.fromEntries(agents),
      channels: config.channels.map(({ name, members: readers }) => ({
        name,
        members: readers.flatMap((id) => (id === pattern ? wanted : [id])),
      })),
    },
    locate: ([section, id, ...rest]) => {
      const isMember = section === 'agents' && typeof id === 'string' && wanted.includes(id);
      return source.locate(
        isMember ? [section, pattern, ...rest] : [section, id, ...rest].filter((one) => one !== undefined),
      );
    },
  };
}

/** An id for each member: that which it has, or the next number that nobody has or had. */
function idsFor(
  members: TeamView['members'],
  numbered: readonly string[],
  taken: ReadonlyMap<string, string | null>,
): string[] {
  const own = new Map([...taken].flatMap(([id, profile]) => (numbered.includes(id) && profile ? [[profile, id]] : [])));
  const free = numbered.filter((id) => !taken.has(id));
  return members.map((member) => own.get(member.id) ?? free.shift() ?? '');
}
