import express, { type Request, type Response, type Router } from 'express';
import {
  type AgentAnswer,
  emptyRequest,
  resetAgentRequest,
  type ResetAgentAnswer,
  type RetryAnswer,
  stopAgentRequest,
} from '@suzumio/contract/model/http-api';
import { readAgent } from '@suzumio/store/projects/agents';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import { resetAgent, startAgent, stopAgent } from '@suzumio/store/turns/agent-transitions';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { identityOf } from './auth.js';
import { bodyOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { withProject } from './project-access.js';

/** What an operator does to one agent. */
export function agentsRouter(context: ApiContext): Router {
  const router = express.Router();

  router.post('/api/projects/:project/agents/:agent/retry', async (request, response) => {
    bodyOf(request, emptyRequest);
    response.json(
      await act(context, request, response, (tx, agent, actor): RetryAnswer => retryTurn(tx, agent, actor)),
    );
  });

  router.post('/api/projects/:project/agents/:agent/reset', async (request, response) => {
    const { redeliver } = bodyOf(request, resetAgentRequest);
    const verb = (tx: Tx, agent: string, actor: string): ResetAgentAnswer => {
      const redelivered = resetAgent(tx, agent, actor, { redeliver });
      return { ...agentOf(tx, agent), redelivered };
    };
    response.json(await act(context, request, response, verb));
  });

  router.post('/api/projects/:project/agents/:agent/stop', async (request, response) => {
    const { now } = bodyOf(request, stopAgentRequest);
    const verb = (tx: Tx, agent: string, actor: string): AgentAnswer => {
      stopAgent(tx, agent, actor, { now });
      return agentOf(tx, agent);
    };
    response.json(await act(context, request, response, verb));
  });

  router.post('/api/projects/:project/agents/:agent/start', async (request, response) => {
    bodyOf(request, emptyRequest);
    const verb = (tx: Tx, agent: string, actor: string): AgentAnswer => {
      startAgent(tx, agent, actor);
      return agentOf(tx, agent);
    };
    response.json(await act(context, request, response, verb));
  });
  return router;
}

/** Commits something that is done to an agent; whatever it was, there may be something to schedule now. */
async function act<Answer extends Json>(
  context: ApiContext,
  request: Request<{ project: string; agent: string }>,
  response: Response,
  verb: (tx: Tx, agent: string, actor: string) => Answer,
): Promise<Answer> {
  const { project, agent } = request.params;
  const key = keyOf(request, response);
  const { answer } = await withProject(context, response, project, (store) =>
    commitOnce(store, key, (tx) => verb(tx, agent, identityOf(response).name)),
  );
  context.transport.wake(project);
  return answer;
}

function agentOf(tx: Tx, agent: string): AgentAnswer {
  return { agent: readAgent(tx, agent) };
}
