import { readFile } from 'node:fs/promises';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import Database from 'better-sqlite3';
import { tokenName } from '@suzumio/contract/model/access-token';
import { createRedactor } from '@suzumio/runtime/observability/redactor';
import { Catalog } from '@suzumio/store/cell/catalog';
import { systemContext } from '@suzumio/store/sqlite/context';
import { migrate } from '@suzumio/store/sqlite/migrate';
import { catalogMigrations } from '@suzumio/store/cell/migrations';
import { Sql } from '@suzumio/store/sqlite/sql';
import { hashToken } from '@suzumio/store/turns/tokens';
import { type TestCell, testCell } from '../../../../test/support/cell.js';

const start = Date.UTC(2026, 10, 21, 20, 0, 0);
const day = 86_400_000;

let testing: TestCell;
beforeEach(async () => {
  testing = await testCell();
  testing.setNow(start);
});
afterEach(() => testing.close());
const tokens = () => testing.cell.catalog.tokens;
const create = (change: Partial<Parameters<Catalog['tokens']['create']>[0]> = {}) =>
  tokens().create({ name: 'ann', scope: 'write', actor: 'admin', ...change });

describe('a token', () => {
  test('is known by its secret alone', async () => {
    const { secret, token } = await create();
    expect(secret).toMatch(/^szm_[\w-]{43}$/);
    expect(token).toEqual({
      name: 'ann',
      scope: 'write',
      project: null,
      agents: null,
      state: 'good',
      createdAt: '2026-11-21T20:00:00.000Z',
      createdBy: 'admin',
      expiresAt: null,
      revokedAt: null,
      seenAt: null,
      sessions: 0,
      links: 0,
    });
    expect(tokens().identify(secret)).toMatchObject({ name: 'ann', scope: 'write', project: null });
    for (const wrong of ['', secret.slice(0, -1), `${secret}x`, hashToken(secret)]) {
      expect(tokens().identify(wrong)).toBeUndefined();
    }
  });

  test('is stored as a hash: no file of the catalog has its secret', async () => {
    const { secret } = await create();
    await tokens().admit('admin', testing.cell.directory.adminToken());
    const { catalogFile } = testing.cell.directory;
    const bytes = Buffer.concat([await readFile(catalogFile), await readFile(`${catalogFile}-wal`)]).toString('latin1');
    expect(bytes).toContain(hashToken(secret));
    for (const hidden of [secret, secret.slice(4), testing.cell.directory.adminToken().slice(4)]) {
      expect(bytes).not.toContain(hidden);
    }
  });

  test('is listed from a catalog of the release before, too, which is read without a server', async () => {
    await create();
    const catalog = new Database(testing.cell.directory.catalogFile);
    catalog.exec('ALTER TABLE tokens DROP COLUMN seen_at_ms');
    catalog.close();
    expect(tokens().list()).toMatchObject([{ name: 'ann', seenAt: null }]);
  });

  test('of a handler is for some agents of one project, and says so', async () => {
    const project = await testing.create();
    const { secret, token } = await create({ scope: 'handler', project, agents: ['ada', 'ben', 'ada'] });
    expect(token).toMatchObject({ scope: 'handler', project, agents: ['ada', 'ben'] });
    expect(tokens().list()).toMatchObject([{ agents: ['ada', 'ben'] }]);
    expect(tokens().identify(secret)).toMatchObject({ scope: 'handler', project, agents: ['ada', 'ben'] });
  });

  test.each([
    [{ scope: 'handler', agents: ['ada'] }, 'name the project and the agents'],
    [{ scope: 'handler', project: 'team' }, 'name the project and the agents'],
    [{ scope: 'handler', project: 'team', agents: [] }, 'name the project and the agents'],
    [{ scope: 'read', project: 'team', agents: ['ada'] }, 'leave the agents out'],
    [{ scope: 'worker', agents: ['ada'] }, 'leave the agents out'],
  ] as const)('of %j makes no sense', async (change, message) => {
    await testing.create();
    await expect(create(change)).rejects.toMatchObject({
      code: 'invalid-request',
      message: expect.stringContaining(message),
    });
    expect(tokens().list()).toEqual([]);
  });

  test('is taken out of whatever is logged', async () => {
    const { secret } = await create();
    expect(createRedactor().redact(`{"path":"/api/tokens/${secret}"}`)).toBe('{"path":"/api/tokens/szm_[redacted]"}');
  });

  test('may be for one project, which has to be there', async () => {
    await testing.create();
    const { secret } = await create({ project: 'team' });
    expect(tokens().identify(secret)).toMatchObject({ project: 'team' });
    await expect(create({ name: 'ben', project: 'nothing' })).rejects.toMatchObject({ code: 'project-unknown' });
    await expect(create({ name: 'wo', scope: 'worker', project: 'team' })).rejects.toMatchObject({
      code: 'invalid-request',
    });
  });

  test('is never replaced while it is good; its name is free when it has ended', async () => {
    const { secret } = await create();
    await expect(create({ scope: 'admin' })).rejects.toMatchObject({ code: 'token-exists' });
    expect(tokens().identify(secret)).toMatchObject({ scope: 'write' });
    await tokens().revoke('ann');
    const second = await create({ scope: 'read', expires: '1d' });
    testing.setNow(start + day);
    const third = await create({ scope: 'admin' });
    expect([secret, second.secret, third.secret].map((each) => tokens().identify(each)?.scope)).toEqual([
      undefined,
      undefined,
      'admin',
    ]);
    expect(
      tokens()
        .list()
        .map(({ scope, state }) => [scope, state]),
    ).toEqual([
      ['write', 'revoked'],
      ['read', 'revoked'],
      ['admin', 'good'],
    ]);
  });

  test.each([
    ['30d', start + 30 * day],
    ['90m', start + 5_400_000],
    ['2026-12-24T18:00:00Z', Date.UTC(2026, 11, 24, 18)],
    ['2026-12-24T18:00:00+01:00', Date.UTC(2026, 11, 24, 17)],
  ])('that expires %s is good until then', async (expires, atMs) => {
    const { secret, token } = await create({ expires });
    expect(token.expiresAt).toBe(new Date(atMs).toISOString());
    const { tokenId } = tokens().identify(secret) ?? {};
    testing.setNow(atMs - 1);
    expect([tokens().identify(secret)?.name, tokens().stillGood(tokenId ?? '')]).toEqual(['ann', true]);
    testing.setNow(atMs);
    expect([tokens().identify(secret), tokens().stillGood(tokenId ?? '')]).toEqual([undefined, false]);
    expect(tokens().list()).toMatchObject([{ state: 'expired' }]);
  });

  test.each(['2020-01-01T00:00:00Z', '0d', '4000d', '2100-01-01T00:00:00Z'])('cannot expire %s', async (expires) => {
    await expect(create({ expires })).rejects.toMatchObject({ code: 'invalid-request' });
  });

  test('that is revoked is good for nothing at once, also for other processes', async () => {
    const { secret } = await create();
    const other = Catalog.open(testing.cell.directory, systemContext());
    try {
      expect(other.tokens.identify(secret)).toMatchObject({ name: 'ann' });
      const { tokenId } = tokens().identify(secret) ?? {};
      expect(await tokens().revoke('ann')).toMatchObject({ state: 'revoked', revokedAt: '2026-11-21T20:00:00.000Z' });
      expect(other.tokens.identify(secret)).toBeUndefined();
      expect(other.tokens.stillGood(tokenId ?? '')).toBe(false);
    } finally {
      await other.close();
    }
    testing.setNow(start + day);
    expect(await tokens().revoke('ann')).toMatchObject({ revokedAt: '2026-11-21T20:00:00.000Z' });
    await expect(tokens().revoke('nobody')).rejects.toMatchObject({ code: 'token-unknown' });
  });

  test.each(['admin', 'worker', 'anonymous', 'user', 'system', 'Ann', '', '-x', 'a b', 'x'.repeat(64)])(
    'cannot be called %j',
    (name) => {
      expect(tokenName.safeParse(name).success).toBe(false);
    },
  );
});

