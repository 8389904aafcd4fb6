import { backendOf, mountsOf } from '@suzumio/core/config/sandbox-of';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type SelectedMail, selectMail, type UnreadMessage } from '@suzumio/core/prompt/select-mail';
import { contextLimitOf, presetOf } from '@suzumio/core/budgets/presets';
import { renderSystem } from '@suzumio/core/prompt/render-system';
import { type PromptInput, renderPrompt } from '@suzumio/core/prompt/render-prompt';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { externalEngine } from '@suzumio/protocol/handlers';
import type { Priority } from '@suzumio/protocol/ids';
import type { MessageKind } from '@suzumio/protocol/message-kind';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import { admittedTools, coreToolNames } from '@suzumio/protocol/tool-names';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { planHistory, type HistoryPlan } from './history.js';
import { agentRow, type AgentRow, isDue, projectRow, turnRow, type TurnRow } from '../rows.js';
import { listAttachments } from '../content/artifacts.js';
import type { SqlReader } from '../sqlite/sql.js';
import { keepToolSet } from './tool-sets.js';
import type { Tx } from '../sqlite/tx.js';
import { cancelTurn } from './end-turn.js';
import { noticeTurn } from './turn-notices.js';

/** What a first claim renders outside the transaction, from mail that the transaction then verifies. */
export interface PreparedTurn {
  prompt: string;
  mail: readonly SelectedMail[];
  /** The newest message when the prompt was written. */
  promptSeq: number;
  /** Which earlier turns a model is told of. */
  history?: HistoryPlan;
  /** What a model is told of its tools. */
  tools?: readonly ToolDefinition[];
}

/** What a runner is told, frozen at the first claim; only the attempt's number differs later. */
export type FrozenInput = Omit<ClaimAnswer['input'], 'tools' | 'limits' | 'history'> & {
  toolNames: string[];
  /** What a model is told of them, by what it is kept under. */
  toolSet?: string;
  history?: HistoryPlan;
};

export interface Claim {
  turn: string;
  claimId: string;
  worker: string;
  /** The name of the token that the worker showed. */
  credential?: string | undefined;
  engine: string;
  leaseMs: number;
  /** Whether no turn of the whole cell begins now. @default false */
  cellPaused?: boolean;
  /** The hashes of the tokens that this attempt will have. */
  hashes: (attempt: number, epoch: number) => { lease: string; tool: string };
  /** Absent where the turn has been claimed before. */
  prepared?: PreparedTurn | undefined;
}

export interface Claimed {
  attempt: number;
  epoch: number;
  snapshot: string | null;
  input: FrozenInput;
  /** Whether the same claim was granted before. */
  repeated: boolean;
}

/** How long a worker that could not start a turn leaves it to others. */
const avoidForMs = 5_000;

/**
 * Gives a queued turn to a worker: a new attempt with a lease. At the first claim the mail that the prompt holds becomes
 * read and the input is frozen. The same `claimId` gets the same answer for as long as its attempt runs. Turns of external
 * agents go to handlers and to nobody else.
 *
 * Returns `stale` when the inbox is not what the prompt was rendered from: render again.
 *
 * @throws SuzumioError `claim-refused`, `attempt-over`, `turn-unknown`
 */
export function claimTurn(tx: Tx, claim: Claim): Claimed | 'stale' | 'nothing-to-do' {
  const turn = turnRow(tx, claim.turn);
  const repeated = repeatedClaim(tx, turn, claim.claimId);
  if (repeated) return repeated;
  assertClaimable(tx, turn, claim);
  if (turn.input_json === null) {
    if (!claim.prepared || !sameMail(tx, turn.agent_id, claim.prepared.mail)) return 'stale';
    if (claim.prepared.mail.length === 0) {
      cancelTurn(tx, turn, 'there was no unread mail left', 'system');
      return 'nothing-to-do';
    }
    freeze(tx, turn, claim.prepared);
  }
  return startAttempt(tx, turnRow(tx, claim.turn), claim);
}

/**
 * Reads the unread mail of a turn's agent and renders the prompt. Pure but for reading.
 *
 * @param batch the most messages that the turn takes, where that is fewer than the project allows
 * @param definitionsOf says what a model is told of tools
 */
