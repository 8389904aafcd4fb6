import { expect, test } from '@jest/globals';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { playTurn, type Stage } from '@suzumio/runner/mock/play-turn';

/** What a script's turn says to its ToolHost in one attempt. */
async function saidIn(attempt: number, steps: readonly object[]) {
  const said: { input: unknown; unfilled: unknown }[] = [];
  const done = { response: { output: 'done' } };
  const stage = {
    tools: {
      call: (_tool: string, input: unknown, _step: string, unfilled?: unknown) => {
        said.push({ input, unfilled });
        return Promise.resolve(done);
      },
    },
    steps: {
      take: ({ input, unfilled }: { input: unknown; unfilled?: unknown }) => {
        said.push({ input, unfilled });
        return Promise.resolve(done);
      },
    },
    env: {},
    log: () => undefined,
    live: { add: () => undefined, ended: () => undefined },
  } as unknown as Stage;
  const input = {
    project: 'p',
    agent: { id: 'ada', role: 'writer', prompt: '' },
    turn: { id: 't', prompt: '', number: 3, attempt },
    workspace: '/workspace',
    sandbox: { mounts: [] },
    runner: { mode: 'mock', script: [{ agent: 'ada', steps }] },
  } as unknown as RunnerTurnInput;
  await playTurn(input, stage);
  return said;
}

test('a script that names its attempt says in each what the journal recognises its steps by', async () => {
  const steps = [
    { run: { command: 'echo {{turn.number}} {{turn.attempt}}' } },
    { write: { path: 'a', text: 'attempt {{turn.attempt}}' } },
    { tool: 'messages.send', input: { recipient: 'ben', body: 'attempt {{turn.attempt}}' } },
    { tool: 'messages.send', input: { recipient: 'ben', body: 'turn {{turn.number}}' } },
  ];
  const first = await saidIn(1, steps);
  const second = await saidIn(2, steps);
  expect(second.map(({ unfilled }) => unfilled)).toEqual(first.map(({ unfilled }) => unfilled));
  expect(second.map(({ input }) => input)).toMatchObject([
    { variables: { SUZUMIO_VALUE_0: '3', SUZUMIO_VALUE_1: '2' } },
    { path: 'a', content: 'attempt 2' },
    { body: 'attempt 2' },
    { body: 'turn 3' },
  ]);
  expect(first.map(({ unfilled }) => unfilled)).toMatchObject([
    { variables: { SUZUMIO_VALUE_0: '3', SUZUMIO_VALUE_1: '{{turn.attempt}}' } },
    { path: 'a', content: 'attempt {{turn.attempt}}' },
    { recipient: 'ben', body: 'attempt {{turn.attempt}}' },
    undefined,
  ]);
});
