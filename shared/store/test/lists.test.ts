import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { EventType } from '@suzumio/contract/model/event';
import { searchText } from '@suzumio/contract/model/search';
import { listArtifacts } from '@suzumio/store/content/artifacts';
import { publishArtifact } from '@suzumio/store/content/publish-artifact';
import { assignTask } from '@suzumio/store/mail/assign-task';
import { indexFor } from '@suzumio/store/mail/index-messages';
import { listMessages, type MessagePage, messageRange } from '@suzumio/store/mail/messages';
import { postMessage } from '@suzumio/store/mail/post-message';
import { listTasks } from '@suzumio/store/mail/tasks';
import { listEvents } from '@suzumio/store/projects/events';
import { type Page, type Part, partOfNames, partOfRows } from '@suzumio/store/sqlite/page';
import type { SqlReader } from '@suzumio/store/sqlite/sql';
import { noon, teamYaml, type TestCell, testCell } from '../../../test/support/cell.js';

const count = 30;
const words = ['The parser fails on line', 'Der Prüfer: Fehler in Zeile', '解析器在这里出错了', 'Nothing to see,'];

let testing: TestCell;
let project: string;
beforeAll(async () => {
  testing = await testCell({ startMs: noon });
  project = await testing.create();
  for (let number = 1; number <= count; number += 1) {
    testing.setNow(noon + number * 60_000);
    await testing.write(project, (tx) => {
      const [sender, recipient] = number % 3 === 0 ? ['user', 'ben'] : ['ada', number % 2 === 0 ? 'ben' : 'cat'];
      const body = `${words[number % 4] ?? ''} ${String(number)}`;
      postMessage(tx, { sender, recipient, priority: number === 7 ? 'P0' : 'P1', body, actor: 'test' });
    });
  }
});
afterAll(() => testing.close());

const read = <Result>(query: (reader: SqlReader) => Result, from = project) =>
  testing.store(from, ({ reader }) => query(reader));
/** A project for a test that writes: the others count on what is in theirs. */
const another = (name: string) => testing.create(teamYaml.replace('name: team', `name: ${name}`));
const seqs = async (page: Partial<MessagePage>) => {
  const { items, ...places } = await read((reader) => listMessages(reader, { limit: 10, ...page }));
  return { seqs: items.map(({ seq }) => seq), ...places };
};
const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, at) => from + at);

describe('a list that grows', () => {
  test('is read from either end to the other, in parts that say how it goes on', async () => {
    expect(await seqs({})).toEqual({ seqs: range(21, 30), next: 30, previous: 21 });
    expect(await seqs({ before: 21 })).toEqual({ seqs: range(11, 20), next: 20, previous: 11 });
    expect(await seqs({ before: 11 })).toEqual({ seqs: range(1, 10), next: 10 });
    expect(await seqs({ after: 0 })).toEqual({ seqs: range(1, 10), next: 10 });
    expect(await seqs({ after: 10 })).toEqual({ seqs: range(11, 20), next: 20, previous: 11 });
    expect(await seqs({ after: 30 })).toEqual({ seqs: [] });
  });

  test('is read the newest first where that is asked for, with the same places', async () => {
    expect(await seqs({ order: 'desc' })).toEqual({ seqs: range(21, 30).reverse(), next: 30, previous: 21 });
    expect(await seqs({ order: 'desc', before: 4 })).toEqual({ seqs: [3, 2, 1], next: 3 });
    expect(await seqs({ order: 'desc', after: 27 })).toEqual({ seqs: [30, 29, 28], next: 30, previous: 28 });
  });

  test('between two places is filled from the end that comes first in its order', async () => {
    const between = { after: 5, before: 25, limit: 3 };
    expect(await seqs(between)).toEqual({ seqs: [6, 7, 8], next: 8, previous: 6 });
    expect(await seqs({ ...between, order: 'desc' })).toEqual({ seqs: [24, 23, 22], next: 24, previous: 22 });
  });
});

test.each([
  [{}, [1, 2], { next: 2 }],
  [{ order: 'desc' }, [5, 4], { next: 5, previous: 4 }],
  [{ before: 4 }, [2, 3], { next: 3, previous: 2 }],
  [{ before: 2 }, [1], { next: 1 }],
  [{ after: 3 }, [4, 5], { next: 5, previous: 4 }],
] as const)('a list that begins with its first row, with %j', (page: Partial<Page>, expected, places) => {
  const rows = range(1, 5).map((seq) => ({ seq }));
  const part = partOfRows(rows, { limit: 2, ...page });
  expect(part).toEqual({ items: expected.map((seq) => ({ seq })), ...places });
});

