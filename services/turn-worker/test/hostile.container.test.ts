import { readdir } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentCommand, baseImage, deriveImage, docker } from './support/images.js';
import { until } from './support/until.js';
import { type TurnSpec, World } from './support/world.js';

const mib = 1024 * 1024;
const imports = `
import fs from 'node:fs';
import { execFileSync, spawn, spawnSync } from 'node:child_process';
const out = (text) => fs.writeFileSync('/turn/output.json', text);
const valid = JSON.stringify({ text: 'fine' });
const sh = (command) => execFileSync('sh', ['-c', command], { stdio: 'inherit' });
`;

let world: World;
/** Runs `/workspace/agent.mjs` as its own entry point: no shim, so that the tests see what the program does. */
let bare: Awaited<ReturnType<typeof deriveImage>>;

beforeAll(async () => {
  bare = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1']);
  world = await World.open({
    settings: { slots: 4 },
    limits: {
      sizeCheckMs: 100,
      maxLogBytes: 64 * 1024,
    },
  });
});

afterAll(async () => {
  await world.close();
  await bare.remove();
});

function hostile(program: string, spec: TurnSpec = {}): Promise<Awaited<ReturnType<World['run']>>> {
  const workspaceLimits = { maxBytes: 24 * mib, maxFiles: 500 };
  return world.run({ image: bare.name, program: imports + program, workspaceLimits, ...spec });
}

describe('the output', () => {
  const cases: [string, string, string, RegExp][] = [
    ['is missing', ``, 'output-missing', /without leaving an output\.json/],
    ['is empty', `out('')`, 'output-invalid', /is empty/],
    ['is truncated', `out(valid.slice(0, -3))`, 'output-invalid', /not JSON, or was cut off/],
    ['is not JSON', `out('<html>')`, 'output-invalid', /not JSON/],
    ['is of another shape', `out('{"text":7}')`, 'output-invalid', /text: /],
    [
      'is 100 MB of a hole',
      `out(''); fs.truncateSync('/turn/output.json', 20e6)`,
      'output-too-large',
      /more than 4194304 bytes/,
    ],
    ['is a symbolic link', `fs.symlinkSync('/etc/passwd', '/turn/output.json')`, 'output-invalid', /symbolic link/],
    ['is a FIFO', `sh('mkfifo /turn/output.json')`, 'output-invalid', /regular file/],
    ['is a directory', `fs.mkdirSync('/turn/output.json')`, 'output-invalid', /is a directory/],
  ];
  test.each(cases)('%s', async (_name, program, code, sentence) => {
    const { failed, completed } = await hostile(program);
    expect(completed).toBeUndefined();
    expect(failed?.failure).toMatchObject({ code, exitCode: 0, message: expect.stringMatching(sentence) });
  });

  test('is written under another name first, and by a runner that goes on for ever', async () => {
    const { completed } = await hostile(`
      fs.writeFileSync('/turn/output.json.tmp', valid);
      fs.renameSync('/turn/output.json.tmp', '/turn/output.json');
      process.on('SIGTERM', () => {});
      setInterval(() => {}, 1000);
    `);
    expect(completed?.output.text).toBe('fine');
    expect(completed?.stats?.exitCode).toBe(137);
  });

  test('is of 100 MB', async () => {
    const { failed } = await hostile(`sh('yes x | head -c 104857600 > /turn/output.json'); `);
    // Either bound may come first: the output's own, or that of all that a turn writes.
    expect(['output-too-large', 'workspace-too-large']).toContain(failed?.failure.code);
  });
});

describe('the end', () => {
  test('with an exit code of its own is told with its last words', async () => {
    const { failed, log } = await hostile(`console.error('first'); console.error('the last words'); process.exit(3)`);
    expect(failed?.failure).toMatchObject({
      code: 'non-zero-exit',
      exitCode: 3,
      message: expect.stringContaining('the last words'),
    });
    expect(log).toContain('first');
  });

  test('with a valid output and another exit code than 0 is a failure', async () => {
    const { failed } = await hostile(`out(valid); process.exit(4)`);
    expect(failed?.failure).toMatchObject({ code: 'non-zero-exit', exitCode: 4 });
  });

  test('a secret that it says is not passed on', async () => {
    const { failed, log, answer } = await hostile(
      `console.error(fs.readFileSync('/turn/input.json', 'utf8')); process.exit(1)`,
    );
    expect(log).toContain('tester');
    expect(`${log ?? ''} ${failed?.failure.message ?? ''}`).not.toContain(answer.toolToken);
  });

  test('by the kernel, out of memory', async () => {
    const { failed } = await hostile(`const kept = []; for (;;) kept.push(Buffer.alloc(8e6, 1));`, {
      sandbox: { memoryBytes: 96 * mib },
    });
    expect(failed?.failure).toMatchObject({ code: 'out-of-memory', exitCode: 137, oomKilled: true });
  });

  test('by its own memory limit', async () => {
    const { failed } = await hostile(`const kept = []; for (;;) kept.push({ a: new Array(1000).fill(kept.length) });`, {
      sandbox: { memoryBytes: 400 * mib },
    });
    expect(failed?.failure.code).toBe('out-of-memory');
  });

  test('of a child only, out of memory: the turn is completed', async () => {
    const { completed } = await hostile(
      `spawnSync('node', ['-e', 'const k=[]; for(;;) k.push(Buffer.alloc(8e6,1))']); out(valid);`,
      { sandbox: { memoryBytes: 128 * mib } },
    );
    expect(completed?.output.text).toBe('fine');
  });

  test('never, and deaf to SIGTERM: killed at the time limit', async () => {
    const { failed } = await hostile(
      `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000); console.error('still here')`,
      { timeoutMs: 10_000 },
    );
    expect(failed?.failure).toMatchObject({
      code: 'time-limit',
      exitCode: 137,
      message: expect.stringMatching(/10000 ms.*still here/s),
    });
  });

  test('of the container at the hands of somebody else', async () => {
    const turn = await world.give({ image: bare.name, program: `setInterval(() => {}, 1000)` });
    await docker.getContainer(await world.containerOf(turn)).remove({ force: true });
    const { failed } = await world.toolhost.ended(turn.answer.input.turn.id);
    expect(['container-vanished', 'container-killed']).toContain(failed?.failure.code);
  });
});

