import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { projectAnswer, requestChangesAnswer } from '@suzumio/contract/operations/projects';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.create(undefined, { start: false });
});
afterEach(() => api.close());

const path = '/api/projects/team';
const status = async () => projectAnswer.parse((await api.get(path)).json).project.status;
const listed = () => api.cell.catalog.projects.all().find(({ id }) => id === 'team')?.status;

describe('a project', () => {
  test('is started, submitted, sent back, submitted again and approved', async () => {
    const started = await api.post(`${path}/start`);
    expect(started.status).toBe(200);
    expect(projectAnswer.parse(started.json).project.status).toBe('running');
    expect(listed()).toBe('running');
    expect(api.wakes).toEqual(['team']);

    await submit(api, 'team', 'ada', '# First\n');
    const back = await api.post(`${path}/request-changes`, { recipient: 'ada', body: 'Add the sources.' });
    expect(back.status).toBe(200);
    const { project, message } = requestChangesAnswer.parse(back.json);
    expect(project.status).toBe('running');
    expect(message.recipients).toEqual(['ada']);
    expect(
      await api.rows('team', `SELECT sender, priority, actor, body FROM messages WHERE id = '${message.id}'`),
    ).toEqual([{ sender: 'user', priority: 'P1', actor: 'admin', body: 'Add the sources.' }]);
    expect(api.wakes).toEqual(['team', 'team']);

    await submit(api, 'team', 'ada', '# Second\n');
    expect(projectAnswer.parse((await api.post(`${path}/approve`)).json).project).toMatchObject({
      status: 'completed',
      reportVersion: 2,
    });
    expect(listed()).toBe('completed');
    expect(api.cell.catalog.projects.unsettled()).toEqual([]);
    expect(api.wakes).toHaveLength(2);
  });

  test('that is stopped lets its turns end, unless it is stopped now', async () => {
    await api.post(`${path}/start`);
    const { turn } = await beginTurn(api, 'team', 'ada');
    expect(projectAnswer.parse((await api.post(`${path}/stop`)).json).project).toMatchObject({
      status: 'stopped',
      turns: { active: 1 },
    });
    expect(listed()).toBe('stopped');
    // Its turn still runs, so the sweep still looks after it.
    expect(api.cell.catalog.projects.unsettled()).toEqual(['team']);

    await api.post(`${path}/start`);
    expect(projectAnswer.parse((await api.post(`${path}/stop`, { now: true })).json).project.turns.active).toBe(0);
    expect(await api.rows('team', `SELECT status FROM turns WHERE id = '${turn}'`)).toEqual([{ status: 'cancelled' }]);
    expect(api.cell.catalog.projects.unsettled()).toEqual([]);
  });

  test('is decided on by the version that was read, or not at all', async () => {
    await api.post(`${path}/start`);
    await submit(api, 'team', 'ada', '# First\n');
    const back = { recipient: 'ada', body: 'More.', version: 1 };
    expect((await api.post(`${path}/request-changes`, back)).status).toBe(200);
    await submit(api, 'team', 'ada', '# Second\n');

    const refused = {
      status: 409,
      code: 'report-version-refused',
      detail: expect.stringMatching(
        /^Version 2 of the report is the newest, so a decision on version 1 is refused: read that one first: admin sent version 1 of the report back to ada at 2\S+\.$/,
      ),
    };
    expect(refusal(await api.post(`${path}/approve`, { version: 1 }))).toEqual(refused);
    expect(refusal(await api.post(`${path}/request-changes`, back))).toEqual(refused);
    expect(await status()).toBe('submitted');
    expect(await api.rows('team', `SELECT count(*) AS n FROM messages WHERE body = 'More.'`)).toEqual([{ n: 1 }]);

    expect((await api.post(`${path}/approve`, { version: 2 })).status).toBe(200);
    // Somebody else was faster: the version is the right one, and the state is not.
    expect(refusal(await api.post(`${path}/approve`, { version: 2 })).code).toBe('transition-refused');
  });

  test('that was approved is not sent back by who does not say so, and who approved it is named', async () => {
    await api.post(`${path}/start`);
    await submit(api, 'team', 'ada', '# First\n');
    const back = { recipient: 'ada', body: 'More.', version: 1 };
    expect((await api.post(`${path}/approve`, { version: 1 })).status).toBe(200);
    for (const request of [back, { recipient: 'ada', body: 'More.' }, { ...back, status: 'submitted' }]) {
      expect(refusal(await api.post(`${path}/request-changes`, request))).toEqual({
        status: 409,
        code: 'transition-refused',
        detail: expect.stringMatching(
          /^admin approved version 1 of the report at 2\S+, so "request-changes" is refused: send it back with the status "completed"/,
        ),
      });
    }
    expect(await status()).toBe('completed');
    expect(await api.rows('team', `SELECT count(*) AS n FROM messages WHERE body = 'More.'`)).toEqual([{ n: 0 }]);
    // Whoever has read that it is completed may open it again.
    expect((await api.post(`${path}/request-changes`, { ...back, status: 'completed' })).status).toBe(200);
    for (const act of ['approve', 'request-changes']) {
      expect(refusal(await api.post(`${path}/${act}`, act === 'approve' ? { version: 1 } : back)).detail).toMatch(
        /^admin sent version 1 of the report back to ada at 2\S+, so "(approve|request-changes)" is refused: the next version comes/,
      );
    }
  });

  test.each([
    ['approve', 'approve'],
    ['approve', 'request-changes'],
    ['request-changes', 'request-changes'],
  ])('of %s and %s at one moment one wins, and the other is told who did', async (...acts) => {
    await api.post(`${path}/start`);
    await submit(api, 'team', 'ada', '# First\n');
    const answers = await Promise.all(
      acts.map((act) =>
        api.post(`${path}/${act}`, { version: 1, ...(act === 'approve' ? {} : { recipient: 'ada', body: 'More.' }) }),
      ),
    );
    expect(answers.map((answer) => answer.status).toSorted()).toEqual([200, 409]);
    const refused = answers.find((answer) => answer.status === 409);
    expect(refused && refusal(refused)).toMatchObject({
      code: 'transition-refused',
      detail: expect.stringMatching(/^admin (approved|sent) version 1 of the report/),
    });
  });

  test('refuses what its status does not allow, and says in which it would', async () => {
    expect(refusal(await api.post(`${path}/approve`))).toEqual({
      status: 409,
      code: 'transition-refused',
      detail: 'The project is initialized, so "approve" is refused: it needs a project that is submitted.',
    });
    await api.post(`${path}/start`);
    expect(refusal(await api.post(`${path}/start`)).detail).toMatch(/needs a project that is initialized or stopped/);
    expect(refusal(await api.post(`${path}/request-changes`, { recipient: 'ada', body: 'More.' })).detail).toMatch(
      /needs a project that is submitted or completed/,
    );
  });

  test('that refuses to run is not left as running in the catalog', async () => {
    await api.post(`${path}/start`);
    await submit(api, 'team', 'ada', '# Report\n');
    await api.post(`${path}/approve`);
    expect(refusal(await api.post(`${path}/start`)).code).toBe('transition-refused');
    expect(listed()).toBe('completed');

    const nobody = await api.post(`${path}/request-changes`, { recipient: 'user', body: 'More.' });
    expect(refusal(nobody)).toMatchObject({ status: 422, code: 'recipient-unknown' });
    expect(await status()).toBe('completed');
    expect(listed()).toBe('completed');
  });

  test('is started once for a key, however often the request comes', async () => {
    const key = { headers: { 'idempotency-key': 'start-1' } };
    const first = await api.post(`${path}/start`, {}, key);
    await api.post(`${path}/stop`);
    const again = await api.post(`${path}/start`, {}, key);
    expect(again.status).toBe(200);
    expect(again.json).toEqual(first.json);
    expect(await status()).toBe('stopped');
    expect(listed()).toBe('stopped');
    // The key of one route says nothing on another, nor that of one token to another.
    expect((await api.post(`${path}/stop`, {}, key)).status).toBe(409);
    const other = { ...key, token: await api.token('write') };
    expect((await api.post(`${path}/start`, {}, other)).status).toBe(200);
    expect(await api.rows('team', `SELECT actor FROM events WHERE type = 'project.started'`)).toEqual([
      { actor: 'admin' },
      { actor: 'write-1' },
    ]);
  });
});