test.each([
  [{}, ['a', 'b'], { next: 'b' }],
  [{ order: 'desc' }, ['e', 'd'], { previous: 'd' }],
  [{ after: 'c' }, ['d', 'e'], { previous: 'd' }],
  [{ before: 'd' }, ['b', 'c'], { next: 'c', previous: 'b' }],
  [{ after: 'x' }, [], {}],
] as const)('a list by names, with %j', (page: Partial<Page<string>>, expected, places) => {
  const list = ['a', 'b', 'c', 'd', 'e'];
  expect(partOfNames(list, { limit: 2, ...page }, (name) => name)).toEqual({ items: expected, ...places });
});

describe('messages', () => {
  test('are found by who wrote them, to whom, and when', async () => {
    expect((await seqs({ sender: 'user' })).seqs).toEqual(range(1, 10).map((at) => at * 3));
    expect((await seqs({ sender: 'ada', recipient: 'ben', order: 'desc', limit: 3 })).seqs).toEqual([28, 26, 22]);
    expect((await seqs({ priority: 'P0' })).seqs).toEqual([7]);
    expect((await seqs({ state: 'unread', limit: 2 })).seqs).toEqual([29, 30]);
    expect(await seqs({ state: 'undelivered' })).toEqual({ seqs: [] });
    expect(await seqs({ state: 'read' })).toEqual({ seqs: [] });
    const time = { since: noon + 5 * 60_000, until: noon + 9 * 60_000 };
    expect(await seqs(time)).toEqual({ seqs: [5, 6, 7, 8], next: 8 });
    expect((await seqs({ ...time, sender: 'user' })).seqs).toEqual([6]);
    expect(await seqs({ since: noon + 3_600_000 })).toEqual({ seqs: [] });
    await expect(seqs({ sender: 'nobody' })).rejects.toMatchObject({ code: 'agent-unknown' });
  });

  test('are found by their words, with the place where these are', async () => {
    const search = async (text: string, page: Partial<MessagePage> = {}) => {
      const wanted = { limit: 10, ...page, search: searchText.parse(text) };
      await testing.store(project, (store) => indexFor(store, wanted, messageRange(store.reader, wanted)));
      return read((reader) => listMessages(reader, wanted));
    };
    const found = async (text: string, page?: Partial<MessagePage>) =>
      (await search(text, page)).items.map(({ seq }) => seq);
    const since = noon + 9 * 60_000;
    const unindexed = await read((reader) =>
      listMessages(reader, { limit: 2, since, search: searchText.parse('PARSER "fails on"') }),
    );
    expect(unindexed.items.map(({ seq, found: pieces }) => [seq, pieces?.[1]])).toEqual([
      [24, { text: 'parser', matched: true }],
      [28, { text: 'parser', matched: true }],
    ]);
    expect(await found('parser')).toEqual([4, 8, 12, 16, 20, 24, 28]);
    expect(await found('parser', { before: 20, limit: 2, order: 'desc' })).toEqual([16, 12]);
    expect(await found('FEHLER prufer', { sender: 'user' })).toEqual([9, 21]);
    expect(await found('"fails on" pars*', { after: 20 })).toEqual([24, 28]);
    expect(await found('"on fails"')).toEqual([]);
    expect(await found('NOT OR NEAR( body:x')).toEqual([]);
    expect(await found('器在这', { limit: 2 })).toEqual([26, 30]);
    expect(await found('在这 30')).toEqual([30]);
    const { items, previous } = await search('parser', { limit: 1 });
    expect(items[0]?.found).toEqual([
      { text: 'The ', matched: false },
      { text: 'parser', matched: true },
      { text: ' fails on line 28', matched: false },
    ]);
    expect(previous).toBe(28);
    expect((await search('这里', { limit: 1 })).items[0]?.found?.[1]).toEqual({ text: '这里', matched: true });
  });

  test.each([
    ['', 'words to look for'],
    ['a "b', 'quotation mark'],
    ['-- !', 'letters or digits'],
    ['x'.repeat(201), '200 characters'],
    [Array.from({ length: 17 }, () => 'a').join(' '), '16 words'],
  ])('are not searched for %j', (text, why) => {
    expect(searchText.safeParse(text).error?.issues[0]?.message).toContain(why);
  });
});