export function prepareTurn(
  reader: SqlReader,
  config: ProjectConfig,
  turn: string,
  {
    batch = Infinity,
    definitionsOf,
  }: { batch?: number | undefined; definitionsOf?: (tools: readonly string[]) => ToolDefinition[] } = {},
): PreparedTurn {
  const { agent_id, number } = turnRow(reader, turn);
  const agent = agentRow(reader, agent_id);
  const { maxPromptMessages, maxPromptBytes } = config.scheduler;
  const maxMessages = Math.min(batch, maxPromptMessages);
  const unread = unreadMail(reader, agent.id, maxMessages);
  const mail = selectMail(unread.messages, { maxMessages, maxBytes: maxPromptBytes });
  const newest = reader.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM messages')?.seq ?? 0;
  const prompt = renderPrompt(promptInput(reader, config, agent, mail, unread.count - mail.length));
  const mailed = { prompt, mail, promptSeq: newest };
  if (agent.external === 1) return mailed;
  const prepared = { ...mailed, ...(definitionsOf ? { tools: definitionsOf(toolNames(agent)) } : {}) };
  if (config.backend.runner.mode !== 'ai') return prepared;
  return { ...prepared, history: planHistory(reader, agent.id, number, contextLimitOf(config, agent.id)) };
}

function repeatedClaim(tx: Tx, turn: TurnRow, claimId: string): Claimed | undefined {
  const earlier = tx.get<{ number: number; status: string }>(
    'SELECT number, status FROM turn_attempts WHERE turn_id = :turn AND claim_id = :claimId',
    { turn: turn.id, claimId },
  );
  if (!earlier) return undefined;
  if (earlier.status !== 'running') {
    throw new SuzumioError('attempt-over', `Attempt ${String(earlier.number)} of ${turn.id} is over.`, {
      turn: turn.id,
    });
  }
  return { ...claimed(tx, turn, earlier.number), repeated: true };
}

function assertClaimable(tx: Tx, turn: TurnRow, { worker, engine, claimId, cellPaused = false }: Claim): void {
  const refuse = (reason: string, paused = false) =>
    new SuzumioError('claim-refused', `${turn.id} cannot be claimed: ${reason}.`, {
      turn: turn.id,
      ...(paused && { paused }),
    });
  if (turn.status !== 'queued') throw refuse(`it is ${turn.status}`);
  if (!tx.get(`SELECT 1 FROM turns WHERE id = :turn AND ${isDue}`, { turn: turn.id, now: tx.nowMs })) {
    throw refuse('its next attempt is not due yet');
  }
  const avoidedForMs = tx.nowMs - turn.not_before_ms;
  if (turn.avoid_worker === worker && avoidedForMs >= 0 && avoidedForMs < avoidForMs) {
    throw refuse('this worker has just failed to start it, so others come first');
  }
  const project = projectRow(tx);
  if (project.status !== 'running') throw refuse(`the project is ${project.status}`);
  if (project.paused_json !== null) throw refuse('the project is paused', true);
  const agent = agentRow(tx, turn.agent_id);
  if (agent.paused_json !== null) throw refuse('its agent is paused', true);
  const byHandler = engine === externalEngine;
  if (byHandler !== (agent.external === 1)) {
    throw refuse(byHandler ? 'its agent is not external' : 'its agent is external, and a handler claims its turns');
  }
  // Two requests with one claimId may wait at two ToolHosts: only one of them gets a turn.
  if (byHandler && turnOfClaim(tx, claimId) !== undefined) throw refuse('this claim was granted another turn');
  if (cellPaused) throw refuse('the cell is paused', true);
}

/** The turn that a handler's claim was granted, if it was. */
export function turnOfClaim(reader: SqlReader, claimId: string): string | undefined {
  return reader.get<{ turn: string }>(
    `SELECT turn_id AS turn FROM turn_attempts WHERE engine = 'external' AND claim_id = :claimId`,
    { claimId },
  )?.turn;
}

/** Whether the mail that was rendered is still unread, and nothing in front of it has come meanwhile. */
function sameMail(tx: Tx, agent: string, mail: readonly SelectedMail[]): boolean {
  const now = unreadMail(tx, agent, Math.max(mail.length, 1)).messages;
  return now.length === mail.length && now.every((message, index) => message.seq === mail[index]?.seq);
}

