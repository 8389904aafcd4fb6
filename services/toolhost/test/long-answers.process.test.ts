import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: lab
task: Read.
backend: { runner: { mode: mock } }
agents:
  one: { role: reader, prompt: Read., tools: [artifacts.publish, artifacts.read] }
  two: { role: reader, prompt: Read., tools: [artifacts.publish, artifacts.read] }
`;
/** Each of its characters is six in JSON. */
const long = Buffer.alloc(1024 * 1024, 1);

let bench: ToolhostBench;
beforeEach(async () => {
  bench = await toolhostBench();
});
afterEach(async () => bench.close());

const input = { name: 'long.txt', maxBytes: long.length };

function read(of: Begun, step: string): Promise<Response> {
  const { project, agent } = of.answer.input;
  return fetch(`${bench.toolhost.runnerUrl}/tool`, {
    method: 'POST',
    headers: { authorization: `Bearer ${of.answer.toolToken}`, 'content-type': 'application/json' },
    body: JSON.stringify({ project, agent: agent.id, turn: of.turn, step, tool: 'artifacts.read', input }),
  });
}

test.each([
  ['that are on record', () => '1.0'],
  ['that are made', (number: number) => `2.${String(number)}`],
])('a flood of calls with long answers %s keeps other requests waiting for one of them', async (_what, stepOf) => {
  await bench.testing.create(yaml);
  const readers = [await bench.begin('lab', 'one'), await bench.begin('lab', 'two')];
  const sha256 = createHash('sha256').update(long).digest('hex');
  for (const [index, of] of readers.entries()) {
    const { toolToken } = of.answer;
    expect((await bench.put(`${bench.toolhost.runnerUrl}/content/${sha256}`, toolToken, long)).status).toBe(204);
    const published = { path: 'long.txt', name: 'long.txt', sha256, sizeBytes: long.length };
    expect((await of.tool('artifacts.publish', published, { step: `0.${String(index)}` })).status).toBe(200);
    const first = await read(of, '1.0');
    expect(first.status).toBe(200);
    expect((await first.arrayBuffer()).byteLength).toBeGreaterThan(6 * long.length);
  }
  // So many are made before the loop goes on to other requests.
  let [made, most, goesOn] = [0, 0, true];
  jest.spyOn(bench.metrics.toolCalls, 'inc').mockImplementation(() => void (made += 1));
  const look = () => {
    most = Math.max(most, made);
    made = 0;
    if (goesOn) setImmediate(look);
  };
  setImmediate(look);
  const answered = async (of: Begun, number: number) => {
    const response = await read(of, stepOf(number));
    expect(response.status).toBe(200);
    await response.body?.cancel();
  };
  await Promise.all(readers.flatMap((of) => Array.from({ length: 16 }, (_, number) => answered(of, number))));
  goesOn = false;
  expect(most).toBe(1);
});
