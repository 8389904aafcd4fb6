import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
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

const over = { status: 409, body: { code: 'attempt-over' } };

test('the lease token of an attempt that has ended opens no content', async () => {
  expect((await putContent('before')).status).toBe(204);
  await attempt.report('complete', { output: { text: 'Done.' } });
  expect(await putContent('after')).toMatchObject(over);
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
