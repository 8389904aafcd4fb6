import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Cost } from '@suzumio/core/budgets/model-cost';
import type { ChatPurpose } from '@suzumio/protocol/model-chat';
import { type ExhaustedBudget, exhaustedBudget } from '../budgets/usage.js';
import type { Tx } from '../sqlite/tx.js';

/** The provider that answered, and the usage. */
export interface AnsweredBy {
  preset: string;
  provider: string;
  model: string;
  cost: Cost;
  /** Tokens in and out; estimated where the provider reported none. */
  inputTokens: number;
  outputTokens: number;
  /** Of those in, what the provider read from its cache. */
  cachedTokens?: number | undefined;
  estimated: boolean;
  /** What was sent otherwise than the preset says, in words. */
  changes?: string[];
}

/** A call of a model, as verbs read it. */
export interface CallRow {
  id: string;
  turn_id: string;
  agent_id: string;
  attempt: number;
  step: string;
  status: string;
  request_hash: string;
  purpose: ChatPurpose;
  held_tokens: number;
  held_nano_usd: number;
  started_at_ms: number;
}

export function callRow(tx: Tx, call: string): CallRow {
  const row = tx.get<CallRow>(
    `SELECT id, turn_id, agent_id, attempt, step, status, request_hash, purpose, held_tokens, held_nano_usd, started_at_ms
     FROM model_calls WHERE id = :call`,
    { call },
  );
  if (!row) throw new SuzumioError('store-corrupt', `There is no model call ${call}.`);
  return row;
}

/** Ends a call. */
export function closeCall(
  tx: Tx,
  call: string,
  status: 'answered' | 'failed' | 'lost',
  code: string | null = null,
): void {
  tx.run('UPDATE model_calls SET status = :status, error_code = :code, ended_at_ms = :now WHERE id = :call', {
    call,
    status,
    code,
    now: tx.nowMs,
  });
}

type Charge = Omit<AnsweredBy, 'provider'> & { provider: string | null };

/** Adds a provider's usage to the call and to the agent's total; one call may be charged several times. */
export function charge(tx: Tx, { id, agent_id: agent }: Pick<CallRow, 'id' | 'agent_id'>, by: Charge): void {
  const params = { input: by.inputTokens, output: by.outputTokens, usd: by.cost.nanoUsd };
  const charged = tx.get('SELECT 1 FROM model_calls WHERE id = :id AND input_tokens + output_tokens > 0', { id });
  tx.run(
    `UPDATE model_calls SET preset = :preset, provider = :provider, model = :model, input_tokens = input_tokens + :input,
       cached_tokens = cached_tokens + :cached, output_tokens = output_tokens + :output, nano_usd = nano_usd + :usd,
       estimated = max(estimated, :estimated)
     WHERE id = :id`,
    {
      id,
      ...params,
      preset: by.preset,
      provider: by.provider,
      model: by.model,
      cached: by.cachedTokens ?? 0,
      estimated: by.estimated ? 1 : 0,
    },
  );
  tx.run(
    `INSERT INTO agent_usage (agent_id, calls, input_tokens, output_tokens, nano_usd)
     VALUES (:agent, :calls, :input, :output, :usd)
     ON CONFLICT (agent_id) DO UPDATE SET calls = calls + :calls, input_tokens = input_tokens + :input,
       output_tokens = output_tokens + :output, nano_usd = nano_usd + :usd`,
    { agent, calls: charged ? 0 : 1, ...params },
  );
}

/**
 * Extends a running call's lease.
 *
 * @param soFar its usage so far, charged if its process is not heard of again
 */
export function extendModelCall(tx: Tx, call: string, untilMs: number, soFar?: AnsweredBy): void {
  tx.run(`UPDATE model_calls SET until_ms = :until WHERE id = :call AND status = 'running'`, { call, until: untilMs });
  if (!soFar) return;
  tx.run(
    `UPDATE model_calls SET preset = :preset, provider = :provider, model = :model, so_far_input = :input,
       so_far_output = :output, so_far_nano_usd = :usd WHERE id = :call AND status = 'running'`,
    {
      call,
      preset: soFar.preset,
      provider: soFar.provider,
      model: soFar.model,
      input: soFar.inputTokens,
      output: soFar.outputTokens,
      usd: soFar.cost.nanoUsd,
    },
  );
}

/**
 * Charges for a request that was sent, or answered in part, and failed: providers bill what they did. The call
 * continues with its next candidate.
 *
 * @returns the budget that has no room for the rest of the call
 */
export function chargeModelCall(tx: Tx, call: string, by: AnsweredBy): ExhaustedBudget | undefined {
  const row = callRow(tx, call);
  charge(tx, row, by);
  const exhausted = exhaustedBudget(tx, row.agent_id, { tokens: row.held_tokens, nanoUsd: row.held_nano_usd });
  return exhausted?.onlyHeld === false ? exhausted : undefined;
}

/** Ends a call that was never sent, because its caller disconnected. */
export function dropModelCall(tx: Tx, call: string): void {
  closeCall(tx, call, 'failed', 'not-asked');
}

/** A call whose process was not heard of again, and its presumed cost. */
export interface LostCall {
  call: string;
  nanoUsd: number;
}

/** Closes the calls whose leases have run out, and charges their usage so far. */
export function giveUpLostCalls(tx: Tx): LostCall[] {
  const rows = tx.all<{
    id: string;
    agent_id: string;
    preset: string;
    provider: string | null;
    model: string;
    so_far_input: number;
    so_far_output: number;
    so_far_nano_usd: number;
  }>(
    `SELECT id, agent_id, coalesce(preset, asked_preset) AS preset, provider, coalesce(model, '') AS model, so_far_input,
       so_far_output, so_far_nano_usd FROM model_calls WHERE status = 'running' AND until_ms <= :now`,
    { now: tx.nowMs },
  );
  return rows.map((row) => {
    const { so_far_input: inputTokens, so_far_output: outputTokens, so_far_nano_usd: nanoUsd } = row;
    const cost = { tokens: inputTokens + outputTokens, nanoUsd };
    charge(tx, row, { ...row, cost, inputTokens, outputTokens, estimated: true });
    closeCall(tx, row.id, 'lost', 'owner-lost');
    return { call: row.id, nanoUsd };
  });
}
