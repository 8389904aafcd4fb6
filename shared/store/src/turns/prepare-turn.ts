import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { AttemptView } from '@suzumio/contract/model/views';
import { contextLimitOf } from '@suzumio/core/budgets/presets';
import { mountedFor } from '@suzumio/core/config/sandbox-of';
import type { MountSize } from '@suzumio/core/prompt/directories';
import { type PromptInput, renderPrompt } from '@suzumio/core/prompt/render-prompt';
import { type SelectedMail, selectMail } from '@suzumio/core/prompt/select-mail';
import type { WorkspaceTop } from '@suzumio/core/prompt/workspace';
import { functionName } from '@suzumio/protocol/conversation';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import { unreadMail } from '../mail/unread-mail.js';
import { agentRow, type AgentRow, projectRow, type ProjectRow, turnRow } from '../rows.js';
import { newestVersion } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';
import { frozenInput, toolNames } from './frozen-input.js';
import { planHistory } from './history.js';
import { type ToolSet, toolSetOf } from './tool-sets.js';

/** What a first claim renders outside the transaction, which then checks that the mail is the same. */
export interface PreparedTurn {
  prompt: string;
  mail: readonly SelectedMail[];
  /** The newest message when the prompt was rendered. */
  promptSeq: number;
  /** The version of the project's file that it was rendered with, and that all attempts of the turn run with. */
  configVersion: number;
  /** The runner's input for this and all later attempts. */
  inputJson: string;
  /** The tools' definitions for the model. */
  toolSet?: ToolSet | undefined;
  /** The workspace's snapshot that the prompt tells of; absent where it tells of none. */
  snapshot?: string | null | undefined;
}

/** What an agent with tools of the sandbox finds there. */
export interface SandboxSeen {
  readonly snapshot: string | null;
  readonly workspace: WorkspaceTop | undefined;
  /** The sizes of mounts, by target. */
  readonly mounts: ReadonlyMap<string, MountSize>;
}

/**
 * Reads the unread mail of a turn's agent and renders the prompt. Writes nothing.
 *
 * @param config the newest version, in the snapshot that `reader` reads
 * @param batch a limit on messages, where it is below the project's
 * @param definitionsOf the definitions of tools for the model
 * @param seen what the prompt tells of the sandbox
 */
export function prepareTurn(
  reader: SqlReader,
  config: ProjectConfig,
  turn: string,
  {
    batch = Infinity,
    definitionsOf,
    seen,
  }: {
    batch?: number | undefined;
    definitionsOf?: (tools: readonly string[]) => ToolDefinition[];
    seen?: SandboxSeen | undefined;
  } = {},
): PreparedTurn {
  const row = turnRow(reader, turn);
  const agent = agentRow(reader, row.agent_id);
  const project = projectRow(reader);
  const { maxPromptMessages, maxPromptBytes } = config.scheduler;
  const maxMessages = Math.min(batch, maxPromptMessages);
  const unread = unreadMail(reader, agent.id, maxMessages);
  const mail = selectMail(unread.messages, { maxMessages, maxBytes: maxPromptBytes });
  const newest = reader.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM messages')?.seq ?? 0;
  const prompt = renderPrompt(
    promptInput(
      reader,
      config,
      { project, agent },
      { mail, unreadLeft: unread.count - mail.length, number: row.number, seen },
    ),
  );
  const isOurs = agent.external === 0;
  const toolSet = isOurs && definitionsOf ? toolSetOf(definitionsOf(toolNames(agent, config))) : undefined;
  const history =
    isOurs && config.backend.runner.mode === 'ai'
      ? planHistory(reader, agent.id, row.number, contextLimitOf(config, agent.id))
      : undefined;
  const input = frozenInput(
    config,
    { project: project.id, agent, turn: row },
    { prompt, mail, toolSet: toolSet?.hash, history },
  );
  return {
    prompt,
    mail,
    promptSeq: newest,
    configVersion: newestVersion(reader),
    inputJson: JSON.stringify(input),
    toolSet,
    snapshot: seen?.snapshot,
  };
}

function promptInput(
  reader: SqlReader,
  config: ProjectConfig,
  { project, agent }: { project: ProjectRow; agent: AgentRow },
  {
    mail,
    unreadLeft,
    number,
    seen,
  }: Pick<PromptInput, 'mail' | 'unreadLeft'> & { number: number; seen: SandboxSeen | undefined },
): PromptInput {
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
    team: reader
      .all<AgentRow>('SELECT id, role, display_name, team FROM agents WHERE retired_version IS NULL ORDER BY position')
      .map(member),
    channels: reader
      .all<{ name: string }>(
        `SELECT name FROM channels CROSS JOIN channel_members ON channel = name AND agent_id = :agent ORDER BY position`,
        { agent: agent.id },
      )
      .map(({ name }) => name),
    ...calledNames(toolNames(agent, config), agent.external === 0 && config.backend.runner.mode === 'ai'),
    workspace: seen?.workspace,
    lastFailure: seen ? lastFailure(reader, agent.id, number) : undefined,
    lastFiles: lastFiles(reader, agent.id, number),
    mounts: agent.external === 1 ? [] : sizedMounts(config, agent.id, seen),
    mail,
    unreadLeft,
  };
}

/** A model calls functions, whose names have no dots; scripts and handlers call tools by their own names. */
function calledNames(tools: readonly string[], byModel: boolean): Pick<PromptInput, 'tools' | 'readsMessages'> {
  return byModel ? { tools: tools.map(functionName), readsMessages: functionName('messages.read') } : { tools };
}

function sizedMounts(config: ProjectConfig, id: string, seen: SandboxSeen | undefined) {
  const agent = config.agents[id];
  const mounts = agent ? mountedFor(config, agent) : [];
  return mounts.map((mount) => ({ ...mount, size: seen?.mounts.get(mount.target) }));
}

/** What became of the files of the turn before. */
function lastFiles(reader: SqlReader, agent: string, number: number): PromptInput['lastFiles'] {
  const row = reader.get<{ stats: string | null }>(
    `SELECT stats_json AS stats FROM turns JOIN turn_attempts ON turn_id = turns.id AND turn_attempts.number = turns.attempt
     WHERE agent_id = :agent AND turns.number = :last`,
    { agent, last: number - 1 },
  );
  return row?.stats ? (JSON.parse(row.stats) as NonNullable<AttemptView['stats']>) : undefined;
}

/** How the turn before failed, if it did. */
function lastFailure(reader: SqlReader, agent: string, number: number): PromptInput['lastFailure'] {
  const row = reader.get<{ failure: string | null }>(
    `SELECT failure_json AS failure FROM turns WHERE agent_id = :agent AND number = :last AND status = 'failed'`,
    { agent, last: number - 1 },
  );
  return row?.failure ? (JSON.parse(row.failure) as Failure) : undefined;
}
