import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { toolhostHealth, toolhostHealthPath } from '@suzumio/protocol/toolhost-health';
import { version } from '@suzumio/runtime/version';
import { type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
beforeAll(async () => {
  bench = await toolhostBench();
});
afterAll(() => bench.close());

const ask = (token: string) =>
  fetch(`${bench.toolhost.workerUrl}${toolhostHealthPath}`, { headers: { authorization: `Bearer ${token}` } });

test('a ToolHost tells services of its cell that it serves, and which version', async () => {
  const answer = await ask(bench.testing.cell.directory.serviceToken());
  expect([answer.status, toolhostHealth.parse(await answer.json())]).toEqual([200, { version }]);
});

test('it tells nobody else', async () => {
  for (const token of ['none', bench.testing.cell.directory.workerToken()]) expect((await ask(token)).status).toBe(401);
});
