import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { deliverableTurns, deliverTurn } from '@suzumio/store/turns/deliver-turn';
import { activeTurns, agentsToStart, startTurns } from '@suzumio/store/turns/start-turns';
import { postMessage } from '@suzumio/store/mail/post-message';
import {
  type Behaviour,
  event,
  type ModelRequest,
  type ModelServer,
  startModelServer,
} from '../../../../test/support/model-server.js';
import { eventually } from '../../../../test/support/poll.js';
import { allowing, type Begun, begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let project: string;
let answers: (request: ModelRequest) => Behaviour;
let nowMs: number;

beforeEach(async () => {
  answers = () => ({ text: 'Yes.' });
  server = await startModelServer((request) => answers(request));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }, { baseURL: `${server.baseURL}/other` }));
  nowMs = Date.now();
  bench.testing.setNow(nowMs);
  project = await bench.testing.create(`
name: crowd
task: Wait.
scheduler: { maxConcurrentTurns: 2 }
backend:
  runner:
    mode: ai
    model: big
    models:
      providers:
        one: { type: openai-compatible, baseURL: "${server.baseURL}" }
        two: { type: openai-compatible, baseURL: "${server.baseURL}/other" }
      presets:
        big: { provider: one, model: big-1 }
        small: { provider: one, model: small-1 }
        either: { model-list: [big, small] }
        elsewhere: { provider: two, model: other-1 }
agents:
  worker: { role: worker, prompt: Work., tools: [], count: 5 }
  chooser: { role: worker, prompt: Work., tools: [], model: either }
  away: { role: worker, prompt: Work., tools: [], model: elsewhere }
`);
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const circuits = () => bench.testing.cell.catalog.circuits;
const caller = (call: string, of = project) => ({ circuit: 'models.test#01234567/m', project: of, call });
const rows = <Row>(sql: string) => bench.testing.rows<Row>(project, sql);
const isPoison = ({ body }: ModelRequest) => JSON.stringify(body).includes('poison');

function advance(ms: number): void {
  nowMs += ms;
  bench.testing.setNow(nowMs);
}

async function ask(attempt: Begun, text = 'Well?', step = '0'): Promise<number> {
  const response = await attempt.ask({ messages: [{ role: 'user', content: text }] }, { [stepHeader]: step });
  await response.text();
  return response.status;
}

const wanting = (maxConcurrentTurns?: number) =>
  bench.testing.store(project, ({ reader }) =>
    deliverableTurns(reader, nowMs, circuits().away(project), maxConcurrentTurns).map(({ turn }) => turn),
  );

/** The next attempt of a turn that is due. */
async function again({ turn }: Begun, agent: string): Promise<Begun> {
  const [row] = await rows<{ delivery: number }>(`SELECT delivery FROM turns WHERE id = '${turn}'`);
  await bench.testing.write(project, (tx) => deliverTurn(tx, turn, row?.delivery ?? 0));
  const claimed = await bench.claim(project, turn);
  expect(claimed.status).toBe(200);
  return begun(bench, project, agent, turn, claimed.body as unknown as ClaimAnswer);
}

async function mail(agent: string): Promise<string[]> {
  return bench.testing.write(project, (tx) => {
    postMessage(tx, { sender: 'user', recipient: agent, priority: 'P1', body: 'Go.', actor: 'test' });
    return startTurns(tx);
  });
}

