import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { maxStepResultBytes, stepResult } from '@suzumio/protocol/sandbox-steps';
import { sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import { sandboxRefusalCodes } from '@suzumio/protocol/sandbox-tools/refusals';
import type { SandboxToolName } from '@suzumio/protocol/tool-names';
import { SandboxSteps } from '@suzumio/runner/sandbox/sandbox-steps';
import type { SandboxResponse } from '@suzumio/runner/sandbox/sandbox';
import type { ToolResult } from '@suzumio/runner/tools/tool-answer';
import { exitCodes, TurnFailure } from '@suzumio/runner/turn-failure';
import { hostileInputs } from '../../../test/support/hostile-inputs.js';
import { createSandbox, type TestSandbox } from '../support/sandbox.js';

let box: TestSandbox;
beforeAll(async () => {
  box = await createSandbox();
  await writeFile(join(box.workspace, 'x'), 'x\n');
});
afterAll(() => box.remove());

const turnInput = { project: 'p', agent: { id: 'a' }, turn: { id: 't' }, token: 'secret' } as RunnerTurnInput;

/** Takes a step as a turn does, at a ToolHost that checks what it is told as the real one does. */
async function take(tool: SandboxToolName, input: unknown, act: () => Promise<SandboxResponse>): Promise<ToolResult> {
  const send = ({ path, json }: { path: string; json?: unknown }) => {
    if (path === '/tool/begin') return Promise.resolve(answer({ begun: true }));
    const { result } = json as { result: unknown };
    expect(Buffer.byteLength(JSON.stringify(json))).toBeLessThan(maxStepResultBytes);
    return Promise.resolve(answer({ result: stepResult.parse(result) }));
  };
  return new SandboxSteps({ send }, turnInput).take({ tool, input, step: '0.0' }, act);
}
const answer = (body: object) => ({
  status: 200,
  contentType: 'application/json',
  body: Buffer.from(JSON.stringify(body)),
});

describe.each(Object.values(sandboxTools))('$name', ({ name, definition }) => {
  test('answers or refuses every hostile input', async () => {
    for (const { of, input } of hostileInputs(definition)) {
      const result = await take(name, input, () => box.run(name, input)).catch((error: unknown) => ({ of, error }));
      const code = 'problem' in result ? result.problem.code : 'answered';
      expect({ of, result: 'error' in result ? result : undefined, code }).toEqual({
        of,
        result: undefined,
        code: expect.stringMatching(/^(answered|[a-z-]+)$/),
      });
      // What is told of an input is the tool's own sentence, never that it broke.
      expect({ of, code }).not.toMatchObject({ code: 'tool-failed' });
      if (code !== 'answered') expect(sandboxRefusalCodes).toContain(code);
      // What is in a file may have NUL.
      if (!of.endsWith(' NUL') || /^(content|patch|search|replace):/.test(of)) continue;
      expect({ of, code }).toMatchObject({ code: 'input-invalid' });
    }
  });
});

describe('a tool that breaks', () => {
  test('is refused to the model, on record', async () => {
    const broken = () => Promise.reject(new TypeError('The argument must be a string without null bytes.'));
    expect(await take('file.search', { pattern: 'x' }, broken)).toMatchObject({
      problem: { code: 'tool-failed', detail: expect.stringMatching(/^file\.search failed.*without null bytes/) },
    });
  });

  test('ends the turn only where the turn cannot go on', async () => {
    const away = () => Promise.reject(new TurnFailure('the door was away', exitCodes.doorAway));
    await expect(take('file.search', { pattern: 'x' }, away)).rejects.toThrow('the door was away');
  });

  test('says no more of itself than is taken', async () => {
    const long = () => Promise.reject(new Error('x'.repeat(100_000)));
    expect(await take('file.search', { pattern: 'x' }, long)).toMatchObject({ problem: { code: 'tool-failed' } });
    const large = () =>
      Promise.resolve({ output: '\u0001'.repeat(200_000), metadata: { files: ['x'.repeat(600_000)] } });
    expect(await take('file.patch', { patch: 'x' }, large)).toMatchObject({ response: { output: expect.any(String) } });
  });
});
