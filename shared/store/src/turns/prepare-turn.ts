import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import type { AttemptView } from '@suzumio/contract/model/attempt';
import { contextLimitOf } from '@suzumio/core/budgets/presets';
import { backendOf, mountedFor } from '@suzumio/core/config/sandbox-of';
import { mailLimitOf } from '@suzumio/core/mail/communication';
import type { MountSize } from '@suzumio/core/prompt/directories';
import { type PromptInput, renderPrompt } from '@suzumio/core/prompt/render-prompt';
import { type SelectedMail, selectMail } from '@suzumio/core/prompt/select-mail';
import type { WorkspaceTop } from '@suzumio/core/prompt/workspace';
import { functionName } from '@suzumio/protocol/conversation';
import type { Failure } from '@suzumio/protocol/failure-codes';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import { newestArtifactOfAll } from '../content/artifacts.js';
import { othersSeen } from '../content/artifacts-seen.js';
import { unreadMail } from '../mail/unread-mail.js';
import { countNotes } from '../memory/notes.js';
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
  /** Whether it has something in its own directory of artifacts. */
  readonly hasOwnArtifacts: boolean;
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
 * @param profileNotes how many notes of a profile its agents may read
 */
export function prepareTurn(
  reader: SqlReader,
  config: ProjectConfig,
  turn: string,
  {
    batch = Infinity,
    definitionsOf,
    seen,
    profileNotes = () => 0,
  }: {
    batch?: number | undefined;
    definitionsOf?: (tools: readonly string[]) => ToolDefinition[];
    seen?: SandboxSeen | undefined;
    profileNotes?: ((profile: string) => number) | undefined;
  } = {},
): PreparedTurn {
  const row = turnRow(reader, turn);
  const agent = agentRow(reader, row.agent_id);
  const project = projectRow(reader);
  const { maxPromptMessages, maxPromptBytes } = config.scheduler;
  const maxMessages = Math.min(batch, maxPromptMessages);
  const unread = unreadMail(reader, agent.id, maxMessages);
  const mail = selectMail(unread.messages, { maxMessages, maxBytes: maxPromptBytes });
  const artifactsUpTo = agent.external === 0 ? newestArtifactOfAll(reader) : undefined;
  const newest = reader.get<{ seq: number }>('SELECT coalesce(max(seq), 0) AS seq FROM messages')?.seq ?? 0;
  const prompt = renderPrompt(
    promptInput(
      reader,
      config,
      { project, agent },
      { mail, unreadLeft: unread.count - mail.length, number: row.number, seen, artifactsUpTo, profileNotes },
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
    { prompt, mail, toolSet: toolSet?.hash, history, artifactsUpTo },
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
    artifactsUpTo,
    profileNotes,
  }: Pick<PromptInput, 'mail' | 'unreadLeft'> & {
    number: number;
    seen: SandboxSeen | undefined;
    artifactsUpTo: number | undefined;
    profileNotes: (profile: string) => number;
  },
): PromptInput {
  const byModel = agent.external === 0 && config.backend.runner.mode === 'ai';
  const tools = toolNames(agent, config);
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
    mailLimit: mailLimitOf(config, agent.id),
    channels: reader
      .all<{ name: string }>(
        `SELECT name FROM channels CROSS JOIN channel_members ON channel = name AND agent_id = :agent ORDER BY position`,
        { agent: agent.id },
      )
      .map(({ name }) => name),
    ...calledNames(tools, byModel),
    workspace: seen?.workspace,
    artifacts: seen && artifactsTold(reader, config, { agent, seen, upTo: artifactsUpTo }),
    lastFailure: seen ? lastFailure(reader, agent.id, number) : undefined,
    lastFiles: lastFiles(reader, agent.id, number),
    mounts: agent.external === 1 ? [] : sizedMounts(config, agent.id, seen),
    notes: tools.includes('memory.search')
      ? {
          own: countNotes(reader, agent.id),
          profile: agent.profile_id === null ? 0 : profileNotes(agent.profile_id),
          searchedWith: byModel ? functionName('memory.search') : 'memory.search',
        }
      : undefined,
    mail,
    unreadLeft,
  };
}

/** What a prompt tells of the directory of artifacts. */
function artifactsTold(
  reader: SqlReader,
  config: ProjectConfig,
  { agent, seen, upTo = 0 }: { agent: AgentRow; seen: SandboxSeen; upTo: number | undefined },
): PromptInput['artifacts'] {
  const { artifacts, more } = othersSeen(reader, { agent: agent.id, upTo });
  const others = new Map<string, { files: number; bytes: number }>();
  for (const { creator, files, sizeBytes } of artifacts) {
    const sum = others.get(creator) ?? { files: 0, bytes: 0 };
    others.set(creator, { files: sum.files + files, bytes: sum.bytes + sizeBytes });
  }
  const tools = toolNames(agent, config);
  const called = (tool: string) => (config.backend.runner.mode === 'ai' ? functionName(tool) : tool);
  return {
    isProcess: backendOf(config, config.agents[agent.id] ?? {}) === 'process',
    reads: tools.includes('artifacts.read') ? called('artifacts.read') : undefined,
    lacks: tools.includes('artifacts.publish') ? undefined : called('artifacts.publish'),
    hasOwn: seen.hasOwnArtifacts,
    others: [...others].map(([creator, sum]) => ({ creator, ...sum })),
    more,
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
