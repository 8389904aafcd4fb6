import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { FoundItem } from '@suzumio/contract/model/found';
import { type SearchAnswer, searchAnswer } from '@suzumio/contract/operations/search';
import { postMessage } from '@suzumio/store/mail/post-message';
import { teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { failTurn, publish } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
});
afterEach(() => api.close());

const named = (name: string) => `${teamYaml.replace('name: team', `name: ${name}`)}\nturn: { maxAttempts: 1 }`;
const told = (project: string, body: string) =>
  api.write(project, (tx) => postMessage(tx, { sender: 'ada', recipient: 'user', priority: 'P1', body, actor: 'ada' }));

async function find(q: string, more = '', token?: string): Promise<SearchAnswer> {
  const path = `/api/search?q=${encodeURIComponent(q)}${more}`;
  const { status, json, text } = await api.get(path, token === undefined ? {} : { token });
  expect({ status, text: status === 200 ? '' : text }).toEqual({ status: 200, text: '' });
  expect(searchAnswer.parse(json)).toEqual(json);
  return json as SearchAnswer;
}

const shown = ({ items }: { items: readonly FoundItem[] }) =>
  items.map((item) => {
    const found = 'found' in item ? item.found.map(({ text, matched }) => (matched ? `[${text}]` : text)).join('') : '';
    switch (item.kind) {
      case 'project':
        return `project ${item.project}`;
      case 'agent':
        return `agent ${item.project} ${item.agent}`;
      case 'turn':
        return `turn ${item.project} ${item.agent}:${item.turnNumber} ${found}`;
      case 'file':
        return `file ${item.project} ${item.name}`;
      case 'mail':
        return `mail ${item.project} ${item.seq} ${found}`;
    }
  });

describe('the search over everything', () => {
  test('finds projects, agents, turns, files and mail', async () => {
    await api.create(named('weir-desk'));
    await api.create(named('river'));
    await publish(api, 'river', 'ada', { name: 'levels/Weir.csv', content: Buffer.from('1\n') });
    await failTurn(api, 'river', 'ben');
    await told('river', 'The weir is open.');
    await told('weir-desk', 'Nothing new.');
    expect(shown(await find('weir'))).toEqual([
      'project weir-desk',
      'file river levels/Weir.csv',
      'mail river 3 The [weir] is open.',
    ]);
    expect(shown(await find('ben:1'))).toEqual([expect.stringMatching(/^turn river ben:1 /)]);
    expect(shown(await find('non-zero-exit', '&kind=turn'))).toEqual([
      expect.stringMatching(/^turn river ben:1 .*\[non-zero-exit\] The runner ended/),
    ]);
    expect(shown(await find('benny'))).toEqual(['agent river ben', 'agent weir-desk ben']);
    expect(shown(await find('weir', '&project=weir-desk'))).toEqual(['project weir-desk']);
    expect(shown(await find('"weir is"'))).toEqual(['mail river 3 The [weir is] open.']);
    expect((await find('nowhere')).items).toEqual([]);
  });

  test('shows no more than the token may read', async () => {
    for (const name of ['desk', 'river']) {
      await api.create(named(name));
      await told(name, `The gauge of ${name}.`);
    }
    const token = await api.token('read', 'river');
    expect(shown(await find('gauge', '', token))).toEqual(['mail river 1 The [gauge] of river.']);
    expect(refusal(await api.get('/api/search?q=gauge&project=desk', { token })).code).toBe('forbidden');
    expect(refusal(await api.get('/api/search?q=gauge&project=nothing')).code).toBe('project-unknown');
  });

  test('no project hides what is in others, and more of one is found where that is asked for', async () => {
    for (const name of ['a-loud', 'b-quiet']) await api.create(named(name));
    for (let i = 0; i < 12; i += 1) await told('a-loud', `Gauge ${String(i)}.`);
    await told('b-quiet', 'Gauge, once.');
    const { items, more } = await find('gauge', '&limit=4');
    expect(items.map(({ project }) => project)).toEqual(['a-loud', 'b-quiet', 'a-loud', 'a-loud']);
    expect(more).toEqual(['mail']);
    expect((await find('gauge')).items).toHaveLength(6);
    const one = await find('gauge', '&project=a-loud');
    expect([one.items.length, one.more]).toEqual([12, []]);
  });

  test('looks into all projects, part by part where there is no time for all', async () => {
    for (const name of ['a', 'b', 'c']) {
      await api.create(named(`desk-${name}`));
      await told(`desk-${name}`, 'Gauge.');
    }
    const parts = async () => {
      const found: (string | undefined)[][] = [];
      for (let after = ''; ;) {
        const { items, next } = await find('gauge', after);
        found.push(items.map(({ project }) => project));
        if (next === undefined) return found;
        after = `&after=${next}`;
      }
    };
    let now = 0;
    const clock = jest.spyOn(performance, 'now').mockImplementation(() => (now += 1_500));
    try {
      const [first, ...others] = await parts();
      expect(others.length).toBeGreaterThan(0);
      expect(first?.length).toBeGreaterThan(0);
      expect([first, ...others].flat()).toEqual(['desk-a', 'desk-b', 'desk-c']);
    } finally {
      clock.mockRestore();
    }
  });

  test('answers the searches of one token one after the other, a few at a time', async () => {
    await api.create(named('desk'));
    const answers = await Promise.all(Array.from({ length: 30 }, () => api.get('/api/search?q=gauge')));
    const codes = new Set(answers.map(({ status }) => status));
    expect([...codes].every((status) => status === 200 || status === 429)).toBe(true);
    expect(codes).toContain(200);
    expect((await find('gauge')).items).toEqual([]);
  });

  test.each([
    ['gauge" OR body:*', 400],
    ['gauge\0reading', 200],
    ['NEAR(gauge reading)', 200],
    ['body:gauge', 200],
    ['^gauge + -reading', 400],
    ['gauge AND', 200],
    ["'; DROP TABLE messages; --", 400],
    ['%_gauge\\', 200],
    ['x'.repeat(10_000), 400],
    ['\ud800gauge', 200],
    ['ｇａｕｇｅ', 200],
    ['水位', 200],
    ['', 400],
    ['   ', 400],
    ['\u200b', 400],
    ['(((((', 400],
    ['a '.repeat(40), 400],
  ])('takes %j as it is written, or refuses it', async (q, status) => {
    await api.create(named('desk'));
    await told('desk', 'A gauge reading: 水位 is low.');
    // A lone surrogate cannot be written in an address; its bytes can.
    const written = q.isWellFormed() ? encodeURIComponent(q) : `%ED%A0%80${encodeURIComponent(q.slice(1))}`;
    const answer = await api.get(`/api/search?q=${written}`);
    expect([answer.status, answer.status === 400 ? refusal(answer).code : '']).toEqual([
      status,
      status === 400 ? 'invalid-request' : '',
    ]);
  });

  test.each(['', '?q=a&q=b', '?q[x]=a', '?q=gauge&kind=letter', '?q=gauge&limit=0', '?q=gauge&after=%00'])(
    'refuses %j',
    async (query) => {
      expect(refusal(await api.get(`/api/search${query}`)).code).toBe('invalid-request');
    },
  );
});
