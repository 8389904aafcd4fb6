import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { type Answer, type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

const yaml = 'name: team\ntask: t\nbackend: { runner: { mode: mock } }\nagents: { ada: { role: r, prompt: p } }\n';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.post('/api/projects', { file: yaml, labels: { team: 'river', env: 'test' } });
});
afterEach(() => api.close());

const label = (body: unknown, options = {}) => api.post('/api/projects/team/labels', body, options);
const labelsOf = ({ json }: Answer) => (json as { project: { labels: unknown } }).project.labels;
const changes = () =>
  api.rows<{ actor: string; data_json: string }>(
    'team',
    `SELECT actor, data_json FROM events WHERE type = 'project.labelled'`,
  );
const filedUnder = async (word: string) => {
  const { json } = await api.get(`/api/projects?label=${encodeURIComponent(word)}`);
  return (json as { items: { id: string }[] }).items.map(({ id }) => id);
};

describe('labels', () => {
  test('are set and removed at once, and the list of projects follows', async () => {
    const token = await api.token('operate', 'team');
    const answer = await label({ set: { env: 'live', 'a/b': 'x y' }, remove: ['team', 'none'] }, { token });
    expect([answer.status, labelsOf(answer)]).toEqual([200, { env: 'live', 'a/b': 'x y' }]);
    expect(labelsOf(await api.get('/api/projects/team'))).toEqual({ env: 'live', 'a/b': 'x y' });
    expect([await filedUnder('env=live'), await filedUnder('team=river')]).toEqual([['team'], []]);
    const told = (await changes()).map((event) => ({
      actor: event.actor,
      data: JSON.parse(event.data_json) as unknown,
    }));
    expect(told).toEqual([
      { actor: expect.not.stringMatching(/^admin$/), data: { set: { env: 'live', 'a/b': 'x y' }, removed: ['team'] } },
    ]);
    expect(api.cell.catalog.projects.unsettled()).toEqual([]);
  });

  test('that are so already leave no event, and a key makes a repetition harmless', async () => {
    expect((await label({ set: { env: 'test' }, remove: ['none'] })).status).toBe(200);
    expect(await changes()).toEqual([]);
    const headers = { 'idempotency-key': 'k' };
    const first = await label({ set: { env: 'live' } }, { headers });
    await label({ set: { env: 'other' } });
    expect((await label({ set: { env: 'live' } }, { headers })).json).toEqual(first.json);
    expect(await filedUnder('env=other')).toEqual(['team']);
  });

  test.each<[unknown, RegExp]>([
    [{}, /name what is to change: set or remove/],
    [{ set: { env: 'x' }, remove: ['env'] }, /either set or removed/],
    [{ set: { 'no spaces': 'x' } }, /a label is called by/],
    [{ set: { env: 'a,b' } }, /none of them a comma/],
    [{ set: { env: '' } }, /1 to 256 characters/],
    [{ remove: ['__proto__'] }, /a label is called by/],
    [
      { set: Object.fromEntries(Array.from({ length: 31 }, (_, n) => [`k${String(n)}`, 'x'])) },
      /would have 33 labels, and may have 32: remove 1 in the same request/,
    ],
  ])('are bounded as when a project is made: %j', async (body, why) => {
    const answer = await label(body);
    expect(refusal(answer)).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refusal(answer).detail).toMatch(why);
    expect(await changes()).toEqual([]);
    expect(labelsOf(await api.get('/api/projects/team'))).toEqual({ team: 'river', env: 'test' });
  });

  test('need the scope operate', async () => {
    expect(refusal(await label({ remove: ['env'] }, { token: await api.token('mail') })).code).toBe('forbidden');
  });

  test('that the catalog was not told of, because its process died, are left for a sweep to compare', async () => {
    jest.spyOn(api.cell.catalog.projects, 'noteStatus').mockRejectedValueOnce(new Error('killed'));
    expect((await label({ set: { env: 'live' } })).status).toBe(200);
    expect(await filedUnder('env=live')).toEqual([]);
    expect(api.cell.catalog.projects.unsettled()).toEqual(['team']);
    await api.store('team', (store) => {
      expect(api.cell.isNoted(store)).toBe(false);
    });
    await api.cell.noteStatus('team');
    expect([await filedUnder('env=live'), api.cell.catalog.projects.unsettled()]).toEqual([['team'], []]);
    await api.store('team', (store) => {
      expect(api.cell.isNoted(store)).toBe(true);
    });
  });
});
