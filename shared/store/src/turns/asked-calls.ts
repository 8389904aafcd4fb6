import { callInput } from '@suzumio/protocol/call-input';
import { callOfWrite } from '@suzumio/protocol/ids';
import { meansName } from '@suzumio/protocol/meant-calls';
import type { ModelToolCall } from '@suzumio/protocol/model-chat';
import { jsonAt, type RecordedAnswer, requestHash } from '../journal.js';
import type { SqlReader } from '../sqlite/sql.js';

/** A tool call of a turn. */
interface MadeCall {
  turn: string;
  /**
   * Its step: the answered model call's, and the call's number in the answer; absent for runners that name no steps.
   */
  step?: string;
  tool: string;
  requestHash: string;
}

/** How many characters of a turn's answers are searched for one call: its request is in one of the last. */
const searchedChars = 8 * 1024 * 1024;

/**
 * Whether a model asked for a call: with this input, and at its step where the runner names one. A runner that calls
 * its models without the gateway is bound by its allowlist alone.
 */
export function wasAskedFor(reader: SqlReader, call: MadeCall): boolean {
  const questions = questionsOf(reader, call.turn);
  if (call.step === undefined) return questions.length === 0 || isInNewest(reader, questions, call);
  const [question, index] = (callOfWrite(call.step) ?? call.step).split('.');
  const answer = question !== undefined && questions.includes(question) && answerTo(reader, call.turn, question);
  const asked = answer ? answer.calls[Number(index)] : undefined;
  return asked !== undefined && isThat(asked, call);
}

function isInNewest(reader: SqlReader, newestFirst: readonly string[], call: MadeCall): boolean {
  let searched = 0;
  for (const question of newestFirst) {
    const answer = answerTo(reader, call.turn, question);
    if (answer?.calls.some((asked) => isThat(asked, call)) === true) return true;
    searched += answer?.chars ?? 0;
    if (searched > searchedChars) return false;
  }
  return false;
}

/** The steps of a turn's answered model calls, newest first. Other steps are tool calls. */
function questionsOf(reader: SqlReader, turn: string): string[] {
  return reader
    .all<{ step: string }>(
      `SELECT step FROM model_calls WHERE turn_id = :turn
         AND EXISTS (SELECT 1 FROM turn_steps WHERE turn_steps.turn_id = model_calls.turn_id AND key = step)
       GROUP BY step ORDER BY max(seq) DESC`,
      { turn },
    )
    .map(({ step }) => step);
}

function answerTo(
  reader: SqlReader,
  turn: string,
  question: string,
): { calls: readonly ModelToolCall[]; chars: number } | undefined {
  const json = jsonAt(reader, turn, question);
  if (json === undefined) return undefined;
  const result = JSON.parse(json) as RecordedAnswer;
  return { calls: result.ok ? result.answer.toolCalls : [], chars: json.length };
}

function isThat(asked: ModelToolCall, { tool, requestHash: hash }: MadeCall): boolean {
  if (!meansName(asked.name, tool)) return false;
  const written = callInput(asked.arguments);
  return 'input' in written && hash === requestHash(tool, written.input);
}
