import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { describe, expect, test } from '@jest/globals';
import { agentImage, baseImage, deriveImage, docker, runnerImage } from './support/images.js';
import { EngineProxy } from './support/engine-proxy.js';
import type { TestTurn } from './support/test-toolhost.js';
import { until } from './support/until.js';
import { testPolicy, type World, type WorldOptions, worlds } from './support/world.js';

const forEver = `process.on('SIGTERM', () => {}); setInterval(() => {}, 1000);`;
const after = (ms: number) =>
  `import fs from 'node:fs'; setTimeout(() => fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'fine' })), ${ms});`;

const image = agentImage();
const open = worlds();

const told = (here: World, text: string) => here.lines.filter((line) => String(line['msg']).includes(text)).length;

describe('stopping', () => {
  test('lets running attempts go on for their grace', async () => {
    const here = await open({ limits: { shutdownGraceMs: 15_000 } });
    const turn = await here.give({ image: image.name, program: after(1_000) });
    await here.containerOf(turn);
    await here.worker.stop();
    expect(turn.completed?.output.text).toBe('fine');
    expect(here.worker.ready).toBe(false);
  });

  test('kills and reports what goes on longer, and takes nothing new', async () => {
    const here = await open({ limits: { shutdownGraceMs: 200 } });
    const turn = await here.give({ image: image.name, program: forEver });
    await here.containerOf(turn);
    const stopped = here.worker.stop();
    const late = await here.give({ image: image.name, program: after(0), agent: 'late' });
    await stopped;
    expect(turn.failed?.failure).toMatchObject({ code: 'worker-shutdown' });
    expect(late.claims).toEqual([]);
    expect(await here.containers()).toEqual([]);
    expect(await readdir(`${here.directory}/w/attempts`)).toEqual([]);
  });

  test('gives running attempts no more time once somebody hurries', async () => {
    const hurry = new AbortController();
    const here = await open({ limits: { shutdownGraceMs: 2 ** 30 }, hurry: hurry.signal });
    const turn = await here.give({ image: image.name, program: forEver });
    await here.containerOf(turn);
    const stopped = here.worker.stop();
    hurry.abort();
    await stopped;
    expect(turn.failed?.failure).toMatchObject({ code: 'worker-shutdown' });
    expect(await here.containers()).toEqual([]);
  });

  test('is bounded where the ToolHost is away', async () => {
    const here = await open();
    const turn = await here.give({ image: image.name, program: forEver });
    await here.containerOf(turn);
    here.toolhost.intercept = () => 'cut';
    await here.worker.stop();
    expect(await here.containers()).toEqual([]);
  });

  test('before starting, and twice, does nothing', async () => {
    const here = await open({ start: false });
    await here.worker.stop();
    await here.worker.start();
    await here.worker.stop();
    await here.worker.stop();
  });
});

describe('starting', () => {
  test('refuses a directory that another worker uses', async () => {
    const here = await open();
    const second = here.newWorker();
    await expect(second.start()).rejects.toMatchObject({ code: 'data-dir-in-use' });
    await here.worker.stop();
    await second.start();
    await second.stop();
  });

  test('shares a directory where it is told to: each takes a subdirectory, one that is free again before a new one', async () => {
    const here = await open({ settings: { shareWorkerDir: true } });
    const idOf = (number: number) => readFile(`${here.directory}/w/${number}/worker-id`, 'utf8');
    const second = here.newWorker();
    await second.start();
    const [first, other] = [await idOf(1), await idOf(2)];
    expect(other).not.toBe(first);
    await here.worker.stop();
    here.worker = here.newWorker();
    await here.worker.start();
    expect([await readdir(`${here.directory}/w`), await idOf(1)]).toEqual([['1', '2'], first]);
    const turn = await here.run({ image: image.name, program: after(0) });
    expect(turn.completed?.output.text).toBe('fine');
    await second.stop();
  });

  test('takes a directory whose path is too long for sockets', async () => {
    const here = await open({ start: false });
    here.worker = here.newWorker({
      workerDir: `${here.directory}/${'long/'.repeat(30)}w`,
      policy: { ...testPolicy, backends: ['docker', 'process'] },
      runnerImage,
    });
    await here.worker.start();
    const send = { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'x' } };
    for (const backend of ['docker', 'process'] as const) {
      const turn = await here.run({ backend, steps: [send, { text: 'sent' }] });
      expect(turn.failed).toBeUndefined();
      expect(turn.completed?.output.text).toBe('sent');
    }
  });

  test('removes what a former process of this worker left running', async () => {
    const here = await open();
    const worker = await readFile(`${here.directory}/w/worker-id`, 'utf8');
    await here.worker.stop();
    const container = await docker.createContainer({
      Image: baseImage,
      Cmd: ['sleep', '60'],
      Labels: { 'suzumio.worker': worker, 'suzumio.keep-for-ms': '3600000' },
      HostConfig: { NetworkMode: 'none', Init: true },
    });
    await container.start();
    here.worker = here.newWorker();
    await here.worker.start();
    await expect(container.inspect()).rejects.toMatchObject({ statusCode: 404 });
  });
});

