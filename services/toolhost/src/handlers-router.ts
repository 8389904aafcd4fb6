import express, { type Request, type Router } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { jsonBodies } from '@suzumio/runtime/http/json-bodies';
import { parse } from '@suzumio/runtime/http/validate';
import {
  externalEngine,
  handlerClaimRequest,
  type HandlerClaimAnswer,
  type HandlerSelf,
  handlersProtocol,
} from '@suzumio/protocol/handlers';
import { projectId } from '@suzumio/protocol/ids';
import { supportPath } from '@suzumio/protocol/toolpacks/support';
import { attemptRow } from '@suzumio/store/rows';
import { rejected } from '@suzumio/store/turns/authorize';
import { attemptTokenOf, requireScope } from './auth.js';
import { claimForHandler, type GrantedTurn, type HandlerIdentity } from './claim-for-handler.js';
import type { ClaimWaits } from './claim-waits.js';
import type { ToolhostContext } from './context.js';
import { handBackUnanswered } from './hand-back.js';
import { toolsRouter } from './tools-router.js';

const selfRoute = '/handlers/self';
const claimRoute = '/projects/:project/handlers/claim';
const waitRoute = '/projects/:project/handlers/claims/:claimId';

/** The routes for handlers: see `protocol/handlers.ts`. */
export function handlersRouter(context: ToolhostContext, waits: ClaimWaits): Router {
  const router = express.Router();

  router.get(selfRoute, async (request, response) => {
    const { project, agents } = await requireHandler(context, request, selfRoute);
    response.json({ protocol: handlersProtocol, project, agents: [...agents] } satisfies HandlerSelf);
  });

  router.post(claimRoute, jsonBodies(16 * 1024), async (request, response) => {
    const identity = await requireHandler(context, request, claimRoute);
    await audited(context, request, identity, claimRoute, async () => {
      requireProject(identity, request.params.project);
      const claim = parse(handlerClaimRequest, request.body, 'claim');
      requireProtocol(claim.protocol);
      const { project, tokenId: token } = identity;
      const wait = await waits.begin({ project, token, claimId: claim.claimId });
      response.once('close', () => wait.cancel());
      // It may have disconnected before the wait began, which sends no further event.
      if (response.closed) wait.cancel();
      let granted: GrantedTurn | undefined;
      try {
        granted = await claimForHandler(context, identity, claim, wait);
        response.json({ turn: granted?.turn ?? null } satisfies HandlerClaimAnswer);
      } finally {
        wait.end();
      }
      if (granted) await handBackUnanswered(context, response, granted);
    });
  });

  router.delete(waitRoute, async (request, response) => {
    const identity = await requireHandler(context, request, waitRoute);
    await audited(context, request, identity, waitRoute, () => {
      requireProject(identity, request.params.project);
      const claimId = parse(handlerClaimRequest.shape.claimId, request.params.claimId, 'claim');
      const { project, tokenId: token } = identity;
      waits.cancel({ project, token, claimId });
      response.status(204).end();
    });
  });

  // A handler has one address, so runners' routes are served here as well, for handlers only.
  router.use(['/tool', supportPath, '/content'], async (request, _response, next) => {
    const token = attemptTokenOf(request, 'tool', context.cell.id);
    await context.cell.stores.use(token.project, ({ reader }) => {
      if (attemptRow(reader, token.turn, token.attempt)?.engine !== externalEngine) throw rejected();
    });
    next();
  });
  router.use(toolsRouter(context));
  return router;
}

async function requireHandler(context: ToolhostContext, request: Request, route: string): Promise<HandlerIdentity> {
  const identity = await requireScope(context, request, 'handler', route);
  const { tokenId, project, agents } = identity;
  if (tokenId === null || project === null || agents === null) throw rejected();
  return { ...identity, tokenId, project, agents };
}

/** @throws SuzumioError `forbidden` */
function requireProject({ name, project }: HandlerIdentity, asked: unknown): void {
  if (asked === project) return;
  throw new SuzumioError('forbidden', `The token "${name}" is for the project ${project} only.`);
}

/** @throws SuzumioError `protocol-unsupported` */
function requireProtocol(protocol: number): void {
  if (protocol === handlersProtocol) return;
  throw new SuzumioError(
    'protocol-unsupported',
    `This ToolHost speaks version ${String(handlersProtocol)} of the handlers protocol, the handler version ${String(protocol)}; bring both to the same release.`,
  );
}

/** Runs a handler's request; one for another's agents or project leaves an audit entry. */
async function audited(
  { cell: { catalog } }: ToolhostContext,
  { method, params }: Request,
  { name }: HandlerIdentity,
  route: string,
  body: () => Promise<void> | void,
): Promise<void> {
  try {
    await body();
  } catch (error) {
    if (error instanceof SuzumioError && error.status === 403) {
      const project = projectId.safeParse(params['project']).data ?? null;
      await catalog.audit.add({ token: name, method, route, project, code: error.code });
    }
    throw error;
  }
}
