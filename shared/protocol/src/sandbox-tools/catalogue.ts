import type * as z from 'zod';
import type { SandboxToolName } from '../tool-names.js';
import { fileApply, fileList, filePatch, fileRead, fileSearch, fileWrite } from './files.js';
import type { SandboxTool } from './sandbox-tool.js';
import { shellExec, shellRead, shellStop } from './shell.js';
import { workspaceGitRefresh } from './workspace.js';

/** The tools that run in the sandbox, by their names. */
export const sandboxTools = {
  'file.read': fileRead,
  'file.write': fileWrite,
  'file.patch': filePatch,
  'file.apply': fileApply,
  'file.list': fileList,
  'file.search': fileSearch,
  'shell.exec': shellExec,
  'shell.read': shellRead,
  'shell.stop': shellStop,
  'workspace.git.refresh': workspaceGitRefresh,
} as const satisfies Readonly<Record<SandboxToolName, SandboxTool>>;

/** A tool's input after it was checked, with its defaults. */
export type SandboxInput<Name extends SandboxToolName> = z.output<(typeof sandboxTools)[Name]['input']>;
