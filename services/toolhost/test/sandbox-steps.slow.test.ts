import { createHash } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { uncapturedHeader } from '@suzumio/protocol/model-chat';
import { expireLease } from '@suzumio/store/turns/leases';
import { cancelTurn, closeTurn } from '@suzumio/store/turns/end-turn';
import { turnRow } from '@suzumio/store/rows';
import { type Answer, type Begun, begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

const yaml = `
name: lab
task: Mend it.
tools: { toolpacks: [files, shell] }
backend: { runner: { mode: mock } }
turn: { maxToolCalls: 4 }
agents:
  dev: { role: developer, prompt: Mend., tools: ["file.*", shell.exec, messages.send] }
  boss: { role: boss, prompt: Lead., tools: ["*"] }
`;

let bench: ToolhostBench;
beforeEach(async () => {
  bench = await toolhostBench();
});
afterEach(() => bench.close());

const project = 'lab';
const ran = { output: '[exit code 0]', metadata: { exitCode: 0 } };
const calls = () =>
  bench.testing.rows<Record<string, unknown>>(
    project,
    'SELECT attempt, step, tool, status, error_code FROM tool_calls ORDER BY rowid',
  );
const steps = () =>
  bench.testing.rows<{ key: string; attempt: number }>(project, 'SELECT key, attempt FROM turn_steps');
const outcomes = async () =>
  (
    await bench.testing.rows<{ data: string }>(
      project,
      `SELECT data_json AS data FROM events WHERE type = 'tool.called' ORDER BY seq`,
    )
  ).map(({ data }) => (JSON.parse(data) as { outcome: string }).outcome);

async function started(agent = 'dev', text = yaml): Promise<Begun> {
  await bench.testing.create(text);
  return bench.begin(project, agent);
}

function begin(of: Begun, step: string, tool = 'shell.exec', input: unknown = { command: 'make' }): Promise<Answer> {
  return post(of, 'begin', { step, tool, input });
}

function end(of: Begun, step: string, result: unknown = ran): Promise<Answer> {
  return post(of, 'end', { step, result });
}

function post(of: Begun, route: 'begin' | 'end', body: object): Promise<Answer> {
  const whose = { project, agent: of.answer.input.agent.id, turn: of.turn };
  return bench.post(`${bench.toolhost.runnerUrl}/tool/${route}`, of.answer.toolToken, { ...whose, ...body });
}

async function taken(of: Begun, step: string, result: unknown = ran, input: unknown = { command: 'make' }) {
  expect(await begin(of, step, 'shell.exec', input)).toEqual({ status: 200, body: { begun: true } });
  return end(of, step, result);
}

/** Commits a capture, as the worker does, and returns its snapshot. */
async function capture(of: Begun, number: number, capturedSteps: string[], text = `capture ${String(number)}`) {
  const snapshot = await storedManifest(of, text);
  const { status, body } = await commit(of, { number, snapshot, steps: capturedSteps });
  return { status, code: body['code'], snapshot };
}

async function storedManifest(of: Begun, text: string): Promise<string> {
  const bytes = Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('hex');
  expect((await bench.put(`${attemptUrl(of)}/content/${sha256}`, of.answer.leaseToken, bytes)).status).toBe(204);
  return sha256;
}

const attemptUrl = (of: Begun) =>
  `${bench.toolhost.workerUrl}/projects/${project}/turns/${of.turn}/attempts/${String(of.answer.attempt)}`;
const commit = (of: Begun, body: object, token = of.answer.leaseToken) =>
  bench.post(`${attemptUrl(of)}/capture`, token, body);
const mark = (of: Begun, names: string[]) =>
  bench.post(`${attemptUrl(of)}/mark`, of.answer.leaseToken, { steps: names });

/** Ends the running attempt as a lost worker would, and claims the turn anew. */
async function nextAttempt(of: Begun): Promise<Begun> {
  bench.testing.setNow(Date.now() + 60_000 * of.answer.attempt);
  await bench.testing.write(project, (tx) => expireLease(tx, { turn: of.turn, attempt: of.answer.attempt }));
  const { body } = await bench.claim(project, of.turn);
  return begun(bench, project, of.answer.input.agent.id, of.turn, body as never);
}

describe('a step', () => {
  test('is on record while it runs and when it has ended, with one event', async () => {
    const of = await started();
    expect(await begin(of, '0.0')).toEqual({ status: 200, body: { begun: true } });
    expect(await calls()).toMatchObject([{ step: '0.0', tool: 'shell.exec', status: 'running' }]);
    expect(await outcomes()).toEqual([]);
    expect(await end(of, '0.0')).toEqual({ status: 200, body: { result: ran } });
    expect(await calls()).toMatchObject([{ step: '0.0', status: 'succeeded', error_code: null }]);
    expect(await outcomes()).toEqual(['succeeded']);
  });

  test('that failed is on record with its code', async () => {
    const of = await started();
    const error = { code: 'patch-mismatch', message: 'Not there.' };
    expect((await taken(of, '0.0', { error })).body).toEqual({ result: { error } });
    expect(await calls()).toMatchObject([{ status: 'failed', error_code: 'patch-mismatch' }]);
  });

  test('whose answers are lost is begun and ended as often as it is asked for, and counted once', async () => {
    const of = await started();
    await begin(of, '0.0');
    expect(await begin(of, '0.0')).toMatchObject({ body: { begun: true } });
    await end(of, '0.0');
    expect(await end(of, '0.0')).toEqual({ status: 200, body: { result: ran } });
    expect(await begin(of, '0.0')).toEqual({ status: 200, body: { result: ran } });
    expect(await calls()).toHaveLength(1);
    expect(await outcomes()).toHaveLength(1);
  });

  test('still running when its attempt ends has an unknown outcome', async () => {
    const of = await started();
    await begin(of, '0.0');
    await nextAttempt(of);
    expect(await calls()).toMatchObject([{ status: 'unknown' }]);
  });

  test('that no capture covers is taken again, replaces what is on record, and is counted once', async () => {
    const first = await started();
    for (const step of ['0.0', '1.0', '2.0', '3.0']) await taken(first, step, { output: 'one' });
    const second = await nextAttempt(first);
    expect((await taken(second, '0.0', { output: 'two' })).body).toEqual({ result: { output: 'two' } });
    expect(await calls()).toHaveLength(4);
    expect(await calls()).toContainEqual({
      attempt: 2,
      step: '0.0',
      tool: 'shell.exec',
      status: 'succeeded',
      error_code: null,
    });
    expect(await steps()).toContainEqual({ key: '0.0', attempt: 2 });
  });

  test('that no capture covers may be another call, whatever came after it', async () => {
    const first = await started();
    await taken(first, '0.0', { output: 'one' });
    await first.tool('messages.send', { recipient: 'boss', body: 'one' }, { step: '1.0' });
    const second = await nextAttempt(first);
    const other = { command: 'make all' };
    expect((await taken(second, '0.0', ran, other)).status).toBe(200);
    expect(await begin(second, '0.0', 'shell.exec', other)).toMatchObject({ body: { result: ran } });
  });

  test('that was refused stays refused, unless another call is made there', async () => {
    const first = await started();
    expect((await begin(first, '0.0', 'shell.read', { handle: 'bg' })).status).toBe(403);
    const second = await nextAttempt(first);
    expect((await begin(second, '0.0', 'shell.read', { handle: 'bg' })).status).toBe(403);
    expect(await calls()).toMatchObject([{ attempt: 1 }]);
    expect((await taken(second, '0.0')).status).toBe(200);
    expect(await calls()).toMatchObject([{ attempt: 2, status: 'succeeded' }]);
  });

  test('charges its agent for what is on record now, however often it was taken', async () => {
    const charged = async () =>
      (
        await bench.testing.rows<{ bytes: number }>(
          project,
          `SELECT bytes FROM stored_bytes WHERE owner = 'dev' AND kind = 'rows'`,
        )
      )[0]?.bytes ?? 0;
    const first = await started();
    await taken(first, '0.0', { output: 'a'.repeat(100_000) });
    const before = await charged();
    expect(before).toBeGreaterThan(200_000);
    const second = await nextAttempt(first);
    await taken(second, '0.0', { output: 'b'.repeat(10) });
    expect(await charged()).toBeLessThan(10_000);
  });
});

describe('a capture', () => {
  test('is what the next attempt begins with, and answers the steps that it covers', async () => {
    const first = await started();
    await taken(first, '0.0', { output: 'one' });
    await taken(first, '0.1', { error: { code: 'file-unknown', message: 'Not there.' } });
    const { snapshot } = await capture(first, 1, ['0.0', '0.1']);
    await taken(first, '1.0', { output: 'three' });

    const second = await nextAttempt(first);
    expect(second.answer.snapshot).toBe(snapshot);
    expect(await begin(second, '0.0')).toEqual({ status: 200, body: { result: { output: 'one' } } });
    expect((await begin(second, '0.1')).body).toMatchObject({ result: { error: { code: 'file-unknown' } } });
    expect((await begin(second, '0.0', 'shell.exec', { command: 'other' })).body['code']).toBe('journal-mismatch');
    expect(await begin(second, '1.0')).toMatchObject({ body: { begun: true } });

    // What is covered stays so in every later attempt, whichever captures come.
    await end(second, '1.0', { output: 'again' });
    await capture(second, 1, ['1.0']);
    const third = await nextAttempt(second);
    for (const [step, output] of Object.entries({ '0.0': 'one', '1.0': 'again' })) {
      expect(await begin(third, step)).toMatchObject({ body: { result: { output } } });
    }
    expect((await calls()).filter(({ status }) => status !== 'refused')).toHaveLength(3);
  });

  test('of an empty workspace is one, too', async () => {
    const first = await started();
    await bench.testing.write(project, (tx) =>
      tx.run(`UPDATE agents SET snapshot = :snapshot WHERE id = 'dev'`, { snapshot: 'a'.repeat(64) }),
    );
    await taken(first, '0.0');
    expect((await commit(first, { number: 1, snapshot: null, steps: ['0.0'] })).status).toBe(204);
    expect((await nextAttempt(first)).answer.snapshot).toBeNull();
  });

  test('that comes again changes nothing, also when others came before', async () => {
    const of = await started();
    await taken(of, '0.0');
    const { snapshot } = await capture(of, 1, ['0.0']);
    await taken(of, '1.0');
    const newest = await capture(of, 2, ['1.0']);
    await taken(of, '2.0');
    expect((await commit(of, { number: 1, snapshot, steps: ['2.0'] })).status).toBe(204);
    const next = await nextAttempt(of);
    expect(next.answer.snapshot).toBe(newest.snapshot);
    expect(await begin(next, '2.0')).toMatchObject({ body: { begun: true } });
  });

  test.each([
    ['whose number is too far', { number: 2 }, 'invalid-request'],
    ['of a step that still runs', { steps: ['0.0', '1.0'] }, 'invalid-request'],
    ['of a step that there is not', { steps: ['0.0', '7.0'] }, 'invalid-request'],
    ['of no step', { steps: [] }, 'invalid-request'],
    ['that was not stored', { snapshot: 'b'.repeat(64) }, 'content-missing'],
  ])('%s is refused, and leaves what was', async (_what, change, code) => {
    const first = await started();
    await taken(first, '0.0');
    await begin(first, '1.0');
    const snapshot = await storedManifest(first, 'x');
    const { body } = await commit(first, { number: 1, snapshot, steps: ['0.0'], ...change });
    expect(body['code']).toBe(code);
    const second = await nextAttempt(first);
    expect(second.answer.snapshot).toBeNull();
    expect(await begin(second, '0.0')).toMatchObject({ body: { begun: true } });
  });

  test('of an attempt that is over is refused, and so is one with the token of the runner', async () => {
    const first = await started();
    await taken(first, '0.0');
    const snapshot = await storedManifest(first, 'x');
    const asked = { number: 1, snapshot, steps: ['0.0'] };
    expect((await commit(first, asked, first.answer.toolToken)).status).toBe(401);
    const second = await nextAttempt(first);
    expect((await commit(first, asked)).body['code']).toBe('attempt-over');
    expect((await mark(first, ['0.0'])).body['code']).toBe('attempt-over');
    expect(await begin(second, '0.0')).toMatchObject({ body: { begun: true } });
  });

  test.each([
    [
      'cancelled',
      (of: Begun) => bench.testing.write(project, (tx) => cancelTurn(tx, turnRow(tx, of.turn), 'why', 'me')),
    ],
    ['failed', (of: Begun) => of.report('fail', { failure: { code: 'time-limit', message: 'Too long.' } })],
    [
      'completed without room for the last',
      (of: Begun) =>
        of.report('complete', { output: { text: '' }, unsaved: { code: 'quota-exceeded', message: 'Full.' } }),
    ],
  ])('is what its agent goes on with when the turn is %s', async (_how, finish) => {
    const of = await started();
    await taken(of, '0.0');
    const { snapshot } = await capture(of, 1, ['0.0']);
    await finish(of);
    const [agent] = await bench.testing.rows(project, `SELECT snapshot FROM agents WHERE id = 'dev'`);
    expect(agent).toEqual({ snapshot });
  });

  test('is not what its agent goes on with when the turn completed', async () => {
    const of = await started();
    await taken(of, '0.0');
    await capture(of, 1, ['0.0']);
    const snapshot = await storedManifest(of, 'the end');
    expect((await of.report('complete', { output: { text: '' }, snapshot })).status).toBe(200);
    expect(await bench.testing.rows(project, `SELECT snapshot FROM agents WHERE id = 'dev'`)).toEqual([{ snapshot }]);
  });

  test('a turn is not completed with a snapshot that was not stored', async () => {
    const of = await started();
    const report = { output: { text: '' }, snapshot: 'c'.repeat(64) };
    expect((await of.report('complete', report)).body['code']).toBe('content-missing');
  });
});

describe('a step that reaches outside', () => {
  test('is never repeated: without a capture its outcome is unknown, to this attempt and to later ones', async () => {
    const first = await started();
    await begin(first, '0.0');
    expect((await mark(first, ['0.0'])).status).toBe(204);
    const second = await nextAttempt(first);
    const told = (await begin(second, '0.0')).body;
    expect(told).toMatchObject({ result: { error: { code: 'outcome-unknown' } } });
    expect(await begin(second, '0.0')).toEqual({ status: 200, body: told });
    expect((await end(second, '0.0')).body['code']).toBe('step-ended');
    const third = await nextAttempt(second);
    expect(await begin(third, '0.0')).toEqual({ status: 200, body: told });
    expect(await calls()).toMatchObject([{ step: '0.0', status: 'failed', error_code: 'outcome-unknown' }]);
  });

  test('is not repeated either when only its capture is missing, for its files are', async () => {
    const first = await started();
    await begin(first, '0.0');
    await mark(first, ['0.0']);
    await end(first, '0.0');
    const second = await nextAttempt(first);
    expect((await begin(second, '0.0')).body).toMatchObject({ result: { error: { code: 'outcome-unknown' } } });
  });

  test('by a push that is on record has that for its result, though it was interrupted, in every later attempt', async () => {
    const shared = `${yaml}git: { shared: true }\n`;
    const first = await started('dev', shared);
    const to = 'a'.repeat(40);
    const pushed = async (of: Begun, ref: string, key: string) => {
      const whose = { project, agent: 'dev', turn: of.turn };
      const body = { ...whose, key, updates: [{ ref, from: null, to }] };
      return bench.post(`${bench.toolhost.runnerUrl}/git/push`, of.answer.toolToken, body);
    };
    await taken(first, '0.0', ran, { command: 'other' });
    expect((await pushed(first, 'refs/heads/suzumio/dev', 'before-the-step')).status).toBe(200);
    await capture(first, 1, ['0.0']);
    bench.testing.setNow(Date.now() + 1_000);
    await begin(first, '1.0');
    await mark(first, ['1.0']);
    expect((await pushed(first, 'refs/tags/suzumio/dev/work', 'in-the-step')).status).toBe(200);
    // It is killed here: the push is on record, and its command has not ended.
    const second = await nextAttempt(first);
    const told = (await begin(second, '1.0')).body as { result: { output: string; metadata: object } };
    expect(told.result.output).toMatch(
      new RegExp(`^\\[interrupted.*\\]\\nrefs/tags/suzumio/dev/work is at ${to}$`, 's'),
    );
    expect(told.result.metadata).toEqual({
      interrupted: true,
      pushed: [{ ref: 'refs/tags/suzumio/dev/work', from: null, to }],
    });
    expect((await begin(await nextAttempt(second), '1.0')).body).toEqual(told);
  });

  test('has its result once it is captured', async () => {
    const first = await started();
    await begin(first, '0.0');
    await mark(first, ['0.0']);
    await mark(first, ['0.0']);
    await end(first, '0.0');
    await capture(first, 1, ['0.0']);
    const second = await nextAttempt(first);
    expect((await begin(second, '0.0')).body).toEqual({ result: ran });
  });

  test('is one that the attempt is taking', async () => {
    const of = await started();
    await taken(of, '0.0');
    expect((await mark(of, ['0.0'])).body['code']).toBe('invalid-request');
    expect((await mark(of, ['7.0'])).body['code']).toBe('invalid-request');
  });
});

describe('what is refused', () => {
  test.each([
    ['a tool that the agent may not use', 'shell.read', { handle: 'bg' }, 'tool-not-allowed'],
    ['a core tool', 'messages.send', { recipient: 'boss', body: 'x' }, 'tool-unknown'],
    ['a tool that there is not', 'file.shred', {}, 'tool-unknown'],
  ])('%s', async (_what, tool, input, code) => {
    const of = await started();
    expect((await begin(of, '0.0', tool, input)).body['code']).toBe(code);
    expect(await calls()).toMatchObject([{ status: 'refused', error_code: code }]);
    expect((await end(of, '0.0')).body['code']).toBe('step-not-begun');
  });

  test('an image of a step that was not begun, before anything of it is read', async () => {
    const of = await started();
    const image = { sha256: 'f'.repeat(64), mediaType: 'image/png', width: 1, height: 1, sizeBytes: 70 };
    expect((await end(of, '0.0', { output: 'seen', image })).body['code']).toBe('step-not-begun');
    await begin(of, '0.0', 'shell.exec', { command: 'make' });
    expect((await end(of, '0.0', { output: 'seen', image })).body['code']).toBe('content-missing');
  });

  test('a tool of a pack that the project does not list, whatever its wildcards are', async () => {
    const of = await started('boss', yaml.replace('[files, shell]', '[files]').replace('shell.exec, ', ''));
    expect(of.answer.input.tools.map(({ name }) => name)).toContain('file.read');
    expect(of.answer.input.tools.map(({ name }) => name)).not.toContain('shell.exec');
    const { body } = await begin(of, '0.0');
    expect(body).toMatchObject({ code: 'tool-not-allowed', detail: expect.stringContaining('tools.toolpacks') });
  });

  test('a sandbox tool by the route of core tools', async () => {
    const of = await started();
    const { body } = await of.tool('file.read', { path: 'a' }, { step: '0.0' });
    expect(body).toMatchObject({ code: 'tool-unknown', detail: expect.stringContaining('/tool/begin') });
  });

  test('one call too many', async () => {
    const of = await started();
    for (const step of ['0.0', '1.0', '2.0', '3.0']) await taken(of, step);
    expect((await begin(of, '4.0')).body['code']).toBe('tool-limit-reached');
    // Those that are on record already are not one more.
    const again = await nextAttempt(of);
    for (const step of ['0.0', '1.0', '2.0', '3.0']) await taken(again, step);
  });

  test('a call without a step, of another turn, or with another token', async () => {
    const of = await started();
    expect((await post(of, 'begin', { tool: 'shell.exec', input: {} })).body['code']).toBe('invalid-request');
    const other = 'turn_01KB3Z0000000000000000000A';
    expect((await post(of, 'begin', { step: '0.0', tool: 'shell.exec', input: {}, turn: other })).body['code']).toBe(
      'forbidden',
    );
    expect((await post(of, 'end', { step: '0.0', result: ran, turn: other })).body['code']).toBe('forbidden');
    expect((await begin({ ...of, answer: { ...of.answer, toolToken: of.answer.leaseToken } }, '0.0')).status).toBe(401);
  });

  test('a call without a step, once the turn has taken one in the sandbox', async () => {
    const of = await started();
    const mail = { recipient: 'boss', body: 'x' };
    await taken(of, '0.0');
    for (const extra of [{}, { step: 'seq.7' }]) {
      expect((await of.tool('messages.send', mail, extra)).body['code']).toBe('step-unnamed');
    }
    expect((await of.tool('messages.send', mail, { step: '1.0' })).status).toBe(200);
  });

  test('an end that no beginning of this attempt came before', async () => {
    const of = await started();
    expect((await end(of, '0.0')).body['code']).toBe('step-not-begun');
    await begin(of, '0.0');
    const second = await nextAttempt(of);
    expect((await end(of, '0.0')).body['code']).toBe('token-rejected');
    expect((await end(second, '0.0')).body['code']).toBe('step-not-begun');
    await second.tool('messages.send', { recipient: 'boss', body: 'x' }, { step: '1.0' });
    expect((await end(second, '1.0')).body['code']).toBe('step-not-begun');
  });

  test('another result than the first', async () => {
    const of = await started();
    await taken(of, '0.0');
    expect((await end(of, '0.0', { output: 'other' })).body['code']).toBe('step-ended');
    expect((await begin(of, '0.0')).body).toEqual({ result: ran });
  });

  test('another call at a step of this attempt', async () => {
    const of = await started();
    await begin(of, '0.0');
    expect((await begin(of, '0.0', 'shell.exec', { command: 'other' })).body['code']).toBe('journal-mismatch');
    expect((await end(of, '0.0')).status).toBe(200);
  });

  test.each([
    ['too large', { output: 'x'.repeat(600_000) }, 'body-too-large'],
    ['no text', { output: { a: 1 } }, 'invalid-request'],
    ['an order to end the turn', { output: 'x', endTurn: true }, 'invalid-request'],
    ['a code that there is not', { error: { code: 'my-code', message: 'x' } }, 'invalid-request'],
    ['both', { output: 'x', error: { code: 'cancelled', message: 'x' } }, 'invalid-request'],
  ])('a result that is %s', async (_what, result, code) => {
    const of = await started();
    await begin(of, '0.0');
    expect((await end(of, '0.0', result)).body['code']).toBe(code);
    expect(await calls()).toMatchObject([{ status: 'running' }]);
    expect((await end(of, '0.0')).status).toBe(200);
  });

  test('anything once the turn is over', async () => {
    const of = await started();
    await begin(of, '0.0');
    await bench.testing.write(project, (tx) => closeTurn(tx, turnRow(tx, of.turn), { status: 'cancelled' }));
    expect((await end(of, '0.0')).body['code']).toBe('token-rejected');
    expect((await begin(of, '1.0')).body['code']).toBe('token-rejected');
  });
});

describe('writing what a call was given', () => {
  const asked = { name: 'data.csv', to: 'data.csv' };
  const published = async (of: Begun) => {
    const uploaded = await of.upload('a,b');
    expect((await of.tool('artifacts.publish', { path: 'data.csv', ...uploaded }, { step: '0.0' })).status).toBe(200);
    return of.tool('artifacts.read', asked, { step: '1.0' });
  };

  test('is a step of its own, which counts as no call and is not taken again once it is captured', async () => {
    const first = await started('boss');
    expect((await published(first)).status).toBe(200);
    expect((await begin(first, '1.0/to', 'artifacts.read', asked)).body).toEqual({ begun: true });
    await end(first, '1.0/to', { output: 'Written.' });
    await capture(first, 1, ['1.0/to']);
    for (const step of ['2.0', '3.0']) await taken(first, step);
    expect((await begin(first, '4.0')).body['code']).toBe('tool-limit-reached');
    const second = await nextAttempt(first);
    expect((await begin(second, '1.0/to', 'artifacts.read', asked)).body).toEqual({ result: { output: 'Written.' } });
  });

  test('is taken again where it is in no capture', async () => {
    const first = await started('boss');
    await published(first);
    await begin(first, '1.0/to', 'artifacts.read', asked);
    await end(first, '1.0/to', { output: 'Written.' });
    const second = await nextAttempt(first);
    expect((await begin(second, '1.0/to', 'artifacts.read', asked)).body).toEqual({ begun: true });
  });

  test.each([
    ['before its call', '2.0/to', 'artifacts.read', asked, 'call-not-asked'],
    ['of another call', '1.0/to', 'artifacts.read', { ...asked, to: 'other.csv' }, 'call-not-asked'],
    ['by another tool', '1.0/to', 'messages.send', asked, 'tool-unknown'],
  ])('%s is refused', async (_what, step, tool, input, code) => {
    const of = await started('boss');
    await published(of);
    expect((await begin(of, step, tool, input)).body['code']).toBe(code);
  });
});

describe('a step of a script', () => {
  test('that names its attempt is the same in each', async () => {
    const first = await started();
    const asked = (attempt: number) => ({
      step: '0.0',
      tool: 'script.run',
      input: { command: 'echo', variables: { n: String(attempt) } },
      unfilled: { command: 'echo', variables: { n: '{{turn.attempt}}' } },
    });
    const sent = (attempt: number) => ({
      recipient: 'boss',
      body: `attempt ${String(attempt)}`,
    });
    const unfilled = { recipient: 'boss', body: 'attempt {{turn.attempt}}' };
    await post(first, 'begin', asked(1));
    await end(first, '0.0');
    expect((await first.tool('messages.send', sent(1), { step: '1.0', unfilled })).status).toBe(200);
    await capture(first, 1, ['0.0']);
    const second = await nextAttempt(first);
    expect((await post(second, 'begin', asked(2))).body).toEqual({ result: ran });
    expect((await second.tool('messages.send', sent(2), { step: '1.0', unfilled })).status).toBe(200);
    expect(await bench.testing.rows(project, `SELECT body FROM messages WHERE sender = 'dev'`)).toEqual([
      { body: 'attempt 1' },
    ]);
    expect((await second.tool('messages.send', sent(2), { step: '1.0' })).body['code']).toBe('journal-mismatch');
  });

  test('is on no allowlist', async () => {
    const of = await started(
      'dev',
      yaml.replace('[files, shell]', '[core]').replace('["file.*", shell.exec, messages.send]', '[]'),
    );
    expect((await begin(of, '0.0', 'script.run', { command: 'date' })).body).toEqual({ begun: true });
    expect((await end(of, '0.0', { output: 'today' })).status).toBe(200);
    expect(await calls()).toMatchObject([{ tool: 'script.run', status: 'succeeded' }]);
  });
});

describe('a call while the workspace cannot be captured', () => {
  const mail = { recipient: 'boss', body: 'Done.' };
  const send = (of: Begun, step: string, uncaptured?: string) =>
    bench.post(
      `${bench.toolhost.runnerUrl}/tool`,
      of.answer.toolToken,
      { project, agent: 'dev', turn: of.turn, step, tool: 'messages.send', input: mail },
      uncaptured === undefined ? {} : { [uncapturedHeader]: encodeURIComponent(uncaptured) },
    );
  const refused = { status: 409, body: { code: 'workspace-too-large', detail: 'It has “much”.' } };

  test('is refused with why, and again after a capture: what followed it was journaled', async () => {
    const of = await started();
    await taken(of, '0.0');
    expect(await send(of, '0.1', 'It has “much”.')).toMatchObject(refused);
    await taken(of, '1.0');
    await capture(of, 1, ['0.0', '1.0']);
    expect(await send(await nextAttempt(of), '0.1')).toMatchObject(refused);
  });

  test('can be made by an attempt that begins before that', async () => {
    const of = await started();
    await taken(of, '0.0');
    expect(await send(of, '0.1', 'It has “much”.')).toMatchObject(refused);
    const next = await nextAttempt(of);
    await taken(next, '0.0');
    await capture(next, 1, ['0.0']);
    expect(await send(next, '0.1')).toMatchObject({ status: 200 });
  });

  test('says so where the reason cannot be read', async () => {
    const of = await started();
    const { body } = await bench.post(
      `${bench.toolhost.runnerUrl}/tool`,
      of.answer.toolToken,
      { project, agent: 'dev', turn: of.turn, step: '0.0', tool: 'messages.send', input: mail },
      { [uncapturedHeader]: '%E0%A4%A' },
    );
    expect(body).toMatchObject({ code: 'workspace-too-large', detail: 'The workspace could not be captured.' });
  });
});