describe('a host that cannot run turns', () => {
  test.each([
    ['the image of the runner is missing', { runnerImage: 'suzumio-no-such-image:dev' }, 'image-missing'],
    ['the engine does not answer', { dockerSocket: '/nonexistent/docker.sock' }, 'engine-unreachable'],
    ['the runner has no Node', { runnerImage: 'suzumio-test-nonode:dev' }, 'container-start-failed'],
  ])('takes no jobs, and says so once: %s', async (_name, settings, code) => {
    const here = await open({ settings, limits: { probeRetryMs: 50 } });
    expect(here.worker.ready).toBe(false);
    const turn = await here.give({ image: image.name, program: after(0) });
    await new Promise((resolve) => setTimeout(resolve, 500));
    expect(turn.claims).toEqual([]);
    expect(here.lines.filter((line) => line['level'] === 'error')).toMatchObject([{ code }]);
    expect(await here.transport.fleet()).toMatchObject([{ slots: 0 }]);
  });

  test('takes jobs once the engine is there, and again after it was away', async () => {
    const directory = await mkdtemp('/tmp/suzumio-engine-');
    const engine = new EngineProxy(`${directory}/docker.sock`);
    const here = await open({ settings: { dockerSocket: engine.path } });
    try {
      const turn = await here.give({ image: image.name, program: after(0) });
      expect([here.worker.ready, turn.claims.length]).toEqual([false, 0]);
      await engine.open();
      expect((await here.toolhost.ended(turn.answer.input.turn.id)).completed?.output.text).toBe('fine');

      const running = await here.give({ image: image.name, program: after(1_500) });
      await here.containerOf(running);
      await engine.close();
      await until(() => !here.worker.ready, 'the worker to notice');
      await until(() => told(here, 'accepts no jobs') === 2, 'the worker to say so');
      await engine.open();
      // The container ended while nobody could hear of it.
      expect((await here.toolhost.ended(running.answer.input.turn.id)).completed?.output.text).toBe('fine');
      await until(() => here.worker.ready, 'the worker to be ready again');
    } finally {
      await here.worker.stop();
      await engine.close();
      await rm(directory, { recursive: true });
    }
  });

  test('a door through standard input and output is mended after a cut', async () => {
    const directory = await mkdtemp('/tmp/suzumio-engine-');
    const engine = new EngineProxy(`${directory}/docker.sock`);
    await engine.open();
    const here = await open({ settings: { dockerSocket: engine.path, door: 'stdio' } });
    try {
      const send = { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'x' } };
      const turn = await here.give({ steps: [send, { wait: 1_500 }, send, { text: 'mended' }] });
      // A call whose answer was cut off is made again under its step.
      const ofTurn = () => here.toolhost.toolCalls.filter((call) => call.turn === turn.answer.input.turn.id);
      const calls = () => new Set(ofTurn().map(({ step }) => step)).size;
      await until(() => calls() === 1, 'the first call');
      engine.cut();
      expect((await here.toolhost.ended(turn.answer.input.turn.id)).completed?.output.text).toBe('mended');
      expect(calls()).toBe(2);
    } finally {
      await here.worker.stop();
      await engine.close();
      await rm(directory, { recursive: true });
    }
  });
});

