import type { ErrorRequestHandler, RequestHandler } from 'express';
import { ZodError } from 'zod';
import { isDiskFull } from '@suzumio/contract/errors/disk-full';
import { toProblem } from '@suzumio/contract/errors/problem';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Logger } from '../observability/logger.js';
import { problemMediaType } from '@suzumio/protocol/problem';
import { SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import { jsonFault } from './json-fault.js';
import { invalidRequest } from './validate.js';

/** The last handler but one: requests without a route. */
export const notFoundHandler: RequestHandler = (request, _response, next) => {
  next(new SuzumioError('not-found', `There is no ${request.method} ${request.path} here.`));
};

/**
 * The last handler: answers every error with a problem document, and logs server errors; temporary ones as warnings.
 */
export function problemHandler(logger: Pick<Logger, 'warn' | 'error'>): ErrorRequestHandler {
  return (thrown: unknown, request, response, next) => {
    // A body that ends with its connection is no server error.
    const error = thrown !== null && thrown === request.errored ? cutOff(thrown) : asSuzumioError(thrown);
    const problem = toProblem(error);
    const { method, path } = request;
    if (isSuzumioError(error) && error.retryable) {
      const { code, message } = error;
      if (problem.status >= 500)
        logger.warn({ code, detail: message, method, path }, 'a request failed for now and may be retried');
    } else if (problem.status >= 500) logger.error({ err: error, method, path }, 'a request failed');
    if (response.headersSent) {
      // Too late for an error response. Express closes the connection, so that half a body does not look complete.
      next(error);
      return;
    }
    if (problem.status === 401) response.set('www-authenticate', 'Bearer');
    if (problem.status === 503) response.set('retry-after', '1');
    const { allow, retryAfterSeconds } = isSuzumioError(error) ? error.details : {};
    if (Array.isArray(allow)) response.set('allow', allow.join(', '));
    if (typeof retryAfterSeconds === 'number') response.set('retry-after', String(retryAfterSeconds));
    response.status(problem.status).type(problemMediaType).send(JSON.stringify(problem));
  };
}

function cutOff(cause: unknown): SuzumioError {
  return new SuzumioError('invalid-request', 'The body has not arrived whole.', {}, { cause });
}

function asSuzumioError(thrown: unknown): unknown {
  if (isSuzumioError(thrown)) return thrown;
  if (thrown instanceof ZodError) return invalidRequest(thrown, 'request');
  if (isDiskFull(thrown)) {
    const message =
      "The server's disk is full: nothing of this was done. Free some of it; deleting projects gives room back, and needs a few kilobytes itself.";
    return new SuzumioError('disk-full', message, {}, { cause: thrown });
  }
  // All manifests that rows refer to are kept as long as the project.
  if (thrown instanceof SnapshotInvalid) {
    const message = `The manifest of a workspace is missing or damaged: ${thrown.message} "suzumio verify" names what is. The workspace of another turn can be restored, or the project from a backup.`;
    return new SuzumioError('store-corrupt', message, {}, { cause: thrown });
  }
  return fromHttpError(thrown) ?? thrown;
}

/** Errors of Express and its body parser: they have a `status`, and sometimes a `type`. */
function fromHttpError(thrown: unknown): SuzumioError | undefined {
  if (!(thrown instanceof Error) || !('status' in thrown) || typeof thrown.status !== 'number') return undefined;
  if (thrown.status < 400 || thrown.status >= 500) return undefined;
  const options = { cause: thrown };
  const type = 'type' in thrown ? thrown.type : undefined;
  if (type === 'entity.parse.failed') {
    const fault = 'body' in thrown && typeof thrown.body === 'string' ? jsonFault(thrown.body) : 'it cannot be parsed';
    return new SuzumioError('invalid-request', `The body is not JSON: ${fault}.`, {}, options);
  }
  if (type === 'entity.too.large') {
    const limit = 'limit' in thrown && typeof thrown.limit === 'number' ? thrown.limit : undefined;
    const most = limit === undefined ? '' : `; at most ${limit} bytes are taken`;
    return new SuzumioError('body-too-large', `The body is too large${most}.`, { limitBytes: limit }, options);
  }
  return new SuzumioError('invalid-request', `The request cannot be read: ${messageOf(thrown)}.`, {}, options);
}
