import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { type ModelServer, startModelServer } from '../../../test/support/model-server.js';
import { eventually } from '../../../test/support/poll.js';
import { thinkingYaml } from '../../../test/support/thinking.js';
import { allowing, type Begun, toolhostBench, type ToolhostBench } from './toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let evil: Begun;
let good: Begun;

const yaml = (name: string) => thinkingYaml(server.baseURL, { name });

beforeEach(async () => {
  server = await startModelServer(() => ({ text: 'Yes.' }));
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
  evil = await bench.begin(await bench.testing.create(yaml('evil')), 'ada');
  good = await bench.begin(await bench.testing.create(yaml('good')), 'ada');
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

interface Answer {
  status: number;
  code?: string;
}

async function ask(
  attempt: Begun,
  step: string,
  body: string | Buffer<ArrayBuffer>,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await fetch(`${bench.toolhost.runnerUrl}/v1/chat/completions`, {
    method: 'POST',
    headers: {
      authorization: `Bearer ${attempt.answer.toolToken}`,
      'content-type': 'application/json',
      [stepHeader]: step,
    },
    body,
    signal: signal ?? null,
  });
  const { code } = (await response.json()) as { code?: string };
  return { status: response.status, ...(code === undefined ? {} : { code }) };
}

const question = (content: unknown = 'Well?') => JSON.stringify({ messages: [{ role: 'user', content }] });
/** Messages of a thousand tiny parts each: what costs most for its length. */
function tinyParts(messages: number): Buffer<ArrayBuffer> {
  const one = JSON.stringify({
    role: 'user',
    content: Array.from({ length: 1_000 }, () => ({ type: 'text', text: 'a' })),
  });
  return Buffer.from(`{"messages":[${Array.from({ length: messages }, () => one).join(',')}]}`);
}

/** Sends the head of a request and none of its body, and returns the head of the answer. */
function askedByHeadAlone(token: string, path: string): { head: Promise<string>; end: () => void } {
  const { hostname, port } = new URL(bench.toolhost.runnerUrl);
  const socket = connect(Number(port), hostname);
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${token}\r\n` +
      `Content-Type: application/json\r\nContent-Length: 2000000\r\nConnection: close\r\n\r\n`,
  );
  const head = new Promise<string>((resolve, reject) => {
    socket.once('data', (data: Buffer) => resolve(data.toString()));
    socket.once('error', reject);
  });
  return { head, end: () => socket.destroy() };
}

describe('a token', () => {
  test.each(['/tool', '/v1/chat/completions'])(
    'is looked at before a byte of the body to %s has come',
    async (path) => {
      const foreign = evil.answer.toolToken.replace(/.$/, (last) => (last === 'A' ? 'B' : 'A'));
      const refused = askedByHeadAlone(foreign, path);
      expect(await refused.head).toMatch(/^HTTP\/1\.1 401 /);
      refused.end();
    },
  );
});

describe('a container that asks without end', () => {
  test('keeps nobody else from anything, is ended, and then let in no more', async () => {
    expect(await ask(evil, '0', question())).toEqual({ status: 200 });
    const answers: Answer[] = [];
    /** How many answers the attacker got while the other one waited for one of its. */
    const before: number[] = [];
    const beating = async (signal: { done: boolean }) => {
      for (; !signal.done; await new Promise((resolve) => setTimeout(resolve, 100))) {
        const began = answers.length;
        expect(await good.report('heartbeat')).toMatchObject({ status: 200, body: { cancel: false } });
        before.push(answers.length - began);
      }
    };
    const attack = { done: false };
    const beats = beating(attack);
    const bodies = [tinyParts(60), tinyParts(600)];
    const asking = Array.from({ length: 16 }, async (_, number) => {
      let body = bodies[number % 2];
      while (body !== undefined) {
        const answer = await ask(evil, '0', body);
        answers.push(answer);
        if (answer.status === 401) return;
        body = bodies[0];
      }
    });
    await Promise.all(asking);
    attack.done = true;
    await beats;
    // On a busy machine some of its own bodies come too slowly; one that cannot be read is refused by its token once
    // the attempt has ended.
    const either = new Set<string | undefined>(['request-too-slow', 'invalid-request']);
    const refused = answers.map(({ code }) => code).filter((code) => !either.has(code));
    expect(new Set(refused)).toEqual(new Set(['journal-mismatch', 'token-rejected']));
    expect(answers.filter(({ code }) => code === 'journal-mismatch').length).toBeLessThanOrEqual(3);
    expect(await bench.testing.rows('evil', `SELECT status, failure_json ->> 'code' AS code FROM turns`)).toEqual([
      { status: 'failed', code: 'journal-mismatch' },
    ]);
    expect((await evil.report('heartbeat')).body).toEqual({ leaseMs: 0, cancel: true });
    // A heartbeat does not wait for the questions that were asked before it.
    expect(Math.max(...before)).toBeLessThan(asking.length);
    expect(await ask(good, '0', question())).toEqual({ status: 200 });
  });

  test('keeps the room of a question that it has left, until that is answered', async () => {
    const waiting: (() => void)[] = [];
    server.answers = () => new Promise((resolve) => waiting.push(() => resolve({ text: 'Yes.' })));
    const asked = () => server.requests.length;
    const long = question('x'.repeat(9 * 1024 * 1024));
    const leaving = new AbortController();
    const left = ask(evil, '0', long, leaving.signal).catch(() => undefined);
    await eventually('the provider has it', () => asked() === 1);
    leaving.abort();
    await left;
    const next = ask(evil, '1', long);
    const other = ask(good, '0', long);
    await eventually("the provider has another project's", () => asked() >= 2);
    expect(asked()).toBe(2);
    for (const answer of waiting.splice(0)) answer();
    expect(await other).toEqual({ status: 200 });
    await eventually('the next one is let in', () => asked() === 3);
    for (const answer of waiting.splice(0)) answer();
    expect(await next).toEqual({ status: 200 });
  });

  test('has no more than sixteen requests under way, and others are answered', async () => {
    const stalled = Array.from({ length: 16 }, () => askedByHeadAlone(evil.answer.toolToken, '/tool'));
    let refused = '';
    await eventually('one is refused', async () => {
      const more = askedByHeadAlone(evil.answer.toolToken, '/tool');
      refused = await Promise.race([more.head, new Promise<string>((resolve) => setTimeout(resolve, 200, ''))]);
      more.end();
      return refused !== '';
    });
    expect(refused).toMatch(/^HTTP\/1\.1 503 /);
    expect(refused).toMatch(/retry-after: 1/i);
    expect(refused).toContain('attempt-busy');
    expect((await good.tool('artifacts.list', {}, { step: '0.0' })).body['code']).toBe('call-not-asked');
    for (const { end } of stalled) end();
    await eventually('there is room again', async () => (await ask(evil, '0', question())).status === 200);
  });
});

test('a runner that contradicts its journal with its calls is ended, too', async () => {
  server.answers = () => ({ text: '', calls: [{ name: 'artifacts_list', arguments: {} }] });
  await ask(evil, '0', question());
  expect((await evil.tool('artifacts.list', {}, { step: '0.0' })).status).toBe(200);
  for (const number of [1, 2, 3]) {
    const other = await evil.tool('artifacts.list', { number }, { step: '0.0' });
    expect(other.body['code']).toBe('journal-mismatch');
  }
  expect(await evil.tool('artifacts.list', {}, { step: '0.0' })).toMatchObject({ status: 401 });
});

describe('a runner whose calls are refused', () => {
  const call = async (number: number): Promise<unknown> => {
    const project = number % 2 === 0 ? 'evil' : 'good';
    return (await evil.tool('artifacts.list', { number }, { step: `${String(number)}.0`, project })).body['code'];
  };
  const calls = (from: number, to: number) =>
    Promise.all(Array.from({ length: to - from }, (_, index) => call(from + index)));

  test('is told so at once ten times, and then together once a second', async () => {
    const began = performance.now();
    for (let number = 0; number < 10; number += 1) await call(number);
    const tenMs = performance.now() - began;
    const later = calls(10, 26);
    expect((await good.tool('artifacts.list', {}, { step: '0.0' })).body['code']).toBe('call-not-asked');
    const codes = await later;
    expect(new Set(codes)).toEqual(new Set(['call-not-asked', 'forbidden']));
    expect(performance.now() - began - tenMs).toBeGreaterThanOrEqual(990);
    const rounds = `SELECT count(DISTINCT started_at_ms) AS n FROM (SELECT started_at_ms FROM tool_calls ORDER BY rowid LIMIT -1 OFFSET 10)`;
    const seconds = Math.floor((performance.now() - began - tenMs) / 1_000);
    expect((await bench.testing.rows<{ n: number }>('evil', rounds))[0]?.n).toBeLessThanOrEqual(seconds + 2);
  });

  test('is told so a hundred times, and then ended', async () => {
    const codes: unknown[] = [];
    for (let number = 0; number < 96; number += 16) codes.push(...(await calls(number, number + 16)));
    codes.push(...(await calls(96, 100)), await call(100));
    expect([new Set(codes.slice(0, 100)), codes[100]]).toEqual([
      new Set(['call-not-asked', 'forbidden']),
      'token-rejected',
    ]);
    expect(await bench.testing.rows('evil', `SELECT status, failure_json ->> 'code' AS code FROM turns`)).toEqual([
      { status: 'failed', code: 'refusal-limit' },
    ]);
    expect((await evil.report('heartbeat')).body).toEqual({ leaseMs: 0, cancel: true });
  });
});

describe('a runner whose requests cannot be read', () => {
  const broken = [
    ['POST', '/tool', '{"project":'],
    ['POST', '/tool/begin', '[]'],
    ['POST', '/tool/end', '{}'],
    ['POST', '/support', '{}'],
    ['POST', '/v1/chat/completions', '{"messages":'],
    ['POST', '/git/push', '{}'],
    ['GET', '/git?after=x', undefined],
    ['POST', '/tool', `{"input":[${'1,'.repeat(20_001)}1]}`],
  ] as const;
  const send = async (number: number): Promise<unknown> => {
    const [method, path, body = null] = broken[number % broken.length] ?? broken[0];
    const response = await fetch(`${bench.toolhost.runnerUrl}${path}`, {
      method,
      headers: { authorization: `Bearer ${evil.answer.toolToken}`, 'content-type': 'application/json' },
      body,
    });
    return ((await response.json()) as { code?: string }).code;
  };

  test('is told so at once ten times, then together once a second, and ended after a hundred', async () => {
    for (let number = 0; number < 10; number += 1) expect(await send(number)).toBe('invalid-request');
    const began = performance.now();
    const codes: unknown[] = [];
    for (let number = 10; number < 100; number += 15) {
      codes.push(...(await Promise.all(Array.from({ length: 15 }, (_, index) => send(number + index)))));
    }
    expect(new Set(codes)).toEqual(new Set(['invalid-request']));
    expect(performance.now() - began).toBeGreaterThanOrEqual(6 * 990);
    expect(await send(100)).toBe('token-rejected');
    expect(await bench.testing.rows('evil', `SELECT status, failure_json ->> 'code' AS code FROM turns`)).toEqual([
      { status: 'failed', code: 'refusal-limit' },
    ]);
    expect((await good.tool('artifacts.list', {}, { step: '0.0' })).body['code']).toBe('call-not-asked');
  });

  test('is counted although it leaves before it is answered', async () => {
    const { hostname, port } = new URL(bench.toolhost.runnerUrl);
    const body = '{"project":';
    const left = Array.from({ length: 5 }, () =>
      connect(Number(port), hostname).end(
        `POST /tool HTTP/1.1\r\nHost: ${hostname}:${port}\r\nAuthorization: Bearer ${evil.answer.toolToken}\r\n` +
          `Content-Type: application/json\r\nContent-Length: ${String(body.length)}\r\n\r\n${body}`,
      ),
    );
    const counted = 'SELECT refused_calls FROM turn_attempts';
    await eventually(
      'all are counted',
      async () => (await bench.testing.rows<{ refused_calls: number }>('evil', counted))[0]?.refused_calls === 5,
    );
    for (const socket of left) socket.destroy();
  });

  test('is not counted where its connection broke', async () => {
    for (let number = 0; number < 3; number += 1) {
      const half = askedByHeadAlone(evil.answer.toolToken, '/tool');
      half.head.catch(() => undefined);
      await new Promise((resolve) => setTimeout(resolve, 50));
      half.end();
    }
    expect(await send(0)).toBe('invalid-request');
    expect(await bench.testing.rows('evil', 'SELECT refused_calls FROM turn_attempts')).toEqual([{ refused_calls: 1 }]);
  });
});

test('a compressed body is not taken', async () => {
  const response = await fetch(`${bench.toolhost.runnerUrl}/tool`, {
    method: 'POST',
    headers: { authorization: `Bearer ${good.answer.toolToken}`, 'content-encoding': 'gzip' },
    body: 'x',
  });
  expect(response.status).toBe(400);
  expect(await text(response.body as never)).toContain('not compressed');
});
