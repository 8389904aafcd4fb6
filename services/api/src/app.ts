import express from 'express';
import { notFoundHandler, problemHandler } from '@suzumio/runtime/http/problem-handler';
import { type ListenerNames, refuseForeignRequests } from '@suzumio/runtime/http/request-source';
import { agentsRouter } from './agents-router.js';
import { artifactsRouter } from './artifacts-router.js';
import { authenticate, authorize } from './auth.js';
import { readBodies } from './body.js';
import type { ApiContext } from './context.js';
import type { EventHub } from './events/event-hub.js';
import { dispatchRouter } from './dispatch-router.js';
import { eventsRouter } from './events-router.js';
import { inboxRouter } from './inbox-router.js';
import { keepDiskReserve } from './disk-reserve.js';
import { messagesRouter } from './messages-router.js';
import { OpenAccess } from './open-access.js';
import { pauseRouter } from './pause-router.js';
import { profilesRouter } from './profiles-router.js';
import { projectsRouter } from './projects-router.js';
import { createRateLimiter, defaultRateLimits, type RateLimits } from './rate-limiter.js';
import { limitRates } from './rate-limits.js';
import { recordRefusals, refuseOtherMethods } from './refusals.js';
import { reportRouter } from './report-router.js';
import { securityHeaders } from './security-headers.js';
import { serviceRouter } from './service-router.js';
import { teamsRouter } from './teams-router.js';
import { tickRouter } from './tick-router.js';
import { tokensRouter } from './tokens-router.js';
import { transitionsRouter } from './transitions-router.js';
import { turnsRouter } from './turns-router.js';
import { uploadsRouter } from './uploads-router.js';
import { usageRouter } from './usage-router.js';
import { waitRouter } from './wait-router.js';
import { whyRouter } from './why-router.js';
import { workersRouter } from './workers-router.js';

/** What guards the routes. */
export interface ApiGuards extends ListenerNames {
  /** `off` lets whoever reaches it do everything; only loopback may be reached then. @default 'on' */
  auth?: 'on' | 'off';
  rateLimits?: RateLimits;
  /** Where people and programs reach it, where that is not its own address: perhaps with a path. */
  publicUrl?: string | undefined;
}

/** Every route of the API, behind what guards them. */
export function apiApp(context: ApiContext, hub: EventHub, guards: ApiGuards): express.Express {
  const { rateLimits = defaultRateLimits } = guards;
  const open = guards.auth === 'off';
  const access = new OpenAccess(context.cell.catalog.tokens);
  const failures = createRateLimiter(rateLimits.failuresPerSecond, 0);
  const app = express();
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(securityHeaders, refuseForeignRequests(guards));
  app.use(serviceRouter({ open, publicUrl: guards.publicUrl }));
  app.use('/api', authenticate(context.cell.catalog, { open, failures }), limitRates(rateLimits), authorize);
  app.use('/api', keepDiskReserve(context.cell.disk));
  app.use(uploadsRouter(context));
  app.use('/api', ...readBodies(context.cell.catalog.tokens));
  app.use(tokensRouter(context), profilesRouter(context), teamsRouter(context), workersRouter(context));
  app.use(projectsRouter(context), transitionsRouter(context));
  app.use(messagesRouter(context), dispatchRouter(context), turnsRouter(context));
  app.use(agentsRouter(context), whyRouter(context), inboxRouter(context), tickRouter(context));
  app.use(pauseRouter(context), usageRouter(context));
  app.use(artifactsRouter(context), reportRouter(context));
  app.use(eventsRouter(context, hub, access), waitRouter(context, hub, access));
  app.use(refuseOtherMethods, notFoundHandler);
  app.use(recordRefusals(context));
  app.use(problemHandler(context.logger));
  return app;
}
