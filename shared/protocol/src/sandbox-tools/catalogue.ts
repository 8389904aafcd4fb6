import type * as z from 'zod';
import { fileList, filePatch, fileRead, fileSearch, fileWrite } from './files.js';
import { shellExec, shellRead, shellStop } from './shell.js';

/** The tools that run in the sandbox, by their names. */
export const sandboxTools = {
  'file.read': fileRead,
  'file.write': fileWrite,
  'file.patch': filePatch,
  'file.list': fileList,
  'file.search': fileSearch,
  'shell.exec': shellExec,
  'shell.read': shellRead,
  'shell.stop': shellStop,
} as const;

export type SandboxToolName = keyof typeof sandboxTools;

/** A tool's input after it was checked, with its defaults. */
export type SandboxInput<Name extends SandboxToolName> = z.output<(typeof sandboxTools)[Name]['input']>;

export function isSandboxTool(name: string): name is SandboxToolName {
  return Object.hasOwn(sandboxTools, name);
}
