import { contextLimitOf } from '@suzumio/core/budgets/presets';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { ConversationEntry } from '@suzumio/contract/model/conversation';
import type { ModelCallView } from '@suzumio/contract/model/model-call';
import { toolMessage, withoutThoughts } from '@suzumio/protocol/conversation';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { callOfWrite, writeStep } from '@suzumio/protocol/ids';
import type { ChatMessage } from '@suzumio/protocol/model-chat';
import { visibleText } from '@suzumio/protocol/visible-text';
import { turnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { type RecordedAnswer, type RecordedStep, resultAt } from '../journal.js';
import type { FrozenInput } from './frozen-input.js';
import { readHistory } from './history.js';
import { listModelCalls } from './list-model-calls.js';
import { iso, type Page, type Part, partOfRows } from '../sqlite/page.js';

/** The longest text of one entry, and of one call's arguments, in UTF-16 code units. */
const maxTextChars = 48 * 1024;
const maxArgumentsChars = 16 * 1024;
/** How many calls of one answer are shown. */
const maxCalls = 128;

type Entry = Omit<ConversationEntry, 'seq'>;

/**
 * A turn's conversation as its model saw it: the system prompt, what it remembers, its prompt, then each answer with
 * the results of its calls. Where a script replaces the model there are no answers.
 *
 * @throws SuzumioError `turn-unknown`
 */
export function listConversation(
  reader: SqlReader,
  config: ProjectConfig,
  turn: string,
  page: Page,
): Part<ConversationEntry> {
  return partOfRows(numbered(entriesOf(reader, config, turn)), page);
}

function* numbered(entries: Iterable<Entry>): Generator<ConversationEntry> {
  let seq = 0;
  for (const entry of entries) {
    seq += 1;
    yield { seq, ...entry };
  }
}

function* entriesOf(reader: SqlReader, config: ProjectConfig, id: string): Generator<Entry> {
  const turn = turnRow(reader, id);
  const row = reader.get<{ prompt: string | null }>('SELECT prompt FROM turns WHERE id = :id', { id });
  if (turn.input_json === null) return;
  const input = JSON.parse(turn.input_json) as FrozenInput;
  yield told('instructions', 'system', input.turn.system ?? input.agent.prompt);
  if (input.history) {
    const agent = turn.agent_id;
    const { summary, compact, messages } = readHistory(reader, agent, input.history, contextLimitOf(config, agent));
    if (summary !== undefined) yield told('memory', 'user', summary);
    if (compact !== undefined) yield told('memory', 'user', compact);
    for (const message of messages) yield earlier(message);
  }
  yield told('prompt', 'user', row?.prompt ?? '');
  yield* stepsOf(reader, id);
}

interface StepRow {
  key: string;
  attempt: number;
}

/** Answers with their calls' results, in order; and calls that no answer asks for. */
function* stepsOf(reader: SqlReader, turn: string): Generator<Entry> {
  const steps = reader.all<StepRow>(
    'SELECT key, attempt FROM turn_steps WHERE turn_id = :turn ORDER BY recorded_at_ms, length(key), key',
    { turn },
  );
  const asked = new Map(listModelCalls(reader, turn).map((call) => [call.step, call]));
  const ofAnswers = new Set<string>();
  for (const { key, attempt } of steps.filter((step) => asked.has(step.key))) {
    const answered = resultAt<RecordedAnswer>(reader, turn, key);
    const call = asked.get(key);
    if (!answered || !call) continue;
    const { startedAt, endedAt } = call;
    yield { ...answerOf(call, answered), step: key, attempt, startedAt, endedAt };
    if (!answered.ok) continue;
    for (const [index, { id, name }] of answered.answer.toolCalls.slice(0, maxCalls).entries()) {
      const place = `${key}.${String(index)}`;
      ofAnswers.add(place).add(writeStep(place));
      yield resultOf(reader, turn, place, { id, name });
    }
  }
  for (const { place } of callsOf(reader, turn)) {
    const isOther = !asked.has(place) && !ofAnswers.has(place) && callOfWrite(place) === undefined;
    if (isOther) yield resultOf(reader, turn, place);
  }
}

/** What a model has answered, or why it has not. */
function answerOf(call: ModelCallView, answered: RecordedAnswer): Entry {
  if (!answered.ok) return { ...told('answer', 'assistant', answered.message), code: answered.code };
  const { answer, summary } = answered;
  const { preset, model, inputTokens, outputTokens, cachedTokens, costUsd, estimated, reading } = call;
  const { finishReason, toolCalls } = answer;
  const calls = toolCalls.slice(0, maxCalls);
  const { thoughts, text } = visibleText(answer.text);
  return {
    ...told(summary ? 'memory' : 'answer', 'assistant', answer.refusal ?? text),
    thoughts: beginningOf(thoughts, maxTextChars).toWellFormed(),
    calls: calls.map(({ id, name, arguments: written }) => ({
      id,
      name: beginningOf(name, maxArgumentsChars).toWellFormed(),
      arguments: beginningOf(written, maxArgumentsChars).toWellFormed(),
    })),
    moreCalls: toolCalls.length - calls.length,
    answer: { preset, model, inputTokens, outputTokens, cachedTokens, costUsd, estimated, reading, finishReason },
  };
}

/** Steps that are no questions, and calls that are not recorded yet or never will be, in the order of their beginning. */
function callsOf(reader: SqlReader, turn: string): { place: string }[] {
  return reader.all<{ place: string }>(
    `SELECT place, min(at) AS at, min(seq) AS seq FROM (
       SELECT step AS place, started_at_ms AS at, seq FROM tool_calls WHERE turn_id = :turn
       UNION ALL SELECT key, recorded_at_ms, NULL FROM turn_steps WHERE turn_id = :turn)
     GROUP BY place ORDER BY at, seq, length(place), place`,
    { turn },
  );
}

/** A call's result, as the model sees it: from the journal, or the refusal of a call without a step. */
function resultOf(reader: SqlReader, turn: string, place: string, call?: { id: string; name: string }): Entry {
  const row = reader.get<CallRow>(
    `SELECT tool, attempt, status, input_json, error_code, output_json, started_at_ms, ended_at_ms
     FROM tool_calls WHERE turn_id = :turn AND step = :place ORDER BY seq LIMIT 1`,
    { turn, place },
  );
  const facts = {
    step: place,
    attempt: row?.attempt ?? null,
    call: call?.id ?? null,
    tool: row?.tool ?? call?.name ?? null,
    input: row === undefined ? null : beginningOf(row.input_json, maxArgumentsChars).toWellFormed(),
    status: row?.status ?? null,
    startedAt: row === undefined ? null : iso(row.started_at_ms),
    endedAt: row === undefined ? null : iso(row.ended_at_ms),
  };
  const journaled =
    resultAt<RecordedStep>(reader, turn, writeStep(place)) ?? resultAt<RecordedStep>(reader, turn, place);
  if (journaled === undefined && row?.status === 'running') return { ...told('result', 'tool', ''), ...facts };
  const refusal =
    journaled === undefined && row?.output_json ? (JSON.parse(row.output_json) as { message?: string }) : undefined;
  const result =
    journaled?.ok === true
      ? { output: journaled.response.output }
      : {
          code: journaled?.code ?? row?.error_code ?? 'not-made',
          message: journaled?.message ?? refusal?.message ?? 'This call was not made.',
        };
  const { content } = toolMessage(call?.id ?? place, result);
  return {
    ...told('result', 'tool', typeof content === 'string' ? content : ''),
    ...facts,
    code: 'code' in result ? result.code : null,
  };
}

interface CallRow {
  tool: string;
  attempt: number;
  status: NonNullable<ConversationEntry['status']>;
  input_json: string;
  error_code: string | null;
  output_json: string | null;
  started_at_ms: number;
  ended_at_ms: number | null;
}

function earlier(message: ChatMessage): Entry {
  const { role, content, ...more } = withoutThoughts(message);
  const calls = 'tool_calls' in more ? (more.tool_calls ?? []) : [];
  const text = typeof content === 'string' ? content : content ? JSON.stringify(content) : '';
  return {
    ...told('earlier', role === 'developer' ? 'system' : role, text),
    calls: calls.slice(0, maxCalls).map(({ id, function: { name, arguments: written } }) => ({
      id,
      name,
      arguments: beginningOf(written, maxArgumentsChars),
    })),
    moreCalls: Math.max(0, calls.length - maxCalls),
  };
}

function told(kind: Entry['kind'], role: Entry['role'], text: string): Entry {
  const shown = beginningOf(text, maxTextChars).toWellFormed();
  return {
    kind,
    role,
    step: null,
    attempt: null,
    text: shown,
    thoughts: '',
    cutChars: text.length - shown.length,
    calls: [],
    moreCalls: 0,
    call: null,
    tool: null,
    input: null,
    status: null,
    code: null,
    startedAt: null,
    endedAt: null,
    answer: null,
  };
}
