import express, { type Router } from 'express';
import { toolhostHealth, toolhostHealthPath } from '@suzumio/protocol/toolhost-health';
import { version } from '@suzumio/runtime/version';
import { requireService } from './auth.js';
import type { ToolhostContext } from './context.js';

/** The route by which the API asks whether this ToolHost serves its cell. */
export function healthRouter(context: ToolhostContext): Router {
  const router = express.Router();
  router.get(toolhostHealthPath, (request, response) => {
    requireService(context, request);
    response.json(toolhostHealth.parse({ version }));
  });
  return router;
}
