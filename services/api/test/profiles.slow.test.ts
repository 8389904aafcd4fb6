import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { ProfileView } from '@suzumio/contract/model/profile';
import { profileAnswer, profileListAnswer, profileMessageAnswer } from '@suzumio/contract/operations/profiles';
import { standUpAnswer, teamAnswer } from '@suzumio/contract/operations/teams';
import { projectDetailAnswer } from '@suzumio/contract/operations/projects';
import { createApi } from '@suzumio/api';
import { Cell } from '@suzumio/store/cell/cell';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, submit } from './support/play.js';
import { standingYaml } from './support/register-samples.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
});
afterEach(() => api.close());

const persona = 'You are {{agent.nickname}}, {{agent.role}} of {{team}}. Help {{project.name}}.';
const register = async (nickname: string, over: Record<string, unknown> = {}): Promise<ProfileView> => {
  const answer = await api.post('/api/profiles', { nickname, role: 'researcher', persona, ...over });
  expect(answer).toMatchObject({ status: 201 });
  return profileAnswer.parse(answer.json).profile;
};
const team = (name: string) => api.post('/api/teams', { name, description: 'Finds out.' });
const list = async (query = '') => profileListAnswer.parse((await api.get(`/api/profiles${query}`)).json);
const nicknames = async (query = '') => (await list(query)).items.map(({ nickname }) => nickname);
const file = (name: string, agents: string) => standingYaml(name, agents);
const create = (name: string, agents: string) => api.post('/api/projects', { file: file(name, agents), start: true });
const agentsOf = async (project: string) =>
  projectDetailAnswer.parse((await api.get(`/api/projects/${project}`)).json).agents;
const up = (name: string, body: Record<string, unknown> = {}) => api.post(`/api/teams/${name}/up`, body);
const mail = (to: string, body: Record<string, unknown> = { body: 'Hello.' }) =>
  api.post(`/api/profiles/${to}/messages`, body);

describe('a persistent profile', () => {
  test('has a stable UUID, a nickname, a role, an optional team, a persona template, a preferred model and preloaded skills', async () => {
    await team('research');
    const skills = [{ name: 'sources.md', text: 'Cite two.' }];
    const made = await register('Akari', { team: 'research', model: 'quick', skills });
    expect(made).toMatchObject({
      nickname: 'Akari',
      role: 'researcher',
      team: 'research',
      persona,
      model: 'quick',
      skills,
    });
    expect(await register('Ren')).toMatchObject({ team: null, model: null, skills: [] });
    const changed = profileAnswer.parse(
      (await api.post('/api/profiles/Akari', { role: 'editor', team: null })).json,
    ).profile;
    expect(changed).toMatchObject({ id: made.id, nickname: 'Akari', role: 'editor', team: null, skills });
    expect((await api.get(`/api/profiles/${made.id}`)).json).toEqual({ profile: changed });
  });

  test('is registered for good: the registry lists by role and by team, part by part', async () => {
    await team('research');
    await register('Akari', { team: 'research' });
    await register('Mio', { role: 'manager', team: 'research' });
    await register('Ren');
    expect(await nicknames('?role=researcher')).toEqual(['Akari', 'Ren']);
    expect(await nicknames('?team=research')).toEqual(['Akari', 'Mio']);
    expect(await nicknames('?team=research&role=manager')).toEqual(['Mio']);
    const first = await list('?limit=2');
    expect(first.next).toBe('Mio');
    expect(await nicknames(`?limit=2&after=${String(first.next)}`)).toEqual(['Ren']);
    expect(JSON.stringify(first)).not.toContain('You are');
  });

  test('survives restarts of the cell', async () => {
    const made = await register('Akari');
    const cell = Cell.open(api.root);
    const { transport, logger, metrics } = api;
    const again = createApi(
      { host: '127.0.0.1', port: 0, transportName: 'test' },
      { cell, transport, logger, metrics },
    );
    await again.start();
    const headers = { authorization: `Bearer ${api.adminToken}` };
    expect(await (await fetch(`${again.url}/api/profiles/Akari`, { headers })).json()).toEqual({ profile: made });
    await again.stop();
    await cell.close();
  });

  test('is used across projects: each agent starts from a copy, which later changes leave alone', async () => {
    await team('research');
    const akari = await register('Akari', { team: 'research', skills: [{ name: 'sources.md', text: 'Cite two.' }] });
    expect((await create('one', 'writer: { profile: Akari, tools: ["*"] }')).status).toBe(201);
    await api.post('/api/profiles/Akari', { persona: 'Other.', role: 'editor', skills: [] });
    expect((await create('two', `seeker: { profile: ${akari.id} }`)).status).toBe(201);
    expect(await agentsOf('one')).toMatchObject([
      {
        id: 'writer',
        role: 'researcher',
        displayName: 'Akari',
        team: 'research',
        profile: akari.id,
        prompt: 'You are Akari, researcher of research. Help one.',
      },
    ]);
    expect(await agentsOf('two')).toMatchObject([
      { id: 'seeker', role: 'editor', prompt: 'Other.', profile: akari.id },
    ]);
    const { turn } = await beginTurn(api, 'one', 'writer');
    const prompt = (await api.rows<{ prompt: string }>('one', `SELECT prompt FROM turns WHERE id = '${turn}'`))[0]
      ?.prompt;
    expect(prompt).toContain('# Skills: 1\n[skill sources.md]\n> Cite two.\n[end of skill sources.md]\n');
    expect(prompt).toContain(
      '# You are writer (Akari), researcher\nYou are Akari, researcher of research. Help one.\n',
    );
  });

  test('can be sent mail by its nickname within a project', async () => {
    await register('Akari');
    await create('one', 'writer: { profile: Akari }');
    expect((await api.post('/api/projects/one/messages', { recipient: 'Akari', body: 'Hello.' })).json).toMatchObject({
      recipients: ['writer'],
    });
  });

  test('that is retired is kept for history, starts no new project, and goes on where it is', async () => {
    const akari = await register('Akari');
    await create('one', 'writer: { profile: Akari }');
    expect((await api.post('/api/profiles/Akari/retire')).json).toMatchObject({ profile: { id: akari.id } });
    expect(await nicknames()).toEqual([]);
    expect(await nicknames('?retired=true')).toEqual(['Akari']);
    expect((await api.get('/api/profiles/Akari')).json).toMatchObject({ profile: { persona } });
    expect(refusal(await create('two', 'writer: { profile: Akari }'))).toMatchObject({
      code: 'profile-retired',
      detail: expect.stringMatching(/^file:5:22 {2}the profile Akari is retired/),
    });
    expect((await api.post('/api/projects/one/messages', { recipient: 'Akari', body: 'Hello.' })).status).toBe(201);
    await beginTurn(api, 'one', 'writer');
  });
});

