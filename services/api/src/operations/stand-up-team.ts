import type { Response } from 'express';
import { formatProblem } from '@suzumio/core/config/config-problem';
import { readProjectText } from '@suzumio/core/config/read-project';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { teams } from '@suzumio/contract/operations/teams';
import { refuseByPolicy } from '@suzumio/core/policy/check-project';
import { differencesOf, makeStandingProject } from '@suzumio/store/cell/standing-project';
import { readProject } from '@suzumio/store/projects/read-project';
import { projectRow } from '@suzumio/store/rows';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { refuseKey } from '../commit-once.js';
import type { ApiContext } from '../context.js';
import { withProject } from '../project-access.js';
import type { Run } from '../routes.js';

/** Starts a team's standing project, which a posted file makes where there is none. */
export const standUpTeam: Run<typeof teams.standUpTeam> = async ({
  context,
  params: { team },
  body: { file },
  request,
  response,
  actor,
}) => {
  const { cell, transport } = context;
  refuseKey(request, 'Sent again, it starts the project that is there');
  const loaded = file === undefined ? undefined : await make(context, team, file, actor);
  const project = cell.catalog.teams.get(team).project ?? noProject(team);
  const made = loaded !== undefined;
  if (!made) await startAgain(context, response, project, actor);
  transport.wake(project);
  if (made) response.status(201);
  return withProject(context, response, project, (store) =>
    store.snapshot((reader) => ({
      team,
      project: readProject(reader),
      made,
      differences: differencesOf(cell.catalog, team, reader),
      warnings: (loaded?.warnings ?? []).map(formatProblem),
      notes: (loaded?.notes ?? []).map(formatProblem),
    })),
  );
};

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
