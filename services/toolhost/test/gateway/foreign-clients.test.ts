import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;

beforeEach(async () => {
  server = await startModelServer(() => behaviour);
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const yaml = () => `
name: thinkers
task: Think.
backend:
  runner:
    mode: ai
    model: main
    models:
      providers: { only: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets:
        quick: { provider: only, model: quick-1 }
        spare: { provider: only, model: spare-1 }
        secret: { provider: only, model: secret-1 }
        main: { model-list: [quick, spare] }
agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
  ben: { role: thinker, prompt: Think., model: spare, tools: [] }
`;

const headers = (attempt: Begun) => ({
  authorization: `Bearer ${attempt.answer.toolToken}`,
  'content-type': 'application/json',
});

type Fields = Record<string, unknown>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;

/**
 * The rule by which OpenAI's client for Python puts pieces together (`accumulate_delta` in
 * `src/openai/lib/streaming/_deltas.py` of openai/openai-python): texts are put one after the other and numbers added,
 * whatever the field, but for `index` and `type`; entries of lists are one where their `index` is.
 */
function accumulated(whole: Fields, delta: Fields): Fields {
  for (const [key, value] of Object.entries(delta)) {
    const before = whole[key];
    if (before === undefined || before === null || key === 'index' || key === 'type') whole[key] = value;
    else if (typeof before === 'string' && typeof value === 'string') whole[key] = before + value;
    else if (typeof before === 'number' && typeof value === 'number') whole[key] = before + value;
    else if (Array.isArray(before) && Array.isArray(value)) for (const entry of value) addEntry(before, entry);
    else if (isFields(before) && isFields(value)) accumulated(before, value);
  }
  return whole;
}

function addEntry(list: unknown[], entry: unknown): void {
  if (!isFields(entry) || typeof entry['index'] !== 'number') throw new Error('an entry of a list has no index');
  const before = list[entry['index']];
  if (isFields(before)) accumulated(before, entry);
  else list.splice(entry['index'], 0, entry);
}

async function pieces(attempt: Begun, step: string): Promise<{ choices: { delta: Fields }[] }[]> {
  const response = await fetch(`${bench.toolhost.runnerUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: { ...headers(attempt), 'x-suzumio-step': step },
    body: JSON.stringify({ messages: [{ role: 'user', content: 'Well?' }], stream: true }),
  });
  return [...(await response.text()).matchAll(/^data: (\{.*\})$/gm)].map(
    ([, json]) => JSON.parse(json ?? '') as { choices: { delta: Fields }[] },
  );
}

describe("a runner with OpenAI's client for Python", () => {
  test.each<[string, Behaviour, Fields]>([
    ['a text in many pieces', { text: 'A longer answer, in pieces.' }, { content: 'A longer answer, in pieces.' }],
    [
      'a text and calls',
      {
        text: 'Looking at both.',
        calls: [
          { id: 'a', name: 'look', arguments: { at: 'north' } },
          { id: 'b', name: 'look', arguments: { at: 'south' } },
        ],
      },
      {
        content: 'Looking at both.',
        tool_calls: [
          { index: 0, id: 'a', type: 'function', function: { name: 'look', arguments: '{"at":"north"}' } },
          { index: 1, id: 'b', type: 'function', function: { name: 'look', arguments: '{"at":"south"}' } },
        ],
      },
    ],
    ['a refusal', { lines: refusing() }, { content: '', refusal: 'I will not.' }],
  ])('puts the same together, as it comes and from the journal: %s', async (_what, given, message) => {
    behaviour = given;
    const project = await bench.testing.create(yaml());
    const ada = await bench.begin(project, 'ada');
    const asked = async () =>
      (await pieces(ada, '0'))
        .flatMap(({ choices }) => choices.slice(0, 1))
        .reduce((whole: Fields, { delta }) => accumulated(whole, delta), {});
    const expected = {
      role: 'assistant',
      refusal: null,
      suzumio: { answer: expect.any(String), reading: null },
      ...message,
    };
    expect([await asked(), await asked()]).toEqual([expected, expected]);
    expect(server.requests).toHaveLength(1);
  });
});

function refusing(): string[] {
  const piece = (delta: Fields, finish: string | null = null) =>
    `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n`;
  return [piece({ refusal: 'I will ' }), piece({ refusal: 'not.' }), piece({}, 'stop'), 'data: [DONE]\n'];
}

const mocked = `
name: mocked
task: Play.
backend: { runner: { mode: mock } }
agents:
  ada: { role: player, prompt: Play. }
`;

describe('the list of models', () => {
  const listed = async (attempt: Begun) => {
    const response = await fetch(`${bench.toolhost.runnerUrl}/v1/models`, { headers: headers(attempt) });
    return { status: response.status, body: (await response.json()) as { data?: { id: string }[]; code?: string } };
  };

  test('has the presets that the agent may ask, its own first, and no other', async () => {
    const project = await bench.testing.create(yaml());
    const ada = await listed(await bench.begin(project, 'ada'));
    expect(ada).toMatchObject({ status: 200, body: { object: 'list' } });
    expect(ada.body.data).toEqual(
      ['main', 'quick', 'spare'].map((id) => ({ id, object: 'model', created: 0, owned_by: 'suzumio' })),
    );
    const ben = await listed(await bench.begin(project, 'ben'));
    expect(ben.body.data?.map(({ id }) => id)).toEqual(['spare']);
  });

  test('is for whoever has a turn, while it lasts', async () => {
    const project = await bench.testing.create(yaml());
    const ada = await bench.begin(project, 'ada');
    expect((await fetch(`${bench.toolhost.runnerUrl}/v1/models`)).status).toBe(401);
    await ada.report('complete', { output: { text: 'Done.' } });
    expect(await listed(ada)).toMatchObject({
      status: 401,
      body: { code: 'token-rejected', error: { code: 'token-rejected' } },
    });
  });

  test('is empty where there are none', async () => {
    const project = await bench.testing.create(mocked);
    expect((await listed(await bench.begin(project, 'ada'))).body.data).toEqual([]);
  });
});
