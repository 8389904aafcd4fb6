import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { parseQuestion } from '../../src/bodies/question.js';
import { BodyReader } from '../../src/bodies/body-reader.js';
import { parseCall } from '../../src/bodies/call.js';

let reader: BodyReader;
beforeEach(() => {
  reader = new BodyReader(new URL('../../dist/bodies/body-thread.js', import.meta.url));
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
  const { request, ...facts } = await reader.question(sender('a'), bytes(long('Well?')), purpose, waiting);
  const { request: expected, ...expectedFacts } = parseQuestion(bytes(long('Well?')), purpose);
  expect(facts).toEqual(expectedFacts);
  expect(request()).toEqual(expected());
});

const callOf = (description: string) => ({
  project: 'paper',
  agent: 'ada',
  turn: `turn_${'0'.repeat(26)}`,
  tool: 'artifacts.publish',
  step: '0.0',
  input: { path: 'a.txt', sha256: 'b', description },
});

test('a long call is read like a short one', async () => {
  const call = bytes(callOf('word '.repeat(40_000)));
  const { input, ...facts } = await reader.call(sender('a'), call.slice(), waiting);
  const { input: expected, ...expectedFacts } = parseCall(call);
  expect(facts).toEqual(expectedFacts);
  expect(input()).toEqual(expected());
});

test.each([
  ['no JSON', `{"messages": ${'x'.repeat(100_000)}`, 'not JSON'],
  ['no question', `{"messages": "${'x'.repeat(100_000)}"}`, 'messages'],
  ['more parts than anybody asks with', JSON.stringify(manyCostly(100)), 'members together'],
])('what is %s is refused, and the next is read', async (_name, text, message) => {
  await expect(reader.question(sender('a'), new TextEncoder().encode(text), 'turn', waiting)).rejects.toMatchObject({
    code: 'invalid-request',
    message: expect.stringContaining(message) as unknown,
  });
  await expect(reader.question(sender('a'), bytes(long('Next?')), 'turn', waiting)).resolves.toMatchObject({
    stream: false,
  });
});

test('projects take turns, however many attempts one of them asks with', async () => {
  const order: string[] = [];
  const read = (project: string, attempt: string) =>
    reader.question({ project, attempt }, bytes(long(attempt)), 'turn', waiting).then(() => order.push(project));
  await Promise.all([...['a', 'b', 'c', 'd'].map((attempt) => read('loud', attempt)), read('quiet', 'e')]);
  expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
});

test('attempts take turns, however much one of them asks', async () => {
  const order: string[] = [];
  const read = (attempt: string) =>
    reader.question(sender(attempt), bytes(long(attempt)), 'turn', waiting).then(() => order.push(attempt));
  await Promise.all([read('loud'), read('loud'), read('loud'), read('loud'), read('quiet')]);
  expect(order.indexOf('quiet')).toBeLessThanOrEqual(2);
});

test('what nobody waits for any more is given up before its turn', async () => {
  const first = reader.question(sender('a'), bytes(manyCostly(20)), 'turn', waiting);
  const over = new AbortController();
  const left = Array.from({ length: 3 }, () => reader.question(sender('a'), bytes(long('two')), 'turn', over.signal));
  const order: string[] = [];
  const outcomes = Promise.all([
    first.then(() => order.push('first')),
    ...left.map((read) => read.catch(() => order.push('left'))),
  ]);
  over.abort(new Error('gone'));
  await outcomes;
  expect(order).toEqual(['left', 'left', 'left', 'first']);
  await expect(reader.question(sender('a'), bytes(long('Next?')), 'turn', waiting)).resolves.toBeDefined();
});

test('what nobody waits for any more has no answer, though it is being read', async () => {
  const over = new AbortController();
  const read = reader.question(sender('a'), bytes(manyCostly(20)), 'turn', over.signal);
  const next = reader.question(sender('b'), bytes(long('Next?')), 'turn', waiting);
  // Its bytes are the thread's.
  await new Promise((resolve) => setImmediate(resolve));
  over.abort(new Error('gone'));
  await expect(read).rejects.toThrow('gone');
  await expect(next).resolves.toBeDefined();
});

test('where no thread can be started, each of them is told', async () => {
  const none = new BodyReader(new URL('https://localhost/none.js'));
  const reads = ['a', 'b', 'a'].map((name) => none.question(sender(name), bytes(long(name)), 'turn', waiting));
  for (const read of await Promise.allSettled(reads)) expect(read.status).toBe('rejected');
});

test('questions that wait when it closes are given up', async () => {
  const reads = ['one', 'two'].map((name) => reader.question(sender('a'), bytes(long(name)), 'turn', waiting));
  const ended = Promise.allSettled(reads);
  await reader.close();
  expect(await ended).toEqual([
    { status: 'rejected', reason: expect.objectContaining({ code: 'server-unreachable' }) as unknown },
    { status: 'rejected', reason: expect.objectContaining({ code: 'server-unreachable' }) as unknown },
  ]);
});

test.each([
  ['the most costly question', () => [reader.question(sender('a'), bytes(manyCostly(60)), 'turn', waiting)]],
  [
    'many of the longest calls',
    () => Array.from({ length: 16 }, () => reader.call(sender('a'), bytes(callOf('x'.repeat(1.9e6))), waiting)),
  ],
])('reading %s keeps nobody else from anything', async (_name, read) => {
  await reader.question(sender('a'), bytes(long('warm')), 'turn', waiting);
  const before = { all: process.cpuUsage(), here: process.threadCpuUsage() };
  await Promise.all(read());
  const all = process.cpuUsage(before.all);
  const here = process.threadCpuUsage(before.here);
  // Processor time, not time: how busy the machine is changes nothing.
  expect(here.user).toBeLessThan(all.user / 2);
});
