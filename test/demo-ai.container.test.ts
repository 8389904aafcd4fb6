import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { type Behaviour, type ModelServer, type Reply, startModelServer } from './support/model-server.js';

const command = fileURLToPath(new URL('../cli/bin/suzumio.js', import.meta.url));
let root: string;
let server: ModelServer;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'suzumio-demo-test-'));
  server = await startModelServer(({ body }) => {
    const agent = /^You are ([\w-]+),/.exec(String(body.messages[0]?.content))?.[1] ?? '';
    const from = body.messages.findLastIndex(({ role }) => role === 'user');
    const prompt = body.messages[from]?.content;
    const step = body.messages.slice(from).filter(({ role }) => role === 'assistant').length;
    // Its mail alone: what it is told of its part has all of the words that mail may have.
    const mail = typeof prompt === 'string' ? prompt.slice(prompt.indexOf('# Unread mail')) : '';
    return reply(agent, mail, step);
  });
});
afterEach(async () => {
  await server.close();
  await rm(root, { recursive: true, force: true });
});

async function demo(args: readonly string[], more: Readonly<Record<string, string>> = {}) {
  const env = { PATH: process.env['PATH'], HOME: root, SUZUMIO_ROOT: join(root, 'data'), ...more };
  const child = spawn(process.execPath, [command, 'demo', '--ai', ...args], { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const closed = once(child, 'close') as Promise<[number]>;
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), closed]);
  return { code, out, err };
}

const call = (name: string, input: object) => ({ name, arguments: input });
const mail = (recipient: string, body: string): Reply => ({ calls: [call('messages_send', { recipient, body })] });

/** What a good model does in the newsroom. */
function reply(agent: string, unread: string, step: number): Behaviour {
  if (agent.startsWith('reporter')) {
    const gauge = agent === 'reporter-1' ? 'north.csv' : 'south.csv';
    if (step === 0) return { calls: [call('artifacts_publish', { path: gauge })] };
    if (step === 1) return { calls: [call('artifacts_read', { name: gauge })] };
    if (step === 2) return mail('editor', `Summary of ${gauge}: the level rose.`);
    return { text: 'Reported.', usage: { input: 10, output: 4_000 } };
  }
  if (agent === 'checker') return step === 0 ? mail('editor', 'ACCEPT') : { text: 'Checked.' };
  if (unread.includes('ACCEPT') || unread.includes('rose fastest')) {
    return step === 0 ? { calls: [call('completion_submit', { report: '# River\nIt rose.' })] } : { text: '' };
  }
  if (unread.includes("Tonight's bulletin")) {
    if (step > 0) return { text: 'Assigned.' };
    return {
      calls: ['reporter-1', 'reporter-2'].map((recipient) =>
        call('messages_send', { recipient, body: 'Your gauge, please.' }),
      ),
    };
  }
  if (unread.includes('south.csv')) return step === 0 ? mail('checker', 'Please check.') : { text: 'Sent on.' };
  return { text: 'I wait for the other one.' };
}

test('the demo thinks with a model of its own, without a key, and says what it cost', async () => {
  const { code, out, err } = await demo(['--base-url', server.baseURL, '--model', 'scripted', '--price', '1/2'], {
    OPENAI_API_KEY: 'sk-not-for-that-server',
  });
  expect({ code, err, out }).toMatchObject({ code: 0, err: '' });
  expect(out).toContain('approved the report (version 2)');
  for (const agent of ['reporter-1', 'reporter-2', 'checker']) expect(out).toMatch(new RegExp(`${agent} -> editor`));
  expect(out).toMatch(/cost: {3}\$0\.\d+ \(\d+ tokens in, \d+ out, \d+ answers\)/);
  expect(server.requests.every(({ headers }) => headers.authorization === undefined)).toBe(true);
  expect(server.requests[0]?.body.model).toBe('scripted');
});

test('the demo stops where its budget is reached', async () => {
  const args = ['--base-url', server.baseURL, '--model', 'scripted', '--price', '10/20', '--budget', '0.05'];
  const { code, err } = await demo(args);
  expect({ code, err }).toMatchObject({
    code: 1,
    err: expect.stringContaining("The project's budget of $0.05 is reached"),
  });
});

test.each([
  ['has no room for a call', '0.05', "The day's budget of all projects, $0.05, has no room for this call on any day"],
  ['is spent', '0.15', "The day's budget of all projects, $0.15, is reached"],
])("the demo stops where the day's budget of everything %s, whatever its own is", async (_name, budget, said) => {
  const args = ['--base-url', server.baseURL, '--model', 'scripted', '--price', '10/20'];
  const { code, err, out } = await demo(args, { SUZUMIO_BUDGET_USD_PER_DAY: budget });
  expect({ code, err, out }).toMatchObject({ code: 1, err: expect.stringContaining(said) });
});

test.each([
  ['no key and no server', [], 'OPENAI_API_KEY'],
  ['a server without a model', ['--base-url', 'http://127.0.0.1:1/v1'], '--model NAME'],
  ['a model without a price', ['--model', 'gpt-x'], '--price IN/OUT'],
])('the demo asks for what is missing: %s', async (_name, args, said) => {
  const { code, err } = await demo(args, said === 'OPENAI_API_KEY' ? {} : { OPENAI_API_KEY: 'sk-none' });
  expect(code).not.toBe(0);
  expect(err).toContain(said);
});
