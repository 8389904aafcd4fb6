import type { SqlReader } from '../sqlite/sql.js';

/** What the models of a turn have taken so far. */
export interface AcceptedBefore {
  /** The estimated tokens of the longest question that was answered. */
  tokens: number;
  /** Whether this step has failed before because no model answered. */
  hasFailed: boolean;
}

export function acceptedBefore(reader: SqlReader, turn: string, step: string): AcceptedBefore {
  const row = reader.get<{ tokens: number | null; failed: number | null }>(
    `SELECT max(CASE WHEN status = 'answered' THEN so_far_input END) AS tokens,
       max(step = :step AND status = 'failed' AND error_code = 'provider-unavailable') AS failed
     FROM model_calls WHERE turn_id = :turn`,
    { turn, step },
  );
  return { tokens: row?.tokens ?? 0, hasFailed: row?.failed === 1 };
}
