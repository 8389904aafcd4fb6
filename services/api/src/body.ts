import express, { type Request, type RequestHandler } from 'express';
import type { z } from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { parse } from '@suzumio/runtime/http/validate';
import { maxRequestBytes } from '@suzumio/contract/model/http-api';
import type { ApiTokens } from '@suzumio/store/cell/api-tokens';
import { requireStillGood } from './auth.js';

/** Reads JSON bodies, and refuses to overlook one that says it is something else, or whose token ended on the way. */
export function readBodies(tokens: ApiTokens): RequestHandler[] {
  return [
    express.json({ limit: maxRequestBytes }),
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

/** The request's body; no body at all is one without fields. */
export function bodyOf<T extends z.ZodType>(request: Request, schema: T): z.output<T> {
  return parse(schema, (request.body as unknown) ?? {}, 'body');
}

export function queryOf<T extends z.ZodType>(request: Request, schema: T): z.output<T> {
  return parse(schema, request.query, 'query');
}

function hasBody({ headers }: Request): boolean {
  return headers['transfer-encoding'] !== undefined || Number(headers['content-length'] ?? 0) > 0;
}
