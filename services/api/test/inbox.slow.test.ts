import { utimes } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import type { InboxItem } from '@suzumio/contract/model/inbox';
import type { DecidedAnswer, InboxAnswer, InboxCounts } from '@suzumio/contract/operations/inbox';
import { postMessage } from '@suzumio/store/mail/post-message';
import { noon, teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { failTurn, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi({}, undefined, { startMs: noon });
});
afterEach(() => api.close());

const named = (name: string, more = '') => `${teamYaml.replace('name: team', `name: ${name}`)}${more}`;
const inbox = async (query = '', token?: string) =>
  (await api.get(`/api/inbox${query}`, token === undefined ? {} : { token })).json as InboxAnswer;
const mark = (items: readonly string[], token?: string) =>
  api.post('/api/inbox/read', { items }, token === undefined ? {} : { token });
const told = (project: string, body: string) =>
  api.write(project, (tx) => postMessage(tx, { sender: 'ada', recipient: 'user', priority: 'P1', body, actor: 'ada' }));
const texts = ({ items }: InboxAnswer) =>
  items.map((item) => (item.kind === 'message' ? item.message.excerpt : `${item.kind} ${item.project ?? 'all'}`));
const ids = (items: readonly InboxItem[]) => items.map(({ id }) => id);

describe('the inbox', () => {
  test('has what waits for a person in every project, then what agents told them', async () => {
    await api.create(named('desk', '\nbudget: { turns: 1 }'));
    const dan = '  dan: { role: helper, prompt: Help., displayName: Dan Miller }\n';
    await api.create(named('river', `${dan}turn: { maxAttempts: 1 }`));
    await told('desk', 'Which gauge first?');
    api.setNow(noon + 60_000);
    await submit(api, 'desk', 'ada', 'The level is 3 m.');
    api.setNow(noon + 120_000);
    await failTurn(api, 'river', 'dan');
    api.setNow(noon + 180_000);
    await api.post('/api/projects/river/agents/cat/pause', { reason: 'too loud' });
    await api.post('/api/projects/river/messages', { recipient: 'ada', body: 'To an agent, not to me.' });
    const { items, ...rest } = await inbox();
    expect(rest).toEqual({ moreWaiting: 0, unreadable: [] });
    expect(items).toEqual([
      expect.objectContaining({ kind: 'report', project: 'desk', version: 1, next: 'report desk', read: false }),
      expect.objectContaining({
        kind: 'failure',
        project: 'river',
        agent: 'dan',
        displayName: 'Dan Miller',
        code: 'non-zero-exit',
        turnNumber: 1,
        at: '2026-11-22T12:02:00.000Z',
        next: 'agents retry river dan',
        request: { operation: 'retryAgent', params: { project: 'river', agent: 'dan' }, asks: [] },
      }),
      expect.objectContaining({
        kind: 'pause',
        project: 'river',
        agent: 'cat',
        pause: expect.objectContaining({ by: 'admin', reason: 'too loud' }),
        next: 'resume river cat',
      }),
      expect.objectContaining({
        kind: 'budget',
        project: 'desk',
        agent: null,
        limit: 'turns',
        max: 1,
        used: 1,
        next: 'budget desk',
      }),
      expect.objectContaining({
        kind: 'message',
        project: 'desk',
        message: expect.objectContaining({ sender: 'ada', excerpt: 'Which gauge first?', priority: 'P1' }),
        next: 'messages show desk 1',
      }),
    ]);
    expect(texts(await inbox('?kind=failure,pause'))).toEqual(['failure river', 'pause river']);
    expect(texts(await inbox('?project=desk&kind=message'))).toEqual(['Which gauge first?']);
  });

  test('loses what is settled, and has it anew where it comes again', async () => {
    await api.create(named('desk'));
    await submit(api, 'desk', 'ada', 'First.');
    const [first] = (await inbox()).items;
    await mark([first?.id ?? '']);
    expect((await inbox('?unread=true')).items).toEqual([]);
    await api.post('/api/projects/desk/request-changes', { recipient: 'ada', body: 'Shorter.' });
    expect((await inbox()).items).toEqual([]);
    await submit(api, 'desk', 'ada', 'Second.');
    expect(texts(await inbox('?unread=true'))).toEqual(['report desk']);
    await api.post('/api/projects/desk/approve', {});
    expect((await inbox()).items).toEqual([]);
  });

  test('says that everything is paused, and that the day has little left', async () => {
    await api.create(named('desk'));
    await api.post('/api/pause', { reason: 'a new disk' });
    await api.cell.catalog.spending.limitTo(1e9);
    await api.cell.catalog.spending.spend(0.9e9);
    const { items } = await inbox();
    expect(items).toEqual([
      expect.objectContaining({ kind: 'pause', project: null, agent: null, next: 'resume --all' }),
      expect.objectContaining({ kind: 'budget', project: null, limit: 'usd', max: 1, used: 0.9 }),
    ]);
    expect((await mark(ids(items))).json).toEqual({ items: ids(items) });
    expect((await inbox('?unread=true')).items).toEqual([]);
    await api.cell.catalog.spending.spend(0.2e9);
    expect(texts(await inbox('?unread=true'))).toEqual(['budget all']);
  });

  test('keeps marks for each name of a token', async () => {
    await api.create(named('desk'));
    await told('desk', 'Hello.');
    const other = await api.token('read');
    const { items } = await inbox();
    expect((await mark([...ids(items), 'desk:message:msg_gone', 'nowhere:report:1:1', 'Nonsense'])).json).toEqual({
      items: ids(items),
    });
    expect((await mark(ids(items))).json).toEqual({ items: ids(items) });
    expect((await inbox()).items).toEqual([{ ...items[0], read: true }]);
    expect((await inbox('', other)).items).toEqual(items);
    await mark(ids(items), other);
    expect((await inbox('?unread=true', other)).items).toEqual([]);
  });

  test('shows and marks no more than the token may read', async () => {
    await api.create(named('desk'));
    await api.create(named('river'));
    await told('desk', 'Of the desk.');
    await told('river', 'Of the river.');
    await api.post('/api/pause', {});
    const all = (await inbox()).items;
    const token = await api.token('read', 'river');
    expect(texts(await inbox('', token))).toEqual(['Of the river.']);
    expect(refusal(await api.get('/api/inbox?project=desk', { token }))).toMatchObject({ code: 'forbidden' });
    const marking = await mark(ids(all), token);
    expect([marking.status, refusal(marking).code]).toEqual([403, 'forbidden']);
    expect((await mark(ids(all.filter(({ project }) => project !== 'desk')), token)).json).toEqual({
      items: ids(all.filter(({ project }) => project === 'river')),
    });
  });

  test('goes back through the messages of all projects, each once, in order', async () => {
    const projects = ['desk', 'river', 'weir'];
    for (const name of projects) await api.create(named(name));
    const sent: string[] = [];
    for (let i = 0; i < 17; i += 1) {
      // Several of one moment, too.
      api.setNow(noon + Math.floor(i / 4) * 1_000);
      const project = projects[(i * i) % 3] ?? 'desk';
      await told(project, `${i}`);
      sent.push(`${i}`);
    }
    const pages: string[][] = [];
    for (let before = ''; ;) {
      const page = await inbox(`?limit=5${before}`);
      pages.unshift(texts(page));
      if (page.previous === undefined) break;
      before = `&before=${page.previous}`;
    }
    expect(pages.map(({ length }) => length)).toEqual([2, 5, 5, 5]);
    expect(pages.flat().toSorted((a, b) => Number(a) - Number(b))).toEqual(sent);
    const moments = pages.flat().map((text) => Math.floor(Number(text) / 4));
    expect(moments).toEqual(moments.toSorted((a, b) => a - b));
  });

  test('finds the one that is not marked behind many that are, in parts', async () => {
    await api.create(named('desk'));
    for (let i = 0; i < 30; i += 1) await told('desk', `${i}`);
    const { items } = await inbox('?limit=500');
    await mark(ids(items.slice(1)));
    const found = await inbox('?unread=true&limit=5');
    expect(texts(found)).toEqual(['0']);
  });

  test('forgets marks with their project', async () => {
    await api.create(named('desk'));
    await told('desk', 'Hello.');
    const { items } = await inbox();
    await mark(ids(items));
    await api.call('DELETE', '/api/projects/desk');
    expect((await inbox()).items).toEqual([]);
    await api.create(named('desk'));
    await told('desk', 'Hello again.');
    expect(texts(await inbox('?unread=true'))).toEqual(['Hello again.']);
  });

  test('counts what waits, in total and by project, for those that the token may read', async () => {
    const counts = async (token?: string) =>
      (await api.get('/api/inbox/counts', token === undefined ? {} : { token })).json as InboxCounts;
    expect(await counts()).toEqual({ waiting: 0, projects: [], unreadable: [] });
    await api.create(named('desk'));
    await api.create(named('river', '\nturn: { maxAttempts: 1 }'));
    await api.create(named('weir'));
    await submit(api, 'desk', 'ada', 'First.');
    await failTurn(api, 'river', 'ben');
    await api.post('/api/projects/river/agents/cat/pause', {});
    await told('river', 'Only told.');
    const river = { project: 'river', waiting: 2, failures: 1 };
    const desk = { project: 'desk', waiting: 1, failures: 0 };
    expect(await counts()).toEqual({ waiting: 3, projects: [desk, river], unreadable: [] });
    await api.post('/api/pause', {});
    expect(await counts()).toMatchObject({ waiting: 4 });
    expect(await counts(await api.token('read', 'river'))).toEqual({ waiting: 2, projects: [river], unreadable: [] });
    await api.post('/api/projects/desk/approve', {});
    await api.call('DELETE', '/api/projects/river');
    expect(await counts()).toEqual({ waiting: 1, projects: [], unreadable: [] });
  });

  test('that is counted again reads no project that has not changed', async () => {
    await api.create(named('desk'));
    await submit(api, 'desk', 'ada', 'First.');
    const file = api.cell.directory.projectFile('desk');
    const old = new Date(Date.now() - 60_000);
    for (const path of [file, `${file}-wal`]) await utimes(path, old, old).catch(() => undefined);
    const counts = async () => ((await api.get('/api/inbox/counts')).json as InboxCounts).waiting;
    expect(await counts()).toBe(1);
    const use = jest.spyOn(api.cell.stores, 'use');
    expect(await counts()).toBe(1);
    expect(use).not.toHaveBeenCalled();
    use.mockRestore();
    await api.post('/api/projects/desk/approve', {});
    expect(await counts()).toBe(0);
  });

  test.each([
    ['?kind=letter', 'kind'],
    ['?before=yesterday', 'before'],
    ['?limit=501', 'limit'],
    ['?unread=maybe', 'unread'],
  ])('refuses %s', async (query, field) => {
    const { status, code, detail } = refusal(await api.get(`/api/inbox${query}`));
    expect([status, code]).toEqual([400, 'invalid-request']);
    expect(detail).toContain(field);
  });
});

