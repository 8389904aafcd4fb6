import type { ErrorRequestHandler } from 'express';
import { isSuzumioError } from '@suzumio/shared/errors/suzumio-error';
import type { ApiDependencies } from './context.js';

/** Whoever was not let in leaves a line and a count. */
export function countRefusals({ logger, metrics }: ApiDependencies): ErrorRequestHandler {
  return (error: unknown, request, _response, next) => {
    if (isSuzumioError(error, 'unauthenticated', 'forbidden', 'foreign-host', 'foreign-origin')) {
      const { method, path } = request;
      metrics.requestsRefused.inc({ code: error.code });
      logger.warn({ code: error.code, method, path, from: request.socket.remoteAddress }, 'a request was refused');
    }
    next(error);
  };
}
