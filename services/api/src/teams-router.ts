import express, { type Response, type Router } from 'express';
import { formatProblem } from '@suzumio/core/config/config-problem';
import { readProjectText } from '@suzumio/core/config/read-project';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { emptyRequest, noQuery } from '@suzumio/contract/model/http-api';
import {
  createTeamRequest,
  type DeleteTeamAnswer,
  type StandUpAnswer,
  standUpRequest,
  type TeamAnswer,
  type TeamListAnswer,
  teamsQuery,
  updateTeamRequest,
} from '@suzumio/contract/model/profile-api';
import { refuseByPolicy } from '@suzumio/core/policy/check-project';
import { differencesOf, makeStandingProject } from '@suzumio/store/cell/standing-project';
import { readProject } from '@suzumio/store/projects/read-project';
import { projectRow } from '@suzumio/store/rows';
import { startProject } from '@suzumio/store/projects/project-transitions';
import { identityOf, wholeCellOnly } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { keyOf, refuseKey } from './commit-once.js';
import type { ApiContext } from './context.js';
import { partOf } from './named-list.js';
import { withProject } from './project-access.js';

/** Teams of profiles, and their standing projects. */
export function teamsRouter(context: ApiContext): Router {
  const { cell, transport } = context;
  const { teams } = cell.catalog;
  const router = express.Router();
  router.use('/api/teams', wholeCellOnly);

  router.get('/api/teams', (request, response) => {
    const { limit, after } = queryOf(request, teamsQuery);
    response.json(partOf(teams.list({ after, limit: limit + 1 }), limit, ({ name }) => name) satisfies TeamListAnswer);
  });

  router.post('/api/teams', async (request, response) => {
    const team = await teams.create(bodyOf(request, createTeamRequest), keyOf(request, response));
    response
      .status(201)
      .location(`${context.publicPath}/api/teams/${team.name}`)
      .json({ team } satisfies TeamAnswer);
  });

  router.get('/api/teams/:team', (request, response) => {
    queryOf(request, noQuery);
    response.json({ team: teams.get(request.params.team) } satisfies TeamAnswer);
  });

  router.post('/api/teams/:team', async (request, response) => {
    const change = bodyOf(request, updateTeamRequest);
    const team = await teams.update(request.params.team, change, keyOf(request, response));
    response.json({ team } satisfies TeamAnswer);
  });

  router.delete('/api/teams/:team', async (request, response) => {
    queryOf(request, noQuery);
    bodyOf(request, emptyRequest);
    const { team } = request.params;
    await teams.delete(team);
    response.json({ name: team } satisfies DeleteTeamAnswer);
  });

  router.post('/api/teams/:team/up', async (request, response) => {
    const { team } = request.params;
    const { file } = bodyOf(request, standUpRequest);
    refuseKey(request, 'Sent again, it starts the project that is there');
    const actor = identityOf(response).name;
    const warnings = file === undefined ? undefined : await make(context, team, file, actor);
    const project = teams.get(team).project ?? noProject(team);
    const made = warnings !== undefined;
    if (!made) await startAgain(context, response, project, actor);
    transport.wake(project);
    const answer = await withProject(context, response, project, (store) =>
      store.snapshot((reader): StandUpAnswer => ({
        team,
        project: readProject(reader),
        made,
        differences: differencesOf(cell.catalog, team, reader),
        warnings: (warnings ?? []).map(formatProblem),
      })),
    );
    response.status(made ? 201 : 200).json(answer);
  });
  return router;
}

function make({ cell, policy, host, budgetUsdPerDay }: ApiContext, team: string, file: string, actor: string) {
  return makeStandingProject(cell, {
    team,
    source: readProjectText(file, 'file'),
    admit: (loaded) => {
      refuseByPolicy(loaded, policy, host, { dayBudget: budgetUsdPerDay !== undefined });
      return undefined;
    },
    actor,
  });
}

/** Starts it where it does not run. The catalog is told first: it may say `running` of a project that is not. */
async function startAgain(context: ApiContext, response: Response, project: string, actor: string): Promise<void> {
  const { cell } = context;
  await withProject(context, response, project, async (store) => {
    if (projectRow(store.reader).status === 'running') return;
    await cell.catalog.noteRunning(project);
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
