import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Json, Tx } from './tx.js';

/** Identifies a request, so that its repetition is recognised. */
export interface IdempotencyKey {
  /** The id of the token that the key belongs to. */
  token: string;
  /** Method and path. */
  route: string;
  key: string;
  /** The hash of the body. */
  requestHash: string;
}

/** The part of a transaction that recognising a request needs. */
export type KeyedTx = Pick<Tx, 'nowMs' | 'get' | 'run'>;

const keptForMs = 24 * 60 * 60 * 1000;

/**
 * Runs an effect once for a key: a repeated request gets the recorded answer. Key and effect are one transaction.
 *
 * @throws SuzumioError `idempotency-mismatch` when the key came with another body before
 */
export function once<Answer extends Json>(tx: KeyedTx, key: IdempotencyKey | undefined, effect: () => Answer): Answer {
  if (!key) return effect();
  const earlier = answeredBefore<Answer>(tx, key);
  if (earlier !== undefined) return earlier;
  const answer = effect();
  tx.run('DELETE FROM idempotency_keys WHERE created_at_ms <= :since', { since: tx.nowMs - keptForMs });
  tx.run(
    `INSERT INTO idempotency_keys (token, route, key, request_hash, response_json, created_at_ms)
     VALUES (:token, :route, :key, :requestHash, :response, :now)`,
    { ...key, response: JSON.stringify(answer), now: tx.nowMs },
  );
  return answer;
}

/**
 * The recorded answer to an earlier request with this key.
 *
 * @throws SuzumioError `idempotency-mismatch` when the key came with another body then
 */
export function answeredBefore<Answer extends Json>(
  tx: Pick<KeyedTx, 'nowMs' | 'get'>,
  { token, route, key, requestHash }: IdempotencyKey,
): Answer | undefined {
  const earlier = tx.get<{ request_hash: string; response_json: string }>(
    `SELECT request_hash, response_json FROM idempotency_keys
     WHERE token = :token AND route = :route AND key = :key AND created_at_ms > :since`,
    { token, route, key, since: tx.nowMs - keptForMs },
  );
  if (!earlier || earlier.request_hash === requestHash) return earlier && (JSON.parse(earlier.response_json) as Answer);
  throw new SuzumioError(
    'idempotency-mismatch',
    'This Idempotency-Key came with another body before; use a new key for a new request.',
  );
}
