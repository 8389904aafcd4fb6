import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { cancelActiveTurn } from '@suzumio/store/turns/cancel-turn';
import { expireLease } from '@suzumio/store/turns/leases';
import { postMessage } from '@suzumio/store/mail/post-message';
import { stopProject } from '@suzumio/store/projects/project-transitions';
import { ContentStore } from '@suzumio/store/content/content-store';
import { listTurns } from '@suzumio/store/turns/read-turns';
import { storeTree } from '../../../test/support/trees.js';
import { eventually } from '../../../test/support/poll.js';
import { begun, claimId, type ToolhostBench, toolhostBench } from './toolhost-client.js';

let bench: ToolhostBench;
let project: string;

beforeEach(async () => {
  bench = await toolhostBench();
  project = await bench.testing.create();
});
afterEach(() => bench.close());

describe('claim', () => {
  test('renders mail that came while the job waited, and makes it read', async () => {
    const turn = await bench.queueTurn(project, 'ada', 'first');
    await bench.testing.write(project, (tx) =>
      postMessage(tx, { sender: 'user', recipient: 'ada', priority: 'P0', body: 'urgent', actor: 'test' }),
    );
    const { status, body } = await bench.claim(project, turn);
    expect(status).toBe(200);
    const input = body['input'] as { turn: { prompt: string; attempt: number; mail: { body: string }[] } };
    expect(input.turn.mail.map((mail) => mail.body)).toEqual(['urgent', 'first']);
    expect(input.turn.prompt).toContain('| urgent');
    expect(await bench.testing.rows(project, 'SELECT * FROM inbox')).toEqual([]);
    expect(await bench.testing.rows(project, 'SELECT turn_id FROM message_reads')).toEqual([
      { turn_id: turn },
      { turn_id: turn },
    ]);
  });

  test('gives the same answer for the same claim id, and refuses another', async () => {
    const turn = await bench.queueTurn(project, 'ada');
    const id = claimId();
    const first = await bench.claim(project, turn, { claimId: id });
    expect(await bench.claim(project, turn, { claimId: id })).toEqual(first);
    expect(await bench.claim(project, turn)).toMatchObject({ status: 409, body: { code: 'claim-refused' } });
    expect(await bench.testing.rows(project, 'SELECT number FROM turn_attempts')).toHaveLength(1);
  });

  test('stores hashes of the tokens, never the tokens', async () => {
    const { answer } = await bench.begin(project, 'ada');
    const everything = JSON.stringify([
      await bench.testing.rows(project, 'SELECT * FROM turn_attempts'),
      await bench.testing.rows(project, 'SELECT * FROM agents'),
      await bench.testing.rows(project, 'SELECT * FROM events'),
      await bench.testing.rows(project, 'SELECT * FROM turns'),
      bench.logs(),
    ]);
    expect(everything).not.toContain(answer.leaseToken);
    expect(everything).not.toContain(answer.toolToken);
  });

  test('frees the place of the turn in the queue, and wakes the scheduler where projects wait for one', async () => {
    const { transport, testing } = bench;
    const places = async () => (await transport.takePlaces([])).free;
    await transport.announce({ worker: 'w1', slots: 1 });
    await transport.takePlaces([`${project}/ada`]);
    const first = await bench.queueTurn(project, 'ada');
    expect(await bench.claim(project, first)).toMatchObject({ status: 200 });
    expect(await places()).toBe(1);
    expect(bench.wakes).toEqual([]);

    await transport.takePlaces([`${project}/ben`]);
    const second = await bench.queueTurn(project, 'ben');
    await testing.cell.catalog.waitingLine.join(project);
    await bench.claim(project, second);
    await eventually('the scheduler is woken', () => bench.wakes.length === 1);
    expect(await places()).toBe(1);
  });

  test('that is refused frees the place, too: the job is off the queue', async () => {
    const { transport, testing } = bench;
    await transport.announce({ worker: 'w1', slots: 1 });
    await transport.takePlaces([`${project}/ada`]);
    const turn = await bench.queueTurn(project, 'ada');
    await testing.cell.catalog.waitingLine.join(project);
    await testing.write(project, (tx) => stopProject(tx, 'test', { now: false }));
    expect(await bench.claim(project, turn)).toMatchObject({ status: 409 });
    expect((await transport.takePlaces([])).free).toBe(1);
    await eventually('the scheduler is woken', () => bench.wakes.includes(project));
  });

  test('of an old job leaves the place to the turn that the agent waits with now', async () => {
    const { transport, testing } = bench;
    await transport.announce({ worker: 'w1', slots: 1 });
    const old = await bench.queueTurn(project, 'ada');
    await testing.write(project, (tx) => cancelActiveTurn(tx, old, 'test'));
    const next = await bench.queueTurn(project, 'ada');
    await transport.takePlaces([`${project}/ada`]);
    expect(await bench.claim(project, old)).toMatchObject({ status: 409 });
    expect((await transport.takePlaces([])).free).toBe(0);
    expect(await bench.claim(project, next)).toMatchObject({ status: 200 });
    expect((await transport.takePlaces([])).free).toBe(1);
  });

  test.each([
    ['no token', undefined, 401, 'unauthenticated'],
    ['a wrong credential', 'a'.repeat(64), 401, 'token-rejected'],
  ])('refuses a worker with %s', async (_name, token, status, code) => {
    const turn = await bench.queueTurn(project, 'ada');
    const url = `${bench.toolhost.workerUrl}/projects/${project}/turns/${turn}/claim`;
    const body = { claimId: claimId(), worker: 'w', engine: 'e', protocol: 2 };
    expect(await bench.post(url, token, body)).toMatchObject({ status, body: { code } });
    expect(bench.logs().filter((line) => line['code'] === code)).toHaveLength(1);
  });

  test('refuses a turn of a project that stopped meanwhile, whose mail stays unread', async () => {
    const turn = await bench.queueTurn(project, 'ada');
    await bench.testing.write(project, (tx) => stopProject(tx, 'test', { now: false }));
    expect(await bench.claim(project, turn)).toMatchObject({ status: 409, body: { code: 'claim-refused' } });
    expect(await bench.testing.rows(project, 'SELECT recipient FROM inbox')).toEqual([{ recipient: 'ada' }]);
    expect(await bench.testing.rows(project, `SELECT state FROM agents WHERE id = 'ada'`)).toEqual([
      { state: 'quiet' },
    ]);
  });

  test('refuses a worker of another protocol, an unknown turn and an unknown project', async () => {
    const turn = await bench.queueTurn(project, 'ada');
    const claim = (path: string, protocol = 2) =>
      bench.post(`${bench.toolhost.workerUrl}/projects/${path}/claim`, bench.workerToken, {
        claimId: claimId(),
        worker: 'w',
        engine: 'e',
        protocol,
      });
    expect((await claim(`${project}/turns/${turn}`, 1)).body['code']).toBe('protocol-unsupported');
    expect((await claim(`${project}/turns/turn_${'0'.repeat(26)}`)).body['code']).toBe('turn-unknown');
    expect((await claim(`nowhere/turns/${turn}`)).body['code']).toBe('project-unknown');
    expect((await claim(`${project}/turns/..%2F..%2Fetc`)).status).toBe(400);
  });
});

