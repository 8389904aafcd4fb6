import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { Cost } from '@suzumio/core/budgets/model-cost';
import type { ChatPurpose, ModelAnswer } from '@suzumio/protocol/model-chat';
import type { Failure } from '@suzumio/protocol/failure-codes';
import { notesIn } from '@suzumio/protocol/notes';
import { authorizeTool } from '../turns/authorize.js';
import { type RecordedAnswer, recordedAnswer, recordStep } from '../journal.js';
import type { HistoryPlan } from '../turns/history.js';
import { type ExhaustedBudget, exhaustedBudget } from '../budgets/usage.js';
import { attemptRow, projectRow, turnRow, type TurnRow } from '../rows.js';
import { passedQuota } from '../content/stored-bytes.js';
import type { Tx } from '../sqlite/tx.js';
import {
  type AnsweredBy,
  type CallRow,
  callRow,
  charge,
  closeCall,
  giveUpLostCalls,
  type LostCall,
} from './model-call-costs.js';
import { noteContradiction } from '../turns/note-contradiction.js';
import { endByFailure, failTurn, type ProviderWait } from '../turns/report-attempt.js';

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
  /** What it comes to where it is sent and nothing more is heard of it. */
  sent: Omit<AnsweredBy, 'provider'>;
}

/** A call that is being made: its row says by whom, and until when that process is believed. */
export interface ModelCallOwner {
  owner: string;
  untilMs: number;
}

export type BegunModelCall =
  | { state: 'recorded'; step: string; result: RecordedAnswer }
  /** Another process is asking the same: look again, with this step. */
  | { state: 'asked-by-another'; step: string }
  /** Other calls that run, of this turn or from the same budget, leave it no room now: look again, with this step. */
  | { state: 'held-back'; step: string }
  | { state: 'refused'; code: ErrorCode; message: string }
  | { state: 'begun'; call: string; step: string };

/** How many calls of one turn may be under way: runners ask one after the other, and some a few at a time. */
const runningCallsPerTurn = 4;

/** As often a question fails that others do not share before it is taken for what the provider will not answer. */
const loneFailures = 5;

/**
 * Begins a call of a model, unless its answer is in the journal or another process is asking already. Its worst cost is
 * held back from now on, so that calls that run together keep a budget, too. Whoever was asking before and has not been
 * heard of for `untilMs` is taken for dead, its call for sent, and the question is asked again. A question that the
 * journal contradicts is refused, and ends the turn of an attempt that does not stop asking such.
 *
 * @throws SuzumioError `token-rejected`
 */
export function beginModelCall(
  tx: Tx,
  question: ModelQuestion,
  owner: ModelCallOwner,
): BegunModelCall & { lost?: readonly LostCall[] } {
  const { agent } = authorizeTool(tx, question);
  const turn = turnRow(tx, question.turn);
  const step = question.step ?? nextUnnamedStep(tx, question);
  try {
    const recorded = recordedAnswer(tx, { ...question, step });
    if (recorded) return { state: 'recorded', step, result: recorded };
  } catch (error) {
    if (!isSuzumioError(error, 'journal-mismatch')) throw error;
    noteContradiction(tx, turn, question.attempt, error.message);
    return { state: 'refused', code: error.code, message: error.message };
  }
  const lost = giveUpLostCalls(tx);
  const running = tx.all<{ step: string }>(
    `SELECT step FROM model_calls WHERE turn_id = :turn AND status = 'running'`,
    {
      turn: turn.id,
    },
  );
  if (running.some((other) => other.step === step)) return { state: 'asked-by-another', step, lost };
  const refusal = refusalOf(tx, turn, { ...question, step });
  if (refusal === 'held-back' || (!refusal && running.length >= runningCallsPerTurn)) {
    return { state: 'held-back', step, lost };
  }
  if (refusal) return { state: 'refused', ...refusal, lost };
  const call = tx.newId('call');
  const { sent } = question;
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
    preset: sent.preset,
    model: sent.model,
    so_far_input: sent.inputTokens,
    so_far_output: sent.outputTokens,
    so_far_nano_usd: sent.cost.nanoUsd,
    started_at_ms: tx.nowMs,
  });
  return { state: 'begun', call, step, lost };
}

/**
 * Says that a call is still being made.
 *
 * @param soFar what it has come to, for when nothing more is heard of it
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
 * Journals an answer, whatever became of the attempt that asked for it: it was paid for. Where another process has
 * journaled one under the same step meanwhile, that one counts; the cost of both is kept.
 */
export function recordModelAnswer(tx: Tx, call: string, answer: ModelAnswer, by: AnsweredBy): RecordedAnswer {
  const row = callRow(tx, call);
  charge(tx, row, by);
  closeCall(tx, call, 'answered');
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
  return recordStep<RecordedAnswer>(tx, stepOf(row), { ok: true, answer, ...(summary ? { summary } : {}) });
}

/**
 * Charges for a question that was sent, or answered in part, and came to nothing: providers count what they did. The
 * call goes on, with the next of its candidates.
 *
 * @returns the budget that leaves no room for that
 */
export function chargeModelCall(tx: Tx, call: string, by: AnsweredBy): ExhaustedBudget | undefined {
  const row = callRow(tx, call);
  charge(tx, row, by);
  const exhausted = exhaustedBudget(tx, row.agent_id, { tokens: row.held_tokens, nanoUsd: row.held_nano_usd });
  return exhausted?.onlyHeld === false ? exhausted : undefined;
}

