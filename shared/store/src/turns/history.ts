import * as z from 'zod';
import { handedArtifact, writtenText } from '@suzumio/protocol/artifacts';
import { callInput } from '@suzumio/protocol/call-input';
import {
  assistantMessage,
  attachedBytes,
  followUps,
  toolMessage,
  transcriptText,
  withoutReference,
  withoutThoughts,
} from '@suzumio/protocol/conversation';
import { writeStep } from '@suzumio/protocol/ids';
import { estimatedTokens, tokensOf } from '@suzumio/protocol/estimated-tokens';
import { hasCallMark, meansName } from '@suzumio/protocol/meant-calls';
import type {
  AnswerReading,
  ChatMessage,
  ModelAnswer,
  ModelToolCall,
  ReceivedAnswer,
} from '@suzumio/protocol/model-chat';
import { toldNotes, toldTranscript, transcriptRoom } from '@suzumio/protocol/notes';
import type { ToolResponse } from '@suzumio/protocol/runner';
import { readingsOf, referencesOf } from './repeated-answers.js';
import type { SqlReader } from '../sqlite/sql.js';

/**
 * Which of an agent's earlier turns a turn remembers. Ended turns never change, so freezing this plan with the turn's
 * input is enough.
 */
export interface HistoryPlan {
  /** The number of the last turn that the summary covers. */
  summaryThrough: number | null;
  /** Turns up to this one do not fit: they are summed up before this turn begins. */
  compactThrough: number | null;
  /** The first and the last turn that are shown in full. */
  from: number;
  to: number;
  /** Whether answers are without their thoughts. Plans of before show these. */
  withoutThoughts?: true;
}

/** A turn's history as text. */
export interface History {
  /** The summary of turns that are not shown in full. */
  summary?: string;
  /** Turns that are neither shown nor covered by the summary: a new summary is made of both. */
  compact?: string;
  messages: ChatMessage[];
}

/** The share of a model's context for earlier turns, and how much of that is kept in full once they no longer fit. */
const historyShare = 0.5;
const keptShare = 0.25;

/** Plans what an agent's next turn remembers: as many turns as fit, newest first, each in full. */
export function planHistory(reader: SqlReader, agent: string, before: number, contextLimit: number): HistoryPlan {
  const summaryThrough = newestSummary(reader, agent)?.through_number ?? null;
  let used = 0;
  let first = before;
  let firstKept = before;
  let dropped: number | null = null;
  for (const turn of turnsBetween(reader, agent, (summaryThrough ?? 0) + 1, before - 1).reverse()) {
    const messages = messagesOf(reader, turn, true);
    used += estimatedTokens(attachedBytes(messages));
    for (const message of messages) used += tokensOf(withoutReference(message));
    first = turn.number;
    if (used <= contextLimit * keptShare) firstKept = turn.number;
    else dropped ??= turn.number;
    if (used > contextLimit * historyShare) {
      return { summaryThrough, compactThrough: dropped, from: firstKept, to: before - 1, withoutThoughts: true };
    }
  }
  return { summaryThrough, compactThrough: null, from: first, to: before - 1, withoutThoughts: true };
}

/** The text of a plan. */
export function readHistory(reader: SqlReader, agent: string, plan: HistoryPlan, contextLimit: number): History {
  const summary = plan.summaryThrough === null ? undefined : summaryAt(reader, agent, plan.summaryThrough);
  return {
    ...(summary === undefined ? {} : { summary: toldNotes(summary, contextLimit) }),
    ...(plan.compactThrough === null ? {} : { compact: transcript(reader, agent, plan, contextLimit) }),
    messages: turnsBetween(reader, agent, plan.from, plan.to).flatMap((turn) =>
      messagesOf(reader, turn, plan.withoutThoughts === true),
    ),
  };
}

/** What is to be summed up, as much of it as a model reads at once. The newest part matters most. */
function transcript(reader: SqlReader, agent: string, plan: HistoryPlan, contextLimit: number): string {
  const from = (plan.summaryThrough ?? 0) + 1;
  let text = '';
  for (const turn of turnsBetween(reader, agent, from, plan.compactThrough ?? 0).reverse()) {
    const earlier = transcriptText(messagesOf(reader, turn, plan.withoutThoughts === true));
    text = text === '' ? earlier : `${earlier}\n\n${text}`;
    if (text.length >= transcriptRoom(contextLimit)) break;
  }
  return toldTranscript(text, contextLimit);
}