describe('lease', () => {
  test('a heartbeat extends it when less than two thirds are left, and not before', async () => {
    bench.testing.setNow(1_000_000);
    const attempt = await bench.begin(project, 'ada');
    const until = async () =>
      (await bench.testing.rows<{ until: number }>(project, 'SELECT lease_until_ms AS until FROM turn_attempts'))[0]
        ?.until;
    bench.testing.setNow(1_004_000);
    expect((await attempt.report('heartbeat')).body).toEqual({ leaseMs: 11_000, cancel: false });
    expect(await until()).toBe(1_015_000);
    bench.testing.setNow(1_006_000);
    expect((await attempt.report('heartbeat')).body).toEqual({ leaseMs: 15_000, cancel: false });
    expect(await until()).toBe(1_021_000);
  });

  test('an attempt past its deadline is good until it is expired, and worthless from then on', async () => {
    bench.testing.setNow(1_000_000);
    const attempt = await bench.begin(project, 'ada');
    bench.testing.setNow(1_020_000);
    expect((await attempt.tool('messages.send', { recipient: 'ben', body: 'late but good' })).status).toBe(200);
    expect(await bench.testing.write(project, (tx) => expireLease(tx, { turn: attempt.turn, attempt: 1 }))).toBe(
      'queued',
    );
    expect((await attempt.report('heartbeat')).body).toEqual({ leaseMs: 0, cancel: true });
    expect(await attempt.tool('messages.send', { recipient: 'ben', body: 'too late' })).toMatchObject({
      status: 401,
      body: { code: 'token-rejected' },
    });
    expect(await attempt.report('complete', { output: { text: 'done' } })).toMatchObject({
      status: 409,
      body: { code: 'attempt-over' },
    });
    expect(await bench.testing.rows(project, `SELECT body FROM messages WHERE sender = 'ada'`)).toEqual([
      { body: 'late but good' },
    ]);
  });

  test('a later attempt gets the same input with its own number, and the earlier one is superseded', async () => {
    bench.testing.setNow(1_000_000);
    const first = await bench.begin(project, 'ada', 'the mail');
    bench.testing.setNow(1_020_000);
    await bench.testing.write(project, (tx) => expireLease(tx, { turn: first.turn, attempt: 1 }));
    const claimed = await bench.claim(project, first.turn);
    const second = begun(bench, project, 'ada', first.turn, claimed.body as never);
    expect(second.answer.input).toEqual({
      ...first.answer.input,
      turn: { ...first.answer.input.turn, attempt: 2 },
    });
    expect((await first.report('heartbeat')).body['cancel']).toBe(true);
    expect((await first.tool('artifacts.list', {})).status).toBe(401);
    expect((await second.tool('artifacts.list', {})).status).toBe(200);
  });

  test.each(['lease', 'tool'] as const)('the %s token of another turn opens nothing', async (kind) => {
    const ada = await bench.begin(project, 'ada');
    const ben = await bench.begin(project, 'ben');
    const foreign = kind === 'lease' ? ben.answer.leaseToken : ben.answer.toolToken;
    const url = `${bench.toolhost.workerUrl}/projects/${project}/turns/${ada.turn}/attempts/1/complete`;
    expect((await bench.post(url, foreign, { output: { text: '' } })).status).toBe(401);
    const call = { project, agent: 'ada', turn: ada.turn, tool: 'artifacts.list', input: {} };
    const called = await bench.post(`${bench.toolhost.runnerUrl}/tool`, foreign, call);
    expect(called.status).toBe(kind === 'lease' ? 401 : 403);
    const refused = await bench.testing.rows(project, `SELECT turn_id, error_code FROM tool_calls`);
    expect(refused).toEqual(kind === 'lease' ? [] : [{ turn_id: ben.turn, error_code: 'forbidden' }]);
  });
});

