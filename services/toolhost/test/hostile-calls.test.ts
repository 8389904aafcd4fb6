import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { maxNesting } from '@suzumio/protocol/nesting';
import { type Begun, toolhostBench, type ToolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let begun: Begun;
beforeAll(async () => {
  bench = await toolhostBench();
  begun = await bench.begin(await bench.testing.create(), 'ada');
});
afterAll(() => bench.close());

function nested(depth: number): unknown {
  return JSON.parse('['.repeat(depth) + ']'.repeat(depth));
}

test('an input that is nested without end is refused', async () => {
  for (const depth of [maxNesting + 2, 3_000, 200_000]) {
    const text = `{"project":"team","agent":"ada","turn":"${begun.turn}","tool":"messages.send","input":`;
    const response = await fetch(`${bench.toolhost.runnerUrl}/tool`, {
      method: 'POST',
      headers: { authorization: `Bearer ${begun.answer.toolToken}`, 'content-type': 'application/json' },
      body: `${text}${'['.repeat(depth)}${']'.repeat(depth)}}`,
    });
    expect({ depth, status: response.status, body: await response.json() }).toMatchObject({
      depth,
      status: 400,
      body: { code: 'invalid-request' },
    });
  }
  expect(await begun.tool('messages.send', nested(10))).toMatchObject({ body: { code: 'tool-input-invalid' } });
});

test('an output whose usage is nested without end is refused', async () => {
  const answer = await begun.report('complete', { output: { text: '', usage: { deep: nested(1_000) } } });
  expect(answer).toMatchObject({ status: 400, body: { code: 'invalid-request' } });
});
