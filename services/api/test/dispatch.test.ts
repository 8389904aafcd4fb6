import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { messageListAnswer, postedMessage, postedReply } from '@suzumio/contract/operations/messages';
import { assignedTask, taskListAnswer } from '@suzumio/contract/operations/tasks';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

const yaml = `
name: team
task: Do the work.
channels: ["#team"]
backend: { runner: { mode: mock } }
agents:
  ada: { role: Manager, prompt: Assign., tools: ["*"] }
  ben: { role: researcher, team: research, prompt: Look up., tools: ["*"] }
  cat: { role: researcher, team: research, prompt: Look up., tools: ["*"] }
  dan: { role: researcher, prompt: Look up., tools: ["*"] }
`;

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create(yaml);
});
afterAll(() => api.close());
beforeEach(() => {
  api.wakes.length = 0;
});

const path = '/api/projects/team';
const newest = async () => messageListAnswer.parse((await api.get(`${path}/messages?limit=1`)).json).items[0];
const written = async () => (await newest())?.seq ?? 0;

describe('a reply', () => {
  test('goes to who wrote the message, in its thread, and wakes the project', async () => {
    const asked = postedMessage.parse(
      (await api.post(`${path}/messages`, { recipient: 'ada', body: 'How is it going?' })).json,
    );
    const own = postedReply.parse(
      (await api.post(`${path}/replies`, { message: asked.id, recipient: 'ben', body: 'You may know.' })).json,
    );
    expect(own).toMatchObject({ threadId: asked.id, to: 'ben', recipients: ['ben'] });
    const answer = await api.post(`${path}/replies`, { message: String(own.seq), channel: '#team', body: 'Or all.' });
    expect(answer.status).toBe(201);
    expect(postedReply.parse(answer.json)).toMatchObject({ to: '#team', recipients: ['ada', 'ben', 'cat', 'dan'] });
    expect(await newest()).toMatchObject({
      kind: 'reply',
      sender: 'user',
      actor: 'admin',
      priority: 'P1',
      threadId: asked.id,
      replyTo: own.id,
    });
    expect(api.wakes).toEqual(['team', 'team', 'team']);
  });

  test.each([
    [{ message: '1', body: 'x' }, 422, 'recipient-self'],
    [{ message: '1', recipient: 'ada', body: 'x', task: 'done' }, 400, 'invalid-request'],
    [{ recipient: 'ada', body: 'x' }, 400, 'invalid-request'],
  ])('%j is refused and writes nothing', async (body, status, code) => {
    const before = await written();
    expect(refusal(await api.post(`${path}/replies`, body))).toMatchObject({ status, code });
    expect(await written()).toBe(before);
  });
});

describe('a broadcast', () => {
  test('is one message that a team has, or all', async () => {
    const before = await written();
    const answers = [
      await api.post(`${path}/broadcasts`, { team: 'research', priority: 'P0', body: 'To you.' }),
      await api.post(`${path}/broadcasts`, { body: 'To all.' }),
    ];
    expect(answers.map(({ status }) => status)).toEqual([201, 201]);
    expect(answers.map(({ json }) => postedMessage.parse(json).recipients)).toEqual([
      ['ben', 'cat'],
      ['ada', 'ben', 'cat', 'dan'],
    ]);
    expect(await written()).toBe(before + 2);
    expect(await newest()).toMatchObject({ kind: 'broadcast', recipient: '@all', actor: 'admin' });
    expect(api.wakes).toEqual(['team', 'team']);
  });

  test('to a team that there is not is refused', async () => {
    expect(refusal(await api.post(`${path}/broadcasts`, { team: 'sales', body: 'x' }))).toMatchObject({
      status: 404,
      code: 'team-unknown',
      detail: 'There is no team "sales" in this project: known are research',
    });
  });
});

describe('a task', () => {
  test('goes to whoever has least to do, once for a key, and is listed', async () => {
    await api.post(`${path}/messages`, { recipient: 'dan', body: 'Wait.' });
    const body = { role: 'Researcher', body: 'Supplier one.' };
    const assign = (key: string, change = {}) =>
      api.post(`${path}/tasks`, { ...body, ...change }, { headers: { 'idempotency-key': key } });
    const [first, again] = [await assign('one'), await assign('one')];
    expect([first.status, again.status, again.text]).toEqual([201, 201, first.text]);
    const second = await assign('two', { team: 'research', body: 'Supplier two.' });
    const tasks = [first, second].map(({ json }) => assignedTask.parse(json));
    expect(tasks.map(({ assignee }) => assignee).sort()).toEqual(['ben', 'cat']);
    expect(api.wakes).toEqual(['team', 'team', 'team', 'team']);

    const list = async (query = '') =>
      taskListAnswer.parse((await api.get(`${path}/tasks${query}`)).json).items.map(({ id }) => id);
    const [one, two] = tasks;
    expect(await list()).toEqual([one?.id, two?.id]);
    expect(await list('?state=open&assigner=user&role=researcher')).toEqual([one?.id, two?.id]);
    expect(await list('?state=done')).toEqual([]);
    expect(await list('?role=poet')).toEqual([]);
    expect(await list('?team=research')).toEqual([two?.id]);
    expect(await list(`?assignee=${one?.assignee ?? ''}`)).toEqual([one?.id]);
    expect(await list('?after=0&limit=1')).toEqual([one?.id]);
    expect(
      taskListAnswer.parse((await api.get(`${path}/tasks?assignee=${one?.assignee ?? ''}`)).json).items,
    ).toMatchObject([
      { assigner: 'user', role: 'Researcher', team: null, state: 'open', stateMessage: null, excerpt: 'Supplier one.' },
    ]);
  });

  test.each([
    [{ role: 'poet', body: 'x' }, 409, 'nobody-fits'],
    [{ body: 'x' }, 400, 'invalid-request'],
    [{ role: ' ', body: 'x' }, 400, 'invalid-request'],
    [{ role: 'researcher', recipient: 'ben', body: 'x' }, 400, 'invalid-request'],
  ])('%j is refused and writes nothing', async (body, status, code) => {
    const before = await written();
    expect(refusal(await api.post(`${path}/tasks`, body))).toMatchObject({ status, code });
    expect(await written()).toBe(before);
  });

  test('asking for those of a state that there is not is refused', async () => {
    expect(refusal(await api.get(`${path}/tasks?state=finished`))).toMatchObject({ code: 'invalid-request' });
  });
});
