import { readFile, readdir } from 'node:fs/promises';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from './support/until.js';
import { testPolicy, World } from './support/world.js';

let world: World;

beforeAll(async () => {
  world = await World.open({
    settings: { policy: { ...testPolicy, backends: ['process'] } },
    limits: { heartbeatMs: 200 },
  });
});

afterAll(() => world.close());

/** Processes whose environment names this worker's turns. */
async function processes(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name));
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')));
  return pids.filter((_, i) => environments[i]?.includes(`${world.directory}/w/turns/`));
}

describe('the process backend', () => {
  test('says once that it isolates nothing', () => {
    expect(world.lines.filter((line) => String(line['msg']).includes('without any isolation'))).toHaveLength(1);
  });

  test('runs the same runner, with its door, its workspace and no secret of the worker', async () => {
    const turn = await world.run({
      backend: 'process',
      steps: [
        { tool: 'messages.send', input: { recipient: 'user', priority: 'P1', body: 'x' } },
        { run: { command: 'env > environment.txt; pwd' } },
        { tool: 'artifacts.publish', input: { path: 'environment.txt' } },
        { text: 'done' },
      ],
    });
    expect(turn.failed).toBeUndefined();
    expect(turn.completed?.output.text).toBe('done');
    const environment = await readFile(
      `${world.directory}/w/workspaces/${world.cell}/paper.1/writer/environment.txt`,
      'utf8',
    );
    const names = environment.split('\n').map((line) => line.split('=')[0] ?? '');
    expect(
      names.filter(
        (name) =>
          ![
            '',
            'PATH',
            'HOME',
            'TMPDIR',
            'GIT_CONFIG_SYSTEM',
            'SUZUMIO_TURN_DIR',
            'SUZUMIO_TURN_MARK',
            'PWD',
            'SHLVL',
            'OLDPWD',
            '_',
          ].includes(name),
      ),
    ).toEqual([]);
    expect(world.toolhost.toolCalls.map((call) => call.tool)).toEqual(['messages.send', 'artifacts.publish']);
  });

  test.each([
    [403, 'quota-exceeded'],
    [507, 'disk-reserve'],
  ])('completes a turn whose workspace is refused (%i), without it', async (status, code) => {
    world.toolhost.intercept = ({ method, url = '' }) =>
      method === 'PUT' && url.includes('/content/') ? { status, code } : undefined;
    try {
      const steps = [{ run: { command: `echo ${code} > file.txt` } }, { text: 'done' }];
      const { completed, failed } = await world.run({ backend: 'process', agent: 'keeper', steps });
      expect(failed).toBeUndefined();
      expect(completed?.output.text).toBe('done');
      expect(completed).toMatchObject({ unsaved: { code } });
      expect(completed).not.toHaveProperty('snapshot');
    } finally {
      world.toolhost.intercept = () => undefined;
    }
    // The next turn begins with the files that are stored.
    const next = await world.run({ backend: 'process', agent: 'keeper', steps: [{ run: { command: 'ls' } }] });
    expect(next.completed?.snapshot).toBeNull();
  });

  test('sets the variables that the project file asks for, and keeps its own', async () => {
    const { completed } = await world.run({
      backend: 'process',
      agent: 'variable',
      sandbox: { env: { GREETING: 'good day', HOME: '/nowhere' } },
      steps: [{ run: { command: 'echo "$GREETING, $HOME"' } }, { text: '{{steps.0.output}}' }],
    });
    expect(completed?.output.text).toMatch(new RegExp(`^good day, ${world.directory}/w/turns/`));
  });

  test('tells exit codes and the time limit apart', async () => {
    const failed = await world.run({ backend: 'process', steps: [{ fail: { exit: 7 } }] });
    expect(failed.failed?.failure).toMatchObject({ code: 'non-zero-exit', exitCode: 7 });
    const late = await world.run({ backend: 'process', timeoutMs: 1_000, steps: [{ hang: true }] });
    expect(late.failed?.failure).toMatchObject({ code: 'time-limit', signal: 'SIGKILL' });
  });

  test('fails a turn that leaves a file too large to store, and names the file', async () => {
    const { failed } = await world.run({
      backend: 'process',
      agent: 'large',
      steps: [{ run: { command: 'truncate -s 268435457 dump.bin' } }, { text: 'done' }],
    });
    expect(failed?.failure).toMatchObject({
      code: 'workspace-too-large',
      message: expect.stringContaining('dump.bin'),
    });
  });

  test('kills what the runner started along with it', async () => {
    const turn = await world.give({ backend: 'process', steps: [{ run: { command: 'sleep 1000 & sleep 1000' } }] });
    await until(async () => (await processes()).length >= 3, 'the processes');
    turn.cancel = true;
    await until(async () => (await processes()).length === 0, 'the processes to be gone');
  });

  test('kills at its start what outlived a former process of this worker', async () => {
    await world.worker.stop();
    const orphan = spawn('sleep', ['1000'], {
      detached: true,
      env: { SUZUMIO_TURN_DIR: `${world.directory}/w/turns/t` },
    });
    const gone = once(orphan, 'exit');
    await world.worker.start();
    await gone;
    expect(world.worker.ready).toBe(true);
  });

  test('is not ready without a runner', async () => {
    await world.worker.stop();
    const worker = world.newWorker({ runnerBundle: '/nonexistent/runner.mjs' });
    await worker.start();
    expect(worker.ready).toBe(false);
    await worker.stop();
  });
});