function freeze(tx: Tx, turn: TurnRow, prepared: PreparedTurn): void {
  for (const message of prepared.mail) {
    tx.run('DELETE FROM inbox WHERE recipient = :agent AND priority = :priority AND message_seq = :seq', {
      agent: turn.agent_id,
      priority: message.priority,
      seq: message.seq,
    });
    tx.insert('message_reads', {
      message_id: message.id,
      recipient: turn.agent_id,
      turn_id: turn.id,
      read_at_ms: tx.nowMs,
    });
  }
  tx.run('UPDATE turns SET prompt = :prompt, prompt_seq = :seq, input_json = :input WHERE id = :turn', {
    turn: turn.id,
    prompt: prepared.prompt,
    seq: prepared.promptSeq,
    input: JSON.stringify(frozenInput(tx, turn, prepared)),
  });
}

function startAttempt(tx: Tx, turn: TurnRow, claim: Claim): Claimed {
  const attempt = turn.attempt + 1;
  const hashes = claim.hashes(attempt, projectRow(tx).epoch);
  tx.insert('turn_attempts', {
    turn_id: turn.id,
    number: attempt,
    status: 'running',
    claim_id: claim.claimId,
    worker: claim.worker,
    credential: claim.credential ?? null,
    engine: claim.engine,
    lease_token_hash: hashes.lease,
    lease_until_ms: tx.nowMs + claim.leaseMs,
    started_at_ms: tx.nowMs,
  });
  tx.run(
    `UPDATE turns SET status = 'running', attempt = :attempt, avoid_worker = NULL, waits_for = NULL, started_at_ms = coalesce(started_at_ms, :now)
     WHERE id = :turn`,
    { turn: turn.id, attempt, now: tx.nowMs },
  );
  tx.run('UPDATE agents SET token_hash = :hash WHERE id = :agent AND active_turn_id = :turn', {
    agent: turn.agent_id,
    turn: turn.id,
    hash: hashes.tool,
  });
  tx.emit({
    type: 'turn.started',
    actor: 'system',
    agent: turn.agent_id,
    turn: turn.id,
    data: {
      number: turn.number,
      attempt,
      worker: claim.worker,
      credential: claim.credential,
      backend:
        claim.engine === externalEngine ? externalEngine : backendOf(tx.config, tx.config.agents[turn.agent_id] ?? {}),
      sinceQueuedMs: tx.nowMs - turn.queued_at_ms,
      sinceMessageMs: attempt === 1 ? tx.nowMs - oldestReadMs(tx, turn.id) : undefined,
    },
  });
  if (attempt === 1) noticeTurn(tx, { ...turn, attempt }, { notice: 'started' });
  return { ...claimed(tx, { ...turn, attempt }, attempt), repeated: false };
}

function claimed(tx: Tx, turn: TurnRow, attempt: number): Omit<Claimed, 'repeated'> {
  const input = JSON.parse(turn.input_json ?? '{}') as FrozenInput;
  return {
    attempt,
    epoch: projectRow(tx).epoch,
    snapshot: agentRow(tx, turn.agent_id).snapshot,
    input: { ...input, turn: { ...input.turn, attempt } },
  };
}

/** When the oldest message of a turn's prompt was written. */
function oldestReadMs(tx: Tx, turn: string): number {
  const row = tx.get<{ at: number | null }>(
    `SELECT min(created_at_ms) AS at FROM messages WHERE id IN (SELECT message_id FROM message_reads WHERE turn_id = :turn)`,
    { turn },
  );
  return row?.at ?? tx.nowMs;
}

interface UnreadRow {
  id: string;
  seq: number;
  priority: Priority;
  sender: string;
  recipient: string | null;
  channel: string | null;
  kind: MessageKind;
  thread_id: string;
  reply_to: string | null;
  body: string;
  created_at_ms: number;
}

