import type { RequestHandler } from 'express';
import { allOperations } from '@suzumio/contract/operations/operations';

const lifeS = 600;

const methods = ['HEAD', ...new Set(allOperations.map(({ method }) => method.toUpperCase()))];
const requestHeaders = [
  ...['Authorization', 'Content-Type', 'Idempotency-Key'],
  ...new Set(allOperations.flatMap(({ headers = {} }) => Object.keys(headers))),
];
const exposedHeaders = [
  ...['Retry-After', 'WWW-Authenticate'],
  ...new Set(
    allOperations.flatMap(({ answers }) => Object.values(answers).flatMap(({ headers = {} }) => Object.keys(headers))),
  ),
];

/**
 * Lets pages of these origins read answers, and answers what their browsers ask before a request. Their scripts send
 * tokens; browsers send no cookies, since credentials are never allowed. Other origins get no such header.
 */
export function allowOrigins(origins: readonly string[]): RequestHandler {
  const allowed = new Set(origins);
  return (request, response, next) => {
    if (allowed.size > 0) response.vary('Origin');
    const { origin = '' } = request.headers;
    const isAllowed = allowed.has(origin);
    if (isAllowed) {
      response.set({
        'Access-Control-Allow-Origin': origin,
        'Access-Control-Expose-Headers': exposedHeaders.join(', '),
      });
    }
    if (!isAllowed || request.method !== 'OPTIONS' || !('access-control-request-method' in request.headers)) {
      next();
      return;
    }
    response.set({
      'Access-Control-Allow-Methods': methods.join(', '),
      'Access-Control-Allow-Headers': requestHeaders.join(', '),
      'Access-Control-Max-Age': String(lifeS),
    });
    response.status(204).end();
  };
}
