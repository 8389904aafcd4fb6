import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld, printed } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

const line = 'SUZUMIO_REDIS_URL is set, and is not used: up and serve do without Redis.\n';

test.each(['up', 'serve'])('%s says in one line that it uses no Redis that is named', async (command) => {
  world.setEnvironment({ SUZUMIO_REDIS_URL: 'redis://:hunter2@127.0.0.1:1' });
  const server = world.begin(command, '--port', '0');
  await printed(server, 'next: ');
  expect((await server.stop()).err).toBe(line);
});

test('nothing is said of it where none is named', async () => {
  world.setEnvironment({ SUZUMIO_REDIS_URL: '' });
  const server = await world.serve();
  expect((await server.stop()).err).toBe('');
});