describe('wrong input', () => {
  test.each([
    [{ nickname: 'akari' }, 'nickname'],
    [{ nickname: '@all' }, 'nickname'],
    [{ nickname: 'Akari', role: '' }, 'role'],
    [{ nickname: 'Akari', skills: [{ name: 'a', text: 'x'.repeat(64 * 1024 + 1) }] }, 'at most 65536 bytes'],
    [{ nickname: 'Akari', skills: ['/etc/passwd'] }, 'skills'],
    [{ nickname: 'Akari', team: 'all' }, 'all agents'],
    [{ nickname: 'Akari', nick: 'A' }, 'unknown field "nick"'],
  ])('is told of, case %#', async (over, detail) => {
    const answer = refusal(await api.post('/api/profiles', { role: 'r', persona: 'p', ...over }));
    expect(answer).toMatchObject({ status: 400, code: 'invalid-request', detail: expect.stringContaining(detail) });
  });

  test('a variable that nothing fills is told with its place', async () => {
    const answer = await api.post('/api/profiles', { nickname: 'Akari', role: 'r', persona: 'Be\nkind, {{name}}.' });
    expect(refusal(answer)).toMatchObject({
      status: 422,
      code: 'persona-invalid',
      detail: expect.stringContaining('persona:2:7  unknown variable {{name}}'),
    });
  });

  test('a profile that is not registered is told with the place of its name', async () => {
    await register('Akari');
    expect(refusal(await create('one', 'writer: { profile: Akair }'))).toMatchObject({
      code: 'profile-unknown',
      detail: 'file:5:22  unknown profile "Akair": did you mean Akari?',
    });
  });
});

test('tokens of one project do not open profiles and teams, and tokens that read do not write them', async () => {
  await team('research');
  await register('Akari', { team: 'research' });
  await api.create();
  const asked = (token: string) =>
    Promise.all([
      api.get('/api/profiles', { token }),
      api.get('/api/profiles/Akari', { token }),
      api.get('/api/teams/research', { token }),
      api.post('/api/profiles/Akari', { role: 'x' }, { token }),
      api.post('/api/profiles/Akari/retire', {}, { token }),
      api.post('/api/profiles/Akari/messages', { body: 'Hello.' }, { token }),
      api.post('/api/teams/research/up', { file: standingYaml('desk') }, { token }),
      api.call('DELETE', '/api/teams/research', { token }),
    ]);
  for (const scope of ['read', 'write', 'admin'] as const) {
    const answers = await asked(await api.token(scope, 'team'));
    expect(answers.map(({ status }) => status)).toEqual(Array(8).fill(403));
  }
  expect((await asked(await api.token('read'))).map(({ status }) => status)).toEqual([
    200, 200, 200, 403, 403, 403, 403, 403,
  ]);
  expect((await api.get('/api/profiles/Akari')).json).toMatchObject({
    profile: { role: 'researcher', retiredAt: null },
  });
});

