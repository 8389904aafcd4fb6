import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { Writer, type WriterOptions } from '@suzumio/store/sqlite/writer';
import { children } from '../../../../test/support/child.js';

const holdLock = new URL('../fixtures/hold-lock.mjs', import.meta.url);

let directory: string;
let sql: Sql;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'suzumio-writer-'));
  sql = Sql.open(join(directory, 'test.db'));
  sql.handle.exec('CREATE TABLE notes (text TEXT NOT NULL UNIQUE) STRICT');
});
afterEach(async () => {
  sql.close();
  await rm(directory, { recursive: true, force: true });
});

const startChild = children();
function writer(options: Partial<WriterOptions> = {}): Writer {
  return new Writer(sql, { random: () => 0, ...options });
}
const note = (text: string) => () => sql.run('INSERT INTO notes (text) VALUES (:text)', { text }).changes;
const notes = () => sql.all<{ text: string }>('SELECT text FROM notes ORDER BY rowid').map(({ text }) => text);

async function lockedByAnother() {
  const other = startChild(holdLock, sql.file);
  expect(await other.line()).toBe('locked');
  return other;
}

describe('group commit', () => {
  test('verbs that arrive together share one transaction, in their order', async () => {
    let transactions = 0;
    const shared = writer({ committed: () => (transactions += 1) });
    const answers = await Promise.all(['a', 'b', 'c'].map((text) => shared.write(note(text))));
    expect(answers).toEqual([1, 1, 1]);
    expect(notes()).toEqual(['a', 'b', 'c']);
    expect(transactions).toBe(1);
  });

  test('a batch is bounded', async () => {
    let transactions = 0;
    const shared = writer({ committed: () => (transactions += 1) });
    await Promise.all(Array.from({ length: 130 }, (_, n) => shared.write(note(String(n)))));
    expect(notes()).toHaveLength(130);
    expect(transactions).toBe(3);
  });

  test('nobody is answered before the commit', async () => {
    const seen: boolean[] = [];
    const other = Sql.open(sql.file);
    const visible = (text: string) => other.get('SELECT 1 FROM notes WHERE text = :text', { text }) !== undefined;
    const shared = writer();
    await Promise.all(
      ['a', 'b'].map(async (text) => seen.push((await shared.write(note(text))) === 1 && visible(text))),
    );
    other.close();
    expect(seen).toEqual([true, true]);
  });

  test('a verb that fails undoes its own changes and nobody else’s', async () => {
    const shared = writer();
    const answers = await Promise.allSettled([
      shared.write(note('before')),
      shared.write(() => {
        note('half')();
        throw new Error('no');
      }),
      shared.write(note('before')),
      shared.write(note('after')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(notes()).toEqual(['before', 'after']);
  });

  test('an error that ends the whole transaction is everybody’s', async () => {
    const shared = writer();
    const answers = await Promise.allSettled([
      shared.write(note('first')),
      shared.write(() => {
        // What SQLite does by itself when the disk is full.
        sql.handle.exec('ROLLBACK');
        throw new Error('disk full');
      }),
      shared.write(note('last')),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(notes()).toEqual([]);
    expect(await shared.write(note('next'))).toBe(1);
  });

  test('a batch that is refused at its beginning changes nothing', async () => {
    let refuse = true;
    const shared = writer({
      begin: () => {
        if (refuse) throw new Error('too new');
      },
    });
    await expect(shared.write(note('a'))).rejects.toThrow('too new');
    refuse = false;
    await shared.write(note('b'));
    expect(notes()).toEqual(['b']);
  });

  test('a hook that throws holds up nobody, and is told', async () => {
    const failed: unknown[] = [];
    const shared = writer({
      observe: () => {
        throw new Error('observe');
      },
      committed: () => {
        throw new Error('committed');
      },
      hookFailed: (error) => failed.push((error as Error).message),
    });
    const answers = await Promise.allSettled([
      shared.write(note('a')),
      shared.write(() => {
        throw new Error('no');
      }),
    ]);
    expect(answers.map(({ status }) => status)).toEqual(['fulfilled', 'rejected']);
    await expect(shared.write(note('a'))).rejects.toThrow('UNIQUE');
    await shared.write(note('b'));
    await shared.idle();
    expect(notes()).toEqual(['a', 'b']);
    expect(failed).toEqual(['observe', 'committed', 'observe', 'observe', 'committed']);
  });

  test('idle waits for everything that was asked for', async () => {
    const shared = writer();
    await shared.idle();
    const written = shared.write(note('a'));
    await shared.idle();
    expect(notes()).toEqual(['a']);
    await written;
  });
});

describe('other writers', () => {
  test('a lock that another process holds is waited for, without holding up this one', async () => {
    const other = await lockedByAnother();
    const written = writer({ random: Math.random }).write(note('a'));
    let turns = 0;
    const ticking = setInterval(() => (turns += 1), 1);
    while (turns < 5) await new Promise((resolve) => setImmediate(resolve));
    clearInterval(ticking);
    expect(notes()).toEqual([]);
    other.tell('let go');
    expect(await written).toBe(1);
    expect(notes()).toEqual(['a']);
  });

  test('verbs that come while it is waited for keep their order', async () => {
    const other = await lockedByAnother();
    const shared = writer();
    const first = shared.write(note('first'));
    await new Promise((resolve) => setTimeout(resolve, 100));
    const second = shared.write(note('second'));
    other.tell('let go');
    await Promise.all([first, second]);
    expect(notes()).toEqual(['first', 'second']);
  });

  test('when it is held for too long, the verb is refused as store-busy and may be tried again', async () => {
    const other = await lockedByAnother();
    const ended: [string, number][] = [];
    const patient = writer({ patienceMs: 100, observe: (outcome, tookMs) => ended.push([outcome, tookMs]) });
    await expect(patient.write(note('a'))).rejects.toMatchObject({ code: 'store-busy', retryable: true, status: 503 });
    other.tell('let go');
    expect(await other.end()).toBe(0);
    expect(await patient.write(note('a'))).toBe(1);
    expect(ended.map(([outcome]) => outcome)).toEqual(['busy', 'committed']);
    expect(ended[0]?.[1]).toBeGreaterThanOrEqual(100);
  });
});