describe('what was decided', () => {
  const decided = async (query = '', token?: string) =>
    (await api.get(`/api/inbox/decided${query}`, token === undefined ? {} : { token })).json as DecidedAnswer;

  test('is told with who decided it, the newest first', async () => {
    await api.create(named('desk'));
    await api.create(named('river', '\nturn: { maxAttempts: 1 }'));
    await submit(api, 'desk', 'ada', 'First.');
    let moment = 0;
    const act = async (path: string, body: unknown = {}) => {
      api.setNow(noon + (moment += 1) * 60_000);
      expect((await api.post(`/api/projects/${path}`, body)).status).toBeLessThan(300);
    };
    await act('desk/request-changes', { recipient: 'ben', body: 'Shorter.' });
    await failTurn(api, 'river', 'ben');
    await act('river/agents/ben/retry');
    await act('river/pause');
    await act('river/resume');
    await act('river/budget', { turns: 30, agent: 'cat' });
    await submit(api, 'desk', 'ada', 'Second.');
    await act('desk/approve');
    const { items, ...rest } = await decided();
    expect(rest).toEqual({ unreadable: [] });
    expect(items).toEqual([
      expect.objectContaining({ kind: 'approved', project: 'desk', by: 'admin', version: 2 }),
      expect.objectContaining({ kind: 'budget-changed', project: 'river', agent: 'cat', limits: { turns: 30 } }),
      expect.objectContaining({ kind: 'resumed', project: 'river', agent: null }),
      expect.objectContaining({ kind: 'retried', project: 'river', agent: 'ben', turnNumber: 1, by: 'admin' }),
      expect.objectContaining({
        kind: 'changes-requested',
        project: 'desk',
        version: 1,
        recipient: 'ben',
        at: '2026-11-22T12:01:00.000Z',
      }),
    ]);
    expect((await decided('?project=desk')).items).toHaveLength(2);
    expect((await decided('', await api.token('read', 'river'))).items).toHaveLength(3);
    expect(refusal(await api.get('/api/inbox/decided?before=yesterday')).code).toBe('invalid-request');
  });

  test('comes in parts over all projects, each once, in order, also behind many other events', async () => {
    const projects = ['desk', 'river', 'weir'];
    for (const name of projects) await api.create(named(name));
    // After the projects were made, by a clock that goes on.
    const begin = noon + 3_600_000;
    for (let i = 0; i < 20; i += 1) {
      // Several of one moment, too.
      api.setNow(begin + Math.floor(i / 4) * 1_000);
      const project = projects[(i * i) % 3] ?? 'desk';
      await api.post(`/api/projects/${project}/budget`, { turns: i + 1 });
    }
    await api.write('river', (tx) =>
      tx.run(`INSERT INTO events (type, actor, data_json, created_at_ms) SELECT 'agent.started', 'admin', '{}', ${String(begin + 60_000)} FROM (
        WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 12000) SELECT n FROM n)`),
    );
    const turns: number[] = [];
    let parts = 0;
    for (let before = ''; ;) {
      const part = await decided(`?limit=6${before}`);
      parts += 1;
      for (const item of part.items) if (item.kind === 'budget-changed') turns.push(Number(item.limits.turns));
      if (part.previous === undefined) break;
      before = `&before=${part.previous}`;
    }
    expect(parts).toBeLessThan(8);
    expect(turns.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_none, i) => i + 1));
    const moments = turns.map((one) => Math.floor((one - 1) / 4));
    expect(moments).toEqual(moments.toSorted((a, b) => b - a));
  });
});