describe("a project's own mistake", () => {
  const unstartable = async () => deriveImage(baseImage, ['ENTRYPOINT ["/no/such/program"]', 'LABEL suzumio.runner=1']);

  test('keeps the worker from nothing: no image, no network, a program that is not there', async () => {
    const here = await open({ settings: { policy: { ...testPolicy, networks: ['none', 'suzumio-no-such-network'] } } });
    const broken = await unstartable();
    try {
      const ready: boolean[] = [];
      const watch = setInterval(() => ready.push(here.worker.ready), 5);
      const mistakes = [
        { image: 'suzumio-no-such-image:dev' },
        { image: image.name, sandbox: { network: 'suzumio-no-such-network' } },
        { image: broken.name },
      ];
      const codes: unknown[] = [];
      for (const mistake of mistakes) codes.push((await here.run(mistake)).failed?.failure.code);
      expect(codes).toMatchObject(['image-missing', 'container-start-failed', expect.any(String)]);
      const turn = await here.run({ image: image.name, program: after(0), agent: 'other' });
      clearInterval(watch);
      expect(turn.completed?.output.text).toBe('fine');
      expect(new Set(ready)).toEqual(new Set([true]));
    } finally {
      await broken.remove();
    }
  });
});

describe('a turn that a signal ends', () => {
  const diesBySignal = (afterMs: number) =>
    `setTimeout(() => process.kill(process.pid, 'SIGKILL'), ${afterMs}); setInterval(() => {}, 1000);`;
  const waits = `setInterval(() => {}, 1000);`;
  const failureOf = async (here: World, turn: TestTurn) =>
    (await here.toolhost.ended(turn.answer.input.turn.id)).failed?.failure;
  const ended = (id: string) => docker.getContainer(id).wait();

  async function behindProxy(limits: WorldOptions['limits'] = {}): Promise<{ here: World; engine: EngineProxy }> {
    const here = await open({ start: false });
    const engine = new EngineProxy(`${here.directory}/docker.sock`);
    await engine.open();
    here.worker = here.newWorker({ dockerSocket: engine.path, door: 'socket' }, { ...limits });
    await here.worker.start();
    return { here, engine };
  }

  test('of its own has failed by itself', async () => {
    const here = await open();
    const turn = await here.run({ image: image.name, program: diesBySignal(0) });
    expect(turn.failed?.failure).toMatchObject({ code: 'non-zero-exit', exitCode: 137 });
  });

  test('of somebody else who may use the engine has not', async () => {
    const here = await open();
    const turn = await here.give({ image: image.name, program: waits });
    await docker.getContainer(await here.containerOf(turn)).stop({ t: 5 });
    expect(await failureOf(here, turn)).toMatchObject({ code: 'container-killed', exitCode: 143 });
  });

  test('while the engine is away, as when it restarts, has not', async () => {
    const { here, engine } = await behindProxy();
    const turn = await here.give({ image: image.name, program: waits });
    const id = await here.containerOf(turn);
    await engine.close();
    await docker.getContainer(id).kill();
    await engine.open();
    expect(await failureOf(here, turn)).toMatchObject({ code: 'container-killed', exitCode: 137 });
    await here.worker.stop();
    await engine.close();
  });

  test('just before the engine goes away has not', async () => {
    const { here, engine } = await behindProxy({ aftermathMs: 600_000 });
    const turn = await here.give({ image: image.name, program: diesBySignal(500) });
    await ended(await here.containerOf(turn));
    await until(() => here.lines.some(({ msg }) => msg === 'a turn was ended by a signal'), 'the worker to see it');
    await engine.close();
    await until(() => !here.worker.ready, 'the worker to notice');
    await engine.open();
    expect(await failureOf(here, turn)).toMatchObject({ code: 'container-killed' });
    await here.worker.stop();
    await engine.close();
  });

  test('after the connection to the engine was cut and mended has failed by itself', async () => {
    const { here, engine } = await behindProxy();
    const turn = await here.give({ image: image.name, program: diesBySignal(2_000) });
    await here.containerOf(turn);
    engine.cut();
    await until(() => !here.worker.ready, 'the worker to notice');
    expect(await failureOf(here, turn)).toMatchObject({ code: 'non-zero-exit' });
    await here.worker.stop();
    await engine.close();
  });

  test('just before the worker is told to stop, as when the host shuts down, has not', async () => {
    const here = await open({ limits: { aftermathMs: 600_000 } });
    const turn = await here.give({ image: image.name, program: diesBySignal(500) });
    await ended(await here.containerOf(turn));
    await here.worker.stop();
    expect(turn.failed?.failure).toMatchObject({ code: 'worker-shutdown' });
  });

  test('while the worker stops has not', async () => {
    const here = await open({ limits: { shutdownGraceMs: 15_000 } });
    const turn = await here.give({ image: image.name, program: diesBySignal(1_000) });
    await here.containerOf(turn);
    await here.worker.stop();
    expect(turn.failed?.failure).toMatchObject({ code: 'worker-shutdown' });
  });
});

