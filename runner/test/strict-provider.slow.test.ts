import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { requestChanges } from '@suzumio/store/projects/project-transitions';
import { expireLease } from '@suzumio/store/turns/leases';
import {
  type Behaviour,
  type ModelRequestBody,
  type ModelServer,
  startModelServer,
} from '../../test/support/model-server.js';
import {
  allowing,
  type Begun,
  begun,
  type ToolhostBench,
  toolhostBench,
} from '../../services/toolhost/test/toolhost-client.js';
import { createModelClient } from '../src/ai/model-client.js';
import { think } from '../src/ai/think.js';
import { connectorTo } from '../src/door/connector.js';
import { DoorClient } from '../src/door/door-client.js';
import { SandboxSteps } from '../src/sandbox/sandbox-steps.js';
import { createToolClient } from '../src/tools/tool-client.js';

// A provider that refuses what the strictest of them do, and a model that writes what the worst of them do.

let models: ModelServer;
let bench: ToolhostBench;
let says: Behaviour[];
let refused: string[];

beforeEach(async () => {
  says = [];
  refused = [];
  models = await startModelServer(({ body }) => {
    const fault = faultIn(body);
    if (fault === undefined) return says.shift() ?? { text: 'The end.' };
    refused.push(fault);
    return { status: 400, body: { error: { message: fault } } };
  });
  bench = await toolhostBench(allowing({ baseURL: models.baseURL }));
});
afterEach(async () => {
  await bench.close();
  await models.close();
});

interface Call {
  id: string;
  function: { name: string; arguments: string };
}

/** What a strict provider has against a conversation. */
function faultIn({ messages }: ModelRequestBody): string | undefined {
  const roles = messages.map(({ role }) => role).filter((role) => role !== 'system');
  if (roles.some((role, at) => role === 'user' && roles[at - 1] === 'tool')) return 'a question after a result';
  if (roles.some((role, at) => role === roles[at - 1] && role !== 'tool')) return 'roles do not alternate';
  if (/\\ud[89a-f]/i.test(JSON.stringify(messages))) return 'half a character';
  for (const [at, { role, content, tool_calls: made = [] }] of messages.entries()) {
    const calls = made as Call[];
    if (calls.length > 128) return 'too many calls';
    if (role === 'assistant' && calls.length === 0 && String(content).trim() === '') return 'an empty answer';
    for (const { function: called } of calls) {
      if (!/^[a-zA-Z0-9_-]{1,64}$/.test(called.name)) return `no name: ${called.name}`;
      const value: unknown = JSON.parse(called.arguments);
      if (typeof value !== 'object' || value === null || Array.isArray(value)) return 'no object';
    }
    const answered = messages.slice(at + 1, at + 1 + calls.length).map(({ tool_call_id: id }) => id);
    if (JSON.stringify(answered) !== JSON.stringify(calls.map(({ id }) => id))) return 'a call without its result';
  }
  return undefined;
}

async function takeTurn(attempt: Begun): Promise<string> {
  const url = bench.toolhost.runnerUrl;
  const input = {
    ...attempt.answer.input,
    workspace: '/nowhere',
    controllerUrl: url,
    token: attempt.answer.toolToken,
  };
  const connector = connectorTo(url, process);
  const log = () => undefined;
  const door = new DoorClient(connector, { patienceMs: 500, log });
  const output = await think(input, {
    model: createModelClient(connector, { token: input.token, patienceMs: 500, timeoutMs: 10_000, log, onText: log }),
    tools: createToolClient(door, input, new SandboxSteps(door, input).write),
    log,
  });
  return output.text;
}

const create = (contextLimit = 32_000) =>
  bench.testing.create(`
name: strict
task: Think.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${models.baseURL}" } }
      presets: { only: { provider: one, model: m, contextLimit: ${contextLimit} } }
agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
`);

test('takes back all that a model wrote, in its turn, in that turn again and in the next', async () => {
  const project = await create();
  const list = { name: 'artifacts_list', arguments: {} };
  says = [
    { text: 'Half \ud83c', calls: [{ name: 'messages_send', arguments: '{"recipient": "be' }], finish: 'length' },
    { calls: [{ name: 'multi_tool_use.parallel', arguments: { tool_uses: [] } }, { name: '', arguments: {} }, list] },
    {
      calls: [
        { ...list, arguments: '' },
        { ...list, arguments: '[1]' },
        { name: 'x'.repeat(80), arguments: 'null' },
      ],
    },
    { calls: Array.from({ length: 200 }, (_, n) => ({ ...list, id: `c${n}` })) },
    // Its last calls were too many, so it is asked again.
    { text: '' },
  ];
  const first = await bench.begin(project, 'ada');
  const text = await takeTurn(first);
  expect(refused).toEqual([]);
  expect(models.requests).toHaveLength(6);

  bench.testing.setNow(Date.now() + 60_000);
  await bench.testing.write(project, (tx) => expireLease(tx, { turn: first.turn, attempt: 1 }));
  const { body } = await bench.claim(project, first.turn);
  const again = begun(bench, project, 'ada', first.turn, body as never);
  expect(await takeTurn(again)).toBe(text);
  expect(models.requests).toHaveLength(6);
  await again.report('complete', { output: { text } });

  expect(await takeTurn(await bench.begin(project, 'ada', 'More.'))).toBe('The end.');
  expect(refused).toEqual([]);
  expect(models.requests.at(-1)?.body.messages.length).toBeGreaterThan(130);
});

test('takes a past of turns that were cut, came to no answer or ended with a call, and notes before it', async () => {
  const project = await create(20_000);
  const turns: Behaviour[][] = [
    [{ text: 'And so', finish: 'length' }, { text: ' on.' }],
    [{ calls: [{ name: 'completion_submit', arguments: { report: 'All is done.' } }] }],
    [{ text: 'word '.repeat(10_000) }],
    [{ text: 'Notes.' }, { text: 'Four.' }],
    [{ text: 'Five.' }],
  ];
  const ended: string[] = [];
  for (const [index, told] of turns.entries()) {
    says = told;
    const attempt = await bench.begin(project, 'ada', `Mail ${index + 1}.`);
    const text = await takeTurn(attempt);
    const asked = models.requests.length;
    expect(await takeTurn(attempt)).toBe(text);
    expect(models.requests).toHaveLength(asked);
    await attempt.report('complete', { output: { text } });
    if (index === 1)
      await bench.testing.write(project, (tx) =>
        requestChanges(tx, { body: 'Once more.', recipient: 'ada', actor: 'user' }),
      );
    ended.push(text);
  }
  expect(ended.map((text) => text.slice(0, 12))).toEqual(['And so\n\n on.', '', 'word word wo', 'Four.', 'Five.']);
  expect(refused).toEqual([]);
  const last = models.requests.at(-1)?.body.messages.map(({ role }) => role);
  expect(last).toEqual(['system', 'user', 'assistant', 'user']);
});
