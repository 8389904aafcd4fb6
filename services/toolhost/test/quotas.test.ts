import { createHash } from 'node:crypto';
import { afterEach, describe, expect, test } from '@jest/globals';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { postMessage } from '@suzumio/store/mail/post-message';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;
let free: number;
afterEach(() => bench.close());

const kib = 1024;
const ample = 1024 ** 4;

async function start(agent: Partial<StorageLimits['agent']>, yaml?: string): Promise<void> {
  const { agent: usual, ...others } = defaultStorageLimits;
  free = ample;
  const place = { storage: { ...others, agent: { ...usual, ...agent } }, freeBytes: () => free };
  bench = await toolhostBench({}, {}, place);
  project = await bench.testing.create(yaml);
}

const hashOf = (bytes: Buffer) => createHash('sha256').update(bytes).digest('hex');
const upload = (attempt: Begun, bytes: Buffer) =>
  bench.put(`${bench.toolhost.runnerUrl}/content/${hashOf(bytes)}`, attempt.answer.toolToken, bytes);
const ofAttempt = (attempt: Begun, path: string) =>
  `${bench.toolhost.workerUrl}/projects/${project}/turns/${attempt.turn}/attempts/1/${path}`;
const keep = (attempt: Begun, bytes: Buffer) =>
  bench.put(ofAttempt(attempt, `content/${hashOf(bytes)}`), attempt.answer.leaseToken, bytes);
const say = (attempt: Begun, body: string) => attempt.tool('messages.send', { recipient: 'ben', body });
const peopleSay = () =>
  bench.testing.write(project, (tx) =>
    postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P1', body: 'Go on.', actor: 'test' }),
  );

describe('an agent that has stored as many files as it may', () => {
  test('uploads no more, to publish or of its workspace, and hands in no report', async () => {
    await start({ files: 100 * kib });
    const ada = await bench.begin(project, 'ada');
    expect((await upload(ada, Buffer.alloc(90 * kib, 'a'))).status).toBe(204);
    expect(await upload(ada, Buffer.alloc(20 * kib, 'b'))).toMatchObject({
      status: 403,
      body: { code: 'quota-exceeded', of: 'ada', what: 'files', limitBytes: 100 * kib },
    });
    expect(await keep(ada, Buffer.alloc(20 * kib, 'b'))).toMatchObject({
      status: 403,
      body: { code: 'quota-exceeded' },
    });
    const report = await ada.tool('completion.submit', { report: 'r'.repeat(20 * kib) });
    expect(report).toMatchObject({ status: 403, body: { code: 'quota-exceeded' } });
  });

  test('still says what it has to say, and ends its turn without its workspace', async () => {
    await start({ files: 10 * kib });
    const ada = await bench.begin(project, 'ada');
    expect((await keep(ada, Buffer.alloc(20 * kib))).status).toBe(403);
    expect((await say(ada, 'Done.')).status).toBe(200);
    expect((await ada.report('heartbeat')).status).toBe(200);
    const unsaved = { code: 'quota-exceeded', message: 'Agent ada has stored too much.' };
    expect(await ada.report('complete', { output: { text: 'The answer.' }, unsaved })).toEqual({
      status: 200,
      body: { turn: 'completed' },
    });
    const [row] = await bench.testing.rows<{ output_text: string; snapshot: string | null; data: string }>(
      project,
      `SELECT output_text, (SELECT snapshot FROM agents WHERE id = 'ada') AS snapshot,
         (SELECT data_json FROM events WHERE type = 'turn.completed') AS data FROM turns`,
    );
    expect(row).toMatchObject({ output_text: 'The answer.', snapshot: null });
    expect(JSON.parse(row?.data ?? '')).toMatchObject({ unsaved });
  });

  test('does not keep others from storing theirs', async () => {
    await start({ files: 10 * kib });
    const [ada, ben] = [await bench.begin(project, 'ada'), await bench.begin(project, 'ben')];
    expect((await upload(ada, Buffer.alloc(20 * kib, 'a'))).status).toBe(403);
    expect((await upload(ben, Buffer.alloc(8 * kib, 'b'))).status).toBe(204);
  });

  test('keeps its older log where there is no room for a longer one', async () => {
    await start({ files: 12 * kib });
    const ada = await bench.begin(project, 'ada');
    const log = (bytes: number) => bench.put(ofAttempt(ada, 'log'), ada.answer.leaseToken, Buffer.alloc(bytes, 'l'));
    expect((await log(8 * kib)).status).toBe(204);
    expect(await log(13 * kib)).toMatchObject({ status: 403, body: { code: 'quota-exceeded' } });
    expect((await log(9 * kib)).status).toBe(204);
  });

  test('has a log charged by the blocks that it takes', async () => {
    await start({ files: 13 * kib });
    const ada = await bench.begin(project, 'ada');
    expect((await upload(ada, Buffer.alloc(8 * kib, 'a'))).status).toBe(204);
    const log = (bytes: number) => bench.put(ofAttempt(ada, 'log'), ada.answer.leaseToken, Buffer.alloc(bytes, 'l'));
    expect(await log(4 * kib + 1)).toMatchObject({ status: 403, body: { code: 'quota-exceeded' } });
    expect((await log(4 * kib)).status).toBe(204);
  });
});

describe('an agent that has left as many rows as it may', () => {
  test('makes no calls, while people write to it and its turn is completed', async () => {
    await start({ rows: 30 * kib });
    const ada = await bench.begin(project, 'ada');
    expect((await say(ada, 'x'.repeat(20 * kib))).status).toBe(200);
    expect(await say(ada, 'And more.')).toMatchObject({ status: 403, body: { code: 'quota-exceeded' } });
    await peopleSay();
    expect((await ada.report('complete', { output: { text: 'Done.' } })).status).toBe(200);
  });
});

describe('a disk that has little left', () => {
  const { reserve } = defaultStorageLimits;

  test('takes no files, then no calls, while leases and outcomes go on', async () => {
    await start({});
    const ada = await bench.begin(project, 'ada');
    free = reserve.files - 1;
    expect(await upload(ada, Buffer.from('a'))).toMatchObject({ status: 507, body: { code: 'disk-reserve' } });
    expect(await keep(ada, Buffer.from('a'))).toMatchObject({ status: 507, body: { code: 'disk-reserve' } });
    expect((await say(ada, 'Look.')).status).toBe(200);
    const turn = await bench.queueTurn(project, 'ben');
    expect(await bench.claim(project, turn)).toMatchObject({ status: 507, body: { for: 'files' } });
    free = reserve.rows - 1;
    expect(await say(ada, 'Look again.')).toMatchObject({ status: 507, body: { code: 'disk-reserve', for: 'rows' } });
    free = 0;
    expect((await ada.report('heartbeat')).status).toBe(200);
    expect((await ada.report('complete', { output: { text: 'Done.' } })).body).toEqual({ turn: 'completed' });
  });

  test('takes what was refused once it has more', async () => {
    await start({});
    const ada = await bench.begin(project, 'ada');
    free = 0;
    expect((await say(ada, 'Look.')).status).toBe(507);
    free = ample;
    expect((await say(ada, 'Look.')).status).toBe(200);
  });
});
