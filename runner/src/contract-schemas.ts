import { directoryManifest } from '@suzumio/protocol/artifacts';
import { mockScript } from '@suzumio/protocol/mock-script';
import { problem } from '@suzumio/protocol/problem';
import { runnerTurnInput, runnerTurnOutput, toolRequest, toolResponse } from '@suzumio/protocol/runner';
import * as z from 'zod';

const contract = {
  'runner-turn-input': { title: 'What a runner finds in input.json', schema: runnerTurnInput },
  'runner-turn-output': { title: 'What a runner leaves in output.json', schema: runnerTurnOutput },
  'tool-request': { title: 'The body of POST /tool', schema: toolRequest },
  'tool-response': { title: 'The answer to a tool call that succeeded', schema: toolResponse },
  problem: { title: 'The answer to a request that failed (RFC 9457)', schema: problem },
  'directory-manifest': { title: 'What a published directory holds', schema: directoryManifest },
  'mock-script': { title: 'The script of a mock turn', schema: mockScript },
};

/** The JSON Schema of each document of the public contract, by the name of its file in `docs/schemas`. */
export function contractSchemas(): Record<string, object> {
  return Object.fromEntries(
    Object.entries(contract).map(([name, { title, schema }]) => [
      name,
      { title, ...z.toJSONSchema(schema, { io: 'input' }) },
    ]),
  );
}
