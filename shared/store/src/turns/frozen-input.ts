import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { contextLimitOf, presetOf } from '@suzumio/core/budgets/presets';
import { renderSystem } from '@suzumio/core/prompt/render-system';
import type { SelectedMail } from '@suzumio/core/prompt/select-mail';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { admittedTools, coreToolNames } from '@suzumio/protocol/tool-names';
import { agentRow, type AgentRow, projectRow, type TurnRow } from '../rows.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { HistoryPlan } from './history.js';

/** What a runner is told, frozen at the first claim; only the attempt's number differs later. */
export type FrozenInput = Omit<ClaimAnswer['input'], 'tools' | 'limits' | 'history'> & {
  toolNames: string[];
  /** What a model is told of them, by what it is kept under. */
  toolSet?: string;
  history?: HistoryPlan;
};

/** Puts together what a runner is told of a turn. */
export function frozenInput(
  reader: SqlReader,
  config: ProjectConfig,
  turn: Pick<TurnRow, 'id' | 'agent_id' | 'number'>,
  told: {
    prompt: string;
    mail: readonly SelectedMail[];
    toolSet?: string | undefined;
    history?: HistoryPlan | undefined;
  },
): FrozenInput {
  const agent = agentRow(reader, turn.agent_id);
  const project = projectRow(reader).id;
  const { mode, script } = agent.external === 1 ? { mode: 'mock' as const, script: undefined } : config.backend.runner;
  const preset = presetOf(config, agent.id);
  return {
    project,
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
      prompt: told.prompt,
      ...(mode === 'ai' ? { system: renderSystem(agent, project) } : {}),
      number: turn.number,
      mail: told.mail.map((message) => ({
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
            contextLimit: contextLimitOf(config, agent.id),
            maxSteps: config.turn.maxSteps,
            ...(preset === undefined ? {} : { model: preset }),
          }
        : { mode, ...(script ? { script: script.filter((rule) => [agent.id, agent.base].includes(rule.agent)) } : {}) },
    toolNames: toolNames(agent),
    ...(told.toolSet === undefined ? {} : { toolSet: told.toolSet }),
    ...(told.history ? { history: told.history } : {}),
  };
}

/** The tools that an agent may use, by their names. */
export function toolNames(agent: AgentRow): string[] {
  return admittedTools(JSON.parse(agent.tools_json) as string[], coreToolNames);
}