/** Ends a call that was never made: whoever asked has gone. */
export function dropModelCall(tx: Tx, call: string): void {
  closeCall(tx, call, 'failed', 'not-asked');
}

/** Journals that a question cannot be answered as it is: asked again, it gets the same. */
export function recordModelRefusal(tx: Tx, call: string, code: ErrorCode, message: string): RecordedAnswer {
  const row = callRow(tx, call);
  closeCall(tx, call, 'failed', code);
  return recordStep<RecordedAnswer>(tx, stepOf(row), { ok: false, code, message });
}

/** Why a call has no answer, and what its turn waits for. */
export interface UnansweredCall {
  failure: Failure;
  wait?: ProviderWait | undefined;
  /**
   * That the question itself failed, at each of its providers and for no reason of theirs: since when the first of them
   * has been away. Where that is later than its last failure, others were answered between the two.
   */
  failedItself?: { awaySinceMs: number } | undefined;
}

/**
 * Ends a call without an answer, and its attempt with it: the turn waits, or fails. A question that fails again and again
 * while the provider answers others has a backoff of its own, and fails for good after some tries: it is not the
 * provider that is away.
 */
export function failModelCall(tx: Tx, call: string, { failure, wait, failedItself }: UnansweredCall): void {
  const row = callRow(tx, call);
  const turn = turnRow(tx, row.turn_id);
  const earlier = failedItself && lastOwnFailure(tx, turn, row.step);
  const alone =
    failedItself === undefined
      ? 0
      : 1 + (earlier && failedItself.awaySinceMs > earlier.ended_at_ms ? earlier.alone : 0);
  if (row.status === 'running') {
    closeCall(tx, call, 'failed', failure.code);
    tx.run('UPDATE model_calls SET alone = :alone WHERE id = :call', { call, alone });
  }
  const attempt = attemptRow(tx, turn.id, turn.attempt);
  if (attempt?.status !== 'running' || attempt.number !== row.attempt) return;
  if (alone >= loneFailures) {
    const message = `${failure.message}; it failed ${alone} times while others were answered.`.slice(0, 2000);
    endByFailure(tx, turn, attempt, { code: 'model-refused', message });
    return;
  }
  endByFailure(tx, turn, attempt, failure, { wait: alone > 1 ? undefined : wait });
}

function stepOf({ turn_id, step, request_hash, attempt }: CallRow) {
  return { turn: turn_id, step, requestHash: request_hash, attempt };
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

/** How the same question failed last, since the turn was queued or retried, where it was asked at all. */
function lastOwnFailure(tx: Tx, turn: TurnRow, step: string): { alone: number; ended_at_ms: number } | undefined {
  return tx.get(
    `SELECT alone, ended_at_ms FROM model_calls WHERE turn_id = :turn AND step = :step AND status = 'failed' AND alone > 0
       AND attempt > :from ORDER BY seq DESC LIMIT 1`,
    { turn: turn.id, step, from: turn.allowance_from },
  );
}

/** Why a question may not be asked. A limit or a budget that is reached ends the turn: nothing that it did is lost. */
function refusalOf(
  tx: Tx,
  turn: TurnRow,
  question: ModelQuestion & { step: string },
): { code: ErrorCode; message: string } | 'held-back' | undefined {
  if (turn.ended_by_tool !== null) {
    return { code: 'turn-ended', message: `This turn has ended with ${turn.ended_by_tool}.` };
  }
  if (projectRow(tx).status === 'completed') return { code: 'project-closed', message: 'The project is completed.' };
  const { maxSteps } = tx.config.turn;
  const asked = tx.get<{ count: number }>(
    `SELECT count(DISTINCT step) AS count FROM model_calls WHERE turn_id = :turn AND status <> 'lost' AND step <> :step`,
    { turn: turn.id, step: question.step },
  );
  if ((asked?.count ?? 0) >= maxSteps) {
    const message = `A turn may ask its model ${String(maxSteps)} times (turn.maxSteps), and this one has.`;
    failTurn(tx, turn, { code: 'step-limit', message });
    return { code: 'step-limit-reached', message };
  }
  const passed = passedQuota(tx, tx.storage, turn.agent_id, 'rows');
  if (passed) {
    failTurn(tx, turn, { code: 'quota-exceeded', message: passed.message });
    return { code: 'quota-exceeded', message: passed.message };
  }
  const exhausted = exhaustedBudget(tx, turn.agent_id, question.worst);
  if (!exhausted) return undefined;
  const { onlyHeld, ...budget } = exhausted;
  if (onlyHeld) return 'held-back';
  tx.emit({ type: 'budget.reached', actor: 'system', agent: turn.agent_id, turn: turn.id, data: { ...budget } });
  failTurn(tx, turn, { code: 'budget-reached', message: budget.message });
  return { code: 'budget-reached', message: budget.message };
}

/** The place of a question whose runner names none: its number in the attempt, apart from those of tool calls. */
function nextUnnamedStep(tx: Tx, question: ModelQuestion): string {
  const row = tx.get<{ number: number }>(
    `UPDATE turn_attempts SET unnamed_questions = unnamed_questions + 1 WHERE turn_id = :turn AND number = :attempt
     RETURNING unnamed_questions AS number`,
    { turn: question.turn, attempt: question.attempt },
  );
  return `ask.${String(row?.number ?? 1)}`;
}
