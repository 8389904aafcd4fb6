import { SuzumioError } from '../../errors/suzumio-error.js';
import type { ErrorCode } from '../../errors/codes.js';
import type { Cost } from '../../model/model-cost.js';
import type { ChatPurpose, ModelAnswer } from '../../protocol/model-chat.js';
import type { Failure } from '../../protocol/failure-codes.js';
import { notesIn } from '../../protocol/notes.js';
import { authorizeTool } from '../authorize.js';
import type { HistoryPlan } from '../queries/history.js';
import { exhaustedBudget } from '../queries/usage.js';
import { attemptRow, projectRow, turnRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sql.js';
import type { Tx } from '../tx.js';
import { endByFailure, failTurn, type ProviderWait } from './report-attempt.js';

/** A question to a model, as the gateway takes it from a runner. */
export interface ModelQuestion {
  turn: string;
  attempt: number;
  tokenHash: string;
  /** Its place; absent for a runner that names no steps. */
  step?: string | undefined;
  requestHash: string;
  purpose: ChatPurpose;
  /** The preset that answers, or whose list does. */
  preset: string;
  /** What it may come to: held back from the budgets until the answer is there. */
  worst: Cost;
}

/** A call that is being made: its row says by whom, and until when that process is believed. */
export interface ModelCallOwner {
  owner: string;
  untilMs: number;
}

/** How a question ended, as it is journaled under its step. */
export type RecordedAnswer =
  | {
      ok: true;
      answer: ModelAnswer;
      /** It stands for earlier turns, and is no part of its own. */
      summary?: true;
    }
  | { ok: false; code: ErrorCode; message: string };

export type BegunModelCall =
  | { state: 'recorded'; step: string; result: RecordedAnswer }
  /** Another process is asking the same: look again. */
  | { state: 'asked-by-another' }
  | { state: 'refused'; code: ErrorCode; message: string }
  | { state: 'begun'; call: string; step: string };

/**
 * Begins a call of a model, unless its answer is in the journal or another process is asking already. Its worst cost is
 * held back from now on, so that calls that run together keep a budget, too. Whoever was asking before and has not been
 * heard of for `untilMs` is taken for dead, and the question is asked again.
 *
 * @throws SuzumioError `token-rejected`, `journal-mismatch`
 */
export function beginModelCall(tx: Tx, question: ModelQuestion, owner: ModelCallOwner): BegunModelCall {
  const { agent } = authorizeTool(tx, question);
  const turn = turnRow(tx, question.turn);
  const step = question.step ?? nextUnnamedStep(tx, question);
  const recorded = recordedAnswer(tx, { ...question, step });
  if (recorded) return { state: 'recorded', step, result: recorded };
  const running = tx.get<{ id: string; owner: string; until_ms: number }>(
    `SELECT id, owner, until_ms FROM model_calls WHERE turn_id = :turn AND step = :step AND status = 'running'`,
    { turn: turn.id, step },
  );
  if (running && running.until_ms > tx.nowMs) return { state: 'asked-by-another' };
  if (running) closeCall(tx, running.id, { status: 'lost', code: 'owner-lost' });
  const refusal = refusalOf(tx, turn, question);
  if (refusal) return { state: 'refused', ...refusal };
  const call = tx.newId('call');
  tx.insert('model_calls', {
    id: call,
    turn_id: turn.id,
    agent_id: agent,
    attempt: question.attempt,
    step,
    status: 'running',
    request_hash: question.requestHash,
    asked_preset: question.preset,
    purpose: question.purpose,
    owner: owner.owner,
    until_ms: owner.untilMs,
    held_tokens: question.worst.tokens,
    held_nano_usd: question.worst.nanoUsd,
    started_at_ms: tx.nowMs,
  });
  return { state: 'begun', call, step };
}

/** Says that a call is still being made. */
export function extendModelCall(tx: Tx, call: string, untilMs: number): void {
  tx.run(`UPDATE model_calls SET until_ms = :until WHERE id = :call AND status = 'running'`, { call, until: untilMs });
}

/** Who answered, and what it came to. */
export interface AnsweredBy {
  preset: string;
  provider: string;
  model: string;
  cost: Cost;
  /** Tokens in and out; estimated where the provider counted none. */
  inputTokens: number;
  outputTokens: number;
  estimated: boolean;
}

/**
 * Journals an answer, whatever became of the attempt that asked for it: it was paid for. Where another process has
 * journaled one under the same step meanwhile, that one counts; the cost of both is kept.
 */
export function recordModelAnswer(tx: Tx, call: string, answer: ModelAnswer, by: AnsweredBy): RecordedAnswer {
  const row = callRow(tx, call);
  closeCall(tx, call, { status: 'answered', by });
  tx.run(
    `INSERT INTO agent_usage (agent_id, calls, input_tokens, output_tokens, nano_usd)
     VALUES (:agent, 1, :input, :output, :usd)
     ON CONFLICT (agent_id) DO UPDATE SET calls = calls + 1, input_tokens = input_tokens + :input,
       output_tokens = output_tokens + :output, nano_usd = nano_usd + :usd`,
    { agent: row.agent_id, input: by.inputTokens, output: by.outputTokens, usd: by.cost.nanoUsd },
  );
  tx.emit({
    type: 'model.answered',
    actor: row.agent_id,
    agent: row.agent_id,
    turn: row.turn_id,
    data: {
      step: row.step,
      preset: by.preset,
      model: by.model,
      inputTokens: by.inputTokens,
      outputTokens: by.outputTokens,
      nanoUsd: by.cost.nanoUsd,
      durationMs: tx.nowMs - row.started_at_ms,
      calls: answer.toolCalls.length,
      finishReason: answer.finishReason,
    },
  });
  const summary = row.purpose === 'summary';
  const notes = summary ? notesIn(answer) : undefined;
  if (notes !== undefined) keepSummary(tx, row, notes);
  return journal(tx, row, { ok: true, answer, ...(summary ? { summary } : {}) });
}

/** Journals that a question cannot be answered as it is: asked again, it gets the same. */
export function recordModelRefusal(tx: Tx, call: string, code: ErrorCode, message: string): RecordedAnswer {
  const row = callRow(tx, call);
  closeCall(tx, call, { status: 'failed', code });
  return journal(tx, row, { ok: false, code, message });
}

/** Ends a call without an answer, and its attempt with it: the turn waits, or fails. */
export function failModelCall(tx: Tx, call: string, failure: Failure, wait?: ProviderWait): void {
  const row = callRow(tx, call);
  if (row.status === 'running') closeCall(tx, call, { status: 'failed', code: failure.code });
  const turn = turnRow(tx, row.turn_id);
  const attempt = attemptRow(tx, turn.id, turn.attempt);
  if (attempt?.status === 'running' && attempt.number === row.attempt)
    endByFailure(tx, turn, attempt, failure, { wait });
}

/**
 * The journaled answer to a question, where there is one.
 *
 * @throws SuzumioError `journal-mismatch`
 */
export function recordedAnswer(
  reader: SqlReader,
  { turn, step, requestHash }: { turn: string; step: string; requestHash: string },
): RecordedAnswer | undefined {
  const row = reader.get<{ request_hash: string; result_json: string }>(
    'SELECT request_hash, result_json FROM turn_steps WHERE turn_id = :turn AND key = :step',
    { turn, step },
  );
  if (!row) return undefined;
  if (row.request_hash === requestHash) return JSON.parse(row.result_json) as RecordedAnswer;
  throw new SuzumioError(
    'journal-mismatch',
    `Step ${step} of ${turn} asked something else before; a turn must repeat its steps as they were.`,
    { turn, step },
  );
}

interface CallRow {
  turn_id: string;
  agent_id: string;
  attempt: number;
  step: string;
  status: string;
  request_hash: string;
  purpose: ChatPurpose;
  started_at_ms: number;
}

function callRow(tx: Tx, call: string): CallRow {
  const row = tx.get<CallRow>(
    'SELECT turn_id, agent_id, attempt, step, status, request_hash, purpose, started_at_ms FROM model_calls WHERE id = :call',
    { call },
  );
  if (!row) throw new SuzumioError('store-corrupt', `There is no model call ${call}.`);
  return row;
}

function journal(tx: Tx, row: CallRow, result: RecordedAnswer): RecordedAnswer {
  const key = { turn: row.turn_id, step: row.step };
  const earlier = tx.get<{ result_json: string }>(
    'SELECT result_json FROM turn_steps WHERE turn_id = :turn AND key = :step',
    key,
  );
  if (earlier) return JSON.parse(earlier.result_json) as RecordedAnswer;
  tx.insert('turn_steps', {
    turn_id: row.turn_id,
    key: row.step,
    attempt: row.attempt,
    request_hash: row.request_hash,
    result_json: JSON.stringify(result),
    recorded_at_ms: tx.nowMs,
  });
  return result;
}

/**
 * Keeps a summary for later turns. It stands for the turns that this one was told to sum up, and, where that is done and
 * it was still too long, for all that it remembered.
 */
function keepSummary(tx: Tx, { turn_id, agent_id, step }: CallRow, text: string): void {
  const row = tx.get<{ input_json: string }>('SELECT input_json FROM turns WHERE id = :turn', { turn: turn_id });
  const plan = (JSON.parse(row?.input_json ?? '{}') as { history?: HistoryPlan }).history;
  if (!plan) return;
  const has = (through: number) =>
    tx.get('SELECT 1 FROM agent_summaries WHERE agent_id = :agent AND through_number = :through', {
      agent: agent_id,
      through,
    }) !== undefined;
  const through = [plan.compactThrough, plan.to].find((number) => number !== null && number > 0 && !has(number));
  if (through === undefined || through === null) return;
  tx.insert('agent_summaries', {
    agent_id,
    through_number: through,
    text,
    turn_id,
    step,
    created_at_ms: tx.nowMs,
  });
}

function closeCall(
  tx: Tx,
  call: string,
  end: { status: 'answered'; by: AnsweredBy } | { status: 'failed' | 'lost'; code: string },
): void {
  const by = end.status === 'answered' ? end.by : undefined;
  tx.run(
    `UPDATE model_calls SET status = :status, error_code = :code, preset = :preset, provider = :provider, model = :model,
       input_tokens = :input, output_tokens = :output, nano_usd = :usd, estimated = :estimated, ended_at_ms = :now
     WHERE id = :call`,
    {
      call,
      status: end.status,
      code: end.status === 'answered' ? null : end.code,
      preset: by?.preset ?? null,
      provider: by?.provider ?? null,
      model: by?.model ?? null,
      input: by?.inputTokens ?? 0,
      output: by?.outputTokens ?? 0,
      usd: by?.cost.nanoUsd ?? 0,
      estimated: by?.estimated === true ? 1 : 0,
      now: tx.nowMs,
    },
  );
}

/** Why a question may not be asked. A limit or a budget that is reached ends the turn: nothing that it did is lost. */
function refusalOf(tx: Tx, turn: TurnRow, question: ModelQuestion): { code: ErrorCode; message: string } | undefined {
  if (turn.ended_by_tool !== null) {
    return { code: 'turn-ended', message: `This turn has ended with ${turn.ended_by_tool}.` };
  }
  if (projectRow(tx).status === 'completed') return { code: 'project-closed', message: 'The project is completed.' };
  const { maxSteps } = tx.config.turn;
  const asked = tx.get<{ count: number }>(
    `SELECT count(DISTINCT step) AS count FROM model_calls WHERE turn_id = :turn AND status = 'answered'`,
    { turn: turn.id },
  );
  if ((asked?.count ?? 0) >= maxSteps) {
    const message = `A turn may ask its model ${String(maxSteps)} times (turn.maxSteps), and this one has.`;
    failTurn(tx, turn, { code: 'step-limit', message });
    return { code: 'step-limit-reached', message };
  }
  const budget = exhaustedBudget(tx, turn.agent_id, question.worst);
  if (!budget) return undefined;
  tx.emit({ type: 'budget.reached', actor: 'system', agent: turn.agent_id, turn: turn.id, data: { ...budget } });
  failTurn(tx, turn, { code: 'budget-reached', message: budget.message });
  return { code: 'budget-reached', message: budget.message };
}

function nextUnnamedStep(tx: Tx, question: ModelQuestion): string {
  tx.run('UPDATE turn_attempts SET unnamed_calls = unnamed_calls + 1 WHERE turn_id = :turn AND number = :attempt', {
    turn: question.turn,
    attempt: question.attempt,
  });
  return `seq.${String(attemptRow(tx, question.turn, question.attempt)?.unnamed_calls ?? 1)}`;
}