/** A model's summary of an agent's older turns. */
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

/** Turns that completed. Failed turns are left out: their mail comes again, or an operator retries them. */
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

/** One turn as a conversation: its prompt, the answers, and their calls' results. */
function messagesOf(reader: SqlReader, { id }: TurnRef, isWithoutThoughts: boolean): ChatMessage[] {
  const turn = reader.get<{ prompt: string; output_text: string | null }>(
    'SELECT prompt, output_text FROM turns WHERE id = :id',
    { id },
  );
  const steps = reader.all<StepRow>('SELECT key, result_json FROM turn_steps WHERE turn_id = :id', { id });
  const results = new Map(steps.map(({ key, result_json }) => [key, result_json]));
  const references = referencesOf(reader, id);
  const readings = readingsOf(reader, id);
  const answers = steps
    .filter(({ key }) => /^\d+$/.test(key))
    .sort((a, b) => Number(a.key) - Number(b.key))
    .flatMap(({ key, result_json }) => {
      const result = JSON.parse(result_json) as { ok: boolean; answer?: ModelAnswer; summary?: boolean };
      if (!result.ok || !result.answer || result.summary === true) return [];
      const reference = references.get(key);
      const answer = { ...result.answer, ...(reference === undefined ? {} : { reference }) };
      return [{ key, answer, reading: readings.get(key) }];
    });
  const shown: ChatMessage[] = [
    { role: 'user', content: turn?.prompt ?? '' },
    ...answers.flatMap(({ key, answer, reading }, index) => [
      ...stepMessages(key, answer, results),
      ...(answer.toolCalls.length === 0 && index < answers.length - 1 ? [whyMore(answer, reading)] : []),
    ]),
  ];
  const messages = isWithoutThoughts ? shown.map(withoutThoughts) : shown;
  // Another turn's prompt follows, which strict servers accept only after an answer. A turn may end with a call, too.
  const ended = messages.at(-1)?.role === 'assistant';
  const text = answers.length === 0 ? (turn?.output_text ?? '') : '';
  return ended ? messages : [...messages, assistantMessage({ text, toolCalls: [] })];
}

/** The message after an answer without calls that another follows. */
function whyMore({ finishReason, text }: ModelAnswer, reading: AnswerReading | undefined): ChatMessage {
  if (reading !== undefined && reading !== 'notes') return followUps[reading];
  // It was not kept before.
  return followUps[finishReason !== 'length' && hasCallMark(text) ? 'call-as-text' : 'cut'];
}

/** A complete step: an answer with every call's result. */
function stepMessages(key: string, answer: ReceivedAnswer, results: ReadonlyMap<string, string>): ChatMessage[] {
  return [
    assistantMessage(answer),
    ...answer.toolCalls.map((call, index) => {
      const { id } = call;
      const step = `${key}.${index}`;
      const written = results.get(writeStep(step)) ?? results.get(step);
      const result = written === undefined ? undefined : (JSON.parse(written) as RecordedTool);
      if (result?.ok === false) return toolMessage(id, result);
      return toolMessage(id, result?.response ? { output: toldOutput(call, result.response) } : notMade);
    }),
  ];
}

/**
 * What an agent was told of a successful call: the tool's output, unless its runner wrote a file that the tool named
 * into the workspace, and not as a step of its own.
 */
function toldOutput(call: ModelToolCall, { output, metadata }: ToolResponse): unknown {
  if (!meansName(call.name, 'artifacts.read')) return output;
  const asked = writing.safeParse(callInput(call.arguments));
  const handed = handedArtifact.safeParse(metadata);
  return asked.success && handed.success ? writtenText(handed.data, asked.data.input.to) : output;
}

const writing = z.object({ input: z.object({ to: z.string() }) });

const notMade = { code: 'not-made', message: 'This call was not made.' };

/** The journal's record of a call. A record that is no tool result has no response. */
type RecordedTool = { ok: true; response?: ToolResponse } | { ok: false; code: string; message: string };
