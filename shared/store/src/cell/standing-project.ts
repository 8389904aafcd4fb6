import type { LoadedProject, ProjectSource } from '@suzumio/core/config/project-source';
import { refuseUnsupported } from '@suzumio/core/config/unsupported';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { StandingDifferences } from '@suzumio/contract/operations/teams';
import type { Catalog } from './catalog.js';
import type { Cell } from './cell.js';
import type { NewProject } from './create-project.js';
import { iso } from '../sqlite/page.js';
import { projectRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { startProject } from '../projects/project-transitions.js';
import { startFromProfiles } from '@suzumio/core/profiles/start-from-profiles';
import { withMembers } from '@suzumio/core/profiles/with-members';

/** What a standing project is made from. */
export interface StandingProject {
  team: string;
  source: ProjectSource;
  /** Refuses what the policy does not allow, and returns what it allows. */
  admit: (loaded: LoadedProject) => Pick<NewProject, 'grant' | 'mayCopy'>;
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

/** What has changed in a team since its standing project was created. */
export function differencesOf(catalog: Catalog, team: string, reader: SqlReader): StandingDifferences {
  const agents = reader.all<{ id: string; profile: string }>(
    'SELECT id, profile_id AS profile FROM agents WHERE profile_id IS NOT NULL AND retired_version IS NULL ORDER BY position',
  );
  const present = new Set(agents.map(({ profile }) => profile));
  const { members } = catalog.teams.get(team);
  const ids = new Set(members.map(({ id }) => id));
  const madeAt = iso(projectRow(reader).created_at_ms);
  return {
    absent: members.filter(({ id }) => !present.has(id)).map(({ nickname }) => nickname),
    departed: agents.filter(({ profile }) => !ids.has(profile)).map(({ id }) => id),
    changed: members
      .filter(({ id }) => present.has(id) && (catalog.profiles.find(id)?.updatedAt ?? madeAt) > madeAt)
      .map(({ nickname }) => nickname),
  };
}
