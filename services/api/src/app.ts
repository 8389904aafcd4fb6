import express from 'express';
import { notFoundHandler, problemHandler } from '@suzumio/shared/http/problem-handler';
import { agentsRouter } from './agents-router.js';
import { artifactsRouter } from './artifacts-router.js';
import { authenticate } from './auth.js';
import { readBodies } from './body.js';
import type { ApiContext } from './context.js';
import type { EventHub } from './events/event-hub.js';
import { eventsRouter } from './events-router.js';
import { inboxRouter } from './inbox-router.js';
import { messagesRouter } from './messages-router.js';
import { refuseForeignHosts, refuseForeignOrigins, securityHeaders } from './origin.js';
import { projectsRouter } from './projects-router.js';
import { countRefusals } from './refusals.js';
import { reportRouter } from './report-router.js';
import { serviceRouter } from './service-router.js';
import { tickRouter } from './tick-router.js';
import { transitionsRouter } from './transitions-router.js';
import { turnsRouter } from './turns-router.js';
import { uploadsRouter } from './uploads-router.js';
import { waitRouter } from './wait-router.js';

/**
 * Every route of the API, behind what guards them.
 *
 * @param hosts names, besides those of loopback, that requests may be addressed to
 */
export function apiApp(context: ApiContext, hub: EventHub, hosts: readonly string[]): express.Express {
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(securityHeaders, refuseForeignHosts(hosts), refuseForeignOrigins);
  app.use(serviceRouter());
  app.use('/api', authenticate(context.cell.catalog));
  app.use(uploadsRouter(context));
  app.use('/api', ...readBodies);
  app.use(projectsRouter(context), transitionsRouter(context), messagesRouter(context), turnsRouter(context));
  app.use(agentsRouter(context), inboxRouter(context), tickRouter(context));
  app.use(artifactsRouter(context), reportRouter(context));
  app.use(eventsRouter(context, hub), waitRouter(context, hub));
  app.use(notFoundHandler);
  app.use(countRefusals(context));
  app.use(problemHandler(context.logger));
  return app;
}
