import express, { type Router } from 'express';
import { workersQuery, type WorkerListAnswer, type WorkerView } from '@suzumio/contract/model/workers';
import type { WorkerPresence } from '@suzumio/protocol/worker-presence';
import { wholeCellOnly } from './auth.js';
import { queryOf } from './body.js';
import type { ApiContext } from './context.js';
import { partOf } from './named-list.js';

/** Which workers the fleet knows now. Of those that serve other cells only, no more is told than how many there are. */
export function workersRouter({ cell, transport }: ApiContext): Router {
  const router = express.Router();
  router.use('/api/workers', wholeCellOnly);

  router.get('/api/workers', async (request, response) => {
    const { limit, after = '' } = queryOf(request, workersQuery);
    const fleet = await transport.fleet();
    const own = fleet.filter(({ cells }) => cells?.includes(cell.id) ?? true);
    const listed = own
      .filter(({ worker }) => worker > after)
      .sort((one, other) => (one.worker < other.worker ? -1 : 1))
      .map(viewOf);
    const part = partOf(listed, limit, ({ worker }) => worker);
    response.json({ ...part, elsewhere: fleet.length - own.length } satisfies WorkerListAnswer);
  });
  return router;
}

function viewOf({ worker, slots, state, problem, backends, images }: WorkerPresence): WorkerView {
  return {
    worker,
    state: state ?? null,
    problem: problem ?? null,
    slots,
    backends: backends ?? null,
    images: images ?? null,
  };
}
