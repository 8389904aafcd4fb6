import express, { type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  type CancelAnswer,
  conversationQuery,
  emptyRequest,
  noQuery,
  toolCallsQuery,
  turnLogQuery,
  turnsQuery,
} from '@suzumio/contract/model/http-api';
import type { TurnDetail } from '@suzumio/contract/model/views';
import { listConversation } from '@suzumio/store/turns/conversation';
import { findTurn, listToolCalls, listTurns, turnCalled } from '@suzumio/store/turns/read-turns';
import { agentRow } from '@suzumio/store/rows';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { readTurnLog } from '@suzumio/store/content/turn-logs';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { identityOf } from './auth.js';
import { bodyOf, queryOf } from './body.js';
import { commitOnce, keyOf } from './commit-once.js';
import type { ApiContext } from './context.js';
import { listAnswer } from './list-answer.js';
import { withProject } from './project-access.js';

/** Turns and what they did. */
export function turnsRouter(context: ApiContext): Router {
  const router = express.Router();

  router.get('/api/projects/:project/turns', async (request, response) => {
    const query = queryOf(request, turnsQuery);
    const turns = await withProject(context, response, request.params.project, ({ reader }) => {
      if (query.agent !== undefined) agentRow(reader, query.agent);
      return listTurns(reader, query);
    });
    response.json(listAnswer(turns));
  });

  router.get('/api/projects/:project/turns/:turn', async (request, response) => {
    queryOf(request, noQuery);
    const { project, turn } = request.params;
    response.json(
      await withProject(context, response, project, (store) => store.snapshot((reader) => knownTurn(reader, turn))),
    );
  });

  router.get('/api/projects/:project/turns/:turn/log', async (request, response) => {
    const { attempt } = queryOf(request, turnLogQuery);
    const { project, turn: name } = request.params;
    const turn = await withProject(context, response, project, ({ reader }) => turnCalled(reader, name));
    const of = { turn_id: turn.id, number: attempt ?? turn.attempt };
    if (of.number > turn.attempt) {
      throw new SuzumioError(
        'turn-unknown',
        `Turn ${turn.number} of ${turn.agent_id} has had no attempt ${of.number}.`,
      );
    }
    response.type('text/plain; charset=utf-8');
    response.send(await readTurnLog(context.cell.directory.projectDir(project), of));
  });

  router.get('/api/projects/:project/turns/:turn/conversation', async (request, response) => {
    const query = queryOf(request, conversationQuery);
    const { project, turn } = request.params;
    const entries = await withProject(context, response, project, (store) =>
      store.snapshot((reader) => listConversation(reader, store.config, turnCalled(reader, turn).id, query)),
    );
    response.json(listAnswer(entries));
  });

  router.get('/api/projects/:project/tool-calls', async (request, response) => {
    const query = queryOf(request, toolCallsQuery);
    const calls = await withProject(context, response, request.params.project, ({ reader }) => {
      const turn = query.turn === undefined ? undefined : turnCalled(reader, query.turn).id;
      return listToolCalls(reader, { ...query, turn });
    });
    response.json(listAnswer(calls));
  });

  router.post('/api/projects/:project/turns/:turn/cancel', async (request, response) => {
    bodyOf(request, emptyRequest);
    const { project, turn } = request.params;
    const actor = identityOf(response).name;
    const key = keyOf(request, response);
    const { answer } = await withProject(context, response, project, (store) =>
      commitOnce(store, key, (tx): CancelAnswer => cancelActiveTurn(tx, turn, actor)),
    );
    context.transport.wake(project);
    response.json(answer);
  });
  return router;
}

function knownTurn(reader: SqlReader, name: string): TurnDetail {
  const turn = findTurn(reader, turnCalled(reader, name).id);
  if (!turn) throw new Error(`${name} went away`);
  return turn;
}
