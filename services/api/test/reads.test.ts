import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { artifactListAnswer } from '@suzumio/contract/operations/artifacts';
import { eventListAnswer } from '@suzumio/contract/operations/events';
import { toolCallListAnswer, turnListAnswer } from '@suzumio/contract/operations/turns';
import { artifactView } from '@suzumio/contract/model/artifact';
import { turnDetail } from '@suzumio/contract/model/turn';
import { ContentStore } from '@suzumio/store/content/content-store';
import { writeTurnLog } from '@suzumio/store/content/turn-logs';
import { teamYaml } from '../../../test/support/cell.js';
import { type TestApi, testApi } from './support/api.js';
import { failTurn, publish, submit } from './support/play.js';
import { refusal } from './support/refusal.js';

const path = '/api/projects/team';
const content = Buffer.from([0, 255, ...Buffer.from('<script>alert(1)</script>')]);
const name = 'Größe "of"\r\nlevel.html';
let api: TestApi;
let artifact: { id: string; sha256: string };
let failed: string;
beforeAll(async () => {
  api = await testApi();
  await api.create();
  artifact = await publish(api, 'team', 'ada', { name, content });
  failed = await failTurn(api, 'team', 'ben');
});
afterAll(() => api.close());
/** A project for a test that writes: the others count on what is in theirs. */
const another = (project: string) => api.create(teamYaml.replace('name: team', `name: ${project}`));

describe('turns', () => {
  test('are listed, all or those of one agent, and continue where a page ended', async () => {
    const all = turnListAnswer.parse((await api.get(`${path}/turns`)).json);
    expect(all.items.map(({ agent, status }) => [agent, status])).toEqual([
      ['ada', 'completed'],
      ['ben', 'failed'],
    ]);
    expect(turnListAnswer.parse((await api.get(`${path}/turns?after=${String(all.next)}`)).json)).toEqual({
      items: [],
    });
    const first = turnListAnswer.parse((await api.get(`${path}/turns?after=0&limit=1`)).json);
    const second = turnListAnswer.parse((await api.get(`${path}/turns?after=${String(first.next)}&limit=1`)).json);
    expect([...first.items, ...second.items]).toEqual(all.items);
    const bens = turnListAnswer.parse((await api.get(`${path}/turns?agent=ben`)).json);
    expect(bens.items.map(({ id }) => id)).toEqual([failed]);
  });

  test('have the log of each attempt, as text', async () => {
    const { turn_id, number } = { turn_id: failed, number: 1 };
    await writeTurnLog(api.cell.directory.projectDir('team'), { turn_id, number }, Buffer.from('<b>it</b> broke\n'));
    const log = await api.get(`${path}/turns/ben:1/log`);
    expect(log.status).toBe(200);
    expect(log.headers['content-type']).toBe('text/plain; charset=utf-8');
    expect(log.headers['x-content-type-options']).toBe('nosniff');
    expect(log.text).toBe('<b>it</b> broke\n');
    expect(refusal(await api.get(`${path}/turns/ben:1/log?attempt=2`))).toMatchObject({
      status: 404,
      code: 'turn-unknown',
    });
  });

  test('are shown whole, by id and by agent and number', async () => {
    const turn = turnDetail.parse((await api.get(`${path}/turns/ada:1`)).json);
    expect(turn).toMatchObject({ agent: 'ada', number: 1, status: 'completed', text: 'I am done.' });
    expect(turn.prompt).toContain('Please begin.');
    expect(turn.reads).toHaveLength(1);
    expect(turn.attempts).toMatchObject([{ number: 1, status: 'completed', worker: 'worker-1' }]);
    expect(turn.calls).toMatchObject([{ tool: 'artifacts.publish', status: 'succeeded', step: '0' }]);
    expect(turnDetail.parse((await api.get(`${path}/turns/${turn.id}`)).json)).toEqual(turn);
    const other = turnDetail.parse((await api.get(`${path}/turns/${failed}`)).json);
    expect(other.failure).toMatchObject({ code: 'non-zero-exit' });
    for (const unknown of ['ada:2', 'dan:1', 'turn_1', 'ada:x']) {
      expect(refusal(await api.get(`${path}/turns/${unknown}`))).toMatchObject({ status: 404, code: 'turn-unknown' });
    }
  });

  test("are listed with their tool calls, all or one turn's", async () => {
    const all = toolCallListAnswer.parse((await api.get(`${path}/tool-calls`)).json);
    expect(all.items).toMatchObject([{ agent: 'ada', tool: 'artifacts.publish', output: 'Done.' }]);
    const none = toolCallListAnswer.parse((await api.get(`${path}/tool-calls?turn=${failed}`)).json);
    expect(none).toEqual({ items: [] });
  });
});

