import express, { type Router } from 'express';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { noQuery } from '@suzumio/contract/model/http-api';
import type { WhyAnswer } from '@suzumio/contract/model/why';
import { storageReached } from '@suzumio/store/content/storage';
import { readProjectFacts } from '@suzumio/store/projects/why';
import type { CellFacts, ProjectFacts } from '@suzumio/core/why/facts';
import { whyAnswerOf } from '@suzumio/core/why/reasons';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** Why an agent is quiet, or what it is at. */
export function whyRouter(context: ApiContext): Router {
  const { cell } = context;
  const router = express.Router();

  router.get('/api/projects/:project/agents/:agent/why', async (request, response) => {
    queryOf(request, noQuery);
    const { project, agent } = request.params;
    const nowMs = cell.context.now();
    const facts = await withProject(context, response, project, (store) =>
      store.snapshot((reader) =>
        readProjectFacts(reader, store.config, agent, {
          nowMs,
          storageReached: storageReached(reader, store.storage, cell.disk),
        }),
      ),
    );
    const around = { id: cell.id, ...cell.catalog.factsFor(project), fleet: await fleetFacts(context, facts) };
    response.json(whyAnswerOf(facts, around, nowMs) satisfies WhyAnswer);
  });
  return router;
}

/** What the queue knows of the workers, and of the job of a turn that waits. */
async function fleetFacts({ cell, transport }: ApiContext, facts: ProjectFacts): Promise<CellFacts['fleet']> {
  const { turn, project } = facts;
  const waits = turn !== null && !turn.running && turn.delivery !== null;
  try {
    const [workers, jobsAhead] = await Promise.all([
      transport.fleet(),
      waits
        ? transport.turnJobsAhead({ cell: cell.id, epoch: project.epoch, turn: turn.id, delivery: turn.delivery ?? 0 })
        : undefined,
    ]);
    return { workers, jobsAhead };
  } catch (error) {
    if (isSuzumioError(error, 'server-unreachable')) return 'away';
    throw error;
  }
}
