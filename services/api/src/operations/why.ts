import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { AgentView } from '@suzumio/contract/model/agent';
import type { WhyAnswer } from '@suzumio/contract/model/why';
import type { agents } from '@suzumio/contract/operations/agents';
import type { CellFacts, ProjectFacts } from '@suzumio/core/why/facts';
import { whyAnswerOf } from '@suzumio/core/why/reasons';
import { storageReached } from '@suzumio/store/content/storage';
import { listAgents, readAgent } from '@suzumio/store/projects/agents';
import { readProjectFacts } from '@suzumio/store/projects/why';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { ApiContext } from '../context.js';
import type { Run } from '../routes.js';

/** Why an agent is idle, or what it is doing. */
export const whyAgent: Run<typeof agents.whyAgent> = async (call) => {
  const [answer] = await whys(call, (reader) => [readAgent(reader, call.params.agent)]);
  if (answer === undefined) throw new Error('an agent has an answer');
  return answer;
};

/** The same of a project's agents, in the order of its file. */
export const whyProject: Run<typeof agents.whyProject> = async (call) => {
  const { after, limit } = call.query;
  let next: string | undefined;
  const items = await whys(call, (reader) => {
    const all = listAgents(reader);
    const first = after === undefined ? 0 : all.indexOf(agentIn(all, after) ?? readAgent(reader, after)) + 1;
    const part = all.slice(first, first + limit);
    next = first + limit < all.length ? part.at(-1)?.id : undefined;
    return part;
  });
  return { items, ...(next === undefined ? {} : { next }) };
};

const agentIn = (all: readonly AgentView[], wanted: string) => all.find(({ id }) => id === wanted);

/** @param pick the agents that are asked for */
async function whys(
  call: Parameters<typeof whyAgent>[0] | Parameters<typeof whyProject>[0],
  pick: (reader: SqlReader) => readonly AgentView[],
): Promise<WhyAnswer[]> {
  const { cell } = call.context;
  const nowMs = cell.context.now();
  const all = await call.read((reader, { config, storage }) => {
    const reached = storageReached(reader, storage, cell.disk);
    return pick(reader).map((agent) => readProjectFacts(reader, config, agent, { nowMs, storageReached: reached }));
  });
  const of = cell.catalog.factsFor(call.params.project);
  const fleetOf = askFleet(call.context);
  return Promise.all(
    all.map(async (facts) => whyAnswerOf(facts, { id: cell.id, ...of, fleet: await fleetOf(facts) }, nowMs)),
  );
}

/** The queue's facts on workers, which are the same for all, and on the job of a queued turn. */
function askFleet({ cell, transport, unserved }: ApiContext): (facts: ProjectFacts) => Promise<CellFacts['fleet']> {
  if (unserved) return () => Promise.resolve(null);
  let fleet: ReturnType<typeof transport.fleet> | undefined;
  return async ({ turn, project }) => {
    const waits = turn !== null && !turn.running && turn.delivery !== null;
    try {
      const [workers, jobsAhead] = await Promise.all([
        (fleet ??= transport.fleet()),
        waits
          ? transport.turnJobsAhead({
              cell: cell.id,
              epoch: project.epoch,
              turn: turn.id,
              delivery: turn.delivery ?? 0,
            })
          : undefined,
      ]);
      return { workers, jobsAhead };
    } catch (error) {
      if (isSuzumioError(error, 'server-unreachable')) return 'away';
      throw error;
    }
  };
}
