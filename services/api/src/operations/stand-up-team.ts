import type { Response } from 'express';
import { readProjectText } from '@suzumio/core/config/read-project';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { teams } from '@suzumio/contract/operations/teams';
import { refuseByPolicy } from '@suzumio/core/policy/check-project';
import type { ConfigChange } from '@suzumio/contract/model/config-change';
import { startFromProfiles } from '@suzumio/core/profiles/start-from-profiles';
import { withMembers } from '@suzumio/core/profiles/with-members';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import { applyConfig } from '@suzumio/store/projects/apply-config';
import { newestVersion } from '@suzumio/store/sqlite/configs';
import { differencesOf, idsOf, makeStandingProject } from '@suzumio/store/cell/standing-project';
import { readProject } from '@suzumio/store/projects/read-project';
import { projectRow } from '@suzumio/store/rows';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { refuseKey } from '../commit-once.js';
import type { ApiContext } from '../context.js';
import { withProject } from '../project-access.js';
import type { Run } from '../routes.js';
import { inForce, judge, type Judged, newFiles, profilesFor, saidOf } from './change-config.js';

/** Starts a team's standing project, which a posted file makes where there is none, and changes where it is there. */
export const standUpTeam: Run<typeof teams.standUpTeam> = async ({
  context,
  params: { team },
  body: { file },
  request,
  response,
  identity,
  actor,
}) => {
  const { cell, transport } = context;
  refuseKey(request, 'Sent again, it starts the project that is there');
  const made = file === undefined ? undefined : await make(context, team, file, actor);
  const project = cell.catalog.teams.get(team).project ?? noProject(team);
  const changed = file === undefined || made ? undefined : await change(context, { team, project, file, identity });
  const said = made ? saidOf(made) : changed?.said;
  if (!made) await startAgain(context, response, project, actor);
  transport.wake(project);
  if (made) response.status(201);
  return withProject(context, response, project, (store) =>
    store.snapshot((reader) => ({
      team,
      project: readProject(reader),
      made: made !== undefined,
      version: newestVersion(reader),
      changes: changed?.changes ?? [],
      differences: differencesOf(cell.catalog, team, reader),
      warnings: said?.warnings ?? [],
      notes: said?.notes ?? [],
    })),
  );
};

/** Applies a file to a project that is there: to the newest version, whoever has changed it meanwhile. */
function change(
  context: ApiContext,
  { team, project, file, identity }: { team: string; project: string; file: string; identity: ApiIdentity },
): Promise<{ said: Judged['said']; changes: ConfigChange[] }> {
  const { cell } = context;
  return cell.stores
    .use(project, async (store) => {
      const now = inForce(store);
      const source = withMembers(
        readProjectText(file, 'file'),
        cell.catalog.teams.get(team).members,
        idsOf(store.reader),
      );
      const judged = await judge(
        context,
        store,
        now,
        startFromProfiles(source, profilesFor(identity, cell.catalog, now.config)),
      );
      // What is sent again, in whatever words, is no new version.
      if (judged.changes.length === 0) return { said: judged.said, changes: [] };
      const { config, sourceText } = judged.loaded;
      const snapshots = await newFiles(context, store, now, judged);
      const next = { base: now.version, config, source: sourceText, actor: identity.name, snapshots };
      const { changes } = await store.write((tx) => applyConfig(tx, next));
      return { said: judged.said, changes };
    })
    .catch((error: unknown) => {
      if (isSuzumioError(error, 'config-conflict')) return change(context, { team, project, file, identity });
      throw error;
    });
}

function make({ cell, policy, host, budgetUsdPerDay }: ApiContext, team: string, file: string, actor: string) {
  return makeStandingProject(cell, {
    team,
    source: readProjectText(file, 'file'),
    admit: (loaded) => refuseByPolicy(loaded, policy, host, { dayBudget: budgetUsdPerDay !== undefined }),
    actor,
  });
}

/** Starts a project that does not run. The catalog is updated first: it may err towards `running`. */
async function startAgain(context: ApiContext, response: Response, project: string, actor: string): Promise<void> {
  const { cell } = context;
  await withProject(context, response, project, async (store) => {
    if (projectRow(store.reader).status === 'running') return;
    await cell.catalog.projects.noteRunning(project);
    await store.write((tx) => {
      if (projectRow(tx).status !== 'running') startProject(tx, actor);
    });
  });
  await cell.noteStatus(project);
}

function noProject(team: string): never {
  throw new SuzumioError(
    'team-has-no-project',
    `The team ${team} has no standing project yet: it is made from a project file (suzumio teams up ${team} --from FILE).`,
    { team },
  );
}
