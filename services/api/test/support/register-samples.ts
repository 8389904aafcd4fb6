import type { Cell } from '@suzumio/store/cell/cell';

/** A project file whose agents are the members of a team. */
export const standingYaml = (name: string, agents = 'member: { profile: "*", tools: ["*"] }'): string =>
  `name: ${name}\ntask: Answer what comes in.\nbackend: { runner: { mode: mock } }\nagents:\n  ${agents}\n`;

/**
 * The teams and profiles of a contract world: `research`, whose standing project `desk` was made for Akari, before Ren
 * came; Old, who is retired; `idle`, where Mio is and no project; `empty`, where nobody is.
 */
export async function registerSamples(
  { catalog }: Cell,
  standUp: (team: string, file: string) => Promise<unknown>,
): Promise<void> {
  for (const name of ['research', 'idle', 'empty']) await catalog.teams.create({ name, description: 'A sample.' });
  const register = (nickname: string, team: string) =>
    catalog.profiles.create({ nickname, role: 'researcher', team, persona: 'Look.', model: null, skills: [] });
  await register('Akari', 'research');
  await standUp('research', standingYaml('desk'));
  await register('Ren', 'research');
  await register('Old', 'research');
  await catalog.profiles.retire('Old');
  await register('Mio', 'idle');
}
