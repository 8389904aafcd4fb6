import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { ModelCallView } from '@suzumio/contract/model/model-call';
import type { SummaryView } from '@suzumio/contract/model/turn-summary';
import { agentRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { iso } from '../sqlite/page.js';

interface Row {
  id: string;
  step: string;
  attempt: number;
  purpose: ModelCallView['purpose'];
  status: ModelCallView['status'];
  preset: string;
  provider: string | null;
  model: string | null;
  input_tokens: number;
  output_tokens: number;
  cached_tokens: number;
  nano_usd: number;
  estimated: number;
  reading: ModelCallView['reading'];
  error_code: string | null;
  started_at_ms: number;
  ended_at_ms: number | null;
}

/** The model calls of a turn, in order. */
export function listModelCalls(reader: SqlReader, turn: string): ModelCallView[] {
  return reader
    .all<Row>(
      `SELECT id, step, attempt, purpose, status, coalesce(preset, asked_preset) AS preset, provider, model,
         input_tokens, output_tokens, cached_tokens, nano_usd, estimated, reading, error_code, started_at_ms, ended_at_ms
       FROM model_calls WHERE turn_id = :turn ORDER BY seq LIMIT 10000`,
      { turn },
    )
    .map((row) => ({
      id: row.id,
      step: row.step,
      attempt: row.attempt,
      purpose: row.purpose,
      status: row.status,
      preset: row.preset,
      provider: row.provider,
      model: row.model,
      inputTokens: row.input_tokens,
      outputTokens: row.output_tokens,
      cachedTokens: row.cached_tokens,
      costUsd: row.nano_usd / nanoPerUsd,
      estimated: row.estimated === 1,
      reading: row.reading,
      errorCode: row.error_code,
      startedAt: iso(row.started_at_ms),
      endedAt: iso(row.ended_at_ms),
    }));
}

/**
 * The summaries of an agent's older turns, newest first.
 *
 * @throws SuzumioError `agent-unknown`
 */
export function listSummaries(reader: SqlReader, agent: string): SummaryView[] {
  agentRow(reader, agent);
  return reader
    .all<{ through_number: number; text: string; turn_id: string; step: string; created_at_ms: number }>(
      `SELECT through_number, text, turn_id, step, created_at_ms FROM agent_summaries WHERE agent_id = :agent
       ORDER BY through_number DESC LIMIT 100`,
      { agent },
    )
    .map((row) => ({
      throughTurn: row.through_number,
      text: row.text,
      turn: row.turn_id,
      step: row.step,
      createdAt: iso(row.created_at_ms),
    }));
}
