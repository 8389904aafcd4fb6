import { directoryManifest } from '@suzumio/protocol/artifacts';
import { mockScript } from '@suzumio/protocol/mock-script';
import { problem } from '@suzumio/protocol/problem';
import { runnerTurnInput, runnerTurnOutput, toolRequest, toolResponse } from '@suzumio/protocol/runner';
import { beginStepAnswer, beginStepRequest, endStepAnswer, endStepRequest } from '@suzumio/protocol/sandbox-steps';
import * as z from 'zod';

const contract = {
  'runner-turn-input': { title: 'What a runner finds in input.json', schema: runnerTurnInput },
  'runner-turn-output': { title: 'What a runner leaves in output.json', schema: runnerTurnOutput },
  'tool-request': { title: 'The body of POST /tool', schema: toolRequest },
  'tool-response': { title: 'The answer to a tool call that succeeded', schema: toolResponse },
  'begin-step-request': { title: 'The body of POST /tool/begin', schema: beginStepRequest },
  'begin-step-answer': { title: 'The answer to POST /tool/begin', schema: beginStepAnswer },
  'end-step-request': { title: 'The body of POST /tool/end', schema: endStepRequest },
  'end-step-answer': { title: 'The answer to POST /tool/end', schema: endStepAnswer },
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
