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
  const agents = reader.all<{ team: string | null }>('SELECT team FROM agents ORDER BY position');
  const teams = [...new Set(agents.flatMap(({ team }) => team ?? []))];
  if (teams.includes(wanted)) return wanted;
  throw new SuzumioError('team-unknown', `There is no team "${name}" in this project${hintFrom(wanted, teams)}`, {
    team: name,
  });
}

/** The agents of a team, or all, in the order of the project file: those that were not retired. */
export function teamMembers(reader: SqlReader, team: string | undefined): string[] {
  return reader
    .all<{ id: string }>(
      'SELECT id FROM agents WHERE retired_version IS NULL AND (:team IS NULL OR team = :team) ORDER BY position',
      { team: team ?? null },
    )
    .map(({ id }) => id);
}
