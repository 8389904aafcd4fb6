import { once } from 'node:events';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { submit } from '../../services/api/test/support/play.js';
import { testApi } from '../../services/api/test/support/api.js';
import { anyBackend, type CliWorld, createCliWorld } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld({ policy: anyBackend });
});
afterEach(() => world.remove());

test('a report ends with the end of a line, however it was handed in', async () => {
  const api = await testApi();
  await api.create();
  await submit(api, 'team', 'ada', '# Report');
  const { out } = await world.run('report', 'team', '--root', api.root);
  expect(out).toBe('# Report\n');
  await api.close();
});

test('a port that is in use is told with what to do', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await once(other, 'listening');
  const { port } = other.address() as AddressInfo;
  const { code, err } = await world.run('serve', '--port', String(port));
  expect(code).not.toBe(0);
  expect(err).toMatch(/is in use .*\nnext: stop what listens there, or choose another port\n$/);
  other.close();
});

test('init says that the image of a project is not there', async () => {
  const file = await world.write(
    'far.yaml',
    `
name: far
task: Go.
backend: { image: "nobody/has-this:1", runner: { mode: mock } }
agents:
  mole: { role: mole, prompt: Dig. }
`,
  );
  const { code, err } = await world.run('init', file);
  expect(code).toBe(0);
  expect(err).toBe(
    'warning: the engine of this machine has no image nobody/has-this:1; turns that run here need it.\n',
  );
});
