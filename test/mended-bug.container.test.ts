import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { loadProjectFile } from '../shared/runtime/src/disk/load-project-file.js';
import { renderConfig } from '../shared/core/src/config/render-config.js';
import { eventually } from './support/poll.js';

const example = fileURLToPath(new URL('../examples/mended-bug/mended-bug.yaml', import.meta.url));

describe.each(['docker', 'process'] as const)('the developer of the example, in the %s backend', (backend) => {
  let world: CliWorld;
  beforeAll(async () => {
    world = await createCliWorld({ policy: `${anyBackend}workspaces: { roots: [${join(example, '..')}] }\n` });
  });
  afterAll(() => world.remove());

  test('lists, searches, tests, reads, patches, tests again and publishes', async () => {
    const { config } = loadProjectFile(example, { env: {} });
    const file = renderConfig({ ...config, backend: { ...config.backend, kind: backend } });
    await world.run('init', await world.write('mended-bug.yaml', file));
    await world.serve();
    await world.run('start', 'mended-bug');
    await world.run('send', 'mended-bug', 'developer', 'P1', 'The mean of 210 and 213 comes out as 211.');
    const turns = async () =>
      JSON.parse((await world.run('turns', 'mended-bug', '--json')).out) as { status: string }[];
    await eventually('the turn ends', async () => (await turns())[0]?.status === 'completed');

    const calls = JSON.parse((await world.run('tool-calls', 'mended-bug', '--json')).out) as {
      tool: string;
      status: string;
    }[];
    expect(calls.map(({ tool }) => tool)).toEqual([
      'file.list',
      'file.search',
      'shell.exec',
      'file.read',
      'file.patch',
      'shell.exec',
      'artifacts.publish',
      'messages.send',
    ]);
    expect(calls.every(({ status }) => status === 'succeeded')).toBe(true);
    const { out } = await world.run('messages', 'mended-bug', '--json');
    const answer = (JSON.parse(out) as { sender: string; body: string }[]).find(({ sender }) => sender === 'developer');
    expect(answer?.body).toContain('Changed tides.py (+1 -1).');
    expect(answer?.body).toMatch(/exit code 1[^]*211 != 211\.5[^]*exit code 0[^]*OK/);
    const shown = await world.run('turns', 'show', 'mended-bug', 'developer:1');
    expect(shown.out).toContain('file.patch');
    const artifact = (JSON.parse((await world.run('artifacts', 'mended-bug', '--json')).out) as { name: string }[])[0];
    expect(artifact?.name).toBe('tides.py');
  });
});
