import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { deliverableTurns, deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let project: string;
beforeEach(async () => {
  server = await startModelServer(() => ({ text: 'Yes.' }));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL, apiKeyEnv: 'KEY' }), { KEY: 'k' });
  project = await bench.testing.create(`
name: thinkers
task: Think.
budget: { tokens: 160 }
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: KEY } }
      presets: { only: { provider: one, model: m, maxOutputTokens: 100 } }
agents:
  ada: { role: thinker, prompt: Think. }
`);
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

async function ask(attempt: Begun, step: number): Promise<number> {
  const response = await attempt.ask(
    { messages: [{ role: 'user', content: `Question ${step}?` }] },
    { [stepHeader]: String(step) },
  );
  await response.text();
  return response.status;
}

test('a turn that its budget ended goes on from its journal, once an operator has raised it', async () => {
  const first = await bench.begin(project, 'ada');
  let answered = 0;
  while ((await ask(first, answered)) === 200) answered += 1;
  expect(answered).toBeGreaterThan(0);
  expect(server.requests).toHaveLength(answered);
  await bench.testing.write(project, (tx) => changeBudget(tx, undefined, { tokens: 1_000_000 }, 'ann'));
  await bench.testing.write(project, (tx) => retryTurn(tx, 'ada', 'ann'));
  const claimed = await bench.claim(project, first.turn);
  const second = begun(bench, project, 'ada', first.turn, claimed.body as unknown as ClaimAnswer);
  for (let step = 0; step <= answered; step += 1) expect(await ask(second, step)).toBe(200);
  expect(server.requests).toHaveLength(answered + 1);
});

test('no turn is given to a worker while the cell is paused, and what runs goes on', async () => {
  const running = await bench.begin(project, 'ada');
  await bench.testing.cell.catalog.pause.begin('ann', undefined);
  expect(await ask(running, 0)).toBe(200);
  expect((await running.report('complete', { output: { text: 'Done.' } })).status).toBeLessThan(300);
  const turn = await bench.queueTurn(project, 'ada');
  const wanting = () =>
    bench.testing.store(project, ({ reader }) => deliverableTurns(reader, Date.now()).map((one) => one.turn));
  await bench.testing.write(project, (tx) => deliverTurn(tx, turn, 0));
  expect(await wanting()).toEqual([]);
  expect(await bench.claim(project, turn)).toMatchObject({ status: 409, body: { code: 'claim-refused' } });
  // The job is gone with that; once all goes on, the next look gives it another at once.
  expect(await wanting()).toEqual([turn]);
  await bench.testing.cell.catalog.pause.end();
  expect(await bench.claim(project, turn)).toMatchObject({ status: 200 });
});