describe('a team', () => {
  test('is registered with what it is for and who is in it, and deleted when nobody is', async () => {
    await team('research');
    await register('Akari', { team: 'research' });
    const read = async () => teamAnswer.parse((await api.get('/api/teams/research')).json).team;
    expect(await read()).toMatchObject({ description: 'Finds out.', members: [{ nickname: 'Akari' }], project: null });
    expect((await api.get('/api/teams')).json).toMatchObject({ items: [{ name: 'research', members: 1 }] });
    await api.post('/api/teams/research', { description: 'Asks.' });
    expect((await read()).description).toBe('Asks.');
    expect(refusal(await api.call('DELETE', '/api/teams/research')).code).toBe('team-not-empty');
    await api.post('/api/profiles/Akari', { team: null });
    expect((await api.call('DELETE', '/api/teams/research')).json).toEqual({ name: 'research' });
  });
});

test('two people change a profile at once: one of them is told what the other has changed', async () => {
  const { version } = await register('Akari');
  const change = (role: string, baseVersion?: number) => api.post('/api/profiles/Akari', { role, baseVersion });
  const answers = await Promise.all([change('editor', version), change('writer', version)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 409]);
  const late = answers.find(({ status }) => status === 409);
  expect(late?.json).toMatchObject({ code: 'edit-conflict', base: 1, version: 2, by: 'admin', changed: ['role'] });
  expect((await change('chief', 2)).status).toBe(200);
  // Who has read nothing changes what is there.
  expect((await change('clerk')).json).toMatchObject({ profile: { role: 'clerk', version: 4, editedBy: 'admin' } });
  expect(refusal(await api.post('/api/profiles/Akari', { baseVersion: 4 }))).toMatchObject({
    code: 'invalid-request',
    detail: expect.stringContaining('name what is to change'),
  });
});