test('tasks are found by the words of their messages', async () => {
  const tasks = await another('tasks');
  await testing.write(tasks, (tx) => {
    for (const body of ['Read the south gauge.', 'Read the north gauge.', 'Rest.']) {
      assignTask(tx, { sender: 'ada', role: 'reader', priority: 'P1', body, actor: 'test' });
    }
  });
  const found = async (text: string, page: object = {}) => {
    const wanted = { limit: 10, ...page, search: searchText.parse(text) };
    await testing.store(tasks, (store) => indexFor(store, wanted, messageRange(store.reader, wanted)));
    const { items } = await read((reader) => listTasks(reader, wanted), tasks);
    return items.map(({ excerpt, found: pieces }) => [excerpt, pieces?.find(({ matched }) => matched)?.text]);
  };
  expect(await found('GAUGE', { order: 'desc' })).toEqual([
    ['Read the north gauge.', 'gauge'],
    ['Read the south gauge.', 'gauge'],
  ]);
  expect(await found('sou*', { assignee: 'ben', state: 'open' })).toEqual([['Read the south gauge.', 'south']]);
  expect(await found('gauge', { assigner: 'user' })).toEqual([]);
});

test('a filter that nothing answers to looks at so many rows, and says where the next part goes on', async () => {
  const walk = (page: (before?: number) => Part<unknown>) => {
    let parts = 0;
    for (let before: number | undefined; ; parts += 1) {
      const { items, previous } = page(before);
      if (items.length > 0 || previous === undefined) return { parts, items };
      before = previous;
    }
  };
  await testing.write(project, (tx) => {
    tx.run(
      `INSERT INTO events (type, actor, agent_id, data_json, created_at_ms)
       WITH RECURSIVE many (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM many WHERE n < 25000)
       SELECT 'agent.started', 'ben', 'ben', '{}', 1 FROM many`,
    );
  });
  const looked = (filter: { agent: string } | { types: EventType[] }) =>
    read((reader) =>
      walk((before) => listEvents(reader, { limit: 5, ...filter, ...(before === undefined ? {} : { before }) })),
    );
  const { parts, items } = await looked({ agent: 'ada' });
  expect([parts, items.length]).toEqual([2, 5]);
  const { parts: partsOfType, items: ofType } = await looked({ types: ['project.started'] });
  expect([partsOfType, ofType.length]).toEqual([2, 1]);
});

test('artifacts are found by the beginnings of their names, and by who published them', async () => {
  const files = await another('files');
  await testing.write(files, (tx) => {
    for (const [name, creator] of [
      ['docs/a.md', 'ada'],
      ['docs/b.md', 'user'],
      ['d%', 'ada'],
    ] as const) {
      publishArtifact(tx, { creator, name, path: 'artifacts/ff/f', sha256: 'f'.repeat(64), sizeBytes: 3 });
    }
  });
  const names = (page: object) =>
    read((reader) => listArtifacts(reader, { limit: 10, ...page }).items.map(({ name }) => name), files);
  expect(await names({ prefix: 'docs/' })).toEqual(['docs/a.md', 'docs/b.md']);
  expect(await names({ prefix: 'd%' })).toEqual(['d%']);
  expect(await names({ creator: 'ada', order: 'desc' })).toEqual(['d%', 'docs/a.md']);
});

test('of each name the latest artifact is found, with the number of its versions', async () => {
  await testing.write(project, (tx) => {
    for (const [name, creator] of [
      ['gauge/levels.csv', 'ada'],
      ['gauge/notes.md', 'ada'],
      ['gauge/levels.csv', 'ben'],
      ['gauge/levels.csv', 'ada'],
      ['gauge/tides.md', 'ben'],
      ['gauge/notes.md', 'user'],
    ] as const) {
      publishArtifact(tx, { creator, name, path: 'artifacts/ff/f', sha256: 'f'.repeat(64), sizeBytes: 3 });
    }
  });
  const latest = (page: object = {}) =>
    read((reader) => listArtifacts(reader, { limit: 10, latest: true, order: 'desc', prefix: 'gauge/', ...page }));
  const names = async (page: object = {}) =>
    (await latest(page)).items.map(({ name, creator, versions }) => [name, creator, versions]);
  expect(await names()).toEqual([
    ['gauge/notes.md', 'user', 2],
    ['gauge/tides.md', 'ben', 1],
    ['gauge/levels.csv', 'ada', 3],
  ]);
  // Only what one has published counts, as in the archive.
  expect(await names({ creator: 'ada' })).toEqual([
    ['gauge/levels.csv', 'ada', 2],
    ['gauge/notes.md', 'ada', 1],
  ]);
  expect(await names({ name: 'gauge/levels.csv' })).toEqual([['gauge/levels.csv', 'ada', 3]]);
  const { items, previous } = await latest({ limit: 2 });
  expect(items.map(({ name }) => name)).toEqual(['gauge/notes.md', 'gauge/tides.md']);
  expect(await names({ before: previous })).toEqual([['gauge/levels.csv', 'ada', 3]]);
  const all = await read((reader) => listArtifacts(reader, { limit: 10, prefix: 'gauge/' }).items);
  expect(all.map(({ versions }) => versions)).toEqual(Array.from({ length: 6 }));
});
