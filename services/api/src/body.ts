import type { Request, RequestHandler } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxRequestBytes } from '@suzumio/contract/operations/request';
import { jsonBodies } from '@suzumio/runtime/http/json-bodies';
import type { ApiTokens } from '@suzumio/store/cell/api-tokens';
import { requireStillGood } from './auth.js';

/** Reads a JSON body. Refuses other media types: those of forms are what pages of other sites may send unasked. */
export const readJson: RequestHandler[] = [
  jsonBodies(maxRequestBytes),
  (request, _response, next) => {
    if (hasBody(request) && request.body === undefined) {
      throw new SuzumioError('invalid-request', 'The body has to be JSON: send Content-Type: application/json.');
    }
    next();
  },
];

/** The same, and refuses requests whose token ended while the body arrived. */
export function readBodies(tokens: ApiTokens): RequestHandler[] {
  return [
    ...readJson,
    (request, response, next) => {
      if (hasBody(request)) requireStillGood(tokens, response);
      next();
    },
  ];
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