describe('the machine', () => {
  test('forks without end: it gets as far as its limit of processes', async () => {
    const { completed } = await hostile(
      `
      let children = 0;
      const told = () => { out(JSON.stringify({ text: String(children) })); process.exit(0); };
      const fork = () => spawn('sleep', ['60']).on('error', told).on('spawn', () => { children += 1; fork(); });
      fork();
    `,
      { sandbox: { pids: 32 } },
    );
    const children = Number(completed?.output.text);
    expect(children).toBeGreaterThan(5);
    expect(children).toBeLessThan(32);
  });

  test.each([
    ['workspace', '/workspace/x'],
    ['turn directory', '/turn/x'],
  ])('fills the %s', async (_name, path) => {
    const { failed } = await hostile(`sh('dd if=/dev/zero of=${path} bs=1M count=2000')`);
    expect(failed?.failure).toMatchObject({ code: 'workspace-too-large', message: expect.stringMatching(/bytes/) });
    await until(async () => (await readdir(`${world.directory}/w/turns`)).length === 0, 'the turn directory to go');
  });

  test('makes files without end', async () => {
    const { failed } = await hostile(`for (let i = 0; ; i++) fs.writeFileSync('/workspace/f' + i, '')`);
    expect(failed?.failure).toMatchObject({ code: 'workspace-too-large', message: expect.stringMatching(/500|516/) });
  });

  test('digs directories without end', async () => {
    const { failed } = await hostile(`
      const deep = (top) => top + '/aaaaaaaaaaaaaaaaaaaa'.repeat(150);
      for (const top of ['/workspace/x', '/workspace/y', '/workspace/z']) fs.mkdirSync(deep(top), { recursive: true });
      fs.renameSync('/workspace/y', deep('/workspace/z') + '/y');
      fs.renameSync('/workspace/z', deep('/workspace/x') + '/z');
      out(valid);
    `);
    expect(failed?.failure.code).toBe('workspace-too-large');
  });

  test('floods the log, of which the end is kept', async () => {
    const { completed, log } = await hostile(
      `sh('yes ' + 'x'.repeat(2000) + ' | head -c 5000000'); console.log('the end of the flood'); out(valid)`,
    );
    expect(completed?.output.text).toBe('fine');
    expect(Buffer.byteLength(log ?? '')).toBe(64 * 1024);
    expect(log).toMatch(/the end of the flood\n$/);
  });

  test('leaves pipes, sockets and names that are no text: they are not kept', async () => {
    const { completed } = await hostile(`
      sh('mkfifo /workspace/pipe');
      fs.mkdirSync(Buffer.from([0x2f, 0x77, 0x6f, 0x72, 0x6b, 0x73, 0x70, 0x61, 0x63, 0x65, 0x2f, 0xff, 0xfe]));
      fs.symlinkSync('/etc/passwd', '/workspace/link');
      fs.mkdirSync('/workspace/closed'); fs.writeFileSync('/workspace/closed/a', 'a'); fs.chmodSync('/workspace/closed', 0);
      out(valid);
    `);
    const files = await world.toolhost.filesOf(completed?.snapshot);
    expect(Object.keys(files)).toEqual(['agent.mjs', 'closed', 'closed/a', 'link']);
    expect(files['link']).toMatchObject({ target: '/etc/passwd' });
  });
});

describe('the image', () => {
  test('is not there', async () => {
    const { failed } = await world.run({ image: 'suzumio-no-such-image:dev' });
    expect(failed?.failure).toMatchObject({
      code: 'image-missing',
      message: expect.stringContaining('suzumio-no-such-image:dev: pull it or build it there, on a runner of this'),
    });
  });

  test('has no Node', async () => {
    const { failed } = await world.run({ image: 'suzumio-test-nonode:dev' });
    expect(failed?.failure).toMatchObject({ code: 'image-without-node', message: expect.stringContaining('Node') });
  });

  test.each(['0:0', '0:1000', 'root', '1000'])('is to run as %s', async (user) => {
    const { failed } = await world.run({ sandbox: { user } });
    expect(failed?.failure).toMatchObject({ code: 'policy-denied', message: expect.stringContaining(user) });
  });

  test('is to run with a backend that this worker does not have', async () => {
    const { failed } = await world.run({ backend: 'process' });
    expect(failed?.failure).toMatchObject({ code: 'policy-denied', message: expect.stringContaining('process') });
  });
});
