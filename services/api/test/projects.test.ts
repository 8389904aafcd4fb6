import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, jest, test } from '@jest/globals';
import {
  agentListAnswer,
  createProjectAnswer,
  projectDetailAnswer,
  projectListAnswer,
} from '@suzumio/shared/model/http-api';
import { projectConfig } from '@suzumio/shared/model/project-config';
import { defaultPolicy } from '@suzumio/shared/policy/policy';
import { teamYaml } from '../../../shared/test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

// Real processes, disks and sockets, on machines that may be busy.
jest.setTimeout(60_000);

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

    const config = projectConfig.parse((await api.get('/api/projects/plain/config/resolved')).json);
    expect(config).toMatchObject({ rendered: 1, name: 'plain', backend: { image: 'suzumio-runner:dev' } });
    const detail = projectDetailAnswer.parse((await api.get('/api/projects/plain')).json);
    expect(detail.agents.map(({ id }) => id)).toEqual(['ada', 'ben', 'cat']);
    expect(agentListAnswer.parse((await api.get('/api/projects/plain/agents')).json).items).toEqual(detail.agents);
    expect(projectListAnswer.parse((await api.get('/api/projects')).json).items).toContainEqual({
      id: 'plain',
      status: 'initialized',
    });
  });

  test('sends the first mail and starts it, all in one', async () => {
    const message = { recipient: 'Benny', body: 'Begin.', priority: 'P0' };
    const answer = await api.post('/api/projects', { file: named('begun'), start: true, message });
    const created = createProjectAnswer.parse(answer.json);
    expect(created.project).toMatchObject({ status: 'running', messages: 1 });
    expect(created.message?.recipients).toEqual(['ben']);
    expect(api.wakes).toContain('begun');
    expect(api.cell.catalog.projects()).toContainEqual({ id: 'begun', status: 'running' });
    expect(api.cell.catalog.unsettledProjects()).toContain('begun');
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
      detail: 'There is no agent "dan" in this project; mail can go to ada, ben, cat, user.',
    });
    expect(refusal(await post({ recipient: 'ada', body: 'Hello.', sender: 'ben' }))).toMatchObject({
      status: 422,
      code: 'sender-forged',
    });
    expect((await api.get('/api/projects/unmade')).status).toBe(404);
    expect(api.cell.catalog.projects().map(({ id }) => id)).not.toContain('unmade');
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
      detail: 'There is a project "keyed" already; give this one another name.',
    });
  });

  test.each([
    ['YAML that is none', 'name: [', 'invalid-config', /^file:\d+:\d+ {2}/],
    ['an unknown field', named('bad', 'agnets: {}\n'), 'invalid-config', /agnets.*did you mean .agents/],
    ['a variable', named('bad').replace('Do the work.', '${HOME}'), 'invalid-config', /HOME.*not substituted/],
    ['an import', named('bad').replace('Do the work.', '@import(/etc/passwd)'), 'invalid-config', /import/],
    [
      'a field that is not enforced yet',
      named('bad', 'budget: { usd: 5 }\n'),
      'not-supported-yet',
      /^file:\d+:\d+ {2}budget is not supported yet/,
    ],
  ])('refuses %s', async (_what, file, code, detail) => {
    const refused = refusal(await api.post('/api/projects', { file }));
    expect(refused).toMatchObject({ status: 422, code });
    expect(refused.detail).toMatch(detail);
  });

  test('copies a workspace only from directories that were opened for it', async () => {
    const opened = await mkdtemp(join(tmpdir(), 'suzumio-opened-'));
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
    expect(refusal(await api.call('DELETE', '/api/projects/plain'))).toMatchObject({ status: 404, code: 'not-found' });
    expect(refusal(await api.get('/api/projects/%E0%A4%A'))).toMatchObject({ status: 400, code: 'invalid-request' });
  });
});
