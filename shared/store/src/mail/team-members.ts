import { hintFrom } from '@suzumio/contract/errors/suggest';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { ALL_AGENTS } from '@suzumio/contract/model/team-name';
import type { SqlReader } from '../sqlite/sql.js';

/**
 * The team of a name, with or without the leading `@` of mail addresses; undefined for all agents.
 *
 * @throws SuzumioError `team-unknown`, which names those that there are
 */
export function findTeam(reader: SqlReader, name: string | undefined): string | undefined {
  if (name === undefined) return undefined;
  const wanted = name.trim().toLowerCase().replace(/^@/, '');
  if (wanted === ALL_AGENTS) return undefined;
  const teams = [...new Set(roster(reader).flatMap(({ team }) => team ?? []))];
  if (teams.includes(wanted)) return wanted;
  throw new SuzumioError('team-unknown', `There is no team "${name}" in this project${hintFrom(wanted, teams)}`, {
    team: name,
  });
}

/** The agents of a team, or all, in the order of the project file. */
export function teamMembers(reader: SqlReader, team: string | undefined): string[] {
  return roster(reader)
    .filter((agent) => team === undefined || agent.team === team)
    .map(({ id }) => id);
}

function roster(reader: SqlReader): { id: string; team: string | null }[] {
  return reader.all('SELECT id, team FROM agents ORDER BY position');
}
