import { mkdtemp, rm } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { connectorTo } from '../src/door/connector.js';
import { doorHttp } from '../src/door/exchange.js';
import { eventually } from '../../test/support/poll.js';
import { closed, listen } from './support/turn.js';

let directory: string;
let server: Server;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-exchange-'));
  // As a door does it: connections are closed by those who opened them.
  server = createServer({ keepAliveTimeout: 0 }, (incoming, response) => {
    incoming.resume().on('end', () => response.end('answer'));
  });
  await listen(server, join(directory, 'door.sock'));
});
afterEach(async () => {
  await closed(server);
  await rm(directory, { recursive: true, force: true });
});

test('leaves no connection behind, for a door takes only so many', async () => {
  const connector = connectorTo(`unix:${join(directory, 'door.sock')}`, process);
  const connections = () => new Promise<number>((resolve) => server.getConnections((_error, count) => resolve(count)));
  for (let round = 0; round < 10; round += 1) {
    const answer = await doorHttp(connector).send({ method: 'POST', path: '/', body: Buffer.from('x') });
    expect(Buffer.from(answer).toString()).toBe('answer');
  }
  await eventually('all connections are closed', async () => (await connections()) === 0);
});
