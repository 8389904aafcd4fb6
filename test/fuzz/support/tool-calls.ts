import fc from '../../support/fast-check.js';
import { toolDefinitions } from '../../../services/toolhost/src/tools/catalogue.js';
import type { JsonSchema } from './json-schema.js';

const nothing = { type: 'string', const: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08' };

/** The body of `POST /tool`: each of these tools with an input of its own schema. */
export const toolCallsOf = (names: readonly string[]): JsonSchema => ({
  anyOf: toolDefinitions(names).map(({ name, inputSchema }) => ({
    type: 'object',
    properties: {
      project: { const: 'fuzz' },
      agent: { const: '~agent~' },
      turn: { const: '~turn~' },
      tool: { const: name },
      input:
        name === 'artifacts.publish'
          ? { ...inputSchema, properties: { ...(inputSchema['properties'] as object), sha256: nothing } }
          : inputSchema,
      step: { type: 'string', pattern: '^\\d{1,3}\\.\\d$' },
    },
    required: ['project', 'agent', 'turn', 'tool', 'input'],
  })),
});

/** What exists in the world, for the fields that name something. */
export const knownToTools = {
  project: fc.constant('fuzz'),
  turn: fc.constant('~turn~'),
  // The second is the hash of "test".
  sha256: fc.constantFrom('a'.repeat(64), nothing.const),
  recipient: fc.constantFrom('ben', 'cat', 'Benny', 'user', 'ada'),
  channel: fc.constantFrom('#team'),
  name: fc.constantFrom('a.txt', 'notes'),
};
