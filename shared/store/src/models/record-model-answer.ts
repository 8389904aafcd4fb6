import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { ModelAnswer } from '@suzumio/protocol/model-chat';
import { notesIn } from '@suzumio/protocol/notes';
import { type AnswerOrigin, anyRequest, type RecordedAnswer, recordStep } from '../journal.js';
import type { Tx } from '../sqlite/tx.js';
import type { HistoryPlan } from '../turns/history.js';
import { clearModelFault } from './model-faults.js';
import { type AnsweredBy, type CallRow, callRow, charge, closeCall } from './model-call-costs.js';

/**
 * Journals an answer even if its attempt is over: it was paid for. If another process has journaled one at the same
 * step meanwhile, that one counts; both costs are kept. An answer to a question of which something
 * was redacted meanwhile is not journaled.
 */
export function recordModelAnswer(
  tx: Tx,
  call: string,
  answer: ModelAnswer,
  by: AnsweredBy,
  origin?: AnswerOrigin,
): RecordedAnswer {
  const row = callRow(tx, call);
  charge(tx, row, by);
  closeCall(tx, call, 'answered');
  clearModelFault(tx, by.preset);
  const changed = by.changes ? { changes: by.changes } : {};
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
      cachedTokens: by.cachedTokens ?? 0,
      nanoUsd: by.cost.nanoUsd,
      durationMs: tx.nowMs - row.started_at_ms,
      calls: answer.toolCalls.length,
      finishReason: answer.finishReason,
      ...changed,
    },
  });
  if (row.request_hash === anyRequest) return redactedMeanwhile;
  const summary = row.purpose === 'summary';
  const notes = summary ? notesIn(answer) : undefined;
  if (notes !== undefined) keepSummary(tx, row, notes);
  return recordStep<RecordedAnswer>(
    tx,
    stepOf(row),
    { ok: true, answer, ...(summary ? { summary } : {}), ...changed },
    origin,
  );
}

/** Journals that a call was refused: repeated, it gets the same refusal. */
export function recordModelRefusal(tx: Tx, call: string, code: ErrorCode, message: string): RecordedAnswer {
  const row = callRow(tx, call);
  closeCall(tx, call, 'failed', code);
  if (row.request_hash === anyRequest) return redactedMeanwhile;
  return recordStep<RecordedAnswer>(tx, stepOf(row), { ok: false, code, message });
}

/** For the attempt that asked, which is over. */
const redactedMeanwhile: RecordedAnswer = {
  ok: false,
  code: 'attempt-over',
  message: 'Something that was asked here was redacted meanwhile, so the answer was not kept.',
};

function stepOf({ turn_id, step, request_hash, attempt }: CallRow) {
  return { turn: turn_id, step, requestHash: request_hash, attempt };
}

/**
 * Keeps a summary for later turns. It replaces the turns that this turn was told to sum up; if the context was still
 * too long after that, all that the turn remembered.
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
