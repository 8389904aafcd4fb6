import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer } from 'node:net';
import { existsSync } from 'node:fs';
import { copyFile, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { until } from './support/until.js';
import { World } from './support/world.js';

let world: World | undefined;
const children: ChildProcess[] = [];
afterEach(async () => {
  for (const child of children.splice(0)) {
    if (child.exitCode !== null || child.signalCode !== null) continue;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  }
  await world?.close();
  world = undefined;
});

async function open(): Promise<World> {
  world = await World.open({ settings: { policy: { backends: ['process'] } }, start: false });
  return world;
}

/**
 * Something that keeps writing in a directory. There is so much by then that it takes a while to remove: on a busy machine,
 * too, the writer has its share of the processors meanwhile.
 */
async function writer(directory: string, environment: Record<string, string> = {}): Promise<ChildProcess> {
  await mkdir(directory, { recursive: true });
  const program = `for (let i = 0; ; i += 1) { try { require('fs').mkdirSync(process.argv[1] + '/' + i, { recursive: true }) } catch {} }`;
  const child = spawn(process.execPath, ['-e', program, directory], {
    env: environment,
    detached: true,
    stdio: 'ignore',
  });
  children.push(child);
  await until(async () => (await readdir(directory)).length > 300, 'much to be written');
  return child;
}

describe('a worker that was killed starts again', () => {
  test('while what it ran still writes: that is killed first', async () => {
    const here = await open();
    const directory = `${here.directory}/w/turns/turn.1-abcdef`;
    const orphan = await writer(directory, { SUZUMIO_TURN_DIR: directory });
    const gone = once(orphan, 'exit');
    await here.worker.start();
    await gone;
    expect(here.worker.ready).toBe(true);
    expect(await readdir(`${here.directory}/w/turns`)).toEqual([]);
  });

  test('while somebody else writes there, and says so', async () => {
    const here = await open();
    await writer(`${here.directory}/w/turns/turn.1-abcdef`);
    await here.worker.start();
    expect(here.worker.ready).toBe(true);
    expect(here.lines.filter(({ msg }) => String(msg).includes('is still written to'))).toMatchObject([
      { path: `${here.directory}/w/turns/turn.1-abcdef` },
    ]);
    expect((await here.run({ backend: 'process' })).completed?.output.text).toBe('done');
  });

  test('and reports what it had claimed at once, when nothing of it runs any more', async () => {
    const here = await open();
    await here.worker.start();
    const turn = await here.give({ backend: 'process', steps: [{ hang: true }] });
    const attempts = `${here.directory}/w/attempts`;
    const granted = async () => {
      const [name = ''] = (await readdir(attempts)).filter((file) => file.endsWith('.json'));
      const text = name === '' ? '' : await readFile(join(attempts, name), 'utf8').catch(() => '');
      return text.includes('sandbox') ? name : undefined;
    };
    await until(async () => (await granted()) !== undefined, 'the turn to run');
    const name = (await granted()) ?? '';
    // What a killed worker leaves; a worker that is stopped takes it away.
    await copyFile(join(attempts, name), `${here.directory}/state`);
    await here.worker.stop();
    await copyFile(`${here.directory}/state`, join(attempts, name));
    turn.failed = undefined;

    here.worker = here.newWorker();
    await here.worker.start();
    await until(() => turn.failed !== undefined, 'the report');
    expect(here.toolhost.turn(turn.answer.input.turn.id).failed?.failure.code).toBe('worker-lost');
    await until(async () => (await readdir(attempts)).length === 0, 'the state to be removed');
  });

  test('and leaves to its lease what it may not have been granted', async () => {
    const here = await open();
    const attempts = `${here.directory}/w/attempts`;
    await mkdir(attempts, { recursive: true });
    const turn = here.toolhost.add(here.claimOf({ backend: 'process' }));
    const claimId = 'a'.repeat(32);
    const state = { claimId, cell: here.cell, project: 'paper', turn: turn.answer.input.turn.id };
    await writeFile(`${attempts}/${claimId}.json`, JSON.stringify(state));
    await writeFile(`${attempts}/${'b'.repeat(32)}.json`, '{');
    await here.worker.start();
    await until(async () => (await readdir(attempts)).length === 0, 'the states to be removed');
    expect([turn.claims, turn.failed]).toEqual([[], undefined]);
  });

  test('and removes the socket with which it was taking its lock', async () => {
    const here = await open();
    await mkdir(`${here.directory}/w`);
    const dead = `${here.directory}/w/.0123456789ab.sock`;
    const held = `${here.directory}/w/.ba9876543210.sock`;
    const listen = `require('net').createServer().listen(process.argv[1], () => console.log('listens'))`;
    const child = spawn(process.execPath, ['-e', listen, dead], { stdio: ['ignore', 'pipe', 'ignore'] });
    await once(child.stdout, 'data');
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(held, resolve));
    await here.worker.start();
    expect([dead, held].map((path) => existsSync(path))).toEqual([false, true]);
    await new Promise((resolve) => server.close(resolve));
  });

  test('and removes the link by which it knew a long path', async () => {
    const here = await open();
    const workerDir = `${here.directory}/${'long/'.repeat(30)}w`;
    const leave = async (target: string) => {
      const holder = await mkdtemp(join(tmpdir(), 'suzumio-'));
      await symlink(target, join(holder, 'w'));
      return holder;
    };
    const [ours, another] = [await leave(workerDir), await leave(`${here.directory}/another`)];
    here.worker = here.newWorker({ workerDir });
    await here.worker.start();
    expect([ours, another].map((path) => existsSync(path))).toEqual([false, true]);
    expect((await here.run({ backend: 'process' })).completed?.output.text).toBe('done');
    await rm(another, { recursive: true });
  });
});
