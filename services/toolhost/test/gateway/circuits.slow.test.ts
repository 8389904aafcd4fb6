import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { deliverableTurns } from '@suzumio/store/turns/deliver-turn';
import {
  type Behaviour,
  type ModelRequest,
  type ModelServer,
  startModelServer,
} from '../../../../test/support/model-server.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let answers: (request: ModelRequest) => Behaviour;
let nowMs: number;

beforeEach(async () => {
  answers = () => ({ text: 'Yes.' });
  server = await startModelServer((request) => answers(request));
  await open();
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

/** @param silence how long the operator takes a provider for slow, rather than away */
async function open(silence?: number): Promise<void> {
  bench = await toolhostBench(allowing({ baseURL: server.baseURL, ...(silence === undefined ? {} : { silence }) }));
  nowMs = Date.now();
  bench.testing.setNow(nowMs);
}

const create = (name: string, provider = '') =>
  bench.testing.create(`
name: ${name}
task: Wait.
backend:
  runner:
    mode: ai
    model: big
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}"${provider} } }
      presets: { big: { provider: one, model: big-1 }, small: { provider: one, model: small-1 } }
agents:
  worker: { role: worker, prompt: Work., tools: [], count: 4 }
  modest: { role: worker, prompt: Work., tools: [], model: small }
`);

function advance(ms: number): void {
  nowMs += ms;
  bench.testing.setNow(nowMs);
}

async function ask(attempt: Begun): Promise<number> {
  const response = await attempt.ask({ messages: [{ role: 'user', content: 'Well?' }] }, { [stepHeader]: '0' });
  await response.text();
  return response.status;
}

const askAs = async (project: string, agent = 'worker-1') => ask(await bench.begin(project, agent));
const circuits = () => bench.testing.cell.catalog.circuits;

describe('a model that fails', () => {
  test.each<[string, Behaviour]>([
    ['too many requests', { status: 429 }],
    ['a page of a proxy', { status: 200, headers: { 'content-type': 'text/html' }, body: '<html>' }],
    ['a connection that is cut', { reset: true }],
  ])('with %s keeps no other at its address waiting', async (_name, behaviour) => {
    answers = ({ body }) => (body.model === 'big-1' ? behaviour : { text: 'Yes.' });
    const [one, two] = [await create('one'), await create('two')];
    expect(await askAs(one)).toBe(424);
    expect(await askAs(one, 'modest')).toBe(200);
    expect(await askAs(two, 'modest')).toBe(200);
    // Nor does what answers say anything of what does not.
    expect(circuits().away(one).size).toBe(1);
  });

  test.each([
    ['too many requests', 429],
    ['an overload', 503],
  ])('with %s is asked by no project for a while', async (_name, status) => {
    answers = () => ({ status });
    const [one, two] = [await create('one'), await create('two')];
    expect(await askAs(one)).toBe(424);
    expect(await askAs(two)).toBe(424);
    expect(server.requests).toHaveLength(1);
  });

  test('because nobody listens is asked by no project for a while', async () => {
    const [one, two] = [await create('one'), await create('two')];
    await server.close();
    expect(await askAs(one)).toBe(424);
    expect([...circuits().away(one).values()]).toEqual([nowMs + 5_000]);
    expect(circuits().away(two).size).toBe(1);
  });
});

test('a model that is away leaves one line when it goes and one when it is back, however often it is tried', async () => {
  answers = () => ({ status: 503 });
  const project = await create('one');
  for (const agent of ['worker-1', 'worker-2', 'worker-3']) {
    const attempt = await bench.begin(project, agent);
    expect(await ask(attempt)).toBe(424);
    // Its worker does not know yet that the attempt has ended.
    const failure = { code: 'non-zero-exit', message: 'Exit 1.' };
    expect((await attempt.report('fail', { failure })).status).toBeGreaterThanOrEqual(400);
    advance(60_000);
  }
  answers = () => ({ text: 'Yes.' });
  expect(await askAs(project, 'worker-4')).toBe(200);
  const told = bench.logs().filter(({ level }) => level !== 'debug');
  expect(told.map(({ level, msg }) => [level, msg])).toEqual([
    ['warn', 'a model does not answer: the provider answered 503'],
    ['info', 'a model answers again'],
  ]);
  expect(JSON.stringify(told)).not.toContain('stack');
});

describe('what may be due to a question', () => {
  test.each<[string, Behaviour]>([
    ['an error of the server', { status: 500 }],
    ['a connection that is cut', { reset: true }],
    ['what is no answer', { lines: ['data: [DONE]\n'] }],
  ])('(%s) keeps only the project that asked it waiting, and one call of it tries', async (_name, behaviour) => {
    answers = () => behaviour;
    const [one, two] = [await create('one'), await create('two')];
    expect(await askAs(one)).toBe(424);
    answers = () => ({ text: 'Yes.' });
    expect(await askAs(one, 'worker-2')).toBe(424);
    expect(server.requests).toHaveLength(1);
    expect(await askAs(two)).toBe(200);
    // What one project was answered, another need not find out.
    expect(await askAs(one, 'worker-3')).toBe(200);
  });
});

describe('a deadline of a project', () => {
  test('that passes keeps no other project waiting', async () => {
    answers = () => ({ silent: true });
    const [hasty, other] = [await create('hasty', ', timeoutMs: 1s'), await create('other')];
    expect(await askAs(hasty)).toBe(424);
    answers = () => ({ text: 'Yes.' });
    expect(await askAs(hasty, 'worker-2')).toBe(424);
    expect(await askAs(other)).toBe(200);
    expect(server.requests).toHaveLength(2);
  });

  test('that passes after a silence that the operator takes for an outage keeps all waiting', async () => {
    await bench.close();
    await open(900);
    answers = () => ({ silent: true });
    const [hasty, other] = [await create('hasty', ', timeoutMs: 1s'), await create('other')];
    expect(await askAs(hasty)).toBe(424);
    expect(await askAs(other)).toBe(424);
    expect(server.requests).toHaveLength(1);
  });

  test('that passes while an answer comes is none of the provider’s', async () => {
    await bench.close();
    await open(900);
    answers = () => ({ lines: [': wait', 400, ': wait', 400, ': wait', 400] });
    const [hasty, other] = [await create('hasty', ', timeoutMs: 1s'), await create('other')];
    expect(await askAs(hasty)).toBe(424);
    answers = () => ({ text: 'Yes.' });
    expect(await askAs(other)).toBe(200);
  });

  test('cannot be shorter than a second', async () => {
    await expect(create('hasty', ', timeoutMs: 1')).rejects.toThrow('no model answers within 1 ms; at least 1s');
  });
});

describe('whoever tries a model', () => {
  const circuit = 'models.test#01234567/m';
  const caller = (project: string, call = `call of ${project}`) => ({ circuit, project, call });
  const tried = async (project: string) => {
    const admitted = await circuits().admit(caller(project), 20_000);
    if (admitted.ask) await circuits().failed(caller(project), { opensFor: 'all', error: 'It is away.' });
    return admitted.ask;
  };

  test('is each project in turn, whoever asks first', async () => {
    await circuits().failed(caller('one'), { opensFor: 'all', error: 'It is away.' });
    expect(await tried('two')).toBe(false);
    advance(1);
    expect(await tried('three')).toBe(false);
    const order: string[] = [];
    for (const pauseMs of [5_000, 10_000, 20_000, 40_000]) {
      advance(pauseMs);
      for (const project of ['one', 'three', 'two']) if (await tried(project)) order.push(project);
    }
    expect(order).toEqual(['two', 'three', 'one', 'two']);
  });

  test('is another where the project whose turn it is has nothing to ask any more', async () => {
    await circuits().failed(caller('gone'), { opensFor: 'all', error: 'It is away.' });
    advance(1_000);
    await circuits().failed(caller('one'), { opensFor: 'all', error: 'It is away.' });
    advance(4_000);
    expect(await tried('one')).toBe(false);
    expect([...circuits().away('gone').values(), ...circuits().away('one').values()]).toEqual([nowMs, nowMs + 5_000]);
    advance(5_000);
    expect(await tried('one')).toBe(true);
    advance(10_000);
    expect(await tried('one')).toBe(true);
  });

  test('and finds only that its own question fails leaves it to the next, and opens it for nobody else', async () => {
    await circuits().failed(caller('one'), { opensFor: 'all', error: 'It is away.' });
    expect(await tried('two')).toBe(false);
    advance(10_000);
    expect(await circuits().admit(caller('one'), 20_000)).toEqual({ ask: true, probe: true });
    expect(await circuits().admit(caller('two'), 20_000)).toMatchObject({ ask: false });
    await circuits().failed(caller('one'), { opensFor: 'project', error: 'A strange question.' });
    expect(await circuits().admit(caller('two'), 20_000)).toEqual({ ask: true, probe: true });
    expect(await circuits().admit(caller('one'), 20_000)).toMatchObject({ lastError: 'A strange question.' });
    expect(await circuits().answered(circuit)).toBe(true);
    expect(await circuits().admit(caller('one'), 20_000)).toEqual({ ask: true, probe: false });
  });

  test('is the turn of a project that has not tried for longest', async () => {
    answers = () => ({ status: 429 });
    const project = await create('one');
    const wanting = () =>
      bench.testing.store(project, ({ reader }) =>
        deliverableTurns(reader, nowMs, circuits().away(project)).map(({ turn }) => turn),
      );
    const first = await bench.begin(project, 'worker-1');
    const second = await bench.begin(project, 'worker-2');
    const third = await bench.begin(project, 'worker-3');
    await ask(first);
    advance(1_000);
    await ask(second);
    advance(1_000);
    await ask(third);
    expect(server.requests).toHaveLength(1);
    expect(await wanting()).toEqual([]);
    advance(5_000);
    expect(await wanting()).toEqual([second.turn]);
  });

  test('keeps others waiting for a minute at most, however long its question may take; then the next in turn tries', async () => {
    await circuits().failed(caller('one'), { opensFor: 'all', error: 'It is away.' });
    expect(await tried('two')).toBe(false);
    advance(1);
    expect(await tried('three')).toBe(false);
    advance(5_000);
    const sinceMs = nowMs;
    expect(await circuits().admit(caller('two'), 20_000)).toEqual({ ask: true, probe: true });
    for (let beat = 0; beat < 11; beat += 1) {
      advance(5_000);
      await circuits().extendProbe(caller('two'), 20_000, sinceMs);
      expect(await tried('three')).toBe(false);
    }
    advance(5_000);
    await circuits().extendProbe(caller('two'), 20_000, sinceMs);
    expect([...circuits().away('two').values(), ...circuits().away('three').values()]).toEqual([nowMs + 5_000, nowMs]);
    expect(await tried('two')).toBe(false);
    expect(await tried('three')).toBe(true);
  });

  test('is forgotten a day after nobody has tried any more', async () => {
    await circuits().failed(caller('one'), { opensFor: 'all', error: 'It is away.' });
    advance(24 * 3_600_000 + 10_000);
    await circuits().failed({ ...caller('one'), circuit: 'other.test#01234567/m' }, { opensFor: 'all', error: 'No.' });
    expect([...circuits().away('one').keys()]).toEqual(['other.test#01234567/m']);
  });
});
