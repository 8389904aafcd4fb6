import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentListAnswer } from '@suzumio/contract/operations/agents';
import {
  createProjectAnswer,
  projectDetailAnswer,
  projectListAnswer,
  projectSource,
} from '@suzumio/contract/operations/projects';
import { projectConfig } from '@suzumio/contract/model/project-config';
import { defaultPolicy } from '@suzumio/core/policy/policy';
import { teamYaml } from '../../../test/support/cell.js';
import { mountable } from '../../../test/support/mountable.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
});
afterAll(() => api.close());

const named = (name: string, extra = '') => teamYaml.replace('name: team', `name: ${name}`) + extra;

describe('making a project', () => {
  test('stores the file as it was posted and as it was resolved', async () => {
    const answer = await api.post('/api/projects', { file: named('plain') });
    expect(answer.status).toBe(201);
    expect(answer.headers.location).toBe('/api/projects/plain');
    const { project, message } = createProjectAnswer.parse(answer.json);
    expect(project).toMatchObject({ id: 'plain', status: 'initialized', task: 'Do the work.' });
    expect(message).toBeNull();
    expect(api.wakes).not.toContain('plain');

    expect((await api.get('/api/projects/plain/config/source')).json).toEqual({ version: 1, file: named('plain') });
    const config = projectConfig.parse((await api.get('/api/projects/plain/config/resolved')).json);
    expect(config).toMatchObject({ rendered: 1, name: 'plain', backend: { image: 'suzumio-runner:dev' } });
    const detail = projectDetailAnswer.parse((await api.get('/api/projects/plain')).json);
    expect(detail.agents.map(({ id }) => id)).toEqual(['ada', 'ben', 'cat']);
    expect(agentListAnswer.parse((await api.get('/api/projects/plain/agents')).json).items).toEqual(detail.agents);
    expect(projectListAnswer.parse((await api.get('/api/projects')).json).items).toContainEqual({
      id: 'plain',
      status: 'initialized',
      labels: {},
    });
  });

  test('shows values of variables and headers to nobody', async () => {
    await api.create(`
name: keys
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "http://127.0.0.1:9/v1", headers: { X-Team: squirrel-17 } } }
      presets: { only: { provider: one, model: m } }
agents:
  ada: { role: thinker, prompt: Think., env: { DB_DSN: squirrel-18 } }
`);
    const source = projectSource.parse((await api.get('/api/projects/keys/config/source')).json);
    expect(source).toMatchObject({ version: 1, file: expect.stringContaining('headers: { X-Team: (hidden) }') });
    expect(source.file).toContain('env: { DB_DSN: (hidden) }');
    const { text, json } = await api.get('/api/projects/keys/config/resolved');
    expect(text + String(source.file)).not.toContain('squirrel');
    const { backend, agents } = projectConfig.parse(json);
    expect(backend.runner.models?.providers['one']?.headers).toEqual({ 'X-Team': '(hidden)' });
    expect(agents['ada']?.env).toEqual({ DB_DSN: '(hidden)' });
    await api.store('keys', ({ config }) => {
      expect(config.backend.runner.models?.providers['one']?.headers).toEqual({ 'X-Team': 'squirrel-17' });
    });
  });

  test('sends the first mail and starts it, all in one', async () => {
    const message = { recipient: 'Benny', body: 'Begin.', priority: 'P0' };
    const answer = await api.post('/api/projects', { file: named('begun'), start: true, message });
    const created = createProjectAnswer.parse(answer.json);
    expect(created.project).toMatchObject({ status: 'running', messages: 1 });
    expect(created.message?.recipients).toEqual(['ben']);
    expect(api.wakes).toContain('begun');
    expect(api.cell.catalog.projects.all()).toContainEqual({ id: 'begun', status: 'running' });
    expect(api.cell.catalog.projects.unsettled()).toContain('begun');
    expect(await api.rows('begun', 'SELECT type, actor FROM events')).toEqual([
      { type: 'project.initialized', actor: 'admin' },
      { type: 'message.created', actor: 'admin' },
      { type: 'project.started', actor: 'admin' },
    ]);
  });

  test('makes nothing when the first mail is refused', async () => {
    const post = (message: object) => api.post('/api/projects', { file: named('unmade'), message });
    expect(refusal(await post({ recipient: 'dan', body: 'Hello.' }))).toEqual({
      status: 422,
      code: 'recipient-unknown',
      detail: 'There is no agent "dan" in this project: known are ada, ben, cat, user',
    });
    expect(refusal(await post({ recipient: 'ada', body: 'Hello.', sender: 'ben' }))).toMatchObject({
      status: 422,
      code: 'sender-forged',
    });
    expect((await api.get('/api/projects/unmade')).status).toBe(404);
    expect(api.cell.catalog.projects.all().map(({ id }) => id)).not.toContain('unmade');
  });

  test('the same key gets the same answer, and another body or no key a refusal', async () => {
    const body = { file: named('keyed'), message: { recipient: 'ada', body: 'Once.' } };
    const key = { headers: { 'idempotency-key': 'k-1' } };
    const [first, second] = await Promise.all([
      api.post('/api/projects', body, key),
      api.post('/api/projects', body, key),
    ]);
    expect(first.status).toBe(201);
    expect(second.json).toEqual(first.json);
    expect((await api.post('/api/projects', body, key)).json).toEqual(first.json);
    expect(await api.rows('keyed', 'SELECT count(*) AS count FROM messages')).toEqual([{ count: 1 }]);

    expect(refusal(await api.post('/api/projects', { ...body, start: true }, key))).toMatchObject({
      status: 422,
      code: 'idempotency-mismatch',
    });
    expect(refusal(await api.post('/api/projects', body))).toEqual({
      status: 409,
      code: 'project-exists',
      detail:
        'There is a project "keyed" already, and it stays as it is: give this one another name, or delete that one first.',
    });
  });

  test('a key is known whatever the project is called, and for longer than that is there', async () => {
    const key = { headers: { 'idempotency-key': 'k-2' } };
    const body = { file: named('short-lived'), start: true };
    const first = await api.post('/api/projects', body, key);
    expect(first.status).toBe(201);
    const other = await api.post('/api/projects', { ...body, file: named('another') }, key);
    expect(refusal(other)).toMatchObject({ status: 422, code: 'idempotency-mismatch' });
    expect((await api.get('/api/projects/another')).status).toBe(404);
    expect((await api.call('DELETE', '/api/projects/short-lived')).status).toBe(200);
    expect((await api.post('/api/projects', body, key)).json).toEqual(first.json);
    expect((await api.get('/api/projects/short-lived')).status).toBe(404);
    expect((await api.post('/api/projects', body)).status).toBe(201);
  });

  test.each([
    ['YAML that is none', 'name: [', 'invalid-config', /^file:\d+:\d+ {2}/],
    ['an unknown field', named('bad', 'agnets: {}\n'), 'invalid-config', /agnets.*did you mean .agents/],
    ['a variable', named('bad').replace('Do the work.', '${HOME}'), 'invalid-config', /HOME.*not substituted/],
    ['an import', named('bad').replace('Do the work.', '@import(/etc/passwd)'), 'invalid-config', /import/],
    [
      'a field that is not enforced yet',
      named('bad', '  zoe: { role: zoe, backend: external, env: { A: b } }\n'),
      'not-supported-yet',
      /^file:\d+:\d+ {2}agents\.zoe\.env is not supported yet/,
    ],
  ])('refuses %s', async (_what, file, code, detail) => {
    const refused = refusal(await api.post('/api/projects', { file }));
    expect(refused).toMatchObject({ status: 422, code });
    expect(refused.detail).toMatch(detail);
  });

  test('copies a workspace only from directories that were opened for it', async () => {
    const opened = await mkdtemp(join(mountable, 'suzumio-opened-'));
    await mkdir(join(opened, 'readings'));
    await writeFile(join(opened, 'readings', 'north.csv'), '1,2\n');
    const file = (name: string, from: string) =>
      named(name).replace('prompt: Write.,', `prompt: Write., workspace: { from: ${from} },`);

    expect(refusal(await api.post('/api/projects', { file: file('seeded', join(opened, 'readings')) }))).toMatchObject({
      status: 403,
      code: 'policy-denied',
      detail: expect.stringMatching(/^file:7:\d+ {2}agents\.\w+\.workspace\.from: .* \(policy: workspaces\.roots\)$/),
    });
    const second = await testApi({ policy: { ...defaultPolicy, workspaces: { roots: [opened] } } });
    try {
      const inside = await second.post('/api/projects', { file: file('seeded', join(opened, 'readings')) });
      expect(inside.status).toBe(201);
      await symlink('/etc', join(opened, 'elsewhere'));
      for (const outside of ['/etc', join(opened, '..'), join(opened, 'elsewhere'), second.root]) {
        const answer = await second.post('/api/projects', { file: file('unseeded', outside) });
        expect(refusal(answer)).toMatchObject({ status: 403, code: 'policy-denied' });
      }
    } finally {
      await second.close();
      await rm(opened, { recursive: true });
    }
  });
});

