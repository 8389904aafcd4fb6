import * as z from 'zod';
import { handedArtifact, writtenText } from '@suzumio/protocol/artifacts';
import { callInput } from '@suzumio/protocol/call-input';
import {
  assistantMessage,
  functionName,
  goOnMessage,
  toolMessage,
  transcriptText,
} from '@suzumio/protocol/conversation';
import { tokensOf } from '@suzumio/protocol/estimated-tokens';
import type { ChatMessage, ModelAnswer, ModelToolCall } from '@suzumio/protocol/model-chat';
import { toldNotes, toldTranscript, transcriptRoom } from '@suzumio/protocol/notes';
import type { ToolResponse } from '@suzumio/protocol/runner';
import type { SqlReader } from '../sqlite/sql.js';

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
  /** Turns that are no longer told and that the summary does not stand for: new notes have to be made of both. */
  compact?: string;
  messages: ChatMessage[];
}

/** How much of a model's context earlier turns may take, and what of that stays told in full when they no longer fit. */
const historyShare = 0.5;
const keptShare = 0.25;

/** Plans what the next turn of an agent remembers: as many of its turns as fit, newest first, whole ones only. */
export function planHistory(reader: SqlReader, agent: string, before: number, contextLimit: number): HistoryPlan {
  const summaryThrough = newestSummary(reader, agent)?.through_number ?? null;
  let used = 0;
  let first = before;
  let firstKept = before;
  let dropped: number | null = null;
  for (const turn of turnsBetween(reader, agent, (summaryThrough ?? 0) + 1, before - 1).reverse()) {
    for (const message of told(reader, turn)) used += tokensOf(message);
    first = turn.number;
    if (used <= contextLimit * keptShare) firstKept = turn.number;
    else dropped ??= turn.number;
    if (used > contextLimit * historyShare) {
      return { summaryThrough, compactThrough: dropped, from: firstKept, to: before - 1 };
    }
  }
  return { summaryThrough, compactThrough: null, from: first, to: before - 1 };
}

/** The words of a plan. */
export function readHistory(reader: SqlReader, agent: string, plan: HistoryPlan, contextLimit: number): History {
  const summary = plan.summaryThrough === null ? undefined : summaryAt(reader, agent, plan.summaryThrough);
  return {
    ...(summary === undefined ? {} : { summary: toldNotes(summary, contextLimit) }),
    ...(plan.compactThrough === null ? {} : { compact: transcript(reader, agent, plan, contextLimit) }),
    messages: turnsBetween(reader, agent, plan.from, plan.to).flatMap((turn) => told(reader, turn)),
  };
}

/** What is to be summed up, as much as a model reads at once. The newest of it matters most. */
function transcript(reader: SqlReader, agent: string, plan: HistoryPlan, contextLimit: number): string {
  const from = (plan.summaryThrough ?? 0) + 1;
  let text = '';
  for (const turn of turnsBetween(reader, agent, from, plan.compactThrough ?? 0).reverse()) {
    const earlier = transcriptText(told(reader, turn));
    text = text === '' ? earlier : `${earlier}\n\n${text}`;
    if (text.length >= transcriptRoom(contextLimit)) break;
  }
  return toldTranscript(text, contextLimit);
}

/** What a model made of an agent's older turns. */
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
function turnsBetween(reader: SqlReader, agent: string, from: number, to: number): TurnRef[] {
  return reader.all<TurnRef>(
    `SELECT id, number FROM turns
     WHERE agent_id = :agent AND number BETWEEN :from AND :to AND status = 'completed' AND prompt IS NOT NULL
     ORDER BY number`,
    { agent, from, to },
  );
}

interface TurnRef {
  id: string;
  number: number;
}

interface StepRow {
  key: string;
  result_json: string;
}

/** One turn as a conversation: its prompt, the answers, and what their calls came to. */
function told(reader: SqlReader, { id }: TurnRef): ChatMessage[] {
  const turn = reader.get<{ prompt: string; output_text: string | null }>(
    'SELECT prompt, output_text FROM turns WHERE id = :id',
    { id },
  );
  const steps = reader.all<StepRow>('SELECT key, result_json FROM turn_steps WHERE turn_id = :id', { id });
  const results = new Map(steps.map(({ key, result_json }) => [key, result_json]));
  const answers = steps
    .filter(({ key }) => /^\d+$/.test(key))
    .sort((a, b) => Number(a.key) - Number(b.key))
    .flatMap(({ key, result_json }) => {
      const result = JSON.parse(result_json) as { ok: boolean; answer?: ModelAnswer; summary?: boolean };
      return result.ok && result.answer && result.summary !== true ? [{ key, answer: result.answer }] : [];
    });
  const messages: ChatMessage[] = [
    { role: 'user', content: turn?.prompt ?? '' },
    ...answers.flatMap(({ key, answer }, index) => [
      ...stepMessages(key, answer, results),
      // It was cut, or nothing would have been asked after it.
      ...(answer.toolCalls.length === 0 && index < answers.length - 1 ? [goOnMessage] : []),
    ]),
  ];
  // Another turn's prompt follows, which strict servers take after an answer only. A turn may end with a call, too.
  const ended = messages.at(-1)?.role === 'assistant';
  const text = answers.length === 0 ? (turn?.output_text ?? '') : '';
  return ended ? messages : [...messages, assistantMessage({ text, toolCalls: [] })];
}

/** A step is told whole: an answer with every call's result. */
function stepMessages(key: string, answer: ModelAnswer, results: ReadonlyMap<string, string>): ChatMessage[] {
  return [
    assistantMessage(answer),
    ...answer.toolCalls.map((call, index) => {
      const { id } = call;
      const written = results.get(`${key}.${index}`);
      const result = written === undefined ? undefined : (JSON.parse(written) as RecordedTool);
      if (result?.ok === false) return toolMessage(id, result);
      return toolMessage(id, result?.response ? { output: toldOutput(call, result.response) } : notMade);
    }),
  ];
}

/**
 * What an agent was told of a call that went well: the tool's output, but where its runner wrote into the workspace what
 * the tool named.
 */
function toldOutput(call: ModelToolCall, { output, metadata }: ToolResponse): unknown {
  if (call.name !== functionName('artifacts.read')) return output;
  const asked = writing.safeParse(callInput(call.arguments));
  const handed = handedArtifact.safeParse(metadata);
  return asked.success && handed.success ? writtenText(handed.data, asked.data.input.to) : output;
}

const writing = z.object({ input: z.object({ to: z.string() }) });

const notMade = { code: 'not-made', message: 'This call was not made.' };

/** What the journal has at a call's place. What is no tool's result there has no response. */
type RecordedTool = { ok: true; response?: ToolResponse } | { ok: false; code: string; message: string };
