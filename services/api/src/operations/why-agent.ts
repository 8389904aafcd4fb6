import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { agents } from '@suzumio/contract/operations/agents';
import type { CellFacts, ProjectFacts } from '@suzumio/core/why/facts';
import { whyAnswerOf } from '@suzumio/core/why/reasons';
import { storageReached } from '@suzumio/store/content/storage';
import { readProjectFacts } from '@suzumio/store/projects/why';
import type { ApiContext } from '../context.js';
import type { Run } from '../routes.js';

/** Why an agent is idle, or what it is doing. */
export const whyAgent: Run<typeof agents.whyAgent> = async (call) => {
  const { cell } = call.context;
  const { project, agent } = call.params;
  const nowMs = cell.context.now();
  const facts = await call.read((reader, { config, storage }) =>
    readProjectFacts(reader, config, agent, { nowMs, storageReached: storageReached(reader, storage, cell.disk) }),
  );
  const around = { id: cell.id, ...cell.catalog.factsFor(project), fleet: await fleetFacts(call.context, facts) };
  return whyAnswerOf(facts, around, nowMs);
};

/** The queue's facts on workers, and on the job of a queued turn. */
async function fleetFacts({ cell, transport, unserved }: ApiContext, facts: ProjectFacts): Promise<CellFacts['fleet']> {
  if (unserved) return null;
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
