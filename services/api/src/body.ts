import type { Request, RequestHandler } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxRequestBytes } from '@suzumio/contract/operations/request';
import { jsonBodies } from '@suzumio/runtime/http/json-bodies';
import type { ApiTokens } from '@suzumio/store/cell/api-tokens';
import { requireStillGood } from './auth.js';

/** Reads a JSON body. */
export const readJson = jsonBodies(maxRequestBytes);

/** Reads JSON bodies. Refuses other media types, and requests whose token ended while the body arrived. */
export function readBodies(tokens: ApiTokens): RequestHandler[] {
  return [
    readJson,
    (request, response, next) => {
      if (hasBody(request)) {
        if (request.body === undefined) {
          throw new SuzumioError('invalid-request', 'The body has to be JSON: send Content-Type: application/json.');
        }
        requireStillGood(tokens, response);
      }
      next();
    },
  ];
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
