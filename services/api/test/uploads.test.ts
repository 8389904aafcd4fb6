import { once } from 'node:events';
import { readdir } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { artifactView } from '@suzumio/contract/model/artifact';
import { maxContentBytes } from '@suzumio/store/content/content-store';
import { eventually } from '../../../test/support/poll.js';
import { type TestApi, testApi } from './support/api.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeAll(async () => {
  api = await testApi();
  await api.create();
});
afterAll(() => api.close());

const path = '/api/projects/team/artifacts';
const bytes = { 'content-type': 'application/octet-stream' };
const upload = (query: string, body: Buffer | string, headers: Record<string, string> = {}) =>
  api.post(`${path}?${query}`, body, { headers: { ...bytes, ...headers } });
const published = () => api.rows<{ name: string; creator: string }>('team', 'SELECT name, creator FROM artifacts');
/** Every file below the project's content, the ones on their way included. */
const stored = async () => {
  const directory = join(api.cell.directory.projectDir('team'), 'artifacts');
  const entries = await readdir(directory, { recursive: true, withFileTypes: true });
  return entries.filter((entry) => entry.isFile()).map(({ name }) => name);
};

describe('a file that a person gives', () => {
  test('is published byte by byte, in the name of the person', async () => {
    const content = Buffer.from([0, 255, 10, 13, 0x80]);
    const answer = await upload('name=levels%20of%20N%C3%BCrnberg.bin&description=As%20measured.', content);
    expect(answer.status).toBe(201);
    const artifact = artifactView.parse(answer.json);
    expect(artifact).toMatchObject({
      creator: 'user',
      turn: null,
      name: 'levels of Nürnberg.bin',
      description: 'As measured.',
      sizeBytes: 5,
    });
    expect(answer.headers.location).toBe(`${path}/${artifact.id}`);
    expect((await api.get(`${path}/${artifact.id}`)).json).toEqual(artifact);
    const response = await fetch(`${api.url}${path}/${artifact.id}/content`, {
      headers: { authorization: `Bearer ${api.adminToken}` },
    });
    expect(Buffer.from(await response.arrayBuffer())).toEqual(content);
    expect(
      await api.rows('team', `SELECT actor, agent_id, turn_id FROM events WHERE type = 'artifact.published'`),
    ).toEqual([{ actor: 'admin', agent_id: null, turn_id: null }]);
  });

  test('may be JSON, or empty, and is not read as anything', async () => {
    expect((await upload('name=broken.json', '{"a":')).status).toBe(201);
    expect(artifactView.parse((await upload('name=empty', '')).json).sizeBytes).toBe(0);
  });

  test('is published once for a key, whatever else is said', async () => {
    const key = { 'idempotency-key': 'file-1' };
    const first = await upload('name=once.txt', 'Once.', key);
    expect((await upload('name=once.txt', 'Once.', key)).json).toEqual(first.json);
    for (const [query, body] of [
      ['name=once.txt', 'Twice.'],
      ['name=twice.txt', 'Once.'],
    ] as const) {
      expect(refusal(await upload(query, body, key))).toMatchObject({ status: 422, code: 'idempotency-mismatch' });
    }
    expect((await published()).filter(({ name }) => name === 'once.txt')).toHaveLength(1);
  });

  test.each([
    ['without a name', '', bytes, /name/],
    ['with a path for a name', 'name=..%2Fx', bytes, /name: a file name without slashes/],
    ['with a name that hides its end', 'name=a%E2%80%AEb', bytes, /name: a file name without/],
    ['called ..', 'name=..', bytes, /name: a file name/],
    ['with a field that is unknown', 'name=x&desc=y', bytes, /unknown field "desc"/],
    ['as a form', 'name=x', { 'content-type': 'multipart/form-data; boundary=x' }, /application\/octet-stream/],
    ['as JSON', 'name=x', { 'content-type': 'application/json' }, /application\/octet-stream/],
  ])('%s is refused', async (_what, query, headers, detail) => {
    const before = await published();
    const refused = refusal(await upload(query, 'x', headers));
    expect(refused).toMatchObject({ status: 400, code: 'invalid-request' });
    expect(refused.detail).toMatch(detail);
    expect(await published()).toEqual(before);
  });

  test('that is too large is refused before it is read', async () => {
    const refused = await upload('name=x', 'x', { 'content-length': String(maxContentBytes + 1) });
    expect(refusal(refused)).toMatchObject({ status: 413, code: 'content-too-large' });
  });

  test('that is cut off leaves nothing behind', async () => {
    const before = { rows: await published(), files: await stored() };
    const request = httpRequest(`${api.url}${path}?name=cut`, {
      method: 'POST',
      headers: { ...bytes, authorization: `Bearer ${api.adminToken}`, 'content-length': '1000' },
      agent: false,
    });
    const failed = once(request, 'error');
    request.write('only the beginning');
    await eventually('it is on its way', async () => (await stored()).length > before.files.length);
    request.destroy(new Error('cut'));
    await failed;
    await eventually('nothing of it is left', async () => (await stored()).length === before.files.length);
    expect({ rows: await published(), files: await stored() }).toEqual(before);
    expect(api.logLines().filter(({ level }) => level === 'error' || level === 50)).toEqual([]);
  });
});
