import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { mountable } from './support/mountable.js';
import { eventually } from './support/poll.js';
import { openProject } from './support/project.js';

const page = readFileSync(new URL('../docs/tools.md', import.meta.url), 'utf8');
/** The toolpack of the page, by its files, and the project file before them. */
const files = new Map(
  [...page.matchAll(/^`(gauges\/[\w.]+)`[^\n]*\n\n```\w+\n([^]*?)^```/gm)].map(([, name = '', text = '']) => [
    name,
    text,
  ]),
);
const file = /^```yaml\n(name: tides\n[^]*?)^```/m.exec(page)?.[1] ?? '';

/** A toolpack that does what none should. */
const bad = {
  'bad/suzumio.toolpack.json': JSON.stringify({
    id: 'bad',
    tools: ['throw', 'end', 'none', 'support', 'hang'].map((name) => ({ name: `bad.${name}` })),
  }),
  'bad/runner.mjs': `
    export const createRunnerToolpack = ({ callSupport }) => ({
      'bad.throw': () => { throw new Error('no such list'); },
      'bad.end': () => process.exit(3),
      'bad.none': () => 'text',
      'bad.support': ({ tool }) => callSupport('bad.support', { tool }),
      'bad.hang': () => callSupport('bad.hang', {}),
    });`,
  'bad/controller.mjs': `
    import { readFileSync, writeFileSync } from 'node:fs';
    import { spawnSync } from 'node:child_process';
    export const createControllerToolpack = ({ store, agent, recordSignal }) => ({
      support: (tool, { tool: what }) => {
        if (what === 'environment') return { output: JSON.stringify(Object.keys(process.env).filter((name) => name !== '__CF_USER_TEXT_ENCODING')) };
        if (what === 'read') return { output: readFileSync('/etc/hosts', 'utf8') };
        if (what === 'write') { writeFileSync('/tmp/suzumio-bad', ''); return { output: 'wrote' }; }
        if (what === 'spawn') return { output: String(spawnSync('true').error?.code) };
        if (what === 'flood') return { output: 'x'.repeat(1e7) };
        if (what === 'exit') process.exit(4);
        if (what === 'forge') return { output: store.sendMessage({ sender: 'user', recipient: 'warden', body: 'x' }).id };
        if (what === 'mail') return { output: store.sendMessage({ recipient: 'warden', body: 'From a pack.' }).id };
        if (what === 'agents') return { output: store.listAgents().map(({ id }) => id).join() + store.config().name };
        if (what === 'nobody') return recordSignal({ kind: 'x', targetAgent: 'nobody' });
        if (what === 'useful') { recordSignal({ kind: 'done', usefulEffect: true }); return { output: 'ok' }; }
        for (;;);
      },
    });`,
};

const backend = (steps: object[]) =>
  `backend: ${JSON.stringify({
    kind: 'process',
    runner: {
      mode: 'mock',
      script: [
        { agent: 'reader', steps },
        { agent: 'warden', steps: [{ text: 'Told.' }] },
      ],
    },
  })}\n`;

let world: CliWorld;
let directory: string;
beforeAll(async () => {
  directory = mkdtempSync(join(mountable, 'suzumio-toolpacks-'));
  for (const [name, text] of [...files, ...Object.entries(bad)]) {
    mkdirSync(dirname(join(directory, name)), { recursive: true });
    writeFileSync(join(directory, name), text);
  }
  world = await createCliWorld();
  await world.serve();
});
afterAll(async () => {
  await world.remove();
  rmSync(directory, { recursive: true, force: true });
});

/** Makes the project of the page under another name, with what its reader does, and runs that once. */
async function played(name: string, steps: object[], pack = 'gauges') {
  const text = file.replace('name: tides', `name: ${name}`).replaceAll('gauges', pack).concat(backend(steps));
  const path = join(directory, `${name}.yaml`);
  writeFileSync(path, text);
  expect(await world.run('init', path, '--allow-toolpack', join(directory, pack))).toMatchObject({ code: 0 });
  expect(await world.run('start', name)).toMatchObject({ code: 0 });
  expect(await world.run('send', name, 'reader', 'P1', 'Go.')).toMatchObject({ code: 0 });
  const project = openProject(world.root, name);
  const turns = () =>
    project.all<{ status: string; failure: string | null }>('SELECT status, failure_json AS failure FROM turns');
  await eventually(
    'its turns are over',
    () => turns().length > 0 && turns().every(({ status }) => !['queued', 'running'].includes(status)),
  );
  const calls = project.all<{
    step: string;
    tool: string;
    status: string;
    output: string;
    code: string | null;
    marked: number;
  }>('SELECT step, tool, status, output_json AS output, error_code AS code, marked FROM tool_calls ORDER BY seq');
  const mail = project.all<{ sender: string; recipient: string; body: string; priority: string }>(
    `SELECT sender, recipient, body, priority FROM messages WHERE sender <> 'user' ORDER BY seq`,
  );
  const events = project
    .all<{ data: string }>(`SELECT data_json AS data FROM events WHERE type = 'signal.recorded' ORDER BY seq`)
    .map(({ data }) => JSON.parse(data) as unknown);
  const ended = turns();
  project.close();
  return { turns: ended, calls, mail, events };
}