describe('a name that is not there', () => {
  test('is answered with what was probably meant, or with what there is', async () => {
    expect(refusal(await api.get('/api/projects/plian'))).toEqual({
      status: 404,
      code: 'project-unknown',
      detail: 'There is no project "plian": did you mean plain?',
    });
    expect(refusal(await api.get('/api/projects/zzzzzzzz/messages')).detail).toMatch(/: known are .*plain/);
    for (const name of ['..%2f..%2fetc', '%00', 'A', '.new-1']) {
      expect(refusal(await api.get(`/api/projects/${name}`)).code).toBe('project-unknown');
    }
  });

  test('is answered as a problem for routes, too', async () => {
    expect(refusal(await api.get('/api/nothing'))).toMatchObject({ status: 404, code: 'not-found' });
    expect(refusal(await api.call('PUT', '/api/nothing'))).toMatchObject({ status: 404, code: 'not-found' });
    expect(refusal(await api.get('/api/projects/%E0%A4%A'))).toMatchObject({ status: 400, code: 'invalid-request' });
  });
});

describe('the list', () => {
  test('has what each project is read with by itself, where that is asked for, and goes on where a part is full', async () => {
    const prompt = 'x'.repeat(200_000);
    for (const name of Array.from({ length: 6 }, (_, index) => `wide-${String(index)}`)) {
      const agents = Array.from(
        { length: 10 },
        (_, index) => `\n  wide-${String(index)}: { role: r, prompt: ${prompt.slice(0, 90_000)} }`,
      );
      await api.post('/api/projects', {
        file: named(name).replace('agents:', `agents:${agents.join('')}`),
        labels: { wide: 'yes' },
      });
    }
    const parts: string[][] = [];
    let after = '';
    for (;;) {
      const { json } = await api.get(`/api/projects?label=wide=yes&include=detail${after}`);
      const { items, next } = projectListAnswer.parse(json);
      parts.push(items.map(({ id }) => id));
      const [first] = items;
      expect(first?.detail).toEqual((await api.get(`/api/projects/${first?.id ?? ''}`)).json);
      if (next === undefined) break;
      after = `&after=${next}`;
    }
    expect(parts.map((part) => part.length)).toEqual([5, 1]);
    expect(parts.flat()).toEqual(Array.from({ length: 6 }, (_, index) => `wide-${String(index)}`));
  });

  test('tells of a project whose database is damaged what is wrong, and of all others what it always does', async () => {
    const labels = { damage: 'perhaps' };
    for (const name of ['well', 'torn']) await api.post('/api/projects', { file: named(name), labels });
    api.cell.stores.forget('torn');
    await rm(api.cell.directory.projectDir('torn'), { recursive: true });
    await mkdir(api.cell.directory.projectDir('torn'));
    await writeFile(api.cell.directory.projectFile('torn'), 'no database '.repeat(100));
    const { json } = await api.get('/api/projects?label=damage=perhaps&include=detail');
    expect(projectListAnswer.parse(json).items).toMatchObject([
      { id: 'well', detail: { project: { id: 'well' } } },
      { id: 'torn', status: 'initialized', problem: { code: 'store-corrupt' } },
    ]);
    expect(refusal(await api.get('/api/projects/torn'))).toMatchObject({ code: 'store-corrupt' });
    expect((await api.get('/api/usage')).status).toBe(200);
  });

  test('has only projects of the statuses that are asked for', async () => {
    await api.post('/api/projects', { file: named('begun'), start: true });
    await api.post('/api/projects', { file: named('unbegun') });
    const ids = async (query: string) =>
      projectListAnswer.parse((await api.get(`/api/projects?${query}`)).json).items.map(({ id }) => id);
    expect(await ids('status=running')).toContain('begun');
    expect(await ids('status=running')).not.toContain('unbegun');
    expect(await ids('status=running,initialized')).toEqual(expect.arrayContaining(['begun', 'unbegun']));
    expect(refusal(await api.get('/api/projects?status=asleep'))).toMatchObject({ code: 'invalid-request' });
    expect(refusal(await api.get('/api/projects?include=all'))).toMatchObject({ code: 'invalid-request' });
  });
});