describe('reports', () => {
  test('completing ends the turn, sets the agent free and wakes the project; a repeated report changes nothing', async () => {
    const attempt = await bench.begin(project, 'ada');
    bench.wakes.length = 0;
    const report = { output: { text: 'All done.', usage: { steps: 1 } } };
    expect(await attempt.report('complete', report)).toEqual({ status: 200, body: { turn: 'completed' } });
    expect(await attempt.report('complete', report)).toEqual({ status: 200, body: { turn: 'completed' } });
    await eventually('the project is woken', () => bench.wakes.includes(project));
    expect(await bench.testing.rows(project, 'SELECT status, output_text, usage_json FROM turns')).toEqual([
      { status: 'completed', output_text: 'All done.', usage_json: '{"steps":1}' },
    ]);
    expect(
      await bench.testing.rows(project, `SELECT state, active_turn_id, token_hash FROM agents WHERE id = 'ada'`),
    ).toEqual([{ state: 'quiet', active_turn_id: null, token_hash: null }]);
    expect(await bench.testing.rows(project, `SELECT 1 AS one FROM messages WHERE sender = 'ada'`)).toEqual([]);
    const events = await bench.testing.rows<{ type: string }>(project, 'SELECT type FROM events ORDER BY seq');
    expect(events.map(({ type }) => type).filter((type) => type === 'turn.completed')).toHaveLength(1);
  });

  test('completing counts the files that the turn has changed, and does without where that is not possible', async () => {
    const content = new ContentStore(bench.testing.cell.directory.projectDir(project));
    const leave = async (snapshot: string | null) =>
      (await bench.begin(project, 'ada')).report('complete', { output: { text: '' }, snapshot });
    await leave(await storeTree(content, { a: '1', b: '1' }));
    await leave(await storeTree(content, { a: '2', c: '1', d: '1' }));
    expect(await leave(await content.putBytes(Buffer.from('no manifest')))).toMatchObject({ status: 200 });
    await leave(null);
    const turns = await bench.testing.store(project, (store) => listTurns(store.reader, { limit: 10 }).items);
    expect(turns.map(({ files }) => files)).toEqual([
      { added: 2, changed: 0, removed: 0 },
      { added: 2, changed: 1, removed: 1 },
      null,
      null,
    ]);
    expect(bench.logs().filter(({ msg }) => /could not be counted/.test(String(msg)))).toHaveLength(2);
  });

  test.each([
    ['non-zero-exit', 'failed', 'failed'],
    ['engine-unreachable', 'queued', 'running'],
    ['container-vanished', 'queued', 'running'],
  ])('a failure %s leaves the turn %s and the agent %s', async (code, turn, state) => {
    const attempt = await bench.begin(project, 'ada');
    const failed = await attempt.report('fail', { failure: { code, message: 'It broke.' } });
    expect(failed).toEqual({ status: 200, body: { turn } });
    expect(await bench.testing.rows(project, `SELECT state FROM agents WHERE id = 'ada'`)).toEqual([{ state }]);
    const again = await attempt.report('fail', { failure: { code, message: 'It broke.' } });
    expect(again).toMatchObject({ status: 409, body: { code: 'attempt-over' } });
  });

  test('counted failures use up maxAttempts', async () => {
    let attempt = await bench.begin(project, 'ada');
    for (const expected of ['queued', 'queued', 'failed']) {
      const { body } = await attempt.report('fail', { failure: { code: 'container-vanished', message: 'gone' } });
      expect(body).toEqual({ turn: expected });
      if (expected === 'failed') break;
      attempt = begun(bench, project, 'ada', attempt.turn, (await bench.claim(project, attempt.turn)).body as never);
    }
    const undelivered = await bench.testing.rows(project, 'SELECT voided_at_ms FROM message_reads');
    expect(undelivered).toEqual([{ voided_at_ms: null }]);
  });

  test('a worker that could not start a turn leaves it to others first', async () => {
    bench.testing.setNow(1_000_000);
    const attempt = await bench.begin(project, 'ada');
    await attempt.report('fail', { failure: { code: 'image-missing', message: 'no image' } });
    bench.testing.setNow(1_002_000);
    expect((await bench.claim(project, attempt.turn, { worker: 'w1' })).status).toBe(409);
    expect((await bench.claim(project, attempt.turn, { worker: 'w2' })).status).toBe(200);
  });

  test('keeps the log of an attempt', async () => {
    const attempt = await bench.begin(project, 'ada');
    const url = `${bench.toolhost.workerUrl}/projects/${project}/turns/${attempt.turn}/attempts/1/log`;
    expect((await bench.put(url, attempt.answer.leaseToken, Buffer.from('it ran\n'))).status).toBe(204);
    expect((await bench.put(url, attempt.answer.leaseToken, Buffer.alloc(2 * 1024 * 1024))).status).toBe(413);
  });

  test.each([
    ['no JSON', '{"output":', 400],
    ['no output', '{}', 400],
    ['a text that is none', '{"output":{"text":7}}', 400],
  ])('refuses a report with %s', async (_name, body, status) => {
    const attempt = await bench.begin(project, 'ada');
    const url = `${bench.toolhost.workerUrl}/projects/${project}/turns/${attempt.turn}/attempts/1/complete`;
    const response = await fetch(url, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${attempt.answer.leaseToken}` },
      body,
    });
    expect(response.status).toBe(status);
    expect(await response.json()).toMatchObject({ code: 'invalid-request' });
  });
});
