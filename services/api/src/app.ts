import express from 'express';
import { isOpen, type Operation } from '@suzumio/contract/operations/operation';
import { operations, type Operations } from '@suzumio/contract/operations/operations';
import type { ApiIdentity } from '@suzumio/store/cell/api-tokens';
import { notFoundHandler, problemHandler } from '@suzumio/runtime/http/problem-handler';
import { type ListenerNames, refuseForeignRequests } from '@suzumio/runtime/http/request-source';
import { anybody, authenticate, authorize } from './auth.js';
import { readBodies } from './body.js';
import type { ApiContext } from './context.js';
import { allowOrigins } from './cors.js';
import { keepDiskReserve } from './disk-reserve.js';
import type { EventHub } from './events/event-hub.js';
import { OpenAccess } from './open-access.js';
import { actRuns } from './operations/acts.js';
import { agentRuns } from './operations/agents.js';
import { artifactRuns } from './operations/artifacts.js';
import { cellEventRuns, eventRuns, streamWhereAccepted } from './operations/events.js';
import { inboxRuns } from './operations/inbox.js';
import { memoryRuns } from './operations/memory.js';
import { messageRuns } from './operations/messages.js';
import { pauseRuns } from './operations/pauses.js';
import { profileRuns } from './operations/profiles.js';
import { configRuns } from './operations/configs.js';
import { projectFileRuns } from './operations/project-files.js';
import { projectRuns } from './operations/projects.js';
import { searchRuns } from './operations/search.js';
import { serviceRuns } from './operations/service.js';
import { sharedRepositoryRuns } from './operations/shared-repository.js';
import { taskRuns } from './operations/tasks.js';
import { teamRuns } from './operations/teams.js';
import { signInRuns } from './operations/sign-in.js';
import { tokenRuns } from './operations/tokens.js';
import { turnRuns } from './operations/turns.js';
import { usageRuns } from './operations/usage.js';
import { workspaceRuns } from './operations/workspaces.js';
import { servePage } from './page.js';
import { followAliases, refusePublishedRoutes } from './published-routes.js';
import { createRateLimiter, defaultRateLimits, type RateLimits } from './rate-limiter.js';
import { limitRates } from './rate-limits.js';
import { recordRefusals, refuseHandlers, refuseOtherMethods } from './refusals.js';
import { addRoute, type Runs } from './routes.js';
import { securityHeaders } from './security-headers.js';

/** Access control of the routes. */
export interface ApiGuards extends ListenerNames {
  /** `off` allows every request; then only loopback may be listened on. @default 'on' */
  auth?: 'on' | 'off';
  rateLimits?: RateLimits;
  /** The public address, where a proxy has another one; may include a path. */
  publicUrl?: string | undefined;
}

/** What guards the application of one process. */
interface AppOptions extends ApiGuards {
  /** The identity of requests without a token. @default everybody's where `auth` is `off`, else none */
  withoutToken?: ApiIdentity;
  /** Answers errors. @default a problem document */
  onError?: express.ErrorRequestHandler;
}

/** Every route of the API, behind its access control. */
export function apiApp(context: ApiContext, hub: EventHub, options: AppOptions): express.Express {
  const { rateLimits = defaultRateLimits, publicUrl } = options;
  const open = options.auth === 'off';
  const { withoutToken = open ? anybody : undefined } = options;
  const failures = createRateLimiter(rateLimits.failuresPerSecond, 0);
  const access = new OpenAccess(context.cell.catalog.tokens);
  const runs: Runs<Operations> = {
    ...projectRuns,
    ...projectFileRuns,
    ...configRuns,
    ...agentRuns,
    ...messageRuns(hub, access),
    ...inboxRuns(),
    ...searchRuns(),
    ...taskRuns,
    ...turnRuns(hub, access),
    ...artifactRuns,
    ...workspaceRuns(),
    ...sharedRepositoryRuns(access),
    ...eventRuns(hub, access),
    ...cellEventRuns(hub, access),
    ...usageRuns,
    ...memoryRuns,
    ...pauseRuns,
    ...profileRuns,
    ...teamRuns,
    ...tokenRuns,
    ...actRuns,
    ...signInRuns({ open, publicUrl, failures }),
    ...serviceRuns({ open, publicUrl }),
  };
  const app = express();
  const addRoutes = (where: (operation: Operation) => boolean) => {
    for (const [id, run] of Object.entries(runs)) {
      const operation: Operation = operations[id as keyof Operations];
      if (where(operation)) addRoute(app, context, operation, run);
    }
  };
  app.disable('x-powered-by');
  app.disable('etag');
  app.use(securityHeaders, refuseForeignRequests(options), allowOrigins(options.allowedOrigins ?? []), followAliases);
  addRoutes(isOpen);
  app.use(
    '/api',
    authenticate(context.cell.catalog, { withoutToken, failures, publicUrl }),
    limitRates(rateLimits),
    authorize,
  );
  app.use('/api', keepDiskReserve(context.cell.disk));
  // Uploads first: their bodies are not JSON.
  addRoutes(({ upload }) => upload !== undefined);
  app.use('/api', ...readBodies(context.cell.catalog.tokens));
  app.use(streamWhereAccepted);
  addRoutes((operation) => !isOpen(operation) && operation.upload === undefined);
  app.use(...servePage(publicUrl), refuseHandlers, refuseOtherMethods, refusePublishedRoutes, notFoundHandler);
  app.use(recordRefusals(context));
  app.use(options.onError ?? problemHandler(context.logger));
  return app;
}
