import type { ErrorCode } from '@suzumio/contract/errors/codes';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { toolpackOf } from '@suzumio/core/config/local-toolpacks';
import { callOfWrite } from '@suzumio/protocol/ids';
import { isScriptStep } from '@suzumio/protocol/sandbox-steps';
import { allowsTool, canonicalToolName, isSandboxTool, packOf } from '@suzumio/protocol/tool-names';
import { passedQuota } from '../content/stored-bytes.js';
import type { RecordedRefusal } from '../journal.js';
import { agentRow, type AgentRow, projectRow, turnRow } from '../rows.js';
import type { ConfigVersions } from '../sqlite/configs.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Tx } from '../sqlite/tx.js';
import { wasAskedFor } from './asked-calls.js';
import { toolNames } from './frozen-input.js';
import type { KeptInput } from './kept-input.js';

/** A call of a tool, as the ToolHost receives it from a runner. */
export interface ToolCall {
  agent: string;
  turn: string;
  attempt: number;
  tokenHash: string;
  /** The call's step; absent for a runner that names no steps. */
  step?: string | undefined;
  tool: string;
  input: KeptInput;
  /** The hash of tool and input: a step always has the same. */
  requestHash: string;
}

/** Prefix of steps from runners that name none; the number in the attempt follows. */
export const unnamedPrefix = 'seq.';

/**
 * Why a call is refused: checked before anything is written for it, and again in the transaction that records it. A turn runs
 * with the version of the project's file that it began with, and may do nothing that the newest does not allow.
 */
export function refusalOf(
  reader: SqlReader,
  settings: ConfigVersions & Pick<Tx, 'storage'>,
  call: ToolCall,
  turn = turnRow(reader, call.turn),
  made = recordedCalls(reader, call.turn),
): RecordedRefusal | undefined {
  const refused = (code: ErrorCode, message: string): RecordedRefusal => ({ ok: false, code, message, refused: true });
  const agent = agentRow(reader, call.agent);
  const config = settings.configAt(turn.config_version);
  const forbidden = forbiddenInTurn(agent, config, settings.config, call.tool);
  if (forbidden !== undefined) return refused('tool-not-allowed', forbidden);
  if (turn.ended_by_tool !== null) {
    return refused('turn-ended', `This turn has ended with ${turn.ended_by_tool}.`);
  }
  if (projectRow(reader).status === 'completed') return refused('project-closed', 'The project is completed.');
  const written = callOfWrite(call.step ?? '');
  if (written !== undefined && !isAnswered(reader, { ...call, step: written })) {
    return refused('call-not-asked', `No call of ${call.tool} at step ${written} was answered with anything to write.`);
  }
  if (config.backend.runner.mode === 'ai' && agent.external === 0 && !wasAskedFor(reader, placed(call))) {
    return refused('call-not-asked', `The model's answer asks for no such call of ${call.tool} at this step.`);
  }
  if (placed(call).step === undefined && hasSandboxSteps(reader, call.turn)) return unnamedRefusal;
  if (made >= config.turn.maxToolCalls) return limitReached(config);
  const passed = passedQuota(reader, settings.storage, call.agent, 'rows');
  return passed && refused('quota-exceeded', passed.message);
}

/** Whether a call has succeeded: what it was given is written by a step of its own. */
function isAnswered(reader: SqlReader, { turn, step, requestHash }: ToolCall): boolean {
  const answered = `SELECT 1 FROM turn_steps WHERE turn_id = :turn AND key = :step AND request_hash IN (:requestHash, '')
    AND result_json ->> 'ok'`;
  return reader.get(answered, { turn, step: step ?? '', requestHash }) !== undefined;
}

/** Why an agent may not use a tool; undefined where it may. Steps of a script are its author's, and on no allowlist. */
function forbiddenBy(agent: AgentRow, config: ProjectConfig, tool: string): string | undefined {
  if (isScriptStep(tool)) {
    const isScripted = config.backend.runner.mode === 'mock' && agent.external === 0;
    return isScripted ? undefined : `${tool} is a step of a script, and no script stands for agent ${agent.id}.`;
  }
  const allowed = config.agents[agent.id]?.tools ?? [];
  if (!allowsTool(allowed, tool)) {
    const list = allowed.length === 0 ? 'none' : allowed.map(canonicalToolName).join(', ');
    return `Agent ${agent.id} may not use ${tool}; its tools are: ${list}.`;
  }
  const pack = packOf(tool);
  const isLocal = toolpackOf(config, tool) !== undefined;
  if ((pack === undefined && !isLocal) || pack === 'core' || toolNames(agent, config).includes(tool)) return undefined;
  if (agent.external === 1 && (isLocal || isSandboxTool(tool))) {
    return `Agent ${agent.id} may not use ${tool}: its handler runs in no sandbox.`;
  }
  return pack !== undefined && (config.tools.toolpacks as unknown[]).includes(pack)
    ? `Agent ${agent.id} may not use ${tool}: its workspace is not a clone of a repository.`
    : `Agent ${agent.id} may not use ${tool}: the project's tools.toolpacks do not list its pack.`;
}

/**
 * Why an agent may not use a tool in its turn; undefined where it may.
 *
 * @param config the version of the project's file that the turn began with
 */
export function forbiddenInTurn(
  agent: AgentRow,
  config: ProjectConfig,
  newest: ProjectConfig,
  tool: string,
): string | undefined {
  const forbidden = forbiddenBy(agent, config, tool);
  if (forbidden !== undefined) return forbidden;
  const pack = toolpackOf(config, tool);
  const isThere = pack === undefined || toolpackOf(newest, tool)?.id === pack.id;
  if (isThere && forbiddenBy(agent, newest, tool) === undefined) return undefined;
  return `Agent ${agent.id} may not use ${tool} any more: the project's file was changed since this turn began. Go on without it.`;
}

/** A call with the step that its runner named. A number from the shim is no such step. */
function placed({ step, ...call }: ToolCall): Omit<ToolCall, 'step'> & { step?: string } {
  return step === undefined || step.startsWith(unnamedPrefix) ? call : { ...call, step };
}

/** Why a call or a question without a step is refused in a turn that has taken steps in the sandbox by name. */
export const unnamedRefusal = {
  ok: false,
  code: 'step-unnamed',
  message:
    'This turn names its steps in the sandbox, so each of its calls and questions has to name its step, too: one that names none could be another program repeating it.',
  refused: true,
} as const satisfies RecordedRefusal;

/** Whether a turn has taken steps in the sandbox. Its runner names all steps then. */
export function hasSandboxSteps(reader: SqlReader, turn: string): boolean {
  const taken = `SELECT 1 FROM tool_calls WHERE turn_id = :turn AND request_hash IS NOT NULL AND status <> 'refused' LIMIT 1`;
  return reader.get(taken, { turn }) !== undefined;
}

export function limitReached(config: ProjectConfig): RecordedRefusal {
  const message = `A turn may make ${String(config.turn.maxToolCalls)} tool calls, and this one has made them.`;
  return { ok: false, code: 'tool-limit-reached', message, refused: true };
}

/** How many recorded calls a turn has. What a call was given to write, and what it asks of a toolpack, belong to it. */
export function recordedCalls(reader: SqlReader, turn: string): number {
  const count = `SELECT count(*) AS count FROM tool_calls WHERE turn_id = :turn AND step NOT LIKE '%/%'`;
  const row = reader.get<{ count: number }>(count, { turn });
  return row?.count ?? 0;
}
