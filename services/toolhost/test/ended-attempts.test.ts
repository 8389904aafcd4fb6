import { createHash } from 'node:crypto';
import { stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { ContentStore } from '@suzumio/store/content/content-store';
import { readTurnLog } from '@suzumio/store/content/turn-logs';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let attempt: Begun;
let project: string;

beforeEach(async () => {
  bench = await toolhostBench();
  bench.testing.setNow(1_000_000);
  project = await bench.testing.create();
  attempt = await bench.begin(project, 'ada');
});
afterEach(() => bench.close());

const base = () => `${bench.toolhost.workerUrl}/projects/${project}/turns/${attempt.turn}/attempts/1`;
const putLog = (text: string) => bench.put(`${base()}/log`, attempt.answer.leaseToken, Buffer.from(text));
const kept = () => readTurnLog(bench.testing.cell.directory.projectDir(project), { turn_id: attempt.turn, number: 1 });

function putContent(text: string) {
  const sha256 = createHash('sha256').update(text).digest('hex');
  return bench.put(`${base()}/content/${sha256}`, attempt.answer.leaseToken, Buffer.from(text));
}

async function putJson(route: string, body: unknown) {
  const headers = { 'content-type': 'application/json', authorization: `Bearer ${attempt.answer.leaseToken}` };
  const response = await fetch(`${base()}/${route}`, { method: 'PUT', headers, body: JSON.stringify(body) });
  return { status: response.status, body: response.status === 204 ? {} : await response.json() };
}

const over = { status: 409, body: { code: 'attempt-over' } };

test('the lease token of an attempt that has ended opens no content', async () => {
  expect((await putContent('before')).status).toBe(204);
  await attempt.report('complete', { output: { text: 'Done.' } });
  expect(await putContent('after')).toMatchObject(over);
});

test('a capture or a base of an attempt that has ended keeps no content from being collected', async () => {
  const text = 'before';
  await putContent(text);
  const snapshot = createHash('sha256').update(text).digest('hex');
  const directory = bench.testing.cell.directory.projectDir(project);
  const path = join(directory, new ContentStore(directory).pathOf(snapshot));
  await attempt.report('complete', { output: { text: 'Done.' } });
  const then = new Date(Date.now() - 100_000_000);
  await utimes(path, then, then);
  const { leaseToken } = attempt.answer;
  const capture = await bench.post(`${base()}/capture`, leaseToken, { number: 1, snapshot, steps: ['0.0'] });
  const clone = await putJson('base', { commit: 'c'.repeat(40), snapshot });
  expect([capture, clone]).toMatchObject([over, over]);
  expect((await stat(path)).mtimeMs).toBe(then.getTime());
});

test('a base refers to a snapshot that has been stored', async () => {
  const told = await putJson('base', { commit: 'c'.repeat(40), snapshot: 'a'.repeat(64) });
  expect(told).toMatchObject({ status: 422, body: { code: 'content-missing' } });
});

test('an attempt that has ended is told so by its lease token, and its tool token is known no more', async () => {
  await attempt.report('complete', { output: { text: 'Done.' } });
  expect(await attempt.report('fail', { failure: { code: 'non-zero-exit', message: 'Exit 1.' } })).toMatchObject(over);
  expect(await attempt.tool('messages.read', { id: 'msg_x' })).toMatchObject({
    status: 401,
    body: { code: 'token-rejected' },
  });
});

test('a log may come a little after its attempt, once, and nothing is written over it', async () => {
  await attempt.report('complete', { output: { text: 'Done.' } });
  bench.testing.setNow(1_060_000);
  expect((await putLog('what happened')).status).toBe(204);
  expect(await putLog('what did not happen')).toMatchObject(over);
  expect(await kept()).toBe('what happened');
});

test('a log that comes too late is not taken', async () => {
  await attempt.report('complete', { output: { text: 'Done.' } });
  bench.testing.setNow(1_060_001);
  expect(await putLog('too late')).toMatchObject(over);
  expect(await kept()).toBe('');
});

test('a log that meets a redaction of what its attempt knew is not kept', async () => {
  const { directory } = bench.testing.cell;
  const [message] = await bench.testing.rows<{ id: string }>(project, 'SELECT id FROM messages');
  const asked = { actor: 'ops', because: null };
  const redaction = async () => {
    const place = { directory: directory.projectDir(project), file: directory.projectFile(project) };
    await bench.testing.store(project, (store) =>
      redact({ store, ...place }, redactableMessage(store.reader, message?.id ?? ''), asked),
    );
  };
  // It comes when the log was let in, and is written after it.
  const { content } = await bench.testing.store(project, (store) => store);
  const charge = jest.spyOn(content, 'chargeLog').mockImplementationOnce(redaction);
  expect(await putLog('what it knew')).toMatchObject({ status: 401, body: { code: 'token-rejected' } });
  expect(charge).toHaveBeenCalledTimes(1);
  expect(await kept()).toBe('');
  expect(await attempt.report('heartbeat')).toMatchObject({ status: 401 });
});