describe("the cell's own tokens", () => {
  const [secret, next] = ['the first secret of this cell', 'the second secret of this cell'];

  test('are good with the secret that the cell was given last', async () => {
    expect(await tokens().admit('admin', secret)).toBe(true);
    expect(await tokens().admit('admin', secret)).toBe(true);
    expect(await tokens().admit('admin', next)).toBe(true);
    expect([secret, next].map((each) => tokens().identify(each)?.scope)).toEqual([undefined, 'admin']);
    expect(await tokens().admit('admin', secret)).toBe(true);
    expect([secret, next].map((each) => tokens().identify(each)?.scope)).toEqual(['admin', undefined]);
  });

  test('stay revoked, whatever is admitted in between', async () => {
    await tokens().admit('admin', secret);
    await tokens().revoke('admin');
    expect(await tokens().admit('admin', secret)).toBe(false);
    expect(await tokens().admit('admin', next)).toBe(true);
    expect(await tokens().admit('admin', secret)).toBe(false);
    expect(tokens().identify(secret)).toBeUndefined();
    // Whose secret is known to be revoked changes nothing for the one that is good.
    expect(tokens().identify(next)).toMatchObject({ name: 'admin' });
  });

  test('do not share a secret with another token', async () => {
    await tokens().admit('admin', secret);
    await expect(tokens().admit('worker', secret)).rejects.toMatchObject({ code: 'settings-invalid' });
    expect(tokens().identify(secret)).toMatchObject({ scope: 'admin' });
  });

  test('of a catalog of the first version are kept', () => {
    const sql = Sql.open(`${testing.root}/old.db`);
    migrate(sql, catalogMigrations.slice(0, 1));
    sql.run(`INSERT INTO tokens VALUES ('tok_1', 'admin', 'admin', NULL, 'a hash', 7, NULL, NULL)`);
    migrate(sql, catalogMigrations);
    expect(sql.all('SELECT id, name, scope, hash, created_at_ms, created_by FROM tokens')).toEqual([
      { id: 'tok_1', name: 'admin', scope: 'admin', hash: 'a hash', created_at_ms: 7, created_by: 'system' },
    ]);
    sql.close();
  });
});

describe('the audit', () => {
  const entry = { token: 'ann', method: 'POST', route: '/api/projects', project: null, code: 'forbidden' };

  test('keeps what was refused, in order', async () => {
    const { audit } = testing.cell.catalog;
    await audit.add(entry);
    await audit.add({ ...entry, project: 'team' });
    const [first, second] = audit.list({ limit: 10 }).items;
    expect(first).toEqual({ ...entry, seq: 1, at: '2026-11-21T20:00:00.000Z' });
    expect(second).toMatchObject({ seq: 2, project: 'team' });
    expect(audit.list({ limit: 1 })).toEqual({ items: [second], next: 2, previous: 2 });
    expect(audit.list({ limit: 1, after: 0 })).toEqual({ items: [first], next: 1 });
  });

  test('forgets what is older than its ten thousand newest entries', async () => {
    const { audit } = testing.cell.catalog;
    await Promise.all(Array.from({ length: 10_003 }, () => audit.add(entry)));
    const kept = audit.list({ limit: 20_000, after: 0 }).items;
    expect([kept.length, kept[0]?.seq]).toEqual([10_000, 4]);
  });
});