describe('a question that fails while others are answered', () => {
  test('has a growing backoff of its own, which no other’s success cuts short, and fails for good after some tries', async () => {
    answers = (request) =>
      isPoison(request) ? { status: 500, body: { error: { message: 'cannot do' } } } : { text: 'Yes.' };
    const healthy = await bench.begin(project, 'worker-2');
    let poisoned = await bench.begin(project, 'worker-1');
    const waits: number[] = [];
    let step = 0;
    for (;;) {
      expect(await ask(poisoned, 'poison')).toBe(424);
      advance(1_000);
      // What others had asked before is answered: all is well with the provider, but for this question.
      for (const key of circuits().away(project).keys()) await circuits().answered(key);
      expect(await ask(healthy, 'Well?', String(step))).toBe(200);
      step += 1;
      const [{ status } = { status: '' }] = await rows<{ status: string }>(
        `SELECT status FROM turns WHERE id = '${poisoned.turn}'`,
      );
      if (status !== 'queued') break;
      let waited = 1_000;
      while ((await wanting()).length === 0 && waited < 120_000) {
        advance(1_000);
        waited += 1_000;
      }
      waits.push(waited);
      poisoned = await again(poisoned, 'worker-1');
    }
    expect(waits).toEqual([5_000, 10_000, 20_000, 40_000]);
    expect(server.requests.filter(isPoison)).toHaveLength(5);
    const [turn] = await rows<{ status: string; failure_json: string }>(
      `SELECT status, failure_json FROM turns WHERE id = '${poisoned.turn}'`,
    );
    expect(turn?.status).toBe('failed');
    expect(turn?.failure_json).toContain('"code":"model-refused"');
    expect(turn?.failure_json).toContain('the provider answered 500: cannot do');
    expect(turn?.failure_json).toContain('it failed 5 times while others were answered');
  });

  test('fails for good where its answers are not understood, also when nobody else is answered', async () => {
    answers = () => ({ status: 200, headers: { 'content-type': 'text/html' }, body: '<html><title>Sign in</title>' });
    let attempt = await bench.begin(project, 'worker-1');
    const { turn } = attempt;
    const state = async () =>
      (
        await rows<{ status: string; failure_json: string }>(
          `SELECT status, failure_json FROM turns WHERE id = '${turn}'`,
        )
      )[0];
    for (let tries = 1; tries < 10; tries += 1) {
      expect(await ask(attempt)).toBe(424);
      if ((await state())?.status !== 'queued') break;
      for (let waited = 0; (await wanting()).length === 0 && waited < 120_000; waited += 1_000) advance(1_000);
      attempt = await again(attempt, 'worker-1');
    }
    expect(server.requests).toHaveLength(5);
    const { status, failure_json: failure } = (await state()) ?? {};
    expect({ status, failure: JSON.parse(failure ?? '') as unknown }).toMatchObject({
      status: 'failed',
      failure: {
        code: 'answer-unreadable',
        message: expect.stringMatching(/Sign in; 5 answers were not understood\.$/),
      },
    });
  });

  test('for the rate at which it is asked is never taken for one that cannot be answered', async () => {
    answers = (request) => (isPoison(request) ? { status: 429 } : { text: 'Yes.' });
    const healthy = await bench.begin(project, 'worker-2');
    let limited = await bench.begin(project, 'worker-1');
    for (let step = 0; step < 8; step += 1) {
      expect(await ask(limited, 'poison')).toBe(424);
      advance(5_000);
      expect(await ask(healthy, 'Well?', String(step))).toBe(200);
      limited = await again(limited, 'worker-1');
    }
  });

  test('is not one that merely waits: that goes on at once when the provider answers', async () => {
    let away = true;
    answers = () => (away ? { status: 500 } : { text: 'Yes.' });
    const first = await bench.begin(project, 'worker-1');
    const second = await bench.begin(project, 'worker-2');
    expect(await ask(first)).toBe(424);
    expect(await ask(second)).toBe(424);
    expect(server.requests).toHaveLength(1);
    expect(await wanting()).toEqual([]);
    away = false;
    const third = await bench.begin(project, 'worker-3');
    advance(5_000);
    expect(await ask(third)).toBe(200);
    expect((await wanting()).sort()).toEqual([first.turn, second.turn].sort());
  });
});