describe('a standing project', () => {
  beforeEach(async () => {
    await team('research');
    await register('Akari', { team: 'research' });
    await register('Ren', { team: 'research' });
  });

  test('is made from the profiles of a team, once, and runs', async () => {
    expect((await api.get('/api/teams/research')).json).toMatchObject({ differences: null });
    const made = await up('research', { file: standingYaml('desk') });
    expect(made.status).toBe(201);
    expect(standUpAnswer.parse(made.json)).toMatchObject({
      team: 'research',
      made: true,
      project: { id: 'desk', status: 'running', standingTeam: 'research' },
      differences: { absent: [], departed: [], changed: [] },
    });
    expect(await agentsOf('desk')).toMatchObject([
      { id: 'member-1', base: 'member', displayName: 'Akari', team: 'research', tools: ['*'] },
      { id: 'member-2', base: 'member', displayName: 'Ren' },
    ]);
    const again = await up('research', { file: standingYaml('desk') });
    expect([again.status, standUpAnswer.parse(again.json).made]).toEqual([200, false]);
    expect((await up('research')).status).toBe(200);
  });

  test('is started again where it was stopped', async () => {
    await up('research', { file: standingYaml('desk') });
    await api.post('/api/projects/desk/stop');
    expect(standUpAnswer.parse((await up('research')).json).project.status).toBe('running');
    expect(api.cell.catalog.projects.all()).toContainEqual({ id: 'desk', status: 'running' });
  });

  test('may have members in places of their own: the pattern is for the others', async () => {
    const agents = 'lead: { profile: Ren, tools: ["*"] }\n  member: { profile: "*" }';
    await up('research', { file: standingYaml('desk', agents) });
    expect(await agentsOf('desk')).toMatchObject([
      { id: 'lead', displayName: 'Ren', tools: ['*'] },
      { id: 'member-1', displayName: 'Akari', tools: [] },
    ]);
  });

  test('is never submitted', async () => {
    await up('research', { file: standingYaml('desk') });
    await expect(submit(api, 'desk', 'member-1', '# Report\n')).rejects.toThrow(
      'This is the standing project of the team',
    );
    expect((await api.get('/api/projects/desk')).json).toMatchObject({
      project: { status: 'running', reportVersion: null },
    });
    expect(refusal(await api.post('/api/projects/desk/approve')).code).toBe('transition-refused');
  });

  test('keeps those that it was made with, and says how the team is different now', async () => {
    await up('research', { file: standingYaml('desk') });
    await register('Mio', { team: 'research' });
    await api.post('/api/profiles/Ren/retire');
    await api.post('/api/profiles/Akari', { role: 'editor' });
    const differences = { absent: ['Mio'], departed: ['member-2'], changed: ['Akari'] };
    expect((await api.get('/api/teams/research')).json).toMatchObject({ team: { project: 'desk' }, differences });
    expect(standUpAnswer.parse((await up('research')).json).differences).toEqual(differences);
    const next = standUpAnswer.parse((await up('research', { file: standingYaml('desk-2') })).json);
    expect(next).toMatchObject({ made: true, differences: { absent: [], departed: [], changed: [] } });
    expect(profileMessageAnswer.parse((await mail('Mio')).json)).toMatchObject({ project: 'desk-2' });
    expect((await api.get('/api/projects/desk')).json).toMatchObject({ project: { status: 'running' } });
  });

  test('is brought up to date by its file: who came is new, who went is retired, who stays keeps the id', async () => {
    await up('research', { file: standingYaml('desk') });
    await register('Aiko', { team: 'research' });
    await api.post('/api/profiles/Akari', { role: 'editor' });
    await api.post('/api/profiles/Ren/retire');
    const answer = standUpAnswer.parse((await up('research', { file: standingYaml('desk') })).json);
    expect(answer).toMatchObject({
      made: false,
      version: 2,
      differences: { absent: [], departed: [], changed: [] },
      changes: expect.arrayContaining([
        expect.objectContaining({ path: 'agents.member-1.role', after: 'editor' }),
        expect.objectContaining({ path: 'agents.member-2', after: null }),
        expect.objectContaining({ path: 'agents.member-3', before: null }),
      ]),
    });
    expect((await agentsOf('desk')).map(({ id, displayName, state }) => [id, displayName, state])).toEqual([
      ['member-3', 'Aiko', 'quiet'],
      ['member-1', 'Akari', 'quiet'],
      ['member-2', 'Ren', 'retired'],
    ]);
    expect(standUpAnswer.parse((await up('research', { file: standingYaml('desk') })).json)).toMatchObject({
      version: 2,
      changes: [],
    });
    expect(profileMessageAnswer.parse((await mail('Aiko')).json)).toMatchObject({ project: 'desk' });
  });

  test('is made once, whoever asks at the same time', async () => {
    const answers = await Promise.all([1, 2, 3, 4].map(() => up('research', { file: standingYaml('desk') })));
    expect(answers.map(({ status }) => status).sort()).toEqual([200, 200, 200, 201]);
  });

  test('takes no key: what comes again starts what is there', async () => {
    const again = { headers: { 'idempotency-key': 'up-1' } };
    expect(refusal(await api.post('/api/teams/research/up', { file: standingYaml('desk') }, again))).toEqual({
      status: 400,
      code: 'invalid-request',
      detail: 'Sent again, it starts the project that is there: this takes no Idempotency-Key.',
    });
  });

  test('takes no name of another project', async () => {
    await api.create();
    expect(refusal(await up('research', { file: standingYaml('team') })).code).toBe('project-exists');
  });
});

describe('mail to a profile', () => {
  beforeEach(async () => {
    await team('research');
    await register('Akari', { team: 'research' });
  });

  test('goes to the standing project of its team, and wakes it', async () => {
    await up('research', { file: standingYaml('desk') });
    api.wakes.length = 0;
    const headers = { 'idempotency-key': 'once' };
    const body = { body: 'Good evening.', priority: 'P0' };
    const sent = await api.post('/api/profiles/Akari/messages', body, { headers });
    expect(sent).toMatchObject({ status: 201, json: { project: 'desk', recipients: ['member-1'] } });
    expect(api.wakes).toEqual(['desk']);
    expect((await api.post('/api/profiles/Akari/messages', body, { headers })).json).toEqual(sent.json);
    expect((await api.get('/api/projects/desk/messages')).json).toMatchObject({
      items: [{ sender: 'user', recipient: 'member-1', priority: 'P0', body: 'Good evening.' }],
    });
  });

  test('is refused where there is no such project, or no profile that takes it any more', async () => {
    expect(refusal(await mail('Akari')).code).toBe('team-has-no-project');
    await register('Mio');
    expect(refusal(await mail('Mio')).code).toBe('team-has-no-project');
    await up('research', { file: standingYaml('desk') });
    await register('Ren', { team: 'research' });
    expect(refusal(await mail('Ren'))).toMatchObject({ status: 422, code: 'recipient-unknown' });
    await api.post('/api/profiles/Akari/retire');
    expect(refusal(await mail('Akari')).code).toBe('profile-retired');
    await api.call('DELETE', '/api/projects/desk');
    expect((await api.get('/api/teams/research')).json).toMatchObject({ team: { project: null } });
  });
});
