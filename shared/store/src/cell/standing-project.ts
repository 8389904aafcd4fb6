import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import { refuseUnsupported } from '@suzumio/core/config/unsupported';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { StandingDifferences } from '@suzumio/contract/operations/teams';
import type { Catalog } from './catalog.js';
import type { Cell } from './cell.js';
import type { NewProject } from './create-project.js';
import { iso } from '../sqlite/page.js';
import type { SqlReader } from '../sqlite/sql.js';
import { startProject } from '../projects/project-transitions.js';
import { startFromProfiles } from '@suzumio/core/profiles/start-from-profiles';
import { withMembers } from '@suzumio/core/profiles/with-members';

/** What a standing project is made from. */
export interface StandingProject {
  team: string;
  source: ProjectSource;
  /** Refuses what the policy does not allow, and returns what it allows. */
  admit: (loaded: LoadedProject) => Pick<NewProject, 'grant' | 'mayCopy' | 'mayLoad'>;
  actor: string;
}

/**
 * Creates a team's standing project and starts it, in one step; from then on mail to the team's members goes there. An
 * existing project of the file's name stays as it is. An earlier standing project of another name continues without
 * that mail.
 *
 * @returns the file with its members; undefined where nothing was created
 * @throws SuzumioError `team-unknown`, `team-empty`, `project-exists`, and what a project is refused with
 */
export async function makeStandingProject(
  cell: Cell,
  { team, source, admit, actor }: StandingProject,
): Promise<LoadedProject | undefined> {
  const { members, project } = cell.catalog.teams.get(team);
  const { name } = source.config;
  if (project === name) return undefined;
  if (members.length === 0) {
    throw new SuzumioError('team-empty', `Nobody is in the team ${team}, so it can have no standing project.`, {
      team,
    });
  }
  const loaded = startFromProfiles(withMembers(source, members), cell.catalog.profiles);
  const allowed = admit(loaded);
  refuseUnsupported(loaded);
  try {
    await cell.createProject({
      config: loaded.config,
      source: loaded.sourceText,
      actor,
      ...allowed,
      standingTeam: team,
      begin: (tx) => {
        startProject(tx, actor);
      },
    });
  } catch (error) {
    // Another process has handled the same request at the same time.
    if (isSuzumioError(error, 'project-exists') && cell.catalog.teams.get(team).project === name) return undefined;
    throw error;
  }
  return loaded;
}

/** When profiles were last copied into a project: by the newest version of its file that was not a revert. */
function newestCopy(reader: SqlReader): number {
  const row = reader.get<{ at: number }>('SELECT max(created_at_ms) AS at FROM config_versions WHERE reverts IS NULL');
  return row?.at ?? 0;
}

/** The ids of a project's agents, retired ones among them, with the profile that each started from. */
export function idsOf(reader: SqlReader): ReadonlyMap<string, string | null> {
  const rows = reader.all<{ id: string; profile: string | null }>('SELECT id, profile_id AS profile FROM agents');
  return new Map(rows.map(({ id, profile }) => [id, profile]));
}

/** What has changed in a team since its standing project was made, or changed. */
export function differencesOf(catalog: Catalog, team: string, reader: SqlReader): StandingDifferences {
  const agents = reader.all<{ id: string; profile: string }>(
    'SELECT id, profile_id AS profile FROM agents WHERE profile_id IS NOT NULL AND retired_version IS NULL ORDER BY position',
  );
  const present = new Set(agents.map(({ profile }) => profile));
  const { members } = catalog.teams.get(team);
  const ids = new Set(members.map(({ id }) => id));
  const copiedAt = iso(newestCopy(reader));
  return {
    absent: members.filter(({ id }) => !present.has(id)).map(({ nickname }) => nickname),
    departed: agents.filter(({ profile }) => !ids.has(profile)).map(({ id }) => id),
    changed: members
      .filter(({ id }) => present.has(id) && (catalog.profiles.find(id)?.updatedAt ?? copiedAt) > copiedAt)
      .map(({ nickname }) => nickname),
  };
}
