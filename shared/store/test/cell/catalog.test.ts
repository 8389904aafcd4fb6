import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import { entryOf, type TestCell, testCell } from '../../../../test/support/cell.js';
import { eventually } from '../../../../test/support/poll.js';

const start = Date.UTC(2026, 10, 21, 20, 0, 0);

let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
  testing.setNow(start);
});
afterEach(() => testing.close());
const catalog = () => testing.cell.catalog;

describe('what the catalog says of a project', () => {
  test('errs toward running around a start that another word crosses', async () => {
    await catalog().projects.add('team', entryOf('stopped'));
    await catalog().projects.noteRunning('team');
    expect(catalog().projects.unsettled()).toEqual(['team']);
    // The start commits between this note's reading and its writing.
    const readings = [
      { status: 'stopped', settled: true },
      { status: 'running', settled: false },
    ] as const;
    let read = 0;
    await catalog().projects.noteStatus('team', () => readings[Math.min(read++, 1)] ?? readings[1]);
    expect(catalog().projects.all()).toEqual([{ id: 'team', status: 'running' }]);
    expect(catalog().projects.unsettled()).toEqual(['team']);
  });

  test('is forgotten with it', async () => {
    await catalog().projects.add('team', entryOf('running'));
    await catalog().projects.remove('team');
    expect(catalog().projects.all()).toEqual([]);
  });
});

describe('processes on one data directory', () => {
  const process = (change = {}) => ({ service: 'api', cell: 'local', transport: 'redis one', ...change });

  test('may be many of one cell over one transport', async () => {
    const leave = [
      await catalog().processes.enlist(process()),
      await catalog().processes.enlist(process({ service: 'scheduler' })),
    ];
    for (const each of leave) await each();
  });

  test.each([
    ['cell', { cell: 'other' }],
    ['transport', { transport: 'redis two' }],
  ])('may not differ in their %s', async (_what, change) => {
    const leave = await catalog().processes.enlist(process());
    await expect(catalog().processes.enlist(process(change))).rejects.toMatchObject({ code: 'data-dir-in-use' });
    await leave();
    await (
      await catalog().processes.enlist(process(change))
    )();
  });

  test('one that was killed is in nobody’s way for long', async () => {
    const sql = Sql.open(testing.cell.directory.catalogFile);
    sql.run(
      `INSERT INTO processes (id, service, cell, transport, host, serving_since_ms, beat_at_ms)
       VALUES ('proc_dead', 'api', 'other', 'redis one', 'elsewhere', :start, :start)`,
      { start },
    );
    sql.close();
    await expect(catalog().processes.enlist(process())).rejects.toMatchObject({ code: 'data-dir-in-use' });
    testing.setNow(start + 5_000);
    await (
      await catalog().processes.enlist(process())
    )();
  });

  test('a ToolHost serves from its start until it leaves', async () => {
    expect(catalog().processes.toolhostServingSince()).toBeUndefined();
    await (
      await catalog().processes.enlist(process({ service: 'scheduler' }))
    )();
    expect(catalog().processes.toolhostServingSince()).toBeUndefined();
    const first = await catalog().processes.enlist(process({ service: 'toolhost' }));
    testing.setNow(start + 2_000);
    const second = await catalog().processes.enlist(process({ service: 'toolhost' }));
    expect(catalog().processes.toolhostServingSince()).toBe(start);
    await first();
    expect(catalog().processes.toolhostServingSince()).toBe(start + 2_000);
    await second();
    expect(catalog().processes.toolhostServingSince()).toBeUndefined();
  });

  test('a ToolHost that was paused serves anew from when it goes on', async () => {
    const leave = await catalog().processes.enlist(process({ service: 'toolhost' }));
    testing.setNow(start + 60_000);
    expect(catalog().processes.toolhostServingSince()).toBeUndefined();
    await eventually('it beats again', () => catalog().processes.toolhostServingSince() === start + 60_000);
    await leave();
  });

  const hourMs = 3_600_000;

  test('a ToolHost whose clock steps back serves anew from then on', async () => {
    const leave = await catalog().processes.enlist(process({ service: 'toolhost' }));
    testing.setNow(start - hourMs);
    await eventually('it beats again', () => catalog().processes.toolhostServingSince() === start - hourMs);
    expect(catalog().factsFor('team').toolhost).toEqual({ alive: true, seenAtMs: start - hourMs });
    await leave();
  });

  test('one that was killed before the clock stepped back does not live on, nor is it in anybody’s way', async () => {
    const sql = Sql.open(testing.cell.directory.catalogFile);
    sql.run(
      `INSERT INTO processes (id, service, cell, transport, host, serving_since_ms, beat_at_ms)
       VALUES ('proc_dead', 'toolhost', 'other', 'redis one', 'elsewhere', :since, :at)`,
      { since: start + hourMs - 60_000, at: start + hourMs },
    );
    sql.close();
    expect(catalog().processes.toolhostServingSince()).toBeUndefined();
    expect(catalog().factsFor('team').toolhost.alive).toBe(false);
    await (
      await catalog().processes.enlist(process())
    )();
  });
});