describe('whoever tries a provider', () => {
  test('opens it for all with the first piece of its answer', async () => {
    const first = await bench.begin(project, 'worker-1');
    answers = () => ({ status: 503 });
    await ask(first);
    advance(5_000);
    answers = () => ({
      lines: [event({ choices: [{ index: 0, delta: { content: 'Well, ' } }] }), 1_500, 'data: [DONE]\n'],
    });
    const trying = await bench.begin(project, 'worker-2');
    const slow = ask(trying);
    await eventually('the provider is open', () => circuits().away(project).size === 0);
    expect(server.requests).toHaveLength(2);
    answers = () => ({ text: 'Yes.' });
    expect(await ask(await bench.begin(project, 'worker-3'))).toBe(200);
    await slow;
  });

  test('is believed for as long as its process is heard of: another tries soon after one that died', async () => {
    await circuits().failed(caller('call-0'), { opensFor: 'all', error: 'It is away.' });
    advance(5_000);
    expect(await circuits().admit(caller('call-1'), 20_000)).toEqual({ ask: true, probe: true });
    expect(await circuits().admit(caller('call-2'), 20_000)).toMatchObject({ ask: false });
    advance(15_000);
    await circuits().extendProbe(caller('call-1'), 20_000, nowMs - 15_000);
    await circuits().extendProbe(caller('call-2'), 600_000, nowMs);
    advance(15_000);
    expect(await circuits().admit(caller('call-2'), 20_000)).toMatchObject({ ask: false });
    advance(5_000);
    expect(await circuits().admit(caller('call-2'), 20_000)).toEqual({ ask: true, probe: true });
  });

  test('and whose answer breaks off half way closes it again, for longer', async () => {
    await circuits().failed(caller('call-0'), { opensFor: 'all', error: 'It is away.' });
    advance(5_000);
    await circuits().admit(caller('call-1'), 20_000);
    await circuits().answering(caller('call-1'));
    expect(await circuits().admit(caller('call-2'), 20_000)).toEqual({ ask: true, probe: false });
    expect(
      (await circuits().failed(caller('call-1'), { opensFor: 'all', error: 'It broke off.' })).untilMs - nowMs,
    ).toBe(10_000);
    expect(circuits().away(project).size).toBe(1);
  });
});

test('the next preset of a list is asked, too, where it is of the same provider', async () => {
  answers = ({ body }) => (body.model === 'big-1' ? { status: 429 } : { text: 'Yes.' });
  expect(await ask(await bench.begin(project, 'chooser'))).toBe(200);
  expect(server.requests.map(({ body }) => body.model)).toEqual(['big-1', 'small-1']);
});

describe('turns that wait for a provider', () => {
  const waitFor = async (agent: string) => {
    const one = await bench.begin(project, agent);
    expect(await ask(one)).toBe(424);
    return one.turn;
  };

  test('hold no slot of maxConcurrentTurns; when it is back, they get no more than there are', async () => {
    answers = () => ({ status: 503 });
    const waiting = [await waitFor('worker-1'), await waitFor('worker-2'), await waitFor('worker-3')];
    expect(await bench.testing.store(project, ({ reader }) => activeTurns(reader))).toBe(0);
    answers = () => ({ text: 'Yes.' });
    const [healthy] = await mail('away');
    expect(healthy).toBeDefined();
    await bench.testing.write(project, (tx) => deliverTurn(tx, healthy ?? '', 0));

    const [key = ''] = circuits().away(project).keys();
    await circuits().answered(key);
    advance(60_000);
    // One is running, so there is room for one.
    expect(await bench.testing.store(project, ({ reader }) => activeTurns(reader))).toBe(1);
    const due = (await wanting(2)).filter((turn) => waiting.includes(turn));
    expect(due).toHaveLength(1);
    await bench.testing.write(project, (tx) => deliverTurn(tx, due[0] ?? '', 1));
    // While they are due, no turn begins beside them.
    await bench.testing.write(project, (tx) =>
      postMessage(tx, { sender: 'user', recipient: 'worker-5', priority: 'P1', body: 'Go.', actor: 'test' }),
    );
    await bench.testing.store(project, ({ reader, config }) => {
      expect(agentsToStart(reader, config, { closed: [] })).toEqual([]);
    });
  });
});
