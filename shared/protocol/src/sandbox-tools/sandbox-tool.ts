import * as z from 'zod';
import { plainText } from '../plain-text.js';
import type { ToolDefinition } from '../runner.js';

/** A tool that runs in a turn's sandbox: the ToolHost offers and records it, the runner carries it out. */
export interface SandboxTool<Name extends string = string, Input extends z.ZodType = z.ZodType> {
  readonly name: Name;
  readonly input: Input;
  /** What a model is told of it. */
  readonly definition: ToolDefinition;
}

/** Defines a tool by its name, what a model is told of it, and its input. */
export function defineSandboxTool<const Name extends string, Input extends z.ZodType>(tool: {
  name: Name;
  description: string;
  input: Input;
}): SandboxTool<Name, Input> {
  const inputSchema: Record<string, unknown> = z.toJSONSchema(tool.input, { io: 'input' });
  delete inputSchema['$schema'];
  return {
    name: tool.name,
    input: tool.input,
    definition: { name: tool.name, description: tool.description, inputSchema },
  };
}

/** A number of things: whole, and lowered to `most` where it is larger. */
export function upTo(most: number, usual: number) {
  return countUpTo(most).default(usual);
}

/** The same, without a usual one. */
export function countUpTo(most: number) {
  return z
    .number()
    .positive()
    .transform((value) => Math.min(Math.max(1, Math.floor(value)), most));
}

/** A path as a model writes it: absolute below a root of the sandbox, or relative to the workspace. */
export const sandboxPath = plainText.min(1).max(4096);