describe('the toolpack of the page', () => {
  test('reads, logs and warns, on record like every other tool', async () => {
    expect([...files.keys()]).toEqual(['gauges/suzumio.toolpack.json', 'gauges/runner.mjs', 'gauges/controller.mjs']);
    const log = (metres: unknown) => ({ gauge: 'north', metres });
    const { calls, mail, events } = await played('tides', [
      { write: { path: 'readings.csv', text: '3.1\n3.3\n' } },
      { tool: 'gauges.mean', input: { file: 'readings.csv' } },
      { tool: 'gauges.log', input: log(3.2) },
      { tool: 'gauges.log', input: log(4.4) },
      { tool: 'gauges.log', input: log('high'), expectError: 'toolpack-failed' },
    ]);
    expect(calls.filter(({ tool }) => tool.startsWith('gauges'))).toMatchObject([
      { step: '1.0', tool: 'gauges.mean', status: 'succeeded', output: '"3.20 m"', marked: 0 },
      { step: '2.0', tool: 'gauges.log', status: 'succeeded', output: '"Logged as number 1."', marked: 1 },
      { step: '2.0/support.1', tool: 'gauges.log', status: 'succeeded', output: '"Logged as number 1."' },
      { step: '3.0', status: 'succeeded', output: '"Logged as number 2."', marked: 1 },
      { step: '3.0/support.1', status: 'succeeded' },
      {
        step: '4.0',
        status: 'failed',
        code: 'toolpack-failed',
        output: expect.stringContaining('metres: expected a number'),
      },
      { step: '4.0/support.1', status: 'failed', code: 'toolpack-failed' },
    ]);
    expect(mail).toEqual([{ sender: 'reader', recipient: 'warden', priority: 'P0', body: 'flood\n\nnorth: 4.4 m' }]);
    expect(events).toMatchObject([
      { toolpack: 'gauges', kind: 'flood', useful: false, message: expect.stringMatching(/^msg_/) },
    ]);
    expect(readFileSync(join(world.root, 'projects/tides/toolpacks/gauges/log.csv'), 'utf8')).toBe(
      'north,3.2,reader\nnorth,4.4,reader\n',
    );
    expect((await world.run('tool-calls', 'tides')).out).toContain('2.0/support.1');
  });

  test('stays what it was in its project when its directory is gone', async () => {
    const kept = readFileSync(join(directory, 'gauges/runner.mjs'), 'utf8');
    const step = { tool: 'gauges.log', input: { gauge: 'south', metres: 1 } };
    const path = join(directory, 'gone.yaml');
    writeFileSync(path, file.replace('name: tides', 'name: gone').concat(backend([step])));
    expect(await world.run('init', path, '--allow-toolpack', join(directory, 'gauges'))).toMatchObject({ code: 0 });
    rmSync(join(directory, 'gauges'), { recursive: true });
    await world.run('start', 'gone');
    await world.run('send', 'gone', 'reader', 'P1', 'Go.');
    const project = openProject(world.root, 'gone');
    const done = () => project.get<{ status: string }>('SELECT status FROM turns')?.status === 'completed';
    await eventually('its turn is over', done);
    project.close();
    mkdirSync(join(directory, 'gauges'));
    for (const [name, text] of files) writeFileSync(join(directory, name), text);
    expect(readFileSync(join(directory, 'gauges/runner.mjs'), 'utf8')).toBe(kept);
  });
});

describe('a toolpack that does what none should', () => {
  test('fails its calls by code and sentence, and its turn goes on', async () => {
    const support = (what: string, expectError?: string) => ({
      tool: 'bad.support',
      input: { tool: what },
      ...(expectError === undefined ? {} : { expectError }),
    });
    const { turns, calls, mail, events } = await played(
      'worst',
      [
        { tool: 'bad.throw', input: {}, expectError: 'toolpack-failed' },
        { tool: 'bad.end', input: {}, expectError: 'toolpack-failed' },
        { tool: 'bad.none', input: {}, expectError: 'toolpack-answer-invalid' },
        support('environment'),
        support('read', 'toolpack-failed'),
        support('write', 'toolpack-failed'),
        support('spawn', 'toolpack-failed'),
        support('flood', 'toolpack-answer-invalid'),
        support('exit', 'toolpack-failed'),
        support('forge'),
        support('mail'),
        support('agents'),
        support('nobody', 'toolpack-failed'),
        support('useful'),
        { text: 'The end.' },
      ],
      'bad',
    );
    expect(turns.filter(({ status }) => status !== 'completed')).toEqual([]);
    const outputs = calls
      .filter(({ tool, step }) => tool === 'bad.support' && !step.includes('/'))
      .map(({ output }) => output);
    expect(outputs).toMatchObject([
      '"[]"',
      expect.stringContaining('Access to this API has been restricted'),
      expect.stringContaining('Access to this API has been restricted'),
      expect.stringContaining('Access to this API has been restricted'),
      expect.stringContaining('it has 10000013 bytes'),
      expect.stringContaining('its process ended (exit code 4)'),
      expect.stringMatching(/^"msg_/),
      expect.stringMatching(/^"msg_/),
      '"reader,wardenworst"',
      expect.stringContaining('nobody'),
      '"ok"',
    ]);
    // Whoever a toolpack says that its mail is from, it is the agent's.
    expect(mail.map(({ sender, body }) => [sender, body])).toEqual([
      ['reader', 'x'],
      ['reader', 'From a pack.'],
    ]);
    expect(events).toEqual([{ toolpack: 'bad', kind: 'done', useful: true }]);
  });
});
