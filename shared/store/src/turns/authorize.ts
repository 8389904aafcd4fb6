import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { attemptRow, type AttemptRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { sameHash } from './tokens.js';

/** The attempt that a request is about. */
export interface AttemptId {
  turn: string;
  attempt: number;
}

interface TokenOf extends AttemptId {
  tokenHash: string;
}

/**
 * Checks that a tool token is the one of its turn's running attempt.
 *
 * @throws SuzumioError `token-rejected`
 */
export function authorizeTool(reader: SqlReader, token: TokenOf): { agent: string } {
  const row = reader.get<{ id: string; token_hash: string | null; attempt: number }>(
    `SELECT agents.id, agents.token_hash, turns.attempt FROM turns JOIN agents ON agents.id = turns.agent_id
     WHERE turns.id = :turn AND agents.active_turn_id = turns.id AND turns.status = 'running'`,
    { turn: token.turn },
  );
  if (!row?.token_hash || row.attempt !== token.attempt || !sameHash(row.token_hash, token.tokenHash)) throw rejected();
  return { agent: row.id };
}

/**
 * Checks that a lease token is its attempt's. The attempt may be over: what follows from that is up to the verb.
 *
 * @throws SuzumioError `token-rejected`
 */
export function authorizeLease(reader: SqlReader, token: TokenOf): AttemptRow {
  const attempt = attemptRow(reader, token.turn, token.attempt);
  if (!attempt || !sameHash(attempt.lease_token_hash, token.tokenHash)) throw rejected();
  return attempt;
}

/** @throws SuzumioError `attempt-over` */
export function assertRunning(attempt: AttemptRow | undefined, id: AttemptId): asserts attempt is AttemptRow {
  if (attempt?.status === 'running') return;
  throw new SuzumioError('attempt-over', `Attempt ${String(id.attempt)} of ${id.turn} is over; nothing was changed.`, {
    turn: id.turn,
    attempt: id.attempt,
  });
}

/** One sentence for every reason: it does not reveal what is wrong with a token. */
export function rejected(): SuzumioError {
  return new SuzumioError('token-rejected', 'This token opens nothing here.');
}
