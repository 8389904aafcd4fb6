import type { agents } from '@suzumio/contract/operations/agents';
import { listAgents, readAgent } from '@suzumio/store/projects/agents';
import { resetAgent, startAgent, stopAgent } from '@suzumio/store/turns/agent-transitions';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import type { Runs } from '../routes.js';
import { whyAgent, whyProject } from './why.js';

export const agentRuns: Runs<typeof agents> = {
  listAgents: (call) => call.read((reader) => ({ items: listAgents(reader) })),

  whyAgent,

  whyProject,

  retryAgent: (call) => call.write((tx) => retryTurn(tx, call.params.agent, call.actor)),

  resetAgent: (call) =>
    call.write((tx) => {
      const { agent } = call.params;
      const redelivered = resetAgent(tx, agent, call.actor, call.body);
      return { agent: readAgent(tx, agent), redelivered };
    }),

  stopAgent: (call) =>
    call.write((tx) => {
      const { agent } = call.params;
      stopAgent(tx, agent, call.actor, call.body);
      return { agent: readAgent(tx, agent) };
    }),

  startAgent: (call) =>
    call.write((tx) => {
      const { agent } = call.params;
      startAgent(tx, agent, call.actor);
      return { agent: readAgent(tx, agent) };
    }),
};
