import { mkdtemp, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import type { PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { SandboxRefusal } from '@suzumio/runner/sandbox/paths/refusal';
import { Toolpacks } from '@suzumio/runner/toolpacks/toolpacks';
import { ModuleProcess, type ModuleOptions } from '@suzumio/runner/toolpacks/module-process';

let directory: string;
beforeAll(async () => {
  directory = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-module-')));
});
afterAll(() => rm(directory, { recursive: true, force: true }));

const started: ModuleProcess[] = [];
afterEach(() => {
  for (const one of started.splice(0)) one.close();
});

let modules = 0;
let logged = '';

/** A process of a module with these handlers. */
async function serving(handlers: string, options: Partial<ModuleOptions> = {}): Promise<ModuleProcess> {
  return servingModule(
    `let count = 0;\nexport const createRunnerToolpack = (context) => ({ tools: { ${handlers} } });\n`,
    options,
  );
}

async function servingModule(source: string, options: Partial<ModuleOptions> = {}): Promise<ModuleProcess> {
  modules += 1;
  const module = join(directory, `module-${modules}.mjs`);
  await writeFile(module, source);
  logged = '';
  const facts = { project: 'lab', agentId: 'dev', activationId: 'turn_1', workspace: directory, toolpackId: 'own' };
  const made = new ModuleProcess({
    module,
    facts,
    cwd: directory,
    env: { PATH: process.env['PATH'], SEEN: 'yes' },
    callMs: 20_000,
    loggedBytes: 1_000,
    log: (bytes) => (logged += bytes.toString()),
    ask: (_call, what) => Promise.resolve({ output: `asked ${JSON.stringify(what)}` }),
    ...options,
  });
  started.push(made);
  return made;
}

const outcome = async (answer: Promise<PackAnswer>): Promise<unknown> => {
  try {
    return await answer;
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    return { code: error.code, message: error.message };
  }
};

describe('a runner module', () => {
  test('is made once for a turn, knows what it is of, and answers several calls at a time', async () => {
    const module = await serving(`
      facts: () => ({ output: context, title: 'Facts', metadata: { seen: process.env.SEEN } }),
      count: async () => ({ output: String((count += 1)) }),
      slow: (input) => new Promise((resolve) => setTimeout(() => resolve({ output: input.text }), 50)),
    `);
    const facts = { project: 'lab', agentId: 'dev', activationId: 'turn_1', workspace: directory, toolpackId: 'own' };
    const slow = module.call(1, 'slow', { text: 'late' });
    expect(await module.call(2, 'facts', {})).toEqual({
      output: JSON.stringify(facts),
      title: 'Facts',
      metadata: { seen: 'yes' },
    });
    expect(await module.call(3, 'count', {})).toEqual({ output: '1' });
    expect(await module.call(4, 'count', {})).toEqual({ output: '2' });
    expect(await slow).toEqual({ output: 'late' });
  });

  test('may be a default export that returns its handlers as they are', async () => {
    const module = await servingModule(`export default async () => ({ 'a.b': () => ({ output: 'there' }) });\n`);
    expect(await module.call(1, 'a.b', {})).toEqual({ output: 'there' });
  });

  test('asks its controller for the call that is under way, and may pass on how that failed', async () => {
    const asked: [number, unknown][] = [];
    const module = await serving(
      `
      ask: async (input) => ({ output: (await context.callSupport('own.ask', input)).output }),
      signal: (input) => context.recordSignal({ kind: 'done' }),
      fail: () => context.callSupport('own.fail', {}),
    `,
      {
        ask: (call, what) => {
          asked.push([call, what]);
          const { tool } = what as { tool?: string };
          if (tool === 'own.fail') return Promise.reject(Object.assign(new Error('gone'), { code: 'outcome-unknown' }));
          return Promise.resolve({ output: 'yes' });
        },
      },
    );
    expect(await module.call(7, 'ask', { a: 1 })).toEqual({ output: 'yes' });
    expect(await module.call(8, 'signal', {})).toEqual({ output: 'yes' });
    expect(await outcome(module.call(9, 'fail', {}))).toEqual({
      code: 'outcome-unknown',
      message: 'fail failed: gone',
    });
    expect(asked).toEqual([
      [7, { tool: 'own.ask', input: { a: 1 } }],
      [8, { signal: { kind: 'done' } }],
      [9, { tool: 'own.fail', input: {} }],
    ]);
  });

  test.each([
    ['throws', `bad: () => { throw new Error('no such list'); }`, 'toolpack-failed', 'bad failed: no such list'],
    ['throws what is no error', `bad: () => { throw 'text'; }`, 'toolpack-failed', 'bad failed: text'],
    ['is not there', `other: () => ({ output: '' })`, 'toolpack-failed', 'has no handler for bad'],
    [
      'answers nothing',
      `bad: () => undefined`,
      'toolpack-answer-invalid',
      'its answer is not {output, title?, metadata?}: it is no object',
    ],
    ['answers a text', `bad: () => 'done'`, 'toolpack-answer-invalid', 'it is no object'],
    ['answers without output', `bad: () => ({ title: 'x' })`, 'toolpack-answer-invalid', 'output: is required'],
    ['answers what is no JSON', `bad: () => ({ output: 1n })`, 'toolpack-answer-invalid', 'it is no JSON'],
    [
      'answers in a circle',
      `bad: () => { const a = {}; a.output = a; return a; }`,
      'toolpack-answer-invalid',
      'it is no JSON',
    ],
    ['floods its answer', `bad: () => ({ output: 'x'.repeat(5e7) })`, 'toolpack-answer-invalid', 'it has 500000'],
    ['ends its process', `bad: () => process.exit(3)`, 'toolpack-failed', 'its process ended (exit code 3)'],
    [
      'uses up its memory',
      `bad: () => { const all = []; for (;;) all.push(new Array(1e6).fill(count += 1)); }`,
      'toolpack-failed',
      'its process ended (SIGABRT), as it does when 512 MB of memory are used up',
    ],
    [
      'writes to its channel',
      `bad: async () => { (await import('node:fs')).writeSync(3, 'x'.repeat(5e6)); }`,
      'toolpack-failed',
      'cannot be read, or too much',
    ],
    [
      'breaks later',
      `bad: () => new Promise(() => setTimeout(() => { throw new Error('late'); }, 5))`,
      'toolpack-failed',
      'its process broke: late',
    ],
    [
      'leaves a promise that breaks',
      `bad: () => { Promise.reject(new Error('left')); return new Promise(() => undefined); }`,
      'toolpack-failed',
      'its process broke: left',
    ],
    [
      'asks its controller too much',
      `bad: () => context.callSupport('own.ask', { text: 'x'.repeat(3e5) })`,
      'toolpack-failed',
      'What the controller is asked has 300',
    ],
  ])('whose handler %s fails the call by code and sentence', async (_what, handler, code, sentence) => {
    const module = await serving(handler);
    expect(await outcome(module.call(1, 'bad', {}))).toEqual({ code, message: expect.stringContaining(sentence) });
  });

  test.each([
    ['waits for ever', `bad: () => new Promise(() => undefined)`],
    ['never lets go', `bad: () => { for (;;); }`],
  ])('whose handler %s is ended, with what else runs there', async (_what, handler) => {
    const module = await serving(`${handler}, other: () => new Promise(() => undefined)`, { callMs: 1_500 });
    const other = outcome(module.call(1, 'other', {}));
    expect(await outcome(module.call(2, 'bad', {}))).toMatchObject({
      code: expect.stringMatching(/^toolpack-(timeout|failed)$/),
    });
    expect(await other).toMatchObject({ code: expect.stringMatching(/^toolpack-(timeout|failed)$/) });
    expect(module.isOver).toBe(true);
    expect(await outcome(module.call(3, 'other', {}))).toMatchObject({ code: 'toolpack-failed' });
  });

  test('has no handlers that every object has', async () => {
    const module = await serving('');
    for (const tool of ['toString', 'constructor', '__proto__']) {
      expect(await outcome(module.call(1, tool, {}))).toMatchObject({
        message: expect.stringContaining(`has no handler for ${tool}`),
      });
    }
  });

  test('gets no input that is too long, and goes on', async () => {
    const module = await serving(`read: (input) => ({ output: String(input.text.length) })`);
    expect(await module.call(1, 'read', { text: 'x'.repeat(5e5) })).toEqual({ output: '500000' });
    expect(await outcome(module.call(2, 'read', { text: 'x'.repeat(6e5) }))).toEqual({
      code: 'input-invalid',
      message: expect.stringMatching(/^The input of read has 600\d+ bytes, and may have 524288\.$/),
    });
    expect(module.isOver).toBe(false);
  });

  test('that cannot be loaded says why', async () => {
    expect(await outcome((await servingModule('nonsense here')).call(1, 'a', {}))).toMatchObject({
      code: 'toolpack-failed',
      message: expect.stringContaining('a failed: the runner module cannot be loaded: '),
    });
    expect(await outcome((await servingModule('export const x = 1;')).call(1, 'a', {}))).toMatchObject({
      message: expect.stringContaining('it exports no createRunnerToolpack'),
    });
  });

  test('fills no log', async () => {
    const module = await serving(
      `loud: () => { for (let i = 0; i < 1e4; i += 1) console.log('line', i); return { output: 'said' }; }`,
    );
    expect(await module.call(1, 'loud', {})).toEqual({ output: 'said' });
    expect(logged.length).toBeLessThanOrEqual(1_000);
  });
});

test('a handler gets what is meant, by the schema of its tool; the step is taken with what is written', async () => {
  const module = join(directory, 'meant.mjs');
  await writeFile(
    module,
    'export const createRunnerToolpack = () => ({ tools: { log: (input) => ({ output: JSON.stringify(input) }) } });',
  );
  const properties = { gauge: { type: 'string' }, metres: { type: 'number' }, note: { type: 'string' } };
  const inputSchema = { type: 'object', properties, required: ['gauge'], additionalProperties: false };
  const input = {
    project: 'lab',
    agent: { id: 'dev' },
    turn: { id: 'turn_1' },
    workspace: directory,
    sandbox: { toolpacks: [{ id: 'own', module, tools: ['log'] }] },
    tools: [{ name: 'log', description: '', inputSchema }],
  } as unknown as RunnerTurnInput;
  const taken: unknown[] = [];
  const take: ConstructorParameters<typeof Toolpacks>[2]['take'] = async (step, act) => {
    taken.push(step.input);
    return { response: await act(undefined) };
  };
  const door = { send: () => Promise.reject(new Error('none')) };
  const packs = new Toolpacks(input, door, { take }, { env: { PATH: process.env['PATH'] }, log: () => undefined });
  const written = { parameters: { gauge: '5', metres: '2.5', note: null } };
  expect(await packs.call('log', written, '0.0')).toEqual({ response: { output: '{"gauge":"5","metres":2.5}' } });
  const refused = packs.call('log', { gauge: 'a', meters: 1 }, '0.1');
  await expect(refused).rejects.toMatchObject({
    code: 'input-invalid',
    message: 'The input of log is not valid: unknown field "meters"; the fields are: gauge, metres, note.',
  });
  expect(taken).toEqual([written, { gauge: 'a', meters: 1 }]);
  packs.close();
});
