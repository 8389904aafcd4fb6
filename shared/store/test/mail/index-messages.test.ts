import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { indexedPart, indexMessages, type MessageRange } from '@suzumio/store/mail/index-messages';
import { postMessage } from '@suzumio/store/mail/post-message';
import Database from 'better-sqlite3';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

const all: MessageRange = { after: 0, before: Number.MAX_SAFE_INTEGER };

let testing: TestCell;
let project: string;
beforeEach(async () => {
  testing = await testCell();
  project = await testing.create();
});
afterEach(() => testing.close());

async function post(...bodies: string[]): Promise<void> {
  await testing.write(project, (tx) => {
    for (const body of bodies)
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body, actor: 'test' });
  });
}

const found = async (word: string) => {
  const rows = await testing.rows<{ rowid: number }>(
    project,
    `SELECT rowid FROM message_words WHERE message_words MATCH '"${word}"' ORDER BY rowid`,
  );
  return rows.map(({ rowid }) => rowid);
};
const index = (range = all, backwards = true) => testing.write(project, (tx) => indexMessages(tx, range, backwards));
const indexAll = async (range = all, backwards = true) => {
  let steps = 0;
  while ((await index(range, backwards)) !== undefined) steps += 1;
  return steps;
};
const indexed = (range = all, backwards = true) =>
  testing.store(project, ({ reader }) => indexedPart(reader, range, backwards));

/** Throws where the index says anything else than the messages. */
const check = () =>
  testing.write(project, (tx) => {
    tx.run(`INSERT INTO message_words (message_words, rank) VALUES ('integrity-check', 1)`);
  });

describe('the index of messages', () => {
  test('is left alone by who writes them, and filled by who looks for them', async () => {
    await post('The parser fails.', 'Éclair für alle.');
    expect(await found('parser')).toEqual([]);
    expect(await indexed()).toMatchObject({ gap: 0 });
    expect(await index()).toBe(35);
    expect([await found('parser'), await found('eclair'), await found('FUR')]).toEqual([[1], [2], [2]]);
    expect(await index()).toBeUndefined();
    expect(await indexed()).toEqual({ after: 0, before: Number.MAX_SAFE_INTEGER });
    await post('Another parser.');
    expect(await found('parser')).toEqual([1]);
    expect(await indexAll()).toBe(1);
    expect(await found('parser')).toEqual([1, 3]);
    await check();
  });

  test('is filled from where the reader begins, and says how far it goes', async () => {
    await post(...Array.from({ length: 600 }, (_, at) => `word${String(at + 1)}`));
    await index();
    expect(await indexed()).toEqual({ after: 511, before: all.before, gap: 1 });
    expect([await found('word600'), await found('word511')]).toEqual([[600], []]);
    await index({ after: 0, before: 301 }, false);
    expect(await indexed({ after: 9, before: 301 }, false)).toEqual({ after: 9, before: 256, gap: 1 });
    expect([await found('word1'), await found('word256')]).toEqual([[1], []]);
    expect(await indexAll()).toBe(1);
    expect(await indexed({ after: 9, before: 301 })).toEqual({ after: 9, before: 301 });
    expect([await found('word256'), await found('word511')]).toEqual([[256], [511]]);
  });

  test('grows by so much text at a time, however long messages are', async () => {
    const long = 'lorem '.repeat(20_000);
    await post(...Array.from({ length: 7 }, () => long));
    expect(await index()).toBe(3 * 120_000);
    expect(await indexed({ after: 0, before: 8 }, false)).toEqual({ after: 0, before: 4, gap: 0 });
    expect(await indexAll()).toBe(2);
    expect(await found('lorem')).toEqual([1, 2, 3, 4, 5, 6, 7]);
  });

  test('loses the words of messages that are changed or deleted, indexed or not, down to the bytes of its pages', async () => {
    const filler = (at: number) => Array.from({ length: 40 }, (_, n) => `f${String((at * 40 + n) * 7919)}`).join(' ');
    const secret = (at: number) => `${String((at * 48_271) % 65_537)}whisper${String(at)}x`;
    await post(...Array.from({ length: 500 }, (_, at) => `${filler(at)} ${secret(at)} ${filler(at + 500)}`));
    await indexAll({ after: 255, before: all.before });
    await testing.write(project, (tx) => {
      tx.run(`UPDATE messages SET body = 'removed' WHERE seq % 3 = 0`);
    });
    await indexAll();
    await check();
    expect(await found('removed')).toHaveLength(166);
    expect([await found(secret(2)), await found(secret(302))]).toEqual([[], []]);
    expect([await found(secret(0)), await found(secret(300))]).toEqual([[1], [301]]);

    // Nothing deletes single messages today; whatever will, need not know of the index.
    await testing.write(project, (tx) => {
      tx.run(`DELETE FROM inbox WHERE message_seq % 3 = 1`);
      tx.run(`DELETE FROM messages WHERE seq % 3 = 1`);
    });
    await check();
    const words = await testing.rows<{ block: Buffer }>(project, 'SELECT block FROM message_words_data');
    await testing.restart();
    const file = testing.cell.directory.projectFile(project);
    const database = new Database(file);
    database.exec('VACUUM');
    database.pragma('wal_checkpoint(TRUNCATE)');
    database.close();
    for (const bytes of [...words.map(({ block }) => block), readFileSync(file)]) {
      const text = bytes.toString('latin1');
      const left = Array.from({ length: 500 }, (_, at) => at).filter((at) => text.includes(`whisper${String(at)}x`));
      expect(left.filter((at) => (at + 1) % 3 !== 2)).toEqual([]);
      if (bytes.length > 1024 * 1024) expect(left.length).toBeGreaterThan(150);
    }
  });
});
