import { existsSync } from 'node:fs';
import { readFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { type CliWorld, createCliWorld, notesProject } from './support/cli.js';

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld();
});
afterEach(() => world.remove());

const create = async (...args: string[]) => {
  const { code, out, err } = await world.run('tokens', 'create', ...args);
  expect({ code, out }).toEqual({ code: 0, out: expect.stringMatching(/^szm_[\w-]{43}\n$/) });
  return { secret: out.trim(), err };
};

async function serving(environment: Record<string, string> = {}) {
  world.setEnvironment(environment);
  const server = await world.serve();
  const url = /listens on (\S+)/.exec(server.out)?.[1] ?? '';
  const ask = async (token: string | undefined, path = '/api/projects') =>
    (await fetch(`${url}${path}`, token === undefined ? {} : { headers: { authorization: `Bearer ${token}` } })).status;
  const stop = async () => {
    return server.stop();
  };
  return { url, ask, stop };
}

test('a link leads to any page, however that is written', async () => {
  const { url, stop } = await serving();
  await world.run('init', await world.write('notes.yaml', notesProject('notes')));
  const leadsTo = async (...args: string[]) => {
    const { out, err } = await world.run('open', '--print', ...args);
    const link = new URL(out.trim() === '' ? `error:${err}` : out.trim());
    return link.origin === url ? link.searchParams.get('to') : link.href;
  };
  expect([
    await leadsTo(),
    await leadsTo('notes'),
    await leadsTo('notes', '--at', 'turns/writer:1?tab=mail'),
    await leadsTo('notes', '--at', '/report'),
    await leadsTo('notes', '--at', '?mail=you'),
    await leadsTo('--at', 'cost'),
    await leadsTo('--at', '/p/notes/mail'),
    await leadsTo('--at', 'search?q=two words'),
    await leadsTo('--at', '//elsewhere.example/'),
  ]).toEqual([
    null,
    '/p/notes',
    '/p/notes/turns/writer:1?tab=mail',
    '/p/notes/report',
    '/p/notes?mail=you',
    '/cost',
    '/p/notes/mail',
    '/search?q=two%20words',
    '/elsewhere.example/',
  ]);
  await stop();
});

describe('with nothing running', () => {
  test('the owner of the data directory makes tokens, lists them and takes them back', async () => {
    const { err } = await create('ci', '--scope', 'write', '--expires', '2030-01-31T12:00:00Z');
    expect(err).toBe(
      'ci may make projects, and read and change every one, until 2030-01-31 12:00:00.\n' +
        'The secret is shown this once; whoever has it is taken for its owner.\n',
    );
    await create('east-1', '--scope', 'worker');
    const list = await world.run('tokens', 'list');
    expect(list.out.split('\n').map((line) => line.trim().split(/ {2,}/))).toEqual([
      ['NAME', 'SCOPE', 'PROJECT', 'STATE', 'CREATED', 'BY', 'LAST USED', 'SIGNED IN', 'EXPIRES'],
      ['ci', 'write', 'all', 'good', expect.anything(), 'user', 'never', '-', '2030-01-31 12:00:00'],
      ['east-1', 'worker', 'all', 'good', expect.anything(), 'user', 'never', '-', 'never'],
      [''],
    ]);
    expect(await world.run('tokens', 'revoke', 'ci')).toEqual({
      code: 0,
      out: 'ci is revoked: it opens nothing any more.\nnext: suzumio tokens list\n',
      err: '',
    });
    expect(JSON.parse((await world.run('tokens', 'list', '--json')).out)).toMatchObject([
      { name: 'ci', state: 'revoked' },
      { name: 'east-1', state: 'good' },
    ]);
    expect((await world.run('tokens', 'audit')).out).toContain('Nobody with a good token was refused anything.');
  });

  test('there are none in a data directory that is not there, and none is made by looking', async () => {
    expect((await world.run('tokens', 'list')).out).toMatch(/^There are no tokens yet/);
    expect((await world.run('tokens', 'audit')).code).toBe(0);
    expect(existsSync(world.root)).toBe(false);
  });

  test('a handler gets one for its agents, which the list shows', async () => {
    await world.run('init', await world.write('notes.yaml', notesProject('notes')));
    const { err } = await create('desk', '--scope', 'handler', '--project', 'notes', '--agents', 'writer, lead');
    expect(err).toContain('desk may run the turns of writer, lead in the project notes, until it is revoked.');
    expect((await world.run('tokens', 'list')).out).toMatch(/^desk +handler +notes \(writer, lead\) +good /m);
    expect(await world.run('tokens', 'create', 'more', '--scope', 'handler', '--project', 'notes')).toMatchObject({
      code: 3,
      err: expect.stringContaining('name the project and the agents'),
    });
  });

  test('all of its browsers are signed out without a server, too', async () => {
    await create('ci', '--scope', 'read');
    expect(await world.run('sessions', 'end', '--token', 'ci')).toMatchObject({ code: 0, err: '' });
    expect(await world.run('sessions', 'end', '--token', 'nobody')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no token "nobody"'),
    });
  });

  test('what cannot be is said', async () => {
    await create('ci', '--scope', 'read');
    expect(await world.run('tokens', 'create', 'ci', '--scope', 'read')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is a token "ci" already'),
    });
    expect(await world.run('tokens', 'create', 'bot', '--scope', 'read', '--project', 'none')).toMatchObject({
      code: 3,
      err: expect.stringContaining('There is no project "none"'),
    });
    expect(await world.run('tokens', 'create', 'bot', '--scope', 'read', '--expires', 'soon')).toMatchObject({
      code: 3,
      err: expect.stringContaining('such as 30d'),
    });
    expect(await world.run('tokens', 'revoke', 'nobody')).toMatchObject({ code: 3 });
    expect(await world.run('tokens', 'create', 'bot')).toMatchObject({ code: 2 });
    expect(await world.run('tokens', 'create', 'bot', '--scope', 'root')).toMatchObject({ code: 2 });
  });
});