function unreadMail(reader: SqlReader, agent: string, limit: number): { messages: UnreadMessage[]; count: number } {
  const rows = reader.all<UnreadRow>(
    `SELECT m.id, m.seq, m.priority, m.sender, m.recipient, m.channel, m.kind, m.thread_id, m.reply_to, m.body, m.created_at_ms
     FROM inbox JOIN messages m ON m.seq = inbox.message_seq
     WHERE inbox.recipient = :agent ORDER BY inbox.priority, inbox.message_seq LIMIT :limit`,
    { agent, limit },
  );
  const count = reader.get<{ count: number }>('SELECT count(*) AS count FROM inbox WHERE recipient = :agent', {
    agent,
  });
  const messages = rows.map(({ recipient, channel, thread_id, reply_to, created_at_ms, ...row }) => ({
    ...row,
    ...(recipient === null ? {} : { recipient }),
    ...(channel === null ? {} : { channel }),
    threadId: thread_id,
    ...(reply_to === null ? {} : { replyTo: reply_to }),
    createdAtMs: created_at_ms,
    attachments: listAttachments(reader, row.seq),
  }));
  return { messages, count: count?.count ?? 0 };
}

function promptInput(
  reader: SqlReader,
  config: ProjectConfig,
  agent: AgentRow,
  mail: readonly SelectedMail[],
  unreadLeft: number,
): PromptInput {
  const project = projectRow(reader);
  const member = (row: Pick<AgentRow, 'id' | 'role' | 'display_name' | 'team'>) => ({
    id: row.id,
    role: row.role,
    ...(row.display_name === null ? {} : { displayName: row.display_name }),
    ...(row.team === null ? {} : { team: row.team }),
  });
  return {
    project: { name: project.id, task: project.task },
    agent: { ...member(agent), prompt: agent.prompt },
    skills: config.agents[agent.id]?.skills ?? [],
    team: reader.all<AgentRow>('SELECT id, role, display_name, team FROM agents ORDER BY position').map(member),
    channels: reader
      .all<{ name: string }>(
        `SELECT name FROM channels CROSS JOIN channel_members ON channel = name AND agent_id = :agent ORDER BY position`,
        { agent: agent.id },
      )
      .map(({ name }) => name),
    tools: toolNames(agent),
    mounts: agent.external === 1 ? [] : mountsOf(config.backend.docker.mounts, config.agents[agent.id] ?? {}),
    mail,
    unreadLeft,
  };
}

function toolNames(agent: AgentRow): string[] {
  return admittedTools(JSON.parse(agent.tools_json) as string[], coreToolNames);
}

function frozenInput(tx: Tx, turn: TurnRow, prepared: PreparedTurn): FrozenInput {
  const agent = agentRow(tx, turn.agent_id);
  const { mode, script } =
    agent.external === 1 ? { mode: 'mock' as const, script: undefined } : tx.config.backend.runner;
  const preset = presetOf(tx.config, agent.id);
  return {
    project: projectRow(tx).id,
    agent: {
      id: agent.id,
      role: agent.role,
      prompt: agent.prompt,
      base: agent.base,
      ...(agent.model === null ? {} : { model: agent.model }),
      ...(agent.display_name === null ? {} : { displayName: agent.display_name }),
    },
    turn: {
      id: turn.id,
      prompt: prepared.prompt,
      ...(mode === 'ai' ? { system: renderSystem(agent, projectRow(tx).id) } : {}),
      number: turn.number,
      mail: prepared.mail.map((message) => ({
        id: message.id,
        sender: message.sender,
        ...(message.recipient === undefined ? {} : { recipient: message.recipient }),
        ...(message.channel === undefined ? {} : { channel: message.channel }),
        priority: message.priority,
        kind: message.kind,
        threadId: message.threadId,
        ...(message.replyTo === undefined ? {} : { replyTo: message.replyTo }),
        body: message.body,
        createdAt: new Date(message.createdAtMs).toISOString(),
        ...(message.attachments.length === 0 ? {} : { attachments: [...message.attachments] }),
      })),
    },
    runner:
      mode === 'ai'
        ? {
            mode,
            contextLimit: contextLimitOf(tx.config, agent.id),
            maxSteps: tx.config.turn.maxSteps,
            ...(preset === undefined ? {} : { model: preset }),
          }
        : { mode, ...(script ? { script: script.filter((rule) => [agent.id, agent.base].includes(rule.agent)) } : {}) },
    toolNames: toolNames(agent),
    ...(prepared.tools ? { toolSet: keepToolSet(tx, prepared.tools) } : {}),
    ...(prepared.history ? { history: prepared.history } : {}),
  };
}
