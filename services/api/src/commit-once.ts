import { createHash } from 'node:crypto';
import type { Request, Response } from 'express';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { parse } from '@suzumio/runtime/http/validate';
import { idempotencyKey } from '@suzumio/contract/operations/request';
import type { ProjectStore } from '@suzumio/store/projects/project-store';
import type { Json, Tx } from '@suzumio/store/sqlite/tx';
import { type IdempotencyKey, once } from '@suzumio/store/sqlite/once';
import { identityOf } from './auth.js';

/**
 * Identifies this request, so that its repetition is recognised; undefined without an `Idempotency-Key`.
 *
 * @param body the parts that distinguish requests with the same key
 */
export function keyOf(
  request: Request,
  response: Response,
  body: unknown = request.body ?? {},
): IdempotencyKey | undefined {
  const header = request.get('idempotency-key');
  if (header === undefined) return undefined;
  return {
    token: identityOf(response).name,
    route: `${request.method} ${request.path}`,
    key: parse(idempotencyKey, header, 'Idempotency-Key'),
    requestHash: createHash('sha256').update(JSON.stringify(body)).digest('hex'),
  };
}

/**
 * Refuses an `Idempotency-Key` on operations that cannot honour it.
 *
 * @throws SuzumioError `invalid-request` where the request has one
 */
export function refuseKey(request: Request, why: string): void {
  if (request.get('idempotency-key') === undefined) return;
  throw new SuzumioError('invalid-request', `${why}: this takes no Idempotency-Key.`);
}

/**
 * Runs a verb for a request, in one transaction with its idempotency record.
 *
 * @returns the answer, and whether an earlier request got it
 */
export async function commitOnce<Answer extends Json>(
  store: ProjectStore,
  key: IdempotencyKey | undefined,
  verb: (tx: Tx) => Answer,
): Promise<{ answer: Answer; repeated: boolean }> {
  let repeated = true;
  const answer = await store.write((tx) =>
    once(tx, key, () => {
      repeated = false;
      return verb(tx);
    }),
  );
  return { answer, repeated };
}
