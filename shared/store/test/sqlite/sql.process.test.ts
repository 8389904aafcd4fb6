import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { children } from '../../../../test/support/child.js';

const holdNewFile = new URL('../fixtures/hold-new-file.mjs', import.meta.url);

let file: string;
beforeEach(async () => {
  file = join(await mkdtemp(join(tmpdir(), 'suzumio-sql-')), 'test.db');
});
afterEach(() => rm(join(file, '..'), { recursive: true, force: true }));

const startChild = children();

describe('an open database', () => {
  const setting = (sql: Sql, name: string) => sql.handle.pragma(name, { simple: true });

  test('logs ahead, syncs each commit, checks references and answers quickly', () => {
    const sql = Sql.open(file);
    expect(setting(sql, 'journal_mode')).toBe('wal');
    expect(setting(sql, 'synchronous')).toBe(2);
    expect(setting(sql, 'foreign_keys')).toBe(1);
    expect(setting(sql, 'busy_timeout')).toBe(50);
    sql.close();
  });

  test('can be opened for reading only', () => {
    Sql.open(file).close();
    const sql = Sql.open(file, { readonly: true });
    expect(() => sql.handle.exec('CREATE TABLE t (a)')).toThrow('readonly');
    expect(setting(sql, 'busy_timeout')).toBe(50);
    sql.close();
  });

  test('waits for a process that is just making it', async () => {
    const other = startChild(holdNewFile, file, '300');
    expect(await other.line()).toBe('locked');
    const sql = Sql.open(file);
    expect(setting(sql, 'journal_mode')).toBe('wal');
    sql.close();
    expect(await other.end()).toBe(0);
  });
});
