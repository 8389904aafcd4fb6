import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { blindPresets, contextLimitOf, presetOf } from '@suzumio/core/budgets/presets';
import { localToolpacks } from '@suzumio/core/config/local-toolpacks';
import { cloneOf } from '@suzumio/core/config/sandbox-of';
import { renderSystem } from '@suzumio/core/prompt/render-system';
import type { SelectedMail } from '@suzumio/core/prompt/select-mail';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { admittedTools, hostToolpacks, toolsOfPacks } from '@suzumio/protocol/tool-names';
import type { AgentRow, TurnRow } from '../rows.js';
import type { HistoryPlan } from './history.js';

/** A runner's input, frozen at the first claim; only the attempt's number changes later. */
export type FrozenInput = Omit<ClaimAnswer['input'], 'tools' | 'limits' | 'history'> & {
  toolNames: string[];
  /** The hash of the tools' definitions. */
  toolSet?: string;
  history?: HistoryPlan;
  /** The newest artifact that it finds as a file. */
  artifactsUpTo?: number;
};

/** Builds a runner's input for a turn. */
export function frozenInput(
  config: ProjectConfig,
  { project, agent, turn }: { project: string; agent: AgentRow; turn: Pick<TurnRow, 'id' | 'number'> },
  told: {
    prompt: string;
    mail: readonly SelectedMail[];
    toolSet?: string | undefined;
    history?: HistoryPlan | undefined;
    artifactsUpTo?: number | undefined;
  },
): FrozenInput {
  const runner = runnerOf(config, agent);
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
      ...(runner.mode === 'ai' ? { system: renderSystem(agent, project) } : {}),
      number: turn.number,
      mail: told.mail.map(asMail),
    },
    runner,
    toolNames: toolNames(agent, config),
    ...(told.toolSet === undefined ? {} : { toolSet: told.toolSet }),
    ...(told.history ? { history: told.history } : {}),
    ...(told.artifactsUpTo === undefined ? {} : { artifactsUpTo: told.artifactsUpTo }),
  };
}

/** What thinks for an agent: a model, or a script; for an external one neither. */
function runnerOf(config: ProjectConfig, agent: AgentRow): FrozenInput['runner'] {
  if (agent.external === 1) return { mode: 'mock' };
  const { mode, script } = config.backend.runner;
  if (mode === 'mock') {
    return {
      mode,
      ...(script ? { script: script.filter((rule) => [agent.id, agent.base].includes(rule.agent)) } : {}),
    };
  }
  const preset = presetOf(config, agent.id);
  return {
    mode,
    contextLimit: contextLimitOf(config, agent.id),
    maxSteps: config.turn.maxSteps,
    vision: blindPresets(config, agent.id).length === 0,
    ...(preset === undefined ? {} : { model: preset }),
  };
}

function asMail(message: SelectedMail): NonNullable<FrozenInput['turn']['mail']>[number] {
  const { id, sender, recipient, channel, priority, kind, threadId, replyTo, body, createdAtMs, attachments } = message;
  return {
    id,
    sender,
    ...(recipient === undefined ? {} : { recipient }),
    ...(channel === undefined ? {} : { channel }),
    priority,
    kind,
    threadId,
    ...(replyTo === undefined ? {} : { replyTo }),
    body,
    createdAt: new Date(createdAtMs).toISOString(),
    ...(attachments.length === 0 ? {} : { attachments: [...attachments] }),
  };
}

/** The names of the tools that a version of the project's file lets an agent use. A handler runs in no sandbox, and only a clone can be refreshed. */
export function toolNames(agent: Pick<AgentRow, 'id' | 'external'>, config: ProjectConfig): string[] {
  const allowed = config.agents[agent.id]?.tools ?? [];
  const toolpacks: readonly unknown[] = config.tools.toolpacks;
  if (agent.external === 1)
    return admittedTools(allowed, toolsOfPacks(hostToolpacks.filter((pack) => toolpacks.includes(pack))));
  const isClone = cloneOf(config, agent.id) !== undefined;
  const there: string[] = toolsOfPacks(config.tools.toolpacks);
  const local = localToolpacks(config).flatMap(({ tools }) => tools.map(({ name }) => name));
  return admittedTools(allowed, [...there.filter((tool) => isClone || tool !== 'workspace.git.refresh'), ...local]);
}
