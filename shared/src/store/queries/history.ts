import { assistantMessage, summaryMessage, toolMessage, transcriptText } from '../../protocol/conversation.js';
import { tokensOf } from '../../protocol/estimated-tokens.js';
import type { ChatMessage, ModelAnswer } from '../../protocol/model-chat.js';
import type { ToolResponse } from '../../protocol/runner.js';
import type { SqlReader } from '../sql.js';

/**
 * Which of an agent's earlier turns a turn remembers. Turns that have ended never change, so this is all that has to be
 * frozen with its input.
 */
export interface HistoryPlan {
  /** The number of the last turn that a summary stands for. */
  summaryThrough: number | null;
  /** Turns that are too much beside the others: they are summed up before this one begins, the last of them included. */
  compactThrough: number | null;
  /** The first turn that is told in full, and the last. */
  from: number;
  to: number;
}

/** What a turn remembers, in words. */
export interface History {
  /** What stands for turns that are not told in full. */
  summary?: string;
  /** What is to be summed up first: the earlier summary, and turns that are no longer told. */
  compact?: string;
  messages: ChatMessage[];
}

/** How much of a model's context earlier turns may take, and what of that stays told in full when they no longer fit. */
const historyShare = 0.5;
const keptShare = 0.25;

interface TurnPart {
  id: string;
  number: number;
  prompt: string;
}

/** Plans what the next turn of an agent remembers: as many of its turns as fit, newest first, whole ones only. */
export function planHistory(reader: SqlReader, agent: string, before: number, contextLimit: number): HistoryPlan {
  const summaryThrough = newestSummary(reader, agent)?.through_number ?? null;
  const first = (summaryThrough ?? 0) + 1;
  const sizes = turnsBetween(reader, agent, first, before - 1)
    .reverse()
    .map((turn) => ({
      number: turn.number,
      tokens: tokensOf(told(reader, turn)),
    }));
  const all = sizes.reduce((sum, { tokens }) => sum + tokens, 0);
  const room = contextLimit * (all <= contextLimit * historyShare ? historyShare : keptShare);
  let used = 0;
  const kept = sizes.filter(({ tokens }) => (used += tokens) <= room);
  const from = kept.at(-1)?.number ?? before;
  const dropped = sizes.find(({ number }) => number < from);
  return { summaryThrough, compactThrough: dropped?.number ?? null, from, to: before - 1 };
}

/** The words of a plan. */
export function readHistory(reader: SqlReader, agent: string, plan: HistoryPlan, contextLimit: number): History {
  const summary = plan.summaryThrough === null ? undefined : summaryAt(reader, agent, plan.summaryThrough);
  const messages = turnsBetween(reader, agent, plan.from, plan.to).flatMap((turn) => told(reader, turn));
  if (plan.compactThrough === null) return { messages, ...(summary === undefined ? {} : { summary }) };
  const older = turnsBetween(reader, agent, (plan.summaryThrough ?? 0) + 1, plan.compactThrough).flatMap((turn) =>
    told(reader, turn),
  );
  const text = transcriptText([...(summary === undefined ? [] : [summaryMessage(summary)]), ...older]);
  // The newest of it matters most, and a model is asked to read it at once.
  return { compact: text.slice(-Math.floor(contextLimit * 1.5)), messages };
}

/** Keeps what a model made of an agent's older turns. */
export interface SummaryRow {
  through_number: number;
  text: string;
}

function newestSummary(reader: SqlReader, agent: string): SummaryRow | undefined {
  return reader.get<SummaryRow>(
    `SELECT through_number, text FROM agent_summaries WHERE agent_id = :agent ORDER BY through_number DESC LIMIT 1`,
    { agent },
  );
}

function summaryAt(reader: SqlReader, agent: string, through: number): string | undefined {
  return reader.get<{ text: string }>(
    'SELECT text FROM agent_summaries WHERE agent_id = :agent AND through_number = :through',
    { agent, through },
  )?.text;
}

/** Turns that came to their end. What failed is told by nobody: its mail comes again, or an operator goes on with it. */
function turnsBetween(reader: SqlReader, agent: string, from: number, to: number): TurnPart[] {
  return reader.all<TurnPart>(
    `SELECT id, number, prompt FROM turns
     WHERE agent_id = :agent AND number BETWEEN :from AND :to AND status = 'completed' AND prompt IS NOT NULL
     ORDER BY number`,
    { agent, from, to },
  );
}

interface StepRow {
  key: string;
  result_json: string;
}

/** One turn as a conversation: its prompt, the answers, and what their calls came to. */
function told(reader: SqlReader, { id, prompt }: TurnPart): ChatMessage[] {
  const steps = reader.all<StepRow>('SELECT key, result_json FROM turn_steps WHERE turn_id = :id', { id });
  const results = new Map(steps.map(({ key, result_json }) => [key, result_json]));
  const answers = steps
    .filter(({ key }) => /^\d+$/.test(key))
    .sort((a, b) => Number(a.key) - Number(b.key))
    .flatMap(({ key, result_json }) => {
      const result = JSON.parse(result_json) as { ok: boolean; answer?: ModelAnswer; summary?: boolean };
      return result.ok && result.answer && result.summary !== true ? [{ key, answer: result.answer }] : [];
    });
  return [
    { role: 'user', content: prompt },
    ...answers.flatMap(({ key, answer }) => stepMessages(key, answer, results)),
  ];
}

/** A step is told whole: an answer with every call's result. */
function stepMessages(key: string, answer: ModelAnswer, results: ReadonlyMap<string, string>): ChatMessage[] {
  return [
    assistantMessage(answer),
    ...answer.toolCalls.map(({ id }, index) => {
      const written = results.get(`${key}.${index}`);
      const result = written === undefined ? undefined : (JSON.parse(written) as RecordedTool);
      if (result === undefined) return toolMessage(id, { code: 'not-made', message: 'This call was not made.' });
      return toolMessage(id, result.ok ? { output: result.response.output } : result);
    }),
  ];
}

type RecordedTool = { ok: true; response: ToolResponse } | { ok: false; code: string; message: string };