/** As when the attempt waits for a provider. */
function refuseReport(_turn: TestTurn, here: World): void {
  here.toolhost.intercept = ({ url }) => (url?.endsWith('/fail') ? { status: 409, code: 'attempt-over' } : undefined);
}

/** Waits until the worker has swept so often since now. It asks for the deleted projects each time. */
async function sweeps(here: World, times: number): Promise<void> {
  let swept = 0;
  here.toolhost.intercept = ({ url }) => {
    if (url === '/projects/gone') swept += 1;
    return undefined;
  };
  await until(() => swept > times, 'the worker to sweep');
}

describe('ended containers', () => {
  const fails = `process.exit(1)`;
  const succeeds = after(0);
  test.each([
    ['never', fails, []],
    ['failed', succeeds, []],
    ['failed', fails, ['exited']],
    ['always', succeeds, ['exited']],
  ] as const)('are kept as the project wants it: %s', async (keep, program, left) => {
    const here = await open({ limits: { sweepMs: 600_000 } });
    await here.run({ image: image.name, program, sandbox: { keep, keepForMs: 3_600_000 } });
    await here.worker.stop();
    expect((await here.containers()).map(({ state }) => state)).toEqual(left);
  });

  test('go when they were kept long enough', async () => {
    const here = await open({ limits: { sweepMs: 100 } });
    await here.run({
      image: image.name,
      program: fails,
      agent: 'a',
      sandbox: { keep: 'always', keepForMs: 3_600_000 },
    });
    const turn = await here.run({
      image: image.name,
      program: fails,
      agent: 'b',
      sandbox: { keep: 'always', keepForMs: 1 },
    });
    await until(async () => (await here.containers()).length === 1, 'one of the containers to go');
    const [left] = await here.containers();
    expect(turn.failed?.stats?.container).not.toBe(left?.id);
  });

  test('of one agent are three at most, the newest ones', async () => {
    const here = await open({ limits: { sweepMs: 100 } });
    const sandbox = { keep: 'always', keepForMs: 3_600_000 } as const;
    const other = await here.run({ image: image.name, program: fails, agent: 'other', sandbox });
    const turns = [other];
    for (let n = 0; n < 5; n += 1)
      turns.push(await here.run({ image: image.name, program: fails, agent: 'a', sandbox }));
    await until(async () => (await here.containers()).length <= 4, 'the older containers to go');
    await sweeps(here, 2);
    const idOf = ({ failed }: TestTurn) => failed?.stats?.container;
    expect(new Set((await here.containers()).map(({ id }) => id))).toEqual(
      new Set([other, ...turns.slice(-3)].map(idOf)),
    );
  });

  test.each([
    // A program that ended by itself first would have failed, and its container would be kept.
    ['in a heartbeat', (turn: TestTurn) => (turn.cancel = true), false],
    ['before its report came', refuseReport, true],
  ] as const)('of an attempt that the ToolHost has ended %s are not kept', async (_when, end, exits) => {
    const here = await open({ limits: { sweepMs: 600_000, heartbeatMs: 100 } });
    const sandbox = { keep: 'failed', keepForMs: 3_600_000 } as const;
    const program = `import fs from 'node:fs'; setInterval(() => fs.existsSync('/workspace/go') && process.exit(1), 20);`;
    const turn = await here.give({ image: image.name, program, sandbox });
    await here.containerOf(turn);
    end(turn, here);
    if (exits) await writeFile(`${here.directory}/w/workspaces/${here.cell}/paper.1/writer/go`, '');
    await until(() => told(here, 'an attempt has ended') === 1, 'the attempt to end');
    await here.worker.stop();
    expect(await here.containers()).toEqual([]);
  });

  test('are told from those that are just being started', async () => {
    const here = await open({ limits: { sweepMs: 20 } });
    const sandbox = { keep: 'never', keepForMs: 0 } as const;
    const agents = Array.from({ length: 6 }, (_, index) => `agent-${index}`);
    const turns = await Promise.all(
      agents.map((agent) => here.run({ image: image.name, program: succeeds, agent, sandbox })),
    );
    expect(turns.map(({ failed }) => failed?.failure)).toEqual(agents.map(() => undefined));
  });
});
