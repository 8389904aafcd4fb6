import { describe, expect, test } from '@jest/globals';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { StepResult } from '@suzumio/protocol/sandbox-steps';
import { SandboxRefusal } from '@suzumio/runner/sandbox/paths/refusal';
import { type SandboxStep, SandboxSteps } from '@suzumio/runner/sandbox/sandbox-steps';

const input = { project: 'p', agent: { id: 'a' }, turn: { id: 't' }, token: 'secret' } as RunnerTurnInput;

/** Steps of an attempt, some of which are answered from the journal. */
function stepsOf(journal: Record<string, StepResult>, more: Partial<RunnerTurnInput> = {}) {
  const ended: Record<string, StepResult> = {};
  const steps = new SandboxSteps(
    {
      send: ({ path, json }) => {
        const { step, result } = json as { step: string; result: StepResult };
        if (path === '/tool/end') ended[step] = result;
        const recorded = path === '/tool/end' ? result : journal[step];
        const body = Buffer.from(JSON.stringify(recorded ? { result: recorded } : { begun: true }));
        return Promise.resolve({ status: 200, contentType: 'application/json', body });
      },
    },
    { ...input, ...more },
  );
  const take = (
    step: string,
    tool: SandboxStep['tool'] = 'file.list',
    act = () => Promise.resolve({ output: 'done' }),
  ) => steps.take({ tool, input: {}, step }, act);
  return { take, ended };
}

const inBackground = (step: string): StepResult => ({ output: 'Runs.', metadata: { handle: `bg-${step}` } });
const never = () => Promise.reject(new Error('taken'));

describe('a background command of an earlier attempt', () => {
  test('is told to have ended with the next result that is not from the journal, once', async () => {
    const { take, ended } = stepsOf({ '0.0': inBackground('0.0'), '0.1': inBackground('0.1') });
    expect(await take('0.0', 'shell.exec', never)).toMatchObject({ response: { output: 'Runs.' } });
    await take('0.1', 'shell.exec', never);
    const told = await take('1.0');
    expect(told).toMatchObject({
      response: { output: expect.stringMatching(/^done\n\[.*has ended: bg-0.0, bg-0.1\. /) },
    });
    expect(ended['1.0']).toEqual('response' in told ? told.response : undefined);
    expect(await take('1.1')).toEqual({ response: { output: 'done' } });
  });

  test('is told with a failure, too', async () => {
    const { take } = stepsOf({ '0.0': inBackground('0.0') });
    await take('0.0', 'shell.exec', never);
    const refused = () => Promise.reject(new SandboxRefusal('handle-unknown', 'There is none.'));
    expect(await take('1.0', 'shell.read', refused)).toMatchObject({
      problem: { code: 'handle-unknown', detail: expect.stringMatching(/^There is none\. \[.*bg-0\.0/) },
    });
  });

  test.each([
    ['was stopped', 'shell.stop', { handle: 'bg-0.0', running: false }],
    ['was read when it had ended', 'shell.read', { handle: 'bg-0.0', running: false }],
  ] as const)('is no news when it %s', async (_how, tool, metadata) => {
    const { take } = stepsOf({ '0.0': inBackground('0.0'), '1.0': { output: 'Ended.', metadata } });
    await take('0.0', 'shell.exec', never);
    await take('1.0', tool, never);
    expect(await take('2.0')).toEqual({ response: { output: 'done' } });
  });

  test('runs where its step is taken again', async () => {
    const { take } = stepsOf({});
    await take('0.0', 'shell.exec', () => Promise.resolve({ output: 'Runs.', metadata: { handle: 'bg-0.0' } }));
    expect(await take('1.0')).toEqual({ response: { output: 'done' } });
  });
});

test('what the worker has to say is told once, with the first result that is not from the journal', async () => {
  const notes = ['Your home directory was emptied.', 'And so on.'];
  const { take } = stepsOf({ '0.0': { output: 'before' } }, { sandbox: { mounts: [], notes } });
  expect(await take('0.0', 'file.list', never)).toEqual({ response: { output: 'before' } });
  expect(await take('1.0')).toEqual({ response: { output: 'done\n[Your home directory was emptied.]\n[And so on.]' } });
  expect(await take('1.1')).toEqual({ response: { output: 'done' } });
});
