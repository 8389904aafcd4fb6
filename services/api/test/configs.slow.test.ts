import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mkdir, mkdtemp, readdir, realpath, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { ApplyConfigAnswer, ConfigVersionAnswer, DiffConfigAnswer } from '@suzumio/contract/operations/configs';
import { localToolpacks } from '@suzumio/core/config/local-toolpacks';
import type { Grant } from '@suzumio/core/policy/grant';
import { extendGrant } from '@suzumio/store/cell/grants';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { mountable } from '../../../test/support/mountable.js';
import { type Answer, type CallOptions, type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

const file = `# The team of the river.
name: team
task: Watch the river.
backend: { runner: { mode: mock } }
agents:
  ada: { role: writer, prompt: Write., tools: ["*"], env: { KEY: first } }
  ben: { role: reader, prompt: Read., tools: ["*"] }
`;
const changed = (from: string | RegExp, to: string, text = file) => text.replace(from, to);

let api: TestApi;
let directory: string;
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(mountable, 'suzumio-seed-')));
  const toolpacks = { ...defaultPolicy.toolpacks, directories: [join(directory, 'packs')] };
  api = await testApi({ policy: { ...defaultPolicy, workspaces: { roots: [directory] }, toolpacks } });
  expect((await api.post('/api/projects', { file })).status).toBe(201);
});
afterEach(async () => {
  await api.close();
  await rm(directory, { recursive: true });
});

const diff = (body: unknown, options?: CallOptions) => api.post('/api/projects/team/config/diff', body, options);
const apply = (body: unknown, options: CallOptions = {}) =>
  api.call('PUT', '/api/projects/team/config', { ...options, body });
const applied = ({ status, json, text }: Answer) => {
  if (status !== 200) throw new Error(text);
  return json as ApplyConfigAnswer;
};
const version = async (number: number) =>
  (await api.get(`/api/projects/team/config/versions/${String(number)}`)).json as ConfigVersionAnswer;
const source = async () =>
  (await api.get('/api/projects/team/config/source')).json as { version: number; file: string };

