import { createServer } from 'node:net';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { checkDataDirectory, checkEngine, checkInstallation, checkNode, checkQueue } from '@suzumio/cli/doctor/checks';
import { type CliWorld, createCliWorld } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

describe('doctor, of what is broken, says what to do', () => {
  test('a Node that is too old', () => {
    expect(checkNode('v20.20.2')).toMatchObject({ state: 'broken', detail: 'v20.20.2; 22 or later is needed' });
    expect(checkNode('v22.0.0').state).toBe('ok');
  });

  test('a runner that was not built', () => {
    expect(checkInstallation(['/nowhere/runner.mjs'])).toMatchObject({ state: 'broken', remedy: 'npm run build' });
  });

  test('a data directory that cannot be one', async () => {
    await writeFile(world.root, 'a file');
    expect(checkDataDirectory(world.root)).toMatchObject({
      state: 'broken',
      remedy: expect.stringContaining('SUZUMIO_ROOT'),
    });
    expect(checkDataDirectory(join(world.directory, 'new'))).toMatchObject({ state: 'ok' });
  });

  test('a server that is announced and dead is none', async () => {
    await mkdir(world.root);
    await writeFile(join(world.root, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:1', pid: process.pid }));
    const { out } = await world.run('doctor', '--json');
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ what: 'server', state: 'skipped' }));
  });

  test('an engine that does not answer', async () => {
    const findings = await checkEngine(world.root, join(world.directory, 'docker.sock'));
    expect(findings).toEqual([
      {
        what: 'docker',
        state: 'broken',
        detail: expect.stringContaining('does not answer'),
        remedy: expect.stringContaining('dockerd'),
      },
    ]);
  });

  test('a Redis that is configured and away', async () => {
    const server = createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as { port: number };
    server.close();
    expect(await checkQueue(`redis://127.0.0.1:${port}`)).toMatchObject({
      state: 'broken',
      remedy: expect.stringContaining('noeviction'),
    });
    expect(await checkQueue(undefined)).toMatchObject({ state: 'skipped' });
  });
});

test('doctor finds a machine that has everything well, and leaves nothing behind', async () => {
  const { code, out } = await world.run('doctor');
  expect(out).toContain('suzumio-runner:dev');
  expect(out).toContain('containers without network');
  expect([code, out.endsWith('All is well.\n')]).toEqual([0, true]);
});
