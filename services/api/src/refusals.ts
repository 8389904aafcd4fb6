import type { ErrorRequestHandler, Request, RequestHandler, Response } from 'express';
import { isSuzumioError, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { refusalLog } from '@suzumio/runtime/http/refusal-log';
import { projectId } from '@suzumio/protocol/ids';
import { identityIfKnown, requireReach } from './auth.js';
import type { ApiDependencies } from './context.js';
import { operationsAt } from './operations-at.js';

/** Answers 405 for an existing path with another method, and lists the allowed ones. */
export const refuseOtherMethods: RequestHandler = (request, response, next) => {
  const { operations } = operationsAt(request.path);
  const [first] = operations;
  if (!first) {
    next();
    return;
  }
  if (operations.every(({ wholeCell }) => wholeCell)) requireReach(response, first);
  const methods = operations.map(({ method }) => method.toUpperCase());
  const allow = [...new Set(methods.flatMap((method) => (method === 'GET' ? ['GET', 'HEAD'] : [method])))];
  throw new SuzumioError('method-not-allowed', `${request.path} takes ${allow.join(', ')}.`, { allow });
};

/** Says to a handler that asks here where it belongs. */
export const refuseHandlers: RequestHandler = (request, _response, next) => {
  if (!/^\/(?:projects\/[^/]+\/)?handlers\//.test(request.path)) {
    next();
    return;
  }
  throw new SuzumioError(
    'not-found',
    `There is no ${request.method} ${request.path} here: this is the API. Handlers connect to the ToolHost's listener for workers, which \`suzumio serve\` prints (SUZUMIO_TOOLHOST_URL).`,
  );
};

/**
 * Records refusals: a failed authentication with a log line and a count, a valid token without permission also with an
 * audit entry.
 */
export function recordRefusals(context: ApiDependencies): ErrorRequestHandler {
  const logRefusal = refusalLog(context);
  return async (error: unknown, request, response, next) => {
    logRefusal(error, request);
    if (isSuzumioError(error, 'forbidden', 'policy-denied')) await audit(context, error, request, response);
    next(error);
  };
}

async function audit(
  { cell, logger }: ApiDependencies,
  { code }: SuzumioError,
  request: Request,
  response: Response,
): Promise<void> {
  const identity = identityIfKnown(response);
  if (!identity) return;
  const { operations, parts } = operationsAt(request.path);
  const [operation] = operations;
  try {
    await cell.catalog.audit.add({
      token: identity.name,
      method: request.method,
      route: operation?.path ?? 'none',
      project: projectId.safeParse(parts['project']).data ?? null,
      code,
    });
  } catch (failure) {
    logger.error({ err: failure }, 'a refusal could not be recorded');
  }
}
