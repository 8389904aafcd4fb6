import express, { type Request, type RequestHandler } from 'express';
import type { z } from 'zod';
import { SuzumioError } from '@suzumio/shared/errors/suzumio-error';
import { parse } from '@suzumio/shared/http/validate';
import { maxRequestBytes } from '@suzumio/shared/model/http-api';

/** Reads JSON bodies, and refuses to overlook one that says it is something else. */
export const readBodies: readonly RequestHandler[] = [
  express.json({ limit: maxRequestBytes }),
  (request, _response, next) => {
    if (request.body === undefined && hasBody(request)) {
      throw new SuzumioError('invalid-request', 'The body has to be JSON: send Content-Type: application/json.');
    }
    next();
  },
];

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