describe('artifacts', () => {
  test('are listed and shown', async () => {
    const { items } = artifactListAnswer.parse((await api.get(`${path}/artifacts`)).json);
    expect(items).toMatchObject([{ ...artifact, creator: 'ada', name, sizeBytes: content.length }]);
    expect(artifactView.parse((await api.get(`${path}/artifacts/${artifact.id}`)).json)).toEqual(items[0]);
    expect(refusal(await api.get(`${path}/artifacts/art_1`))).toEqual({
      status: 404,
      code: 'artifact-unknown',
      detail: 'There is no artifact "art_1" in this project.',
    });
  });

  test('are downloaded byte by byte, as a file that no browser opens by itself', async () => {
    const url = `${api.url}${path}/artifacts/${artifact.id}/content`;
    const response = await fetch(url, { headers: { authorization: `Bearer ${api.adminToken}` } });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
    expect(Object.fromEntries(response.headers)).toMatchObject({
      'content-type': 'application/octet-stream',
      'content-length': String(content.length),
      'x-content-type-options': 'nosniff',
      etag: `"${artifact.sha256}"`,
    });
    const disposition = response.headers.get('content-disposition') ?? '';
    expect(disposition).toMatch(/^attachment; filename="Gr.*; filename\*=UTF-8''Gr%C3%B6%C3%9Fe/);
    expect(disposition).not.toMatch(/[\r\n]/);

    const known = await api.get(`${path}/artifacts/${artifact.id}/content`, {
      headers: { 'if-none-match': `"${artifact.sha256}"` },
    });
    expect([known.status, known.text]).toEqual([304, '']);
    const head = await api.call('HEAD', `${path}/artifacts/${artifact.id}/content`);
    expect([head.status, head.text, head.headers['content-length']]).toEqual([200, '', String(content.length)]);
  });

  test('are downloaded in part, too, so that what was cut off goes on', async () => {
    const url = `${api.url}${path}/artifacts/${artifact.id}/content`;
    const part = async (range: string, headers: Record<string, string> = {}) => {
      const answer = await fetch(url, { headers: { authorization: `Bearer ${api.adminToken}`, range, ...headers } });
      const { headers: received, status } = answer;
      return { status, range: received.get('content-range'), bytes: Buffer.from(await answer.arrayBuffer()) };
    };
    const size = content.length;
    const etag = `"${artifact.sha256}"`;
    for (const [range, start, end] of [
      ['bytes=0-0', 0, 0],
      ['bytes=2-5', 2, 5],
      ['bytes=2-', 2, size - 1],
      ['bytes=-3', size - 3, size - 1],
      ['bytes=5-9999', 5, size - 1],
    ] as const) {
      const expected = { status: 206, range: `bytes ${start}-${end}/${size}`, bytes: content.subarray(start, end + 1) };
      expect(await part(range)).toEqual(expected);
      expect(await part(range, { 'if-range': etag })).toEqual(expected);
    }
    const whole = { status: 200, range: null, bytes: content };
    for (const range of ['bytes=0-1,4-5', 'lines=1-2', 'lines=99-', 'bytes=x', 'nothing'])
      expect(await part(range)).toEqual(whole);
    expect(await part('bytes=2-', { 'if-range': `"${'0'.repeat(64)}"` })).toEqual(whole);
    const known = { range: 'bytes=2-', 'if-none-match': etag };
    expect((await api.get(`${path}/artifacts/${artifact.id}/content`, { headers: known })).status).toBe(304);

    const outside = await api.get(`${path}/artifacts/${artifact.id}/content`, { headers: { range: `bytes=${size}-` } });
    expect(refusal(outside)).toMatchObject({ status: 416, code: 'range-not-satisfiable' });
    expect(outside.headers['content-range']).toBe(`bytes */${size}`);
    expect(outside.headers).not.toHaveProperty('content-disposition');
    const head = await api.call('HEAD', `${path}/artifacts/${artifact.id}/content`, { headers: { range: 'bytes=2-' } });
    expect([head.status, head.headers['content-length'], head.headers['accept-ranges']]).toEqual([
      200,
      String(size),
      'bytes',
    ]);
  });

  test('whose content is gone are a failure of the store, not an empty file', async () => {
    await another('lost');
    const lost = await publish(api, 'lost', 'ada', { name: 'lost', content: Buffer.from('lost') });
    const projectDir = api.cell.directory.projectDir('lost');
    await rm(join(projectDir, new ContentStore(projectDir).pathOf(lost.sha256)));
    expect(refusal(await api.get(`/api/projects/lost/artifacts/${lost.id}/content`))).toMatchObject({
      status: 500,
      code: 'store-corrupt',
    });
  });
});

describe('events', () => {
  test('are listed in order', async () => {
    const { items, next } = eventListAnswer.parse((await api.get(`${path}/events?after=0&limit=6`)).json);
    expect(items.map(({ id, type }) => `${id} ${type}`)).toEqual([
      '1-1 project.initialized',
      '1-2 project.started',
      '1-3 message.created',
      '1-4 turn.queued',
      '1-5 turn.started',
      '1-6 tool.called',
    ]);
    expect(next).toBe(6);
  });

  test('of some types are listed, and go on where a page ended', async () => {
    const list = async (query: string) =>
      eventListAnswer.parse((await api.get(`${path}/events?types=turn.started,turn.failed&${query}`)).json);
    const { items } = await list('limit=100');
    expect(items.map(({ type }) => type)).toEqual(['turn.started', 'turn.started', 'turn.failed']);
    expect((await list('limit=1')).items).toEqual(items.slice(-1));
    const first = await list('after=0&limit=2');
    expect(first.items).toEqual(items.slice(0, 2));
    expect((await list(`after=${String(first.next)}`)).items).toEqual(items.slice(2));
    expect((await api.get(`${path}/events?types=turn.started&types=turn.failed`)).json).toEqual(
      await list('limit=100'),
    );
    expect(refusal(await api.get(`${path}/events?types=`)).code).toBe('invalid-request');
  });
});

describe('the report', () => {
  test('is missing, then there in every version', async () => {
    await another('reported');
    const path = '/api/projects/reported';
    expect(refusal(await api.get(`${path}/report`))).toEqual({
      status: 404,
      code: 'report-missing',
      detail: 'No report has been submitted yet.',
    });
    await submit(api, 'reported', 'ada', '# First, with ü\n');
    await api.post(`${path}/request-changes`, { recipient: 'ada', body: 'Again.' });
    await submit(api, 'reported', 'ada', '# Second\n');

    const newest = await api.get(`${path}/report`);
    expect(newest.headers).toMatchObject({
      'content-type': 'text/markdown; charset=utf-8',
      'suzumio-report-version': '2',
      'x-content-type-options': 'nosniff',
    });
    expect(newest.text).toBe('# Second\n');
    expect((await api.get(`${path}/report?version=1`)).text).toBe('# First, with ü\n');
    expect(refusal(await api.get(`${path}/report?version=3`)).detail).toBe('There is no version 3; the newest is 2.');
    expect(refusal(await api.get(`${path}/report?version=new`)).code).toBe('invalid-request');
  });
});