test('the commands of docs/access.md do what it says', async () => {
  const page = await readFile(new URL('../../docs/access.md', import.meta.url), 'utf8');
  // What needs a server, or a session, has tests of its own.
  const commands = [...page.matchAll(/^suzumio (?!open|sessions end)(.+)$/gm)].map(([, words = '']) =>
    words.split(' '),
  );
  expect(commands.length).toBeGreaterThan(4);
  await world.run('init', await world.write('newsroom.yaml', notesProject('newsroom')));
  for (const words of commands) {
    expect({ words, ...(await world.run(...words)) }).toMatchObject({ words, code: 0 });
  }
});

describe('with a server running', () => {
  test('tokens are good as soon as they are made, and bad as soon as they are revoked, also the last administrator’s', async () => {
    await world.run('init', await world.write('notes.yaml', notesProject('notes')));
    const { ask, stop } = await serving();
    try {
      const { secret } = await create('ci', '--scope', 'read', '--project', 'notes');
      expect(await ask(secret, '/api/projects/notes')).toBe(200);
      expect(await ask(secret, '/api/tokens')).toBe(403);
      expect((await world.run('tokens', 'audit')).out).toMatch(/ci +forbidden +- +GET +\/api\/tokens/);
      await world.run('tokens', 'revoke', 'ci');
      expect(await ask(secret)).toBe(401);

      const revoked = await world.run('tokens', 'revoke', 'admin');
      expect(revoked.out).toContain('remove admin.token from the data directory');
      expect(await world.run('status', 'notes')).toMatchObject({
        code: 3,
        err: expect.stringContaining('SUZUMIO_TOKEN'),
      });
      const rescue = await create('rescue', '--scope', 'admin');
      world.setEnvironment({ SUZUMIO_TOKEN: rescue.secret });
      expect((await world.run('status', 'notes')).code).toBe(0);
      world.setEnvironment({});
    } finally {
      expect((await stop()).code).toBe(0);
    }
    // A revoked administrator stays revoked; one of a new file is a new one.
    const second = await serving();
    try {
      expect((await world.run('status', 'notes')).code).toBe(3);
    } finally {
      await second.stop();
    }
    await rm(join(world.root, 'admin.token'));
    const third = await serving();
    try {
      expect((await world.run('status', 'notes')).code).toBe(0);
    } finally {
      await third.stop();
    }
  });

  test('asked by its address, an administrator’s token makes others', async () => {
    const { url, stop } = await serving();
    try {
      const token = (await readFile(join(world.root, 'admin.token'), 'utf8')).trim();
      world.setEnvironment({ SUZUMIO_URL: url, SUZUMIO_TOKEN: token });
      const { secret } = await create('far', '--scope', 'read', '--expires', '1h');
      expect(JSON.parse((await world.run('tokens', 'list', '--json')).out)).toMatchObject([
        { name: 'worker', scope: 'worker', createdBy: 'system' },
        { name: 'admin', scope: 'admin' },
        { name: 'far', createdBy: 'admin' },
      ]);
      world.setEnvironment({ SUZUMIO_URL: url, SUZUMIO_TOKEN: secret });
      expect(await world.run('tokens', 'list')).toMatchObject({
        code: 3,
        err: expect.stringContaining('has the scope read; this needs admin'),
      });
      world.setEnvironment({ SUZUMIO_URL: url, SUZUMIO_TOKEN: token });
      expect((await world.run('tokens', 'audit', '--limit', '1')).out).toMatch(/far +forbidden/);
      expect((await world.run('tokens', 'revoke', 'far')).code).toBe(0);
    } finally {
      await stop();
    }
  });

  test('without tokens it says so, again and again, and listens on loopback only', async () => {
    const { ask, stop } = await serving({ SUZUMIO_AUTH: 'off' });
    let ended;
    try {
      expect(await ask(undefined)).toBe(200);
      expect(await ask('wrong')).toBe(401);
      expect((await world.run('status')).err).toContain('WARNING: SUZUMIO_AUTH is off');
    } finally {
      ended = await stop();
    }
    expect(ended.err).toContain('WARNING: SUZUMIO_AUTH is off');
    expect(await world.run('serve', '--host', '0.0.0.0', '--port', '0')).toMatchObject({
      code: 1,
      err: expect.stringContaining('listens on loopback only, not on 0.0.0.0'),
    });
    world.setEnvironment({ SUZUMIO_AUTH: 'of' });
    expect(await world.run('serve', '--port', '0')).toMatchObject({
      code: 1,
      err: expect.stringContaining('SUZUMIO_AUTH'),
    });
  });
});
