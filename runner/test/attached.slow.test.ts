import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Behaviour, ModelRequest } from '../../test/support/model-server.js';
import { type Attaching, attaching, AttachingProvider } from './support/attaching-providers.js';
import { AttachingTeam, Killed } from './support/attaching-team.js';
import { knownProviders } from './support/known-providers.js';

let team: AttachingTeam;
beforeEach(async () => {
  team = await AttachingTeam.start();
});
afterEach(() => team.close());

const list = 'artifacts_list';
const bothWays = (kinds: Readonly<Record<string, Attaching>>) =>
  Object.entries(kinds).flatMap(([name, kind]) =>
    [true, false].map((streamed) => ({ name, kind, streamed, how: streamed ? 'streamed' : 'whole' })),
  );
const apiOf = ({ api }: { api?: string }) => (api === undefined ? '' : `, api: ${api}`);

// Rows of the table in docs/models.md: a turn with calls, whose runner and ToolHost are gone after its first answer, and a later one.
describe('as it behaves', () => {
  test.each(bothWays(knownProviders))('$name, $how', async ({ kind, streamed }) => {
    const provider = new AttachingProvider(kind, streamed);
    let answers = 0;
    team.server.answers = (request) => {
      const refused = provider.refusal(request);
      if (refused) return refused;
      answers += 1;
      if (answers % 3 === 0) return provider.text(`The end ${answers}.`, answers);
      return provider.calls(list, [{}, { path: 'a' }], answers);
    };
    const preset = kind.preset === undefined ? '' : `, ${kind.preset}`;
    const project = await team.create({ presets: `main: { provider: p, model: m${apiOf(kind)}${preset} }` });
    const first = await team.bench.begin(project, 'ada');
    await expect(team.takeTurn(first, { killedAt: 1 })).rejects.toThrow(Killed);
    expect(provider.refused).toEqual([]);
    expect(answers).toBe(1);
    const { taught } = provider;
    expect(taught).toBe(kind.learnt?.length ?? (kind.teaches ? 1 : 0));
    const again = await team.nextAttempt(project, first);
    const text = await team.takeTurn(again);
    expect(text).toBe('The end 3.');
    await again.report('complete', { output: { text } });

    expect(await team.takeTurn(await team.bench.begin(project, 'ada', 'More.'))).toBe('The end 6.');
    expect(provider.refused).toEqual([]);
    const rows = await team.bench.testing.rows<{ cached: number; changes: string | null }>(
      project,
      `SELECT cached_tokens AS cached, json_extract(result_json, '$.changes') AS changes
       FROM model_calls c JOIN turn_steps s ON s.turn_id = c.turn_id AND s.key = c.step ORDER BY c.seq`,
    );
    const isTaughtOnce = kind.learnt !== undefined;
    expect(rows.map(({ cached }) => cached)).toEqual(Array<number>(6).fill(kind.usage ? 4 : 0));
    if (isTaughtOnce)
      expect(rows.map(({ changes }) => JSON.parse(changes ?? '[]') as unknown)).toEqual(rows.map(() => kind.learnt));
    // What was learnt outlives the ToolHost; the length of an answer beside its question is of that question alone.
    expect(team.server.requests).toHaveLength(6 + (isTaughtOnce || !kind.teaches ? taught : provider.taught));
  });
});

const wordsOf = (request: ModelRequest | undefined) => JSON.stringify(request?.body ?? {});

test('nothing goes back where a preset says so', async () => {
  const provider = new AttachingProvider(attaching.deepseek, true);
  team.server.answers = (_request, number) =>
    number === 1 ? provider.calls(list, [{}], 1) : number === 2 ? provider.text('Done.', 2) : { text: 'Yes.' };
  const project = await team.create({ presets: 'main: { provider: p, model: m, sendReasoning: false }' });
  const first = await team.bench.begin(project, 'ada');
  const text = await team.takeTurn(first);
  await first.report('complete', { output: { text } });
  await team.takeTurn(await team.bench.begin(project, 'ada', 'More.'));
  expect(team.server.requests).toHaveLength(3);
  for (const request of team.server.requests) expect(wordsOf(request)).not.toContain('reasoning_content');
  expect(team.server.requests[2]?.body.messages.filter(({ tool_calls: calls }) => calls)).toHaveLength(1);
});

const two = (more: string) =>
  `a: { provider: p, model: a${more} }, b: { provider: p, model: b }, main: { model-list: [a, b] }`;

describe('where another model answers meanwhile', () => {
  test.each(bothWays(attaching).filter(({ name }) => name !== 'mistral' && name !== 'plain'))(
    '$name, $how',
    async ({ kind, streamed }) => {
      const a = new AttachingProvider(kind, streamed);
      const b = new AttachingProvider(attaching.mistral, streamed);
      const away = { status: 503, body: { error: { message: 'Overloaded.' } } };
      const asked: string[] = [];
      const plan: Record<string, () => Behaviour> = {
        '0 a': () => a.calls(list, [{}], 1),
        '1 a': () => away,
        '1 b': () => b.calls(list, [{ path: 'of b' }], 2),
        '2 b': () => b.calls(list, [{ path: 'again' }], 3),
        '3 b': () => {
          waitForBreakers();
          return away;
        },
        '3 a': () => a.calls(list, [{ path: 'of a' }], 4),
        '4 a': () => a.text('The end.', 5),
        '5 a': () => away,
        '5 b': () => b.text('An end by b.', 6),
        '6 a': () => a.text('The end of all.', 7),
      };
      let step = 0;
      const { testing } = team.bench;
      const waitForBreakers = () => testing.setNow(testing.cell.context.now() + 20_000);
      team.server.answers = (request) => {
        const { model } = request.body;
        const refused = (model === 'a' ? a : b).refusal(request);
        if (refused) return refused;
        const place = `${String(step)} ${model}`;
        asked.push(place);
        const behaviour = plan[place]?.() ?? { status: 404 };
        if (behaviour !== away) step += 1;
        return behaviour;
      };
      const project = await team.create({ presets: two(apiOf(kind)) });
      const first = await team.bench.begin(project, 'ada');
      const text = await team.takeTurn(first);
      expect([...a.refused, ...b.refused]).toEqual([]);
      expect(text).toBe('The end.');
      await first.report('complete', { output: { text } });
      waitForBreakers();
      expect(await team.completeTurn(project, 'ada', 'More.')).toBe('An end by b.');
      waitForBreakers();
      expect(await team.completeTurn(project, 'ada', 'Still more.')).toBe('The end of all.');
      expect([...a.refused, ...b.refused]).toEqual([]);
      expect(asked).toEqual(Object.keys(plan));
      const words = team.server.requests.map(wordsOf);
      for (const [at, place] of asked.entries()) {
        if (place.endsWith('b')) expect(words[at]).not.toMatch(/thought_signature|reasoning|specific_fields|encrypted/);
        if (place > '2') expect(words[at]).toContain(place.endsWith('b') ? '| {}' : '| {\\"path\\":\\"of b\\"}');
      }
    },
  );
});
