import { functionName } from '@suzumio/protocol/conversation';
import type { ToolDefinition } from '@suzumio/protocol/runner';

// What a model is told of a call that cannot be made: what is wrong, and the right form.

/** A call that was not made, as its result says. */
export interface Correction {
  readonly code: string;
  readonly message: string;
}

export function unknownTool(written: string, tools: readonly ToolDefinition[]): Correction {
  const known = tools.map(({ name }) => functionName(name)).join(', ');
  const message = `There is no tool ${JSON.stringify(written.slice(0, maxNameChars))}. The names to call are, to the letter: ${known || 'none'}.`;
  return { code: 'tool-unknown', message };
}

export function invalidArguments(fault: string, { name, inputSchema }: ToolDefinition): Correction {
  const required = inputSchema['required'];
  const fields = Array.isArray(required) ? required.map((field) => `${JSON.stringify(field)}: …`).join(', ') : '';
  const message = `The arguments are ${fault}. Write the call of ${functionName(name)} again, with one JSON object and nothing around it: {${fields}}.`;
  return { code: 'arguments-invalid', message };
}

const maxNameChars = 200;
