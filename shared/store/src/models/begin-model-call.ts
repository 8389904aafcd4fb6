import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Cost } from '@suzumio/core/budgets/model-cost';
import type { AnswerReading, ChatPurpose, ReadAnswer } from '@suzumio/protocol/model-chat';
import { exhaustedBudget } from '../budgets/usage.js';
import { passedQuota } from '../content/stored-bytes.js';
import { type RecordedAnswer, recordedAnswer } from '../journal.js';
import { projectRow, turnRow, type TurnRow } from '../rows.js';
import type { Tx } from '../sqlite/tx.js';
import { authorizeTool } from '../turns/authorize.js';
import { noteContradiction } from '../turns/refusal-limits.js';
import { failTurn } from '../turns/fail-attempt.js';
import { hasSandboxSteps, unnamedRefusal } from '../turns/tool-call-refusal.js';
import { mostTold, noteUncapturedQuestion } from '../turns/uncaptured-steps.js';
import { recordModelRefusal } from './record-model-answer.js';
import { type AnsweredBy, giveUpLostCalls, type LostCall } from './model-call-costs.js';

/** A question to a model, as the gateway takes it from a runner. */
export interface ModelQuestion {
  turn: string;
  attempt: number;
  tokenHash: string;
  /** Its place; absent for a runner that names no steps. */
  step?: string | undefined;
  requestHash: string;
  purpose: ChatPurpose;
  /** The preset that answers, or the one whose alternatives do. */
  preset: string;
  /** Its worst-case cost: reserved in the budgets until the answer is there. */
  worst: Cost;
  /** Its cost if it is sent and its process is not heard of again. */
  sent: Omit<AnsweredBy, 'provider'>;
  /** Why the workspace could not be captured before it, if it could not. */
  uncaptured?: string | undefined;
  /** What was made of the answer before it. */
  read?: ReadAnswer | undefined;
}

/** A running call: which process makes it, and until when that process is presumed alive. */
export interface ModelCallOwner {
  owner: string;
  untilMs: number;
}

export type BegunModelCall =
  | { state: 'recorded'; step: string; result: RecordedAnswer }
  /** Another process is making the same call: try again, with this step. */
  | { state: 'asked-by-another'; step: string }
  /**
   * Reservations of running calls, of this turn or from the same budget, leave no room now: try again, with this step.
   */
  | { state: 'held-back'; step: string }
  | { state: 'refused'; code: ErrorCode; message: string }
  /** `reading` is what is kept of the answer before it from now on. */
  | { state: 'begun'; call: string; step: string; reading: AnswerReading | undefined };

/** How many calls of one turn may run at a time: runners make one after the other, or a few at once. */
const runningCallsPerTurn = 4;

/**
 * Begins a model call, unless its answer is in the journal or another process is making it already. Its worst-case cost
 * is reserved from now on, so that concurrent calls stay within a budget. A caller that was not heard of for `untilMs`
 * is presumed dead and its call sent, and the call is made again. A call that contradicts the journal is refused; an
 * attempt that keeps making such calls ends its turn.
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
  const refusal = refusalOf(tx, turn, { ...question, step }, question.step);
  if (refusal === 'held-back' || (!refusal && running.length >= runningCallsPerTurn)) {
    return { state: 'held-back', step, lost };
  }
  if (refusal) return { state: 'refused', code: refusal.code, message: refusal.message, lost };
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
  const reading = keepReading(tx, turn.id, question.read);
  const { uncaptured } = question;
  const then = uncaptured === undefined ? 'ask' : noteUncapturedQuestion(tx, turn.id, step);
  if (then === 'end-turn') {
    const message = `Told ${String(mostTold)} times, the agent has not mended its workspace: ${uncaptured ?? ''}`;
    failTurn(tx, turn, { code: 'workspace-too-large', message });
  }
  if (uncaptured !== undefined && then !== 'ask') {
    return { state: 'recorded', step, result: recordModelRefusal(tx, call, 'workspace-too-large', uncaptured), lost };
  }
  return { state: 'begun', call, step, reading, lost };
}

/** Keeps what was made of an answer of the turn, before anything is asked that follows from it. The first time counts. */
function keepReading(tx: Tx, turn: string, read: ReadAnswer | undefined): AnswerReading | undefined {
  if (read === undefined) return undefined;
  const { changes } = tx.run(
    `UPDATE model_calls SET reading = :reading
     WHERE id = :answer AND turn_id = :turn AND status = 'answered' AND reading IS NULL`,
    { ...read, turn },
  );
  return changes === 1 ? read.reading : undefined;
}

/** Why a call is refused. A limit or a budget that is reached ends the turn: what it did stays recorded. */
function refusalOf(
  tx: Tx,
  turn: TurnRow,
  question: ModelQuestion & { step: string },
  named: string | undefined,
): { code: ErrorCode; message: string } | 'held-back' | undefined {
  if (turn.ended_by_tool !== null) {
    return { code: 'turn-ended', message: `This turn has ended with ${turn.ended_by_tool}.` };
  }
  if (projectRow(tx).status === 'completed') return { code: 'project-closed', message: 'The project is completed.' };
  if (named === undefined && hasSandboxSteps(tx, turn.id)) return unnamedRefusal;
  const { maxSteps } = tx.configAt(turn.config_version).turn;
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

/** The step of a call from a runner that names no steps: its number in the attempt, counted apart from tool calls. */
function nextUnnamedStep(tx: Tx, question: ModelQuestion): string {
  const row = tx.get<{ number: number }>(
    `UPDATE turn_attempts SET unnamed_questions = unnamed_questions + 1 WHERE turn_id = :turn AND number = :attempt
     RETURNING unnamed_questions AS number`,
    { turn: question.turn, attempt: question.attempt },
  );
  return `ask.${String(row?.number ?? 1)}`;
}
