import { afterEach, beforeEach, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { deliverableTurns, deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { postMessage } from '@suzumio/store/mail/post-message';
import { startTurns } from '@suzumio/store/turns/start-turns';
import { type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

const agents = 100;
let away: boolean;
let server: ModelServer;
let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  away = true;
  server = await startModelServer(() => (away ? { status: 503 } : { text: 'Done.' }));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL, apiKeyEnv: 'KEY' }), { KEY: 'k' });
  project = await bench.testing.create(`
name: crowd
task: Wait.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: KEY } }
      presets: { only: { provider: one, model: m } }
agents:
  worker: { role: worker, prompt: Work., tools: [], count: ${agents} }
`);
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

/** What scheduler and workers do in a moment: every turn that is due is claimed, asks its model, and ends. */
async function moment(nowMs: number): Promise<void> {
  bench.testing.setNow(nowMs);
  const { circuits } = bench.testing.cell.catalog;
  const due = await bench.testing.store(project, (store) =>
    deliverableTurns(store.reader, nowMs, circuits.away(project)),
  );
  for (const { turn, delivery } of due) {
    const delivered = await bench.testing.write(project, (tx) => deliverTurn(tx, turn, delivery));
    if (!delivered) continue;
    const claimed = await bench.claim(project, turn);
    if (claimed.status !== 200) throw new Error(JSON.stringify(claimed.body));
    const answer = claimed.body as unknown as ClaimAnswer;
    const attempt = begun(bench, project, answer.input.agent.id, turn, answer);
    const asked = await attempt.ask({ messages: [{ role: 'user', content: 'Well?' }] }, { [stepHeader]: '0' });
    if (asked.ok) await attempt.report('complete', { output: { text: 'Done.' } });
    else expect(asked.status).toBe(424);
  }
}

test('a provider that is away for ten minutes fails none of a hundred agents; one call at a time tries it, and all are done soon after', async () => {
  let nowMs = Date.now();
  bench.testing.setNow(nowMs);
  await bench.testing.write(project, (tx) => {
    for (let n = 1; n <= agents; n += 1) {
      postMessage(tx, { sender: 'user', recipient: `worker-${n}`, priority: 'P1', body: 'Go.', actor: 'test' });
    }
    return startTurns(tx);
  });
  const startedMs = nowMs;
  const triedAtMs: number[] = [];
  for (; nowMs < startedMs + 600_000; nowMs += 2_000) {
    const before = server.requests.length;
    await moment(nowMs);
    const tried = server.requests.length - before;
    expect(tried).toBeLessThanOrEqual(1);
    if (tried === 1) triedAtMs.push(nowMs);
  }
  // 5, 10, 20, 40 seconds, then one a minute.
  const gaps = triedAtMs.slice(1).map((at, index) => at - (triedAtMs[index] ?? 0));
  expect(gaps.slice(0, 4).every((gap, index) => gap >= 5_000 * 2 ** index)).toBe(true);
  expect(gaps.slice(4).every((gap) => gap >= 60_000)).toBe(true);
  const statuses = () =>
    bench.testing.rows<{ status: string; count: number }>(
      project,
      'SELECT status, count(*) AS count FROM turns GROUP BY status',
    );
  expect(await statuses()).toEqual([{ status: 'queued', count: agents }]);

  away = false;
  const returnedMs = nowMs;
  while ((await statuses()).some(({ status }) => status !== 'completed') && nowMs < returnedMs + 300_000) {
    nowMs += 2_000;
    await moment(nowMs);
  }
  expect(nowMs - returnedMs).toBeLessThanOrEqual(64_000);
  expect(await bench.testing.rows(project, 'SELECT 1 FROM turn_attempts WHERE counted = 1')).toEqual([]);
});
