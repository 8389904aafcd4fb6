import { once } from 'node:events';
import { type Server } from 'node:http';
import { type AddressInfo } from 'node:net';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import {
  type Begun,
  type ToolhostBench,
  allowing,
  toolhostBench,
} from '../../services/toolhost/test/toolhost-client.js';
import { type ModelServer, startModelServer } from '../../test/support/model-server.js';
import { thinkingYaml } from '../../test/support/thinking.js';
import { connectorTo } from '../src/door/connector.js';
import { DoorClient } from '../src/door/door-client.js';
import { createDoorListener } from '../src/shim/door-listener.js';
import { ToolRoute } from '../src/shim/tool-route.js';
import { closed } from './support/turn.js';

// A runner of another's making behind the shim, in a project whose models the ToolHost asks. It names no steps.

let models: ModelServer;
let bench: ToolhostBench;
let attempt: Begun;
let shim: Server;

beforeEach(async () => {
  models = await startModelServer(() => ({ calls: [{ name: 'artifacts_list', arguments: {} }] }));
  bench = await toolhostBench(allowing({ baseURL: models.baseURL }));
  const project = await bench.testing.create(thinkingYaml(models.baseURL, { name: 'foreign' }));
  attempt = await bench.begin(project, 'ada');
  const connector = connectorTo(bench.toolhost.runnerUrl, process);
  const door = new DoorClient(connector, { patienceMs: 500, log: () => undefined });
  shim = createDoorListener(connector, new ToolRoute(door, { workspace: '/nowhere' })).listen(0, '127.0.0.1');
  await once(shim, 'listening');
});
afterEach(async () => {
  await closed(shim);
  await bench.close();
  await models.close();
});

async function post(path: string, body: unknown): Promise<{ status: number; code?: unknown }> {
  const { port } = shim.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${attempt.answer.toolToken}`, 'content-type': 'application/json' },
    body: JSON.stringify(body),
  });
  const { code } = (await response.json()) as { code?: unknown };
  return { status: response.status, ...(code === undefined ? {} : { code }) };
}

const question = { messages: [{ role: 'user', content: 'What is there?' }] };
const call = (tool: string, input: object) =>
  post('/tool', { project: 'foreign', agent: 'ada', turn: attempt.turn, tool, input });

test('what its model asked for is carried out, and nothing else', async () => {
  expect(await post('/v1/chat/completions', question)).toEqual({ status: 200 });
  expect(await call('artifacts.list', {})).toEqual({ status: 200 });
  expect(await call('messages.send', { recipient: 'user', body: 'Hi.' })).toEqual({
    status: 403,
    code: 'call-not-asked',
  });
});
