import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseQuestion } from '../../src/bodies/question.js';
import { QuestionReader } from '../../src/bodies/question-reader.js';

let reader: QuestionReader;
beforeEach(() => {
  reader = new QuestionReader(new URL('../../dist/bodies/question-thread.js', import.meta.url));
});
afterEach(() => reader.close());

const sender = (attempt: string) => ({ project: 'paper', attempt });
const waiting = new AbortController().signal;
const bytes = (value: unknown) => new TextEncoder().encode(JSON.stringify(value));
const ask = (content: unknown) => ({ messages: [{ role: 'user', content }], unknown: 'field' });
/** Long enough for the thread. */
const long = (begin: string) => ask(`${begin} ${'word '.repeat(40_000)}`);
/** As many tiny parts as may be. */
const costly = () => ask(Array.from({ length: 1_000 }, () => ({ type: 'text', text: 'a' })));
const manyCostly = (count: number) => ({ messages: Array.from({ length: count }, () => costly().messages[0]) });

test.each(['turn', 'summary'] as const)('a long question (%s) is read like a short one', async (purpose) => {
  const { request, ...facts } = await reader.read(sender('a'), bytes(long('Well?')), purpose, waiting);
  const { request: expected, ...expectedFacts } = parseQuestion(bytes(long('Well?')), purpose);
  expect(facts).toEqual(expectedFacts);
  expect(request()).toEqual(expected());
});

test.each([
  ['no JSON', `{"messages": ${'x'.repeat(100_000)}`, 'not JSON'],
  ['no question', `{"messages": "${'x'.repeat(100_000)}"}`, 'messages'],
  ['more parts than anybody asks with', JSON.stringify(manyCostly(100)), 'members together'],
])('what is %s is refused, and the next is read', async (_name, text, message) => {
  await expect(reader.read(sender('a'), new TextEncoder().encode(text), 'turn', waiting)).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringContaining(message) as unknown,
  });
  await expect(reader.read(sender('a'), bytes(long('Next?')), 'turn', waiting)).resolves.toMatchObject({
    stream: false,
  });
});

test('projects take turns, however many attempts one of them asks with', async () => {
  const order: string[] = [];
  const read = (project: string, attempt: string) =>
    reader.read({ project, attempt }, bytes(long(attempt)), 'turn', waiting).then(() => order.push(project));
  await Promise.all([...['a', 'b', 'c', 'd'].map((attempt) => read('loud', attempt)), read('quiet', 'e')]);
  expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
});

test('attempts take turns, however much one of them asks', async () => {
  const order: string[] = [];
  const read = (attempt: string) =>
    reader.read(sender(attempt), bytes(long(attempt)), 'turn', waiting).then(() => order.push(attempt));
  await Promise.all([read('loud'), read('loud'), read('loud'), read('loud'), read('quiet')]);
  expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
});

test('what nobody waits for any more is not read', async () => {
  const over = new AbortController();
  const first = reader.read(sender('a'), bytes(long('one')), 'turn', waiting);
  const second = reader.read(sender('a'), bytes(long('two')), 'turn', over.signal);
  over.abort(new Error('gone'));
  await first;
  await expect(second).rejects.toThrow('gone');
});

test('questions that wait when it closes are given up', async () => {
  const reads = ['one', 'two'].map((name) => reader.read(sender('a'), bytes(long(name)), 'turn', waiting));
  const ended = Promise.allSettled(reads);
  await reader.close();
  expect(await ended).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'server-unreachable' }) as unknown },
    { status: 'rejected', reason: expect.objectContaining({ code: 'server-unreachable' }) as unknown },
  ]);
});

test('reading the most costly question keeps nobody else from anything', async () => {
  const body = bytes(manyCostly(60));
  await reader.read(sender('a'), bytes(long('warm')), 'turn', waiting);
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const began = performance.now();
  await reader.read(sender('a'), body, 'turn', waiting);
  const tookMs = performance.now() - began;
  delay.disable();
  expect(delay.max / 1e6).toBeLessThan(Math.max(tookMs / 2, 30));
});
