import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { modelsPath, stepHeader } from '@suzumio/protocol/model-chat';
import express from 'express';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type ModelServer, startModelServer } from '../../../test/support/model-server.js';
import { thinkingYaml } from '../../../test/support/thinking.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

/** Each of its characters is six in JSON. */
const long = Buffer.alloc(1024 * 1024, 1);

let server: ModelServer;
let bench: ToolhostBench;
beforeEach(async () => {
  server = await startModelServer(() => ({ status: 200, body: { choices: [{ message: { content: String(long) } }] } }));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
  const tools = '[artifacts.publish, artifacts.read, messages.read]';
  const agents = `{ one: { role: r, prompt: Read., tools: ${tools} }, two: { role: r, prompt: Read., tools: ${tools} } }`;
  await bench.testing.create(`{ name: lab, task: Read., backend: { runner: { mode: mock } }, agents: ${agents} }`);
  await bench.testing.create(thinkingYaml(server.baseURL, { name: 'asked', agents }));
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

function call(of: Begun, step: string, tool: string, input: object): Promise<Response> {
  const { project, agent } = of.answer.input;
  return fetch(`${bench.toolhost.runnerUrl}/tool`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.answer.toolToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project, agent: agent.id, turn: of.turn, step, tool, input }),
  });
}

const read = (of: Begun, step: string) => call(of, step, 'artifacts.read', { name: 'long.txt', maxBytes: long.length });

/** Publishes what is read. */
async function publish(of: Begun, step: string): Promise<void> {
  const sha256 = createHash('sha256').update(long).digest('hex');
  const { toolToken } = of.answer;
  expect((await bench.put(`${bench.toolhost.runnerUrl}/content/${sha256}`, toolToken, long)).status).toBe(204);
  const published = { path: 'long.txt', name: 'long.txt', sha256, sizeBytes: long.length };
  expect((await of.tool('artifacts.publish', published, { step })).status).toBe(200);
}

const ask = (of: Begun) => of.ask({ messages: [{ role: 'user', content: 'Well?' }] }, { [stepHeader]: '3' });

/** The message that each agent was sent. */
const sent = new Map<string, string>();
const floods: Record<
  string,
  { first: (of: Begun) => Promise<unknown>; again: (of: Begun, number: number) => Promise<Response> }
> = {
  'calls that are on record': {
    first: async (of) => {
      await publish(of, '0.0');
      await read(of, '1.0').then((answer) => answer.arrayBuffer());
    },
    again: (of) => read(of, '1.0'),
  },
  'reads of what was published': {
    first: (of) => publish(of, '0.0'),
    again: (of, number) => read(of, `2.${String(number)}`),
  },
  'reads of messages': {
    first: ({ answer }) =>
      bench.testing.write('lab', (tx) => {
        const { id: recipient } = answer.input.agent;
        const body = String(long.subarray(0, 256 * 1024));
        sent.set(recipient, postMessage(tx, { sender: 'user', recipient, priority: 'P3', body, actor: 'test' }).id);
      }),
    again: (of, number) => call(of, `2.${String(number)}`, 'messages.read', { id: sent.get(of.answer.input.agent.id) }),
  },
  'models that are on record': { first: (of) => ask(of).then((answer) => answer.arrayBuffer()), again: ask },
};

test.each(Object.entries(floods))(
  'a flood of long answers of %s keeps other requests waiting for one of them',
  async (_what, { first, again }) => {
    const project = again === ask ? 'asked' : 'lab';
    const readers = [await bench.begin(project, 'one'), await bench.begin(project, 'two')];
    for (const of of readers) await first(of);
    // Their connections are there before.
    const models = `${bench.toolhost.runnerUrl}${modelsPath}`;
    await Promise.all(Array.from({ length: 32 }, async () => (await fetch(models)).arrayBuffer()));
    // So many are made before the loop goes on to other requests.
    let [made, most, all, goesOn] = [0, 0, 0, true];
    const { json } = express.response;
    jest.spyOn(express.response, 'json').mockImplementation(function (this: express.Response, body) {
      made += 1;
      all += 1;
      return json.call(this, body);
    });
    const look = () => {
      most = Math.max(most, made);
      made = 0;
      if (goesOn) setImmediate(look);
    };
    setImmediate(look);
    const answered = async (of: Begun, number: number) => {
      const response = await again(of, number);
      expect(response.status).toBe(200);
      expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(long.length);
    };
    await Promise.all(readers.flatMap((of) => Array.from({ length: 16 }, (_, number) => answered(of, number))));
    goesOn = false;
    jest.restoreAllMocks();
    expect([all, most]).toEqual([32, 1]);
  },
);

test('an attempt that reads no answer is given one long one, and keeps no other attempt waiting', async () => {
  const [one, two] = [await bench.begin('lab', 'one'), await bench.begin('lab', 'two')];
  await publish(one, '0.0');
  const json = jest.spyOn(express.response, 'json');
  const answers = Array.from({ length: 8 }, (_, number) => read(one, `2.${String(number)}`));
  const unread = await Promise.race(answers);
  // Of another one, all are read meanwhile.
  for (let number = 0; number < 8; number += 1) {
    expect((await (await read(two, `2.${String(number)}`)).arrayBuffer()).byteLength).toBeGreaterThan(6 * long.length);
  }
  expect(json).toHaveBeenCalledTimes(1 + 8);
  await unread.arrayBuffer();
  for (const answer of answers) {
    const response = await answer;
    expect(response.status).toBe(200);
    if (response !== unread) await response.arrayBuffer();
  }
  jest.restoreAllMocks();
});
