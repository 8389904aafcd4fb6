import type { ErrorRequestHandler, Request } from 'express';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import { noteRefusedRequest } from '@suzumio/store/turns/refusal-limits';
import { attemptTokenOf, type PresentedToken } from './auth.js';
import { closed } from './bodies/close-of.js';
import { pace } from './call-tool.js';
import type { ToolhostContext } from './context.js';

/**
 * Counts a runner's request that cannot be read as a refused call of its attempt, and paces its answer. Nothing else
 * bounds how often it is sent: it has no step, and reaches no journal.
 */
export function countUnreadable(context: ToolhostContext): ErrorRequestHandler {
  return async (error: unknown, request, _response, next) => {
    if (isUnreadable(error, request)) await count(context, request);
    next(error);
  };
}

/** A body that ends with its connection is no mistake of its runner's. */
function isUnreadable(error: unknown, request: Request): boolean {
  if (isSuzumioError(error, 'body-too-large')) return true;
  return isSuzumioError(error, 'invalid-request') && error !== closed && !request.errored;
}

/** @throws SuzumioError `unauthenticated`, `token-rejected` */
async function count(context: ToolhostContext, request: Request): Promise<void> {
  const token = attemptTokenOf(request, 'tool', context.cell.id);
  await context.cell.stores.use(token.project, (store) => countRefusal(context, store, token));
}

/**
 * Counts a request that is no call of a tool as a refused call of its attempt, and paces its answer.
 *
 * @throws SuzumioError `token-rejected`
 */
export async function countRefusal(
  context: ToolhostContext,
  store: ProjectStore,
  token: PresentedToken,
): Promise<void> {
  await pace(context, store, token);
  await store.write((tx) => noteRefusedRequest(tx, token));
  // It may have been one too many.
  context.transport.wake(store.project);
}
