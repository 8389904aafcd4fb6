import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import type { ProjectConfig } from '@suzumio/contract/model/project-config';
import { localTool } from '@suzumio/core/config/local-toolpacks';
import type { ToolDefinition } from '@suzumio/protocol/runner';
import { sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import { type HostToolName, isSandboxTool } from '@suzumio/protocol/tool-names';
import { artifactsList } from './artifacts-list.js';
import { artifactsPublish } from './artifacts-publish.js';
import { artifactsRead } from './artifacts-read.js';
import { completionSubmit } from './completion-submit.js';
import { memoryForget } from './memory-forget.js';
import { memoryList } from './memory-list.js';
import { memoryNote } from './memory-note.js';
import { memorySearch } from './memory-search.js';
import { messagesBroadcast } from './messages-broadcast.js';
import { messagesRead } from './messages-read.js';
import { messagesReply } from './messages-reply.js';
import { messagesSend } from './messages-send.js';
import { tasksAssign } from './tasks-assign.js';
import { tasksList } from './tasks-list.js';
import type { CoreTool } from './tool.js';
import { waitForSignal } from './wait-for-signal.js';

/** The packs that run here. A new tool is one file beside this one, its name in `protocol/tool-names.ts`, and a line here. */
export const hostTools: Readonly<Record<HostToolName, CoreTool>> = {
  'messages.send': messagesSend,
  'messages.read': messagesRead,
  'messages.reply': messagesReply,
  'messages.broadcast': messagesBroadcast,
  'tasks.assign': tasksAssign,
  'tasks.list': tasksList,
  'artifacts.publish': artifactsPublish,
  'artifacts.list': artifactsList,
  'artifacts.read': artifactsRead,
  'completion.submit': completionSubmit,
  'coordination.wait_for_signal': waitForSignal,
  'memory.note': memoryNote,
  'memory.search': memorySearch,
  'memory.list': memoryList,
  'memory.forget': memoryForget,
};

/**
 * @param config the project, whose toolpacks of its own have further tools
 * @throws SuzumioError `tool-unknown`
 */
export function findTool(name: string, config?: Pick<ProjectConfig, 'tools'>): CoreTool {
  if (Object.hasOwn(hostTools, name)) return hostTools[name as HostToolName];
  if (isSandboxTool(name) || (config && localTool(config, name))) {
    throw new SuzumioError('tool-unknown', `${name} runs in the sandbox: begin it with POST /tool/begin.`, {
      tool: name,
    });
  }
  throw new SuzumioError(
    'tool-unknown',
    `There is no tool "${name}"; there are ${Object.keys(hostTools).join(', ')}.`,
    {
      tool: name,
    },
  );
}

/**
 * The tool definitions for a model.
 *
 * @param config the project, whose toolpacks of its own have further tools @default none
 */
export function toolDefinitions(names: readonly string[], config?: Pick<ProjectConfig, 'tools'>): ToolDefinition[] {
  return names.map(
    (name) =>
      (config && localTool(config, name)) ?? (isSandboxTool(name) ? sandboxTools[name] : findTool(name)).definition,
  );
}
