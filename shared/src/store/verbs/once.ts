import { SuzumioError } from '../../errors/suzumio-error.js';
import type { Json, Tx } from '../tx.js';

/** What makes a request recognisable when it comes again. */
export interface IdempotencyKey {
  /** Whose key it is. */
  token: string;
  /** Method and path. */
  route: string;
  key: string;
  /** The hash of the body. */
  requestHash: string;
}

/** What of a transaction is needed to recognise a request. */
export type KeyedTx = Pick<Tx, 'nowMs' | 'get' | 'run'>;

const keptForMs = 24 * 60 * 60 * 1000;

/**
 * Runs an effect once for a key: a repeated request gets the recorded answer. Key and effect are one transaction.
 *
 * @throws SuzumioError `idempotency-mismatch` when the key came with another body before
 */
export function once<Answer extends Json>(tx: KeyedTx, key: IdempotencyKey | undefined, effect: () => Answer): Answer {
  if (!key) return effect();
  const id = { token: key.token, route: key.route, key: key.key };
  const earlier = tx.get<{ request_hash: string; response_json: string }>(
    `SELECT request_hash, response_json FROM idempotency_keys
     WHERE token = :token AND route = :route AND key = :key AND created_at_ms > :since`,
    { ...id, since: tx.nowMs - keptForMs },
  );
  if (earlier) {
    if (earlier.request_hash === key.requestHash) return JSON.parse(earlier.response_json) as Answer;
    throw new SuzumioError(
      'idempotency-mismatch',
      'This Idempotency-Key came with another body before; use a new key for a new request.',
    );
  }
  const answer = effect();
  tx.run('DELETE FROM idempotency_keys WHERE created_at_ms <= :since', { since: tx.nowMs - keptForMs });
  tx.run(
    `INSERT INTO idempotency_keys (token, route, key, request_hash, response_json, created_at_ms)
     VALUES (:token, :route, :key, :requestHash, :response, :now)`,
    { ...id, requestHash: key.requestHash, response: JSON.stringify(answer), now: tx.nowMs },
  );
  return answer;
}
