import type { Router } from 'express';
import { attemptsRouter } from './attempts-router.js';
import type { ClaimWaits } from './claim-waits.js';
import { comparisonsRouter } from './comparisons-router.js';
import type { ToolhostContext } from './context.js';
import { gitRouter } from './git-router.js';
import { handlersRouter } from './handlers-router.js';
import { healthRouter } from './health-router.js';
import { liveRouter } from './live-router.js';
import { modelsRouter } from './models-router.js';
import { toolsRouter } from './tools-router.js';

/** All routes of the listener for workers, handlers and this cell's services. */
export function workerRouters(context: ToolhostContext, waits: ClaimWaits): Router[] {
  return [
    attemptsRouter(context),
    comparisonsRouter(context),
    liveRouter(context),
    healthRouter(context),
    handlersRouter(context, waits),
  ];
}

/** All routes of the listener for runners. */
export function runnerRouters(context: ToolhostContext): Router[] {
  return [toolsRouter(context), gitRouter(context), modelsRouter(context)];
}
