import { writeFile } from 'node:fs/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { ProjectStores } from '@suzumio/store/cell/project-stores';
import { Sql } from '@suzumio/store/sqlite/sql';
import { postMessage } from '@suzumio/store/mail/post-message';
import type { Tx } from '@suzumio/store/sqlite/tx';
import { gate } from '../../../runtime/test/queue/jobs.js';
import { teamYaml, type TestCell, testCell } from '../../../../test/support/cell.js';

let testing: TestCell;
afterEach(() => testing.close());

const mail = (tx: Tx) =>
  postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go.', actor: 'test' });
/** What a later release does to a database. */
function raiseVersion(project: string): void {
  const sql = Sql.open(testing.cell.directory.projectFile(project));
  sql.handle.pragma('user_version = 99');
  sql.close();
}

describe('a project’s store', () => {
  test('tells of new events once they are committed, and once for each commit', async () => {
    const heard: [string, number[]][] = [];
    testing = await testCell({
      hooks: { onEvents: (project, events) => heard.push([project, events.map(({ seq }) => seq)]) },
    });
    const project = await testing.create();
    expect(heard).toEqual([[project, [2]]]);
    await testing.store(project, (store) => Promise.all([store.write(mail), store.write(mail), store.write(mail)]));
    expect(heard.slice(1)).toEqual([[project, [3, 4, 5]]]);
    await testing.store(project, (store) => store.write((tx) => tx.get('SELECT 1')));
    await expect(
      testing.write(project, (tx) => {
        mail(tx);
        throw new Error('no');
      }),
    ).rejects.toThrow('no');
    expect(heard).toHaveLength(2);
  });

  test('tells of its own events only, each once, and of none that was undone', async () => {
    const heard: string[] = [];
    testing = await testCell({
      hooks: {
        onEvents: (_project, events) =>
          heard.push(...events.map((event) => (event.type === 'message.created' ? event.data.excerpt : event.type))),
      },
    });
    const project = await testing.create(undefined, { start: false });
    const other = new ProjectStores(testing.cell.directory, testing.cell.context);
    const say = (body: string) => (tx: Tx) =>
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body, actor: 'test' });
    await testing.store(project, async (store) => {
      await store.write(say('one'));
      await other.use(project, (elsewhere) => elsewhere.write(say('two')));
      const undone = store.write((tx) => {
        say('three')(tx);
        throw new Error('no');
      });
      await Promise.allSettled([undone, store.write(say('four'))]);
    });
    await other.close();
    expect(heard).toEqual(['one', 'four']);
  });

  test('says what became of its transactions and how long they took', async () => {
    const took: [string, number][] = [];
    testing = await testCell({ hooks: { onTransaction: (outcome, durationMs) => took.push([outcome, durationMs]) } });
    const project = await testing.create();
    await testing
      .write(project, () => {
        throw new Error('no');
      })
      .catch(() => undefined);
    expect(took.map(([outcome]) => outcome)).toEqual(['committed', 'rolled-back']);
    expect(took.every(([, durationMs]) => durationMs >= 0 && durationMs < 10_000)).toBe(true);
  });

  test('is not written once a later release has been there, nor opened', async () => {
    testing = await testCell();
    const project = await testing.create();
    raiseVersion(project);
    await expect(testing.write(project, mail)).rejects.toMatchObject({ code: 'schema-newer' });
    expect(await testing.rows(project, 'SELECT * FROM messages')).toEqual([]);
    testing.cell.stores.forget(project);
    await expect(testing.write(project, mail)).rejects.toMatchObject({ code: 'schema-newer' });
  });

  test('reads several things of one moment', async () => {
    testing = await testCell();
    const project = await testing.create();
    await testing.store(project, async (store) => {
      const count = 'SELECT count(*) AS n FROM messages';
      const other = Sql.open(testing.cell.directory.projectFile(project));
      const [before, after] = store.snapshot((reader) => {
        const first = reader.get<unknown>(count);
        other.run(
          `INSERT INTO messages (id, sender, recipient, priority, kind, body, thread_id, actor, created_at_ms)
           VALUES ('m', 'user', 'ada', 'P1', 'direct', '', 'm', 'test', 0)`,
        );
        return [first, reader.get<unknown>(count)];
      });
      other.close();
      expect([before, after]).toEqual([{ n: 0 }, { n: 0 }]);
      expect(store.reader.get(count)).toEqual({ n: 1 });
      await Promise.resolve();
    });
  });
});

describe('the open stores', () => {
  const named = (name: string) => teamYaml.replace('name: team', `name: ${name}`);

  test('know only what is there', async () => {
    testing = await testCell();
    for (const name of ['missing', '../catalog', '', 'UPPER']) {
      await expect(testing.store(name, () => undefined)).rejects.toMatchObject({ code: 'project-unknown' });
    }
  });

  test('stay open while somebody uses them, however many others are opened', async () => {
    testing = await testCell();
    for (const name of ['one', 'two', 'three']) await testing.create(named(name));
    const stores = new ProjectStores(testing.cell.directory, testing.cell.context, {}, 1);
    const done = gate();
    const using = stores.use('one', async (store) => {
      await done.opened;
      return store.write(mail);
    });
    await stores.use('two', (store) => store.write(mail));
    await stores.use('three', (store) => store.write(mail));
    done.open();
    expect(await using).toMatchObject({ seq: 1 });
    expect(await stores.use('one', (store) => store.write(mail))).toMatchObject({ seq: 2 });
    await stores.close();
  });

  test('close when nobody uses them', async () => {
    testing = await testCell();
    const project = await testing.create();
    const stores = new ProjectStores(testing.cell.directory, testing.cell.context);
    const store = await stores.use(project, (opened) => opened);
    await stores.close();
    expect(() => store.reader.get('SELECT 1')).toThrow('not open');
  });

  test('a file that is no database says so, and is nobody else’s trouble', async () => {
    testing = await testCell();
    const broken = await testing.create(named('broken'));
    const sound = await testing.create(named('sound'));
    testing.cell.stores.forget(broken);
    await writeFile(testing.cell.directory.projectFile(broken), 'x'.repeat(8_192));
    await expect(testing.write(broken, mail)).rejects.toThrow('not a database');
    expect(await testing.write(sound, mail)).toMatchObject({ seq: 1 });
  });
});