describe('labels', () => {
  const labels = { team: 'river desk', 'billing/cost-centre': '42=b' };
  const list = async (query: string) => {
    const answer = await api.get(`/api/projects?${query}`);
    return projectListAnswer.parse(answer.json);
  };

  test('are kept with the project, and find it', async () => {
    const made = await api.post('/api/projects', { file: named('labelled'), labels });
    expect(createProjectAnswer.parse(made.json).project.labels).toEqual(labels);
    expect((await api.get('/api/projects/labelled')).json).toMatchObject({ project: { labels } });
    await api.post('/api/projects', { file: named('half-labelled'), labels: { team: 'river desk' } });
    const found = async (query: string) => (await list(query)).items.map(({ id }) => id);
    const many = Array.from({ length: 1_100 }, (_, index) => `a=${String(index)}`).join(',');
    expect(refusal(await api.get(`/api/projects?label=${many}`))).toMatchObject({
      status: 400,
      code: 'invalid-request',
    });
    expect(await found('label=team=river%20desk')).toEqual(['labelled', 'half-labelled']);
    expect(await found('label=team=river%20desk&label=billing/cost-centre=42=b')).toEqual(['labelled']);
    expect(await found('label=team=river%20desk,billing/cost-centre=42=b')).toEqual(['labelled']);
    expect(await found('label=team=sea')).toEqual([]);
    expect((await list('label=team=river%20desk')).items[0]).toEqual({ id: 'labelled', status: 'initialized', labels });
  });

  test('come back from the project when the catalog has lost them', async () => {
    await api.post('/api/projects', { file: named('relabelled'), labels });
    await api.cell.catalog.projects.remove('relabelled');
    await api.cell.recover();
    expect((await list('label=team=river%20desk')).items.map(({ id }) => id)).toContain('relabelled');
  });

  test.each([
    ['a name of other characters', { 'a b': 'c' }, 'a label is called by'],
    ['no text', { a: '' }, 'a label has 1 to 256 characters'],
    ['a text that is too long', { a: 'x'.repeat(257) }, 'a label has 1 to 256 characters'],
    ['a line break', { a: 'x\ny' }, 'a label has 1 to 256 characters'],
    ['a number', { a: 1 }, 'expected string'],
    ['too many', Object.fromEntries(Array.from({ length: 33 }, (_, i) => [`k${i}`, 'v'])), 'at most 32 labels'],
  ])('with %s are refused', async (_what, wrong, detail) => {
    const answer = refusal(await api.post('/api/projects', { file: named('mislabelled'), labels: wrong }));
    expect(answer).toMatchObject({ status: 400, code: 'invalid-request', detail: expect.stringContaining(detail) });
    expect((await api.get('/api/projects/mislabelled')).status).toBe(404);
  });

  test('that are asked for wrongly are refused', async () => {
    for (const query of ['label=team', 'label==x', 'label=', 'after=x', 'limit=0', 'labels=a=b']) {
      expect(refusal(await api.get(`/api/projects?${query}`))).toMatchObject({ status: 400 });
    }
  });
});

describe('a long list of projects', () => {
  test('comes in parts, also where a project between them is deleted', async () => {
    const all = projectListAnswer.parse((await api.get('/api/projects')).json);
    expect(all.next).toBeUndefined();
    const seen: string[] = [];
    let after = '';
    for (;;) {
      const part = projectListAnswer.parse((await api.get(`/api/projects?limit=2${after}`)).json);
      expect(part.items.length).toBeLessThanOrEqual(2);
      seen.push(...part.items.map(({ id }) => id));
      if (part.next === undefined) break;
      after = `&after=${part.next}`;
      // The place goes on to be one when nothing is there any more.
      if (seen.length === 2) await api.call('DELETE', `/api/projects/${seen[1] ?? ''}`);
    }
    expect(seen).toEqual(all.items.map(({ id }) => id));
  });

  test('is one of one for a token of that project', async () => {
    const token = await api.token('read', 'labelled');
    const answer = projectListAnswer.parse((await api.get('/api/projects', { token })).json);
    expect(answer.items.map(({ id }) => id)).toEqual(['labelled']);
  });
});
