import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { artifactListAnswer } from '@suzumio/contract/operations/artifacts';
import { postedMessage, redactedAnswer } from '@suzumio/contract/operations/messages';
import { artifactView } from '@suzumio/contract/model/artifact';
import { messageDetail } from '@suzumio/contract/model/message';
import { verifyProject } from '@suzumio/store/cell/verify';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { type TestApi, testApi } from './support/api.js';
import { beginTurn } from './support/play.js';
import { refusal } from './support/refusal.js';

let api: TestApi;
beforeEach(async () => {
  api = await testApi();
  await api.create();
});
afterEach(() => api.close());

const path = '/api/projects/team';
const secret = 'The password of the gauge is hunter2-needle.';

async function send(): Promise<string> {
  const answer = await api.post(`${path}/messages`, { recipient: 'ada', body: secret });
  return postedMessage.parse(answer.json).id;
}

async function upload(name = 'keys.txt'): Promise<string> {
  const headers = { 'content-type': 'application/octet-stream' };
  const answer = await api.call('POST', `${path}/artifacts?name=${name}`, { body: Buffer.from(secret), headers });
  return artifactView.parse(answer.json).id;
}

async function filesWith(text: string): Promise<string[]> {
  const directory = api.cell.directory.projectDir('team');
  const names = await readdir(directory, { recursive: true, withFileTypes: true });
  const files = names.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name));
  const found = await Promise.all(files.map(async (file) => ((await readFile(file)).includes(text) ? file : [])));
  return found.flat();
}

describe('redacting over HTTP', () => {
  test('removes a message, and says who, when and why, once and for each repetition', async () => {
    const id = await send();
    const { turn } = await beginTurn(api, 'team', 'ada');
    const key = { headers: { 'idempotency-key': 'gone' } };
    const redact = () => api.post(`${path}/messages/1/redact`, { because: '  It held a password.  ' }, key);
    api.wakes.length = 0;
    const [one, another] = await Promise.all([redact(), redact()]);
    const first = redactedAnswer.parse(one.json);
    expect(first).toMatchObject({ id, redacted: { by: 'admin', because: 'It held a password.' }, left: [] });
    expect([one.status, another]).toMatchObject([200, { status: 200, json: first }]);
    const other = await api.post(`${path}/messages/${id}/redact`, { because: 'Again.' });
    expect(other.json).toEqual(first);
    expect(await filesWith('hunter2-needle')).toEqual([]);

    const shown = messageDetail.parse((await api.get(`${path}/messages/1`)).json);
    expect(shown).toMatchObject({
      body: `[This message was redacted by admin at ${first.redacted.at}: It held a password.]`,
      redacted: first.redacted,
      receipts: [{ agent: 'ada', reads: [{ turn, status: 'queued', failure: null }] }],
    });
    expect(api.wakes).toContain('team');
    const events = await api.rows('team', `SELECT actor, data_json FROM events WHERE type = 'message.redacted'`);
    expect(events).toEqual([
      { actor: 'admin', data_json: JSON.stringify({ message: id, seq: 1, because: 'It held a password.' }) },
    ]);
  });

  test('removes an artifact: its row stays, and its content is gone', async () => {
    const id = await upload();
    const redacted = redactedAnswer.parse((await api.post(`${path}/artifacts/${id}/redact`)).json);
    expect(redacted).toMatchObject({ id, redacted: { by: 'admin', because: null }, left: [] });
    expect(await filesWith('hunter2-needle')).toEqual([]);
    const { items } = artifactListAnswer.parse((await api.get(`${path}/artifacts`)).json);
    expect(items).toMatchObject([{ id, name: 'keys.txt', sizeBytes: secret.length, redacted: redacted.redacted }]);
    expect(refusal(await api.get(`${path}/artifacts/${id}/content`))).toEqual({
      status: 410,
      code: 'artifact-redacted',
      detail: `"keys.txt" has no content any more. This artifact was redacted by admin at ${redacted.redacted.at}.`,
    });
    expect((await verifyProject(new ReadOnlyCell(api.root), 'team')).flaws).toEqual([]);
    // The same bytes may come again, as another artifact.
    const again = await upload('again.txt');
    expect((await api.get(`${path}/artifacts/${again}/content`)).text).toBe(secret);
  });

  test('takes a token that may delete', async () => {
    const [message, artifact] = [await send(), await upload()];
    for (const what of [`messages/${message}`, `artifacts/${artifact}`]) {
      const token = await api.token('write', 'team');
      expect(refusal(await api.post(`${path}/${what}/redact`, {}, { token })).code).toBe('forbidden');
      const admin = await api.token('admin', 'team');
      expect((await api.post(`${path}/${what}/redact`, {}, { token: admin })).status).toBe(200);
    }
  });

  test('refuses long reasons', async () => {
    await send();
    expect(refusal(await api.post(`${path}/messages/1/redact`, { because: 'x'.repeat(201) })).code).toBe(
      'invalid-request',
    );
    expect(await filesWith('hunter2-needle')).not.toEqual([]);
  });
});
