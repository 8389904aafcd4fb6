import * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { checkedInput } from '@suzumio/protocol/checked-input';
import type { HostToolName } from '@suzumio/protocol/tool-names';
import type { Repository } from '@suzumio/protocol/repository';
import type { ToolDefinition, ToolResponse } from '@suzumio/protocol/runner';
import type { ContentStore } from '@suzumio/store/content/content-store';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import type { Tx } from '@suzumio/store/sqlite/tx';
import type { ToolCallSite } from '@suzumio/store/turns/record-tool-call';
import type { ProfileMemory } from '../profile-memory.js';

/** What a tool may use before its transaction. */
export interface ToolEnvironment {
  reader: SqlReader;
  content: ContentStore;
  /** Stores content of the call, charged to its agent, and returns its hash. */
  store: (bytes: Buffer, kind: 'reports' | 'content') => Promise<string>;
  /** The repository that the agent's workspace is a clone of. */
  repository: () => Repository | undefined;
  agent: string;
  turn: string;
  /** The memory of the profile that the agent started from, or why it may not use one. */
  profileMemory: () => ProfileMemory | SuzumioError;
  /** Those of the agent's presets that see no images. None where a program takes its turn: that sees for itself. */
  blind: readonly string[];
  /** How much of a result may be shown: whatever a call asks for, a model is shown no more. */
  maxShownBytes: number;
}

/** The part of a call that runs inside the transaction. */
export type Effect = (tx: Tx, site: ToolCallSite) => ToolResponse;

/** A tool of the packs that run in the ToolHost. */
export interface CoreTool {
  definition: ToolDefinition;
  /** Checks the input, does the file work, and returns the effect for the transaction. */
  prepare(input: unknown, environment: ToolEnvironment): Promise<Effect>;
}

/**
 * Defines a tool: its name and input, as a model sees them, and its implementation.
 *
 * @param tool.prepare runs outside the transaction: file work, never a change to the store. Its error becomes the
 *   call's recorded outcome.
 */
export function defineTool<Input extends z.ZodType>(tool: {
  name: HostToolName;
  description: string;
  input: Input;
  /** Fields that the runner adds; models do not see them. */
  hidden?: readonly string[];
  prepare(input: z.output<Input>, environment: ToolEnvironment): Effect | Promise<Effect>;
}): CoreTool {
  const { name, description, hidden = [] } = tool;
  const definition = { name, description, inputSchema: publicSchema(tool.input, hidden) };
  return {
    definition,
    async prepare(input, environment) {
      const checked = checkedInput(definition, tool.input, input, hidden);
      if ('input' in checked) return tool.prepare(checked.input, environment);
      throw new SuzumioError('tool-input-invalid', `The input of ${name} is not valid: ${checked.fault}.`);
    },
  };
}

function publicSchema(input: z.ZodType, hidden: readonly string[]): Record<string, unknown> {
  const schema = z.toJSONSchema(input, { io: 'input' }) as Record<string, unknown>;
  delete schema['$schema'];
  const properties = Object.entries(schema['properties'] as Record<string, unknown>);
  return { ...schema, properties: Object.fromEntries(properties.filter(([name]) => !hidden.includes(name))) };
}