describe('the file of a project', () => {
  test('is compared, applied, listed and read again', async () => {
    const next = changed('Write.', 'Write well.');
    const found = (await diff({ file: next })).json as DiffConfigAnswer;
    expect(found).toMatchObject({
      version: 1,
      changes: [{ path: 'agents.ada.prompt', before: 'Write.', after: 'Write well.', effect: 'next-turn' }],
    });
    expect((await source()).version).toBe(1);
    expect(applied(await apply({ file: next, baseVersion: 1 }))).toMatchObject({ version: 2, changes: found.changes });
    expect(api.wakes).toContain('team');
    expect(await source()).toEqual({ version: 2, file: changed('KEY: first', 'KEY: (hidden)', next) });
    const { json } = await api.get('/api/projects/team/config/versions');
    expect(json).toMatchObject({
      items: [{ version: 1 }, { version: 2, by: 'admin', changed: ['agents.ada.prompt'] }],
    });
    expect(await version(1)).toMatchObject({ version: 1, file: expect.stringMatching(/^# The team of the river/) });
    expect((await api.get('/api/projects/team/config/versions/2/changes')).json).toMatchObject({
      from: 1,
      version: 2,
      changes: found.changes,
    });
    const acts = (await api.get('/api/acts?project=team')).json as { items: { type: string; actor: string }[] };
    expect(acts.items[0]).toMatchObject({ type: 'config.changed', actor: 'admin' });
  });

  test('is reverted as it was resolved, and a version says which one it brings back', async () => {
    applied(await apply({ file: changed('Write.', 'Write well.'), baseVersion: 1 }));
    const answer = applied(await apply({ revert: 1, baseVersion: 2 }));
    expect(answer).toMatchObject({ version: 3, changes: [{ path: 'agents.ada.prompt', after: 'Write.' }] });
    expect(await version(3)).toMatchObject({ reverts: 1, file: (await version(1)).file });
    await api.store('team', ({ reader }) => {
      expect(reader.all('SELECT value FROM agent_env WHERE version = 1')).toEqual([{ value: 'first' }]);
      expect(reader.get('SELECT env_version AS v FROM config_versions WHERE number = 3')).toEqual({ v: 1 });
    });
  });

  test('over a newer version is refused, with what has changed', async () => {
    applied(await apply({ file: changed('Read.', 'Read all.'), baseVersion: 1 }));
    const late = await apply({ file: changed('Write.', 'Write well.'), baseVersion: 1 });
    expect(late.json).toMatchObject({
      status: 409,
      code: 'config-conflict',
      version: 2,
      base: 1,
      by: 'admin',
      changes: ['agents.ben.prompt: "Read." -> "Read all."'],
    });
    expect((await source()).version).toBe(2);
  });

  test('as it is shown keeps the values that it hides', async () => {
    const shown = (await source()).file;
    expect(((await diff({ file: shown })).json as DiffConfigAnswer).changes).toEqual([]);
    applied(await apply({ file: changed('Write.', 'Write well.', shown), baseVersion: 1 }));
    const unknown = await diff({ file: changed('KEY: ', 'MORE: ', shown) });
    expect(refusal(unknown)).toMatchObject({
      code: 'invalid-config',
      detail: expect.stringMatching(/agents\.ada\.env\.MORE/),
    });
    const told = (await diff({ file: changed('KEY: (hidden)', 'KEY: second', shown) })).text;
    expect(told).toContain('agents.ada.env.KEY');
    expect(told).not.toContain('second');
    expect(told).not.toContain('first');
  });

  test('sent twice with one key is applied once', async () => {
    const options = { headers: { 'idempotency-key': 'k' } };
    const body = { file: changed('Write.', 'Write well.'), baseVersion: 1 };
    const first = await apply(body, options);
    expect((await apply(body, options)).json).toEqual(first.json);
    expect((await source()).version).toBe(2);
  });

  test.each<[string, object, string, RegExp]>([
    ['a name', { file: changed('name: team', 'name: other') }, 'config-change-refused', /A project keeps its name/],
    ['an unknown field', { file: changed('task:', 'tsk:') }, 'invalid-config', /task/],
    [
      'both formats',
      { file: changed('role: writer,', 'role: writer, workspace: { from: a, git: b },') },
      'invalid-config',
      /from or git/,
    ],
    ['an import', { file: changed('prompt: Write.', 'prompt: "@import(a.md)"') }, 'invalid-config', /import/],
    [
      'a directory',
      { file: changed('role: writer,', 'role: writer, workspace: { from: /etc },') },
      'policy-denied',
      /\/etc/,
    ],
    ['a version that is not there', { revert: 7 }, 'config-version-unknown', /no version 7/],
    ['nothing', {}, 'invalid-request', /a file, or the version/],
    ['both', { file, revert: 1 }, 'invalid-request', /a file, or the version/],
  ])('with %s is refused, and nothing is changed', async (_what, body, code, detail) => {
    const answer = await apply({ ...body, baseVersion: 1 });
    expect(refusal(answer)).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect((await source()).version).toBe(1);
  });

  test('is for tokens that may write', async () => {
    const token = await api.token('operate', 'team');
    const body = { file: changed('Write.', 'Write well.'), baseVersion: 1 };
    expect(refusal(await apply(body, { token })).code).toBe('forbidden');
    expect(refusal(await diff({ file }, { token })).code).toBe('forbidden');
    expect((await api.get('/api/projects/team/config/versions', { token })).status).toBe(200);
    expect((await apply(body, { token: await api.token('write', 'team') })).status).toBe(200);
  });

  test('brings new agents with their files', async () => {
    await writeFile(join(directory, 'north.csv'), '1,2');
    const zoe = `  zoe: { role: helper, prompt: Help., tools: ["*"], workspace: { from: ${directory} } }\n`;
    applied(await apply({ file: `${file}${zoe}`, baseVersion: 1 }));
    const entries = (await api.get('/api/projects/team/agents/zoe/workspace/entries')).json as {
      items: { name: string }[];
    };
    expect(entries.items.map(({ name }) => name)).toEqual(['north.csv']);
  });

  test('can be mended where the policy denies what is in force, and asks for nothing more that it denies', async () => {
    const denied = changed('mode: mock } }', 'mode: mock }, kind: process }', changed('name: team', 'name: own'));
    await api.create(denied);
    const put = (text: string) => api.call('PUT', '/api/projects/own/config', { body: { file: text, baseVersion: 1 } });
    const more = changed('kind: process', 'kind: process, docker: { network: host }', denied);
    expect(refusal(await put(changed('role: reader,', 'role: reader, backend: docker,', more)))).toMatchObject({
      code: 'policy-denied',
      detail: expect.stringMatching(/network/),
    });
    expect((await put(changed('Write.', 'Write well.', denied))).status).toBe(200);
  });
});

describe('profiles', () => {
  const withProfile = changed('role: writer, prompt: Write.', 'profile: Akari');
  const profile = (persona: string) => ({ nickname: 'Akari', role: 'writer', persona });

  test('are copied anew, in the difference', async () => {
    const { json } = await api.post('/api/profiles', profile('Be brief.'));
    const { id } = (json as { profile: { id: string } }).profile;
    await api.post('/api/projects', { file: changed('name: team', 'name: desk', withProfile) });
    await api.post(`/api/profiles/${id}`, { persona: 'Be kind.' });
    const answer = await api.post('/api/projects/desk/config/diff', {
      file: changed('name: team', 'name: desk', withProfile),
    });
    expect((answer.json as DiffConfigAnswer).changes).toMatchObject([
      { path: 'agents.ada.prompt', before: 'Be brief.', after: 'Be kind.', effect: 'next-turn' },
    ]);
    await api.post(`/api/profiles/${id}/retire`, {});
    const put = await api.call('PUT', '/api/projects/desk/config', {
      body: { file: changed('name: team', 'name: desk', withProfile), baseVersion: 1 },
    });
    expect(put.status).toBe(200);
  });

  test('are not read by a token of one project', async () => {
    await api.post('/api/profiles', profile('Be brief.'));
    const token = await api.token('write', 'team');
    const zoe = '  zoe: { profile: Akari, tools: [] }\n';
    expect(refusal(await diff({ file: `${file}${zoe}` }, { token })).code).toBe('profile-unknown');
    expect((await diff({ file: `${file}${zoe}` })).status).toBe(200);
  });
});

describe('a toolpack of its own', () => {
  let pack: string;
  const write = (name: string, text: string) => writeFile(join(pack, name), text);
  const withPack = (path = pack, id = 'own') => `${file}tools: { toolpacks: [{ id: ${id}, path: ${path} }] }\n`;
  const packs = (number: number) =>
    api.store('team', (store) => localToolpacks(store.configAt(number)).map(({ sha256 }) => sha256));
  const storedFiles = async () => {
    const names = await readdir(join(api.cell.directory.projectDir('team'), 'artifacts'), { recursive: true });
    return names.filter((name) => /[0-9a-f]{64}$/.test(name)).length;
  };
  beforeEach(async () => {
    pack = join(directory, 'packs/own');
    await mkdir(pack, { recursive: true });
    await write('suzumio.toolpack.json', '{ "id": "own", "tools": [{ "name": "own.say" }] }');
    await write('runner.mjs', 'export default () => ({});');
  });

  test('comes, changes, goes and comes back with the files of its version', async () => {
    const found = (await diff({ file: withPack() })).json as DiffConfigAnswer;
    expect(found.changes).toMatchObject([
      {
        path: 'tools.toolpacks.own',
        before: null,
        after: { path: pack, files: { 'runner.mjs': expect.stringMatching(/^26 B, sha256 [0-9a-f]{64}$/) } },
        effect: 'next-turn',
      },
    ]);
    expect(await storedFiles()).toBe(0);
    applied(await apply({ file: withPack(), baseVersion: 1 }));
    expect(await storedFiles()).toBe(1);
    expect(applied(await apply({ file: withPack(), baseVersion: 2 }))).toMatchObject({ version: 2, changes: [] });

    await write('runner.mjs', 'export default () => ({ });');
    const changes = [{ path: 'tools.toolpacks.own.files.runner.mjs', effect: 'next-turn' }];
    expect(((await diff({ file: withPack() })).json as DiffConfigAnswer).changes).toMatchObject(changes);
    expect(await storedFiles()).toBe(1);
    expect(applied(await apply({ file: withPack(), baseVersion: 2 }))).toMatchObject({ version: 3, changes });

    expect(applied(await apply({ file, baseVersion: 3 }))).toMatchObject({
      changes: [{ path: 'tools.toolpacks.own', after: null, effect: 'at-once' }],
    });
    await rm(pack, { recursive: true });
    applied(await apply({ revert: 2, baseVersion: 4 }));
    expect(await packs(5)).toEqual(await packs(2));
    expect(await packs(5)).not.toEqual(await packs(3));
    await api.store('team', ({ reader }) => {
      expect(reader.all(`SELECT owner, kind FROM stored_content`)).toEqual([
        { owner: 'user', kind: 'uploads' },
        { owner: 'user', kind: 'uploads' },
      ]);
    });
  });

  test('whose directory is gone stays as it is, and the rest of the file is applied', async () => {
    applied(await apply({ file: withPack(), baseVersion: 1 }));
    await rm(pack, { recursive: true });
    const next = changed('Write.', 'Write well.', withPack());
    const answer = applied(await apply({ file: next, baseVersion: 2 }));
    expect(answer.changes.map(({ path }) => path)).toEqual(['agents.ada.prompt']);
    expect(answer.warnings).toEqual([
      expect.stringMatching(/^the toolpack own stays as the project has it: .* is no directory/),
    ]);
    expect(await packs(3)).toEqual(await packs(2));
  });

  test.each<[string, () => Promise<unknown>, () => string, string, RegExp]>([
    ['elsewhere', () => Promise.resolve(), () => withPack('/etc'), 'policy-denied', /no toolpack is loaded from \/etc/],
    ['that is gone', () => rm(pack, { recursive: true }), () => withPack(), 'invalid-config', /is no directory/],
    ['that is broken', () => write('suzumio.toolpack.json', '{'), () => withPack(), 'invalid-config', /is none/],
    ['of another id', () => Promise.resolve(), () => withPack(pack, 'other'), 'invalid-config', /calls itself own/],
    [
      'that is listed twice',
      () => write('suzumio.toolpack.json', '{ "id": "own", "tools": [] }'),
      () => changed('}] }', `}, { id: own, path: ${pack} }] }`, withPack()),
      'invalid-config',
      /two toolpacks own/,
    ],
    [
      'beside a name that cannot change',
      () => Promise.resolve(),
      () => changed('name: team', 'name: other', withPack()),
      'config-change-refused',
      /keeps its name/,
    ],
  ])('%s is refused, and nothing is stored', async (_what, prepare, text, code, detail) => {
    await prepare();
    const answer = await apply({ file: text(), baseVersion: 1 });
    expect(refusal(answer)).toMatchObject({ code, detail: expect.stringMatching(detail) });
    expect([(await source()).version, await storedFiles()]).toEqual([1, 0]);
  });

  test('is not loaded from where agents may write by now, and stays as it is', async () => {
    applied(await apply({ file: withPack(), baseVersion: 1 }));
    await write('runner.mjs', 'export default () => ({ evil: 1 });');
    const grant: Grant = { directories: [pack], readonly: [], images: [], git: [], toolpacks: [], providers: [] };
    await extendGrant(api.cell.directory, 'team', grant);
    const answer = applied(await apply({ file: changed('Write.', 'Write well.', withPack()), baseVersion: 2 }));
    expect(answer.changes.map(({ path }) => path)).toEqual(['agents.ada.prompt']);
    expect(answer.warnings).toEqual([expect.stringContaining('may not be loaded')]);
  });
});
