import type { AttemptView } from '@suzumio/contract/model/attempt';
import type { ToolCallView } from '@suzumio/contract/model/tool-call';
import { type ListedTurn, maxListedAttempts, type TurnDetail, type TurnView } from '@suzumio/contract/model/turn';
import { nanoPerUsd } from '@suzumio/core/budgets/model-cost';
import type { TurnStatus } from '@suzumio/contract/model/states';
import { dayOfCall, isPaid } from '../budgets/paid-calls.js';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { Priority } from '@suzumio/protocol/ids';
import type { TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import { filesOfTurn } from '../workspaces/workspace-changes.js';
import { listModelCalls } from './list-model-calls.js';
import { definedOf, inTime, iso, type Page, pageBytes, parsed, type Part, readPart } from '../sqlite/page.js';

interface Row {
  seq: number;
  id: string;
  agent_id: string;
  number: number;
  status: TurnStatus;
  priority: Priority;
  attempt: number;
  /** Absent in a database of before. */
  config_version?: number;
  prompt: string | null;
  output_text: string | null;
  usage_json: string | null;
  ended_by_tool: string | null;
  failure_json: string | null;
  queued_at_ms: number;
  not_before_ms: number;
  started_at_ms: number | null;
  ended_at_ms: number | null;
  calls: number;
  files_json: string | null;
}

const columnsFor = (reader: SqlReader) =>
  `turns.*, (SELECT count(*) FROM tool_calls WHERE turn_id = turns.id AND step NOT LIKE '%/%') AS calls,
  ${filesOfTurn(reader)} AS files_json`;

/** How many turns are queued, and how many run. */
export interface ActiveTurns {
  queued: number;
  running: number;
  /** When the turn was queued that has waited for the longest; null where none is queued. */
  oldestQueuedMs: number | null;
}

export function countActiveTurns(reader: SqlReader): ActiveTurns {
  const rows = reader.all<{ status: 'queued' | 'running'; count: number; oldest: number }>(
    `SELECT status, count(*) AS count, min(queued_at_ms) AS oldest FROM turns
     WHERE status IN ('queued', 'running') GROUP BY status`,
  );
  const of = (status: 'queued' | 'running') => rows.find((row) => row.status === status);
  const queued = of('queued');
  return { queued: queued?.count ?? 0, running: of('running')?.count ?? 0, oldestQueuedMs: queued?.oldest ?? null };
}

/** Which turns are wanted: those of which all of this holds. */
export interface TurnPage extends Page {
  agent?: string | undefined;
  status?: TurnStatus | undefined;
  /** A day of UTC on which calls of models ended that are paid for. */
  askedOn?: string | undefined;
  /** A model that was called, on that day where both are given. */
  model?: string | undefined;
  /** Queued from this moment on, and before that one. */
  since?: number | undefined;
  until?: number | undefined;
  /** What each turn has besides. */
  include?: readonly Included[] | undefined;
}

type Included = keyof typeof included;

/** What a list of turns has besides, where that is asked for. */
const included = {
  attempts: (reader: SqlReader, turn: string) =>
    listAttempts(reader, turn, maxListedAttempts).map(({ number, status, worker, failure, startedAt, endedAt }) => ({
      number,
      status,
      worker,
      code: failure?.code ?? null,
      startedAt,
      endedAt,
    })),
  wokenBy,
  asked,
} satisfies { [Name in 'attempts' | 'wokenBy' | 'asked']: (reader: SqlReader, turn: string) => ListedTurn[Name] };

/** Turns in the order in which they were queued; `after` is a position in it. */
export function listTurns(reader: SqlReader, page: TurnPage): Part<ListedTurn> {
  const { agent, status, askedOn, model, include = [] } = page;
  const time = inTime(reader, { table: 'turns', column: 'queued_at_ms' }, page);
  return readPart<Row, ListedTurn>(
    reader,
    {
      from: 'turns',
      columns: columnsFor(reader),
      key: 'turns.seq',
      where: [...time.where, agent === undefined ? undefined : 'agent_id = :agent'],
      filters: [
        status === undefined ? undefined : 'status = :status',
        askedOn === undefined && model === undefined ? undefined : hasAsked(askedOn, model),
      ],
      params: { ...time.params, ...definedOf({ agent, status, askedOn, model }) },
      texts: ['output_text', 'usage_json'],
    },
    page,
    (row) => ({
      ...turnView(row),
      ...Object.fromEntries(include.map((name) => [name, included[name](reader, row.id)])),
    }),
  );
}

/** As usage counts them: by the day on which a call ended. */
function hasAsked(askedOn: string | undefined, model: string | undefined): string {
  const conditions = [
    'turn_id = turns.id',
    isPaid,
    ...(askedOn === undefined ? [] : [`${dayOfCall} = :askedOn`]),
    ...(model === undefined ? [] : ['model_calls.model = :model']),
  ];
  return `EXISTS (SELECT 1 FROM model_calls WHERE ${conditions.join(' AND ')})`;
}

function wokenBy(reader: SqlReader, turn: string): Required<ListedTurn>['wokenBy'] {
  const row = reader.get<{ id: string; sender: string; at: number; messages: number }>(
    `SELECT id, sender, created_at_ms AS at, count(*) OVER () AS messages
     FROM message_reads CROSS JOIN messages ON messages.id = message_id
     WHERE message_reads.turn_id = :turn ORDER BY seq LIMIT 1`,
    { turn },
  );
  return row ? { message: row.id, sender: row.sender, at: iso(row.at), messages: row.messages } : null;
}

function asked(reader: SqlReader, turn: string): Required<ListedTurn>['asked'] {
  const row = reader.get<{ calls: number; input: number; output: number; cached: number; nano: number }>(
    `SELECT count(*) AS calls, coalesce(sum(input_tokens), 0) AS input, coalesce(sum(output_tokens), 0) AS output,
       coalesce(sum(cached_tokens), 0) AS cached, coalesce(sum(nano_usd), 0) AS nano
     FROM model_calls WHERE turn_id = :turn`,
    { turn },
  );
  const { calls, input, output, cached, nano } = row ?? { calls: 0, input: 0, output: 0, cached: 0, nano: 0 };
  return { calls, inputTokens: input, outputTokens: output, cachedTokens: cached, costUsd: nano / nanoPerUsd };
}

/** The most text of the calls that are shown with a turn: the newest. */
const detailBytes = 8 * pageBytes;

/** One turn by its id, or by `agent:number`. */
export function findTurn(
  reader: SqlReader,
  name: string,
  { withCalls = true }: { withCalls?: boolean } = {},
): TurnDetail | undefined {
  const row = rowCalled<Row>(reader, columnsFor(reader), name);
  if (!row) return undefined;
  const reads = reader.all<{ message_id: string }>(
    'SELECT message_id FROM message_reads JOIN messages ON messages.id = message_id WHERE message_reads.turn_id = :turn ORDER BY seq',
    { turn: row.id },
  );
  return {
    ...turnView(row),
    prompt: row.prompt,
    reads: reads.map(({ message_id }) => message_id),
    attempts: listAttempts(reader, row.id),
    calls: withCalls ? listToolCalls(reader, { limit: 10_000, turn: row.id }, detailBytes).items : [],
    modelCalls: listModelCalls(reader, row.id),
  };
}

/**
 * One turn by id or `agent:number`, as verbs read it.
 *
 * @throws SuzumioError `turn-unknown`
 */
export function turnCalled(reader: SqlReader, name: string): TurnRow {
  const row = rowCalled<TurnRow>(reader, 'turns.*', name);
  if (row) return row;
  throw new SuzumioError(
    'turn-unknown',
    `There is no turn "${name.slice(0, 80)}" in this project; write its id, or agent:number.`,
  );
}

function rowCalled<Found>(reader: SqlReader, selected: string, name: string): Found | undefined {
  const [agent = '', number] = name.split(':');
  if (number === undefined) return reader.get<Found>(`SELECT ${selected} FROM turns WHERE id = :name`, { name });
  return reader.get<Found>(`SELECT ${selected} FROM turns WHERE agent_id = :agent AND number = :number`, {
    agent,
    number: Number(number),
  });
}

/** Which tool calls are wanted: those of which all of this holds. */
export interface ToolCallPage extends Page {
  turn?: string | undefined;
  agent?: string | undefined;
  tool?: string | undefined;
  status?: ToolCallView['status'] | undefined;
  since?: number | undefined;
  until?: number | undefined;
}

/** Those that did not succeed are few, and found by their index. */
const isUnsuccessful = (status: ToolCallView['status']) => status !== 'succeeded' && status !== 'running';

/** Tool calls in the order in which they were made. */
export function listToolCalls(reader: SqlReader, page: ToolCallPage, bytes = pageBytes): Part<ToolCallView> {
  const { turn, agent, tool, status } = page;
  const time = inTime(reader, { table: 'tool_calls', column: 'started_at_ms' }, page);
  const byStatus = status !== undefined && turn === undefined && isUnsuccessful(status);
  return readPart<CallRow, ToolCallView>(
    reader,
    {
      from: 'tool_calls',
      columns: 'tool_calls.*, (SELECT number FROM turns WHERE turns.id = turn_id) AS turn_number',
      key: 'tool_calls.seq',
      where: [
        ...time.where,
        turn === undefined ? undefined : 'turn_id = :turn',
        // The index is a partial one: it is used where the statement says which status is meant.
        byStatus ? `status = '${status}'` : undefined,
      ],
      filters: [
        agent === undefined ? undefined : 'agent_id = :agent',
        tool === undefined ? undefined : 'tool = :tool',
        status === undefined || byStatus ? undefined : 'status = :status',
      ],
      params: { ...time.params, ...definedOf({ turn, agent, tool, status: byStatus ? undefined : status }) },
      texts: ['input_json', 'output_json'],
      bytes,
    },
    page,
    callView,
  );
}

interface CallRow {
  seq: number;
  id: string;
  turn_id: string;
  turn_number: number;
  agent_id: string;
  attempt: number;
  step: string;
  tool: string;
  input_json: string;
  status: ToolCallView['status'];
  output_json: string | null;
  error_code: string | null;
  started_at_ms: number;
  ended_at_ms: number | null;
}

function callView(row: CallRow): ToolCallView {
  return {
    id: row.id,
    seq: row.seq,
    turn: row.turn_id,
    turnNumber: row.turn_number,
    agent: row.agent_id,
    attempt: row.attempt,
    step: row.step,
    tool: row.tool,
    input: JSON.parse(row.input_json) as unknown,
    status: row.status,
    output: parsed<unknown>(row.output_json),
    errorCode: row.error_code,
    startedAt: iso(row.started_at_ms),
    endedAt: iso(row.ended_at_ms),
  };
}

/** The newest attempts of a turn, in their order. */
export function listAttempts(reader: SqlReader, turn: string, most = Number.MAX_SAFE_INTEGER): AttemptView[] {
  return reader
    .all<{
      number: number;
      status: AttemptView['status'];
      worker: string;
      credential: string | null;
      engine: string;
      counted: number | null;
      failure_json: string | null;
      stats_json: string | null;
      started_at_ms: number;
      ended_at_ms: number | null;
    }>('SELECT * FROM turn_attempts WHERE turn_id = :turn ORDER BY number DESC LIMIT :most', { turn, most })
    .toReversed()
    .map((row) => ({
      number: row.number,
      status: row.status,
      worker: row.worker,
      credential: row.credential,
      engine: row.engine,
      counted: row.counted === null ? null : row.counted === 1,
      failure: parsed(row.failure_json),
      stats: parsed(row.stats_json),
      startedAt: iso(row.started_at_ms),
      endedAt: iso(row.ended_at_ms),
    }));
}

function turnView(row: Row): TurnView {
  return {
    id: row.id,
    seq: row.seq,
    agent: row.agent_id,
    number: row.number,
    status: row.status,
    priority: row.priority,
    attempt: row.attempt,
    configVersion: row.config_version ?? 1,
    text: row.output_text,
    usage: parsed(row.usage_json),
    endedByTool: row.ended_by_tool,
    failure: parsed(row.failure_json),
    queuedAt: iso(row.queued_at_ms),
    notBefore: row.not_before_ms === 0 ? null : iso(row.not_before_ms),
    startedAt: iso(row.started_at_ms),
    endedAt: iso(row.ended_at_ms),
    toolCalls: row.calls,
    files: parsed(row.files_json),
  };
}
