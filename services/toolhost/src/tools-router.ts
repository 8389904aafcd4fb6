import express, { type Router } from 'express';
import { parse } from '@suzumio/shared/http/validate';
import { toolRequest } from '@suzumio/shared/protocol/runner';
import { authorizeTool } from '@suzumio/shared/store/authorize';
import { attemptTokenOf } from './auth.js';
import { callTool } from './call-tool.js';
import { storeContent } from './content.js';
import type { ToolhostContext } from './context.js';

/** The largest call: a report or a long message with its JSON around it. */
const maxCallBytes = 2 * 1024 * 1024;

/** The routes of runners. They reach it through the door that their worker serves. */
export function toolsRouter(context: ToolhostContext): Router {
  const router = express.Router();

  router.post('/tool', express.json({ limit: maxCallBytes }), async (request, response) => {
    const token = attemptTokenOf(request, 'tool', context.cell.id);
    const call = parse(toolRequest, request.body, 'tool call');
    response.json(await callTool(context, token, call));
  });

  router.put('/content/:sha256', async (request, response) => {
    const token = attemptTokenOf(request, 'tool', context.cell.id);
    await context.cell.stores.use(token.project, async (store) => {
      authorizeTool(store.reader, token);
      await storeContent(context, token.project, request, response);
    });
  });
  return router;
}
