import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { stepHeader } from '@suzumio/protocol/model-chat';
import { listConversation } from '@suzumio/store/turns/conversation';
import { listToolCalls } from '@suzumio/store/turns/read-turns';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { thinkingYaml } from '../../../../test/support/thinking.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;
let ada: Begun;

beforeEach(async () => {
  server = await startModelServer(() => behaviour);
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
  await bench.testing.create(
    thinkingYaml(server.baseURL, { agents: '{ ada: { role: thinker, prompt: Think hard., tools: ["*"] } }' }),
  );
  ada = await bench.begin('thinkers', 'ada', 'What is there?');
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const tools = [{ type: 'function', function: { name: 'artifacts_list', parameters: { type: 'object' } } }];

async function ask(step: string): Promise<number> {
  const response = await ada.ask(
    { messages: [{ role: 'user', content: `Step ${step}?` }], tools },
    { [stepHeader]: step },
  );
  await response.text();
  return response.status;
}

const conversation = (page = {}) =>
  bench.testing.store(
    'thinkers',
    (store) => listConversation(store.reader, store.config, ada.turn, { limit: 100, ...page }).items,
  );

const unmade = {
  text: 'Let me see.',
  calls: [
    { name: 'shell_run', arguments: { command: 'ls' } },
    { name: 'artifacts_list', arguments: '{"all":' as never },
    { name: 'artifacts_list', arguments: {} },
  ],
};

test('calls of tools that there are not, and with inputs that are no JSON, are recorded as refused', async () => {
  behaviour = unmade;
  expect(await ask('0')).toBe(200);
  expect(await ask('0')).toBe(200);
  const calls = await bench.testing.store('thinkers', ({ reader }) => listToolCalls(reader, { limit: 10 }).items);
  expect(calls).toMatchObject([
    { step: '0.0', tool: 'shell_run', status: 'refused', errorCode: 'tool-unknown', input: { command: 'ls' } },
    { step: '0.1', tool: 'artifacts_list', status: 'refused', errorCode: 'tool-input-invalid' },
  ]);
  const events = await bench.testing.rows<{ data_json: string }>(
    'thinkers',
    `SELECT data_json FROM events WHERE type = 'tool.called' ORDER BY seq`,
  );
  expect(events.map(({ data_json }) => JSON.parse(data_json) as unknown)).toMatchObject([
    { tool: 'shell_run', outcome: 'refused', code: 'tool-unknown' },
    { tool: 'artifacts_list', outcome: 'refused', code: 'tool-input-invalid' },
  ]);
});

test('calls that are meant beyond doubt are none of these, and the prompt names tools as they are called', async () => {
  behaviour = { calls: [{ name: 'functions.artifacts.list', arguments: '```json\n{}\n```' }] };
  expect(await ask('0')).toBe(200);
  expect(await bench.testing.store('thinkers', ({ reader }) => listToolCalls(reader, { limit: 10 }).items)).toEqual([]);
  const { prompt } = ada.answer.input.turn;
  expect(prompt).toContain('messages_send');
  expect(prompt).not.toContain('messages.send');
});

test('a conversation tells what the model was told and answered, question by question', async () => {
  behaviour = unmade;
  await ask('0');
  await ada.tool('artifacts.list', {}, { step: '0.2' });
  behaviour = { text: 'Nothing.' };
  await ask('1');
  const told = await conversation();
  expect(told.map(({ seq, kind, step, code }) => [seq, kind, step, code])).toEqual([
    [1, 'instructions', null, null],
    [2, 'prompt', null, null],
    [3, 'answer', '0', null],
    [4, 'result', '0.0', 'tool-unknown'],
    [5, 'result', '0.1', 'tool-input-invalid'],
    [6, 'result', '0.2', null],
    [7, 'answer', '1', null],
  ]);
  expect(told[1]?.text).toContain('What is there?');
  expect(told[2]).toMatchObject({ text: 'Let me see.', attempt: 1, calls: [{ name: 'shell_run' }, {}, {}] });
  expect(told[6]).toMatchObject({ text: 'Nothing.', answer: { preset: 'main', finishReason: 'stop' } });
  expect((await conversation({ after: 2, limit: 2 })).map(({ seq }) => seq)).toEqual([3, 4]);
});
