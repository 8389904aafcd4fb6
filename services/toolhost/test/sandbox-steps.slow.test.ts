import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { expireLease } from '@suzumio/store/turns/leases';
import { closeTurn } from '@suzumio/store/turns/end-turn';
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

  test('of an earlier attempt is taken again, and replaces what is on record', async () => {
    const first = await started();
    await taken(first, '0.0', { output: 'one' });
    const second = await nextAttempt(first);
    expect((await taken(second, '0.0', { output: 'two' })).body).toEqual({ result: { output: 'two' } });
    expect(await calls()).toEqual([
      { attempt: 2, step: '0.0', tool: 'shell.exec', status: 'succeeded', error_code: null },
    ]);
    expect(await steps()).toEqual([{ key: '0.0', attempt: 2 }]);
  });

  test('of an earlier attempt may be asked otherwise while nothing was built on it', async () => {
    const first = await started();
    await taken(first, '0.0', { output: 'one' });
    const second = await nextAttempt(first);
    const other = { command: 'make all' };
    expect((await taken(second, '0.0', ran, other)).status).toBe(200);
    expect(await begin(second, '0.0', 'shell.exec', other)).toMatchObject({ body: { result: ran } });
  });

  test('that something was built on is taken again, and its result stands', async () => {
    const first = await started();
    await taken(first, '0.0', { output: 'one' });
    await first.tool('messages.send', { recipient: 'boss', body: 'one' }, { step: '1.0' });
    const second = await nextAttempt(first);
    expect((await begin(second, '0.0', 'shell.exec', { command: 'other' })).body['code']).toBe('journal-mismatch');
    expect((await taken(second, '0.0', { output: 'two' })).body).toEqual({ result: { output: 'one' } });
    expect(await end(second, '0.0', { output: 'two' })).toEqual({ status: 200, body: { result: { output: 'one' } } });
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

describe('a step of a script', () => {
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
