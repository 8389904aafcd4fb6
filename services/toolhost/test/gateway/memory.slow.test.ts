import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { callInTextMessage, goOnMessage } from '@suzumio/protocol/conversation';
import { purposeHeader, stepHeader } from '@suzumio/protocol/model-chat';
import { type Behaviour, type ModelServer, startModelServer } from '../../../../test/support/model-server.js';
import { allowing, type Begun, type ToolhostBench, toolhostBench } from '../toolhost-client.js';

let server: ModelServer;
let bench: ToolhostBench;
let behaviour: Behaviour;

beforeEach(async () => {
  server = await startModelServer(() => behaviour);
  bench = await toolhostBench(allowing({ baseURL: server.baseURL }));
});
afterEach(async () => {
  await bench.close();
  await server.close();
});

const create = (contextLimit: number) =>
  bench.testing.create(`
name: memory
task: Remember.
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "${server.baseURL}" } }
      presets: { only: { provider: one, model: m, contextLimit: ${contextLimit} } }
agents:
  ada: { role: thinker, prompt: Think., tools: ["*"] }
`);

async function ask(attempt: Begun, step: string, said: Behaviour, purpose = 'turn'): Promise<void> {
  behaviour = said;
  const response = await attempt.ask(
    { messages: [{ role: 'user', content: `${step} of ${attempt.turn}` }] },
    { [stepHeader]: step, [purposeHeader]: purpose },
  );
  const answer = await response.text();
  if (!response.ok) throw new Error(answer);
}

/** A turn that looks at the artifacts, and says something. */
async function takeTurn(project: string, mail: string, text: string): Promise<Begun> {
  const attempt = await bench.begin(project, 'ada', mail);
  await ask(attempt, '0', { text: 'Looking.', calls: [{ id: 'a', name: 'artifacts_list', arguments: {} }] });
  await attempt.tool('artifacts.list', {}, { step: '0.0' });
  await ask(attempt, '1', { text });
  await attempt.report('complete', { output: { text } });
  return attempt;
}

describe("an agent's memory", () => {
  test('is its earlier turns in full, answers, calls and results, as long as they fit', async () => {
    const project = await create(100_000);
    expect((await takeTurn(project, 'First.', 'One.')).answer.input.history).toEqual({ messages: [] });
    await takeTurn(project, 'Second.', 'Two.');
    const { history, turn } = (await bench.begin(project, 'ada', 'Third.')).answer.input;
    expect(turn.system).toContain('You are ada');
    expect(history?.messages).toMatchObject([
      { role: 'user', content: expect.stringContaining('First.') },
      { role: 'assistant', content: 'Looking.', tool_calls: [{ id: 'a', function: { name: 'artifacts_list' } }] },
      { role: 'tool', tool_call_id: 'a', content: 'Nothing has been published.' },
      { role: 'assistant', content: 'One.' },
      { role: 'user', content: expect.stringContaining('Second.') },
      { role: 'assistant' },
      { role: 'tool' },
      { role: 'assistant', content: 'Two.' },
    ]);
  });

  test('is the same for a later attempt of the same turn', async () => {
    const project = await create(100_000);
    await takeTurn(project, 'First.', 'One.');
    const attempt = await bench.begin(project, 'ada', 'Second.');
    await attempt.report('fail', { failure: { code: 'container-vanished', message: 'gone' } });
    const again = await bench.claim(project, attempt.turn);
    expect((again.body as { input?: unknown })['input']).toMatchObject({ history: attempt.answer.input.history });
  });

  test('leaves out turns that failed', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'First.');
    await attempt.report('fail', { failure: { code: 'non-zero-exit', message: 'oops' } });
    await bench.testing.write(project, (tx) => tx.run(`UPDATE agents SET state = 'quiet', failure_json = NULL`));
    expect((await bench.begin(project, 'ada', 'Second.')).answer.input.history).toEqual({ messages: [] });
  });

  test('becomes notes where it grows too long; they are kept, and stand for the older turns from then on', async () => {
    const project = await create(3_000);
    for (let n = 1; n <= 4; n += 1) await takeTurn(project, `Mail ${n}: ${'word '.repeat(150)}`, `Answer ${n}.`);
    const attempt = await bench.begin(project, 'ada', 'Fifth.');
    const { history } = attempt.answer.input;
    expect(history?.compact).toContain('Answer 1.');
    expect(history?.messages.length).toBeLessThan(16);
    expect(JSON.stringify(history?.messages)).not.toContain('Answer 1.');
    await ask(attempt, '0', { text: 'Notes: four words.' }, 'summary');
    await ask(attempt, '1', { text: 'Five.' });
    await attempt.report('complete', { output: { text: 'Five.' } });

    const [summary] = await bench.testing.rows<{ text: string; through_number: number }>(
      project,
      'SELECT text, through_number FROM agent_summaries',
    );
    expect(summary?.text).toBe('Notes: four words.');
    const next = (await bench.begin(project, 'ada', 'Sixth.')).answer.input.history;
    expect(next?.summary ?? next?.compact).toContain('Notes: four words.');
    // The notes themselves are no part of what was said in that turn.
    expect(JSON.stringify(next?.messages)).not.toContain('four words');
  });

  test('keeps its notes however much there is to be summed up after them', async () => {
    const project = await create(3_000);
    await takeTurn(project, `Mail 1: ${'word '.repeat(1_000)}`, 'Answer 1.');
    const second = await bench.begin(project, 'ada', 'Mail 2.');
    await ask(second, '0', { text: 'Notes: Bea gets the figures.' }, 'summary');
    await ask(second, '1', { text: '🌍'.repeat(6_000) });
    await second.report('complete', { output: { text: 'A long one.' } });
    await takeTurn(project, 'Mail 3.', 'Answer 3.');

    const history = (await bench.begin(project, 'ada', 'Mail 4.')).answer.input.history;
    expect(history?.summary).toBe('Notes: Bea gets the figures.');
    expect(history?.compact).toMatch(/^(🌍)+$/u);
    expect(JSON.stringify(history?.messages)).toContain('Answer 3.');
  });

  test.each<[string, Behaviour]>([
    ['has no text', { text: '', finish: 'length' }],
    ['was withheld', { text: 'Notes on', finish: 'content_filter' }],
  ])('is not replaced by an answer that %s', async (_name, said) => {
    const project = await create(3_000);
    await takeTurn(project, `Mail 1: ${'word '.repeat(1_000)}`, 'Answer 1.');
    const second = await bench.begin(project, 'ada', 'Mail 2.');
    await ask(second, '0', said, 'summary');
    await ask(second, '1', { text: 'Two.' });
    await second.report('complete', { output: { text: 'Two.' } });

    const history = (await bench.begin(project, 'ada', 'Mail 3.')).answer.input.history;
    expect(history).toMatchObject({ compact: expect.stringContaining('Answer 1.') });
    expect(history).not.toHaveProperty('summary');
    expect(JSON.stringify(history?.messages)).toContain('Two.');
  });

  test('is not spoilt by a question that would stand at the place of a call', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'First.');
    await ask(attempt, '0', { calls: [{ id: 'a', name: 'artifacts_list', arguments: {} }] });
    await expect(ask(attempt, '0.0', { text: 'I am no result.' })).rejects.toThrow('invalid-request');
    await expect(ask(attempt, 'seq.1', { text: 'Nor am I.' })).rejects.toThrow('invalid-request');
    await attempt.report('complete', { output: { text: '' } });
    const { history } = (await bench.begin(project, 'ada', 'Second.')).answer.input;
    expect(history?.messages.at(-2)?.content).toBe('Error not-made: This call was not made.');
  });

  test('says of what was written into the workspace what was said then', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'First.');
    const published = { path: 'level.md', ...(await attempt.upload('level 3.2 m')) };
    await ask(attempt, '0', {
      calls: [
        { id: 'a', name: 'artifacts_publish', arguments: { path: 'level.md' } },
        { id: 'b', name: 'functions.artifacts.read', arguments: { name: 'level.md', to: './in/level.md' } },
      ],
    });
    await attempt.tool('artifacts.publish', published, { step: '0.0' });
    await attempt.tool('artifacts.read', { name: 'level.md', to: './in/level.md' }, { step: '0.1' });
    await attempt.report('complete', { output: { text: '' } });
    const { history } = (await bench.begin(project, 'ada', 'Second.')).answer.input;
    expect(history?.messages.at(-2)?.content).toMatch(
      /^Wrote level\.md \(art_\w+\), 11 bytes, to \.\/in\/level\.md\.$/,
    );
  });

  test('says why a model was asked again: its answer was cut, or it held a call as text', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'First.');
    await ask(attempt, '0', { text: '<tool_call>{"name": "artifacts_list"}</tool_call>' });
    await ask(attempt, '1', { text: 'It has', finish: 'length' });
    await ask(attempt, '2', { text: 'nothing.' });
    await attempt.report('complete', { output: { text: 'nothing.' } });
    const { history } = (await bench.begin(project, 'ada', 'Second.')).answer.input;
    expect(history?.messages.slice(1)).toMatchObject([
      { role: 'assistant' },
      callInTextMessage,
      { role: 'assistant' },
      goOnMessage,
      { role: 'assistant' },
    ]);
  });

  test('bears a journal with something else at the place of a call', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'First.');
    await ask(attempt, '0', { calls: [{ id: 'a', name: 'artifacts_list', arguments: {} }] });
    await ask(attempt, '1', { text: 'I am no result.' });
    await bench.testing.write(project, (tx) => tx.run(`UPDATE turn_steps SET key = '0.0' WHERE key = '1'`));
    await attempt.report('complete', { output: { text: '' } });
    const { history } = (await bench.begin(project, 'ada', 'Second.')).answer.input;
    expect(history?.messages.at(-2)?.content).toBe('Error not-made: This call was not made.');
  });
});

describe('what a model is told of its tools', () => {
  test('stays the same for a later attempt, though another version tells it otherwise', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'Go.');
    expect(attempt.answer.input.tools.map(({ name }) => name)).toContain('messages.send');
    await attempt.report('fail', { failure: { code: 'container-vanished', message: 'gone' } });
    const reworded = [{ name: 'messages.send', description: 'As it was then.', inputSchema: {} }];
    await bench.testing.write(project, (tx) =>
      tx.run('UPDATE tool_sets SET definitions_json = :json', { json: JSON.stringify(reworded) }),
    );
    const again = await bench.claim(project, attempt.turn);
    expect((again.body as { input?: { tools?: unknown } }).input?.tools).toEqual(reworded);
  });

  test('is kept once, however many turns are told the same', async () => {
    const project = await create(100_000);
    await takeTurn(project, 'First.', 'One.');
    await takeTurn(project, 'Second.', 'Two.');
    expect(await bench.testing.rows(project, 'SELECT hash FROM tool_sets')).toHaveLength(1);
  });
});

describe('a tool call of a thinking turn', () => {
  test.each([
    ['that the model did not ask for', '0.0', 'messages.read', { id: 'msg_x' }],
    ['with other words than the model wrote', '0.0', 'artifacts.list', { all: true }],
    ['at a place where the model asked for none', '0.1', 'artifacts.list', {}],
    ['of a step that was never answered', '3.0', 'artifacts.list', {}],
  ])('%s is refused', async (_name, step, tool, input) => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'Go.');
    await ask(attempt, '0', { calls: [{ name: 'artifacts_list', arguments: {} }] });
    const { status, body } = await attempt.tool(tool, input, { step });
    expect({ status, code: body['code'] }).toEqual({ status: 403, code: 'call-not-asked' });
  });

  test('is made where the model has named it otherwise, and fenced its arguments', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'Go.');
    await ask(attempt, '0', { calls: [{ name: 'functions.artifacts.list', arguments: '```json\n{}\n```' }] });
    expect((await attempt.tool('artifacts.list', {}, { step: '0.0' })).status).toBe(200);
  });

  test.each<[string, (n: number) => { step?: string }]>([
    ['names no steps', () => ({})],
    ['is behind the shim, which numbers its calls,', (n) => ({ step: `seq.${n}` })],
  ])('from a runner that %s is held to what the model asked for, too', async (_name, place) => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'Go.');
    expect((await attempt.tool('artifacts.list', {}, place(1))).status).toBe(200);
    await ask(attempt, '0', { calls: [{ name: 'artifacts_list', arguments: {} }] });
    expect((await attempt.tool('artifacts.list', {}, place(2))).status).toBe(200);
    expect((await attempt.tool('messages.read', { id: 'msg_x' }, place(3))).body['code']).toBe('call-not-asked');
  });

  test('from a runner that names no steps is looked for in the newest answers', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'Go.');
    await ask(attempt, '0', { calls: [{ name: 'artifacts_list', arguments: { old: true } }] });
    await bench.testing.write(project, (tx) =>
      tx.run(`UPDATE turn_steps SET result_json = json_set(result_json, '$.answer.text', :text)`, {
        text: 'x'.repeat(8 * 1024 * 1024),
      }),
    );
    expect((await attempt.tool('artifacts.list', { old: true })).body['code']).not.toBe('call-not-asked');
    await ask(attempt, '1', { calls: [{ name: 'artifacts_list', arguments: {} }] });
    await ask(attempt, '2', { text: 'So.' });
    expect((await attempt.tool('artifacts.list', {})).status).toBe(200);
    await bench.testing.write(project, (tx) =>
      tx.run(`UPDATE turn_steps SET result_json = json_set(result_json, '$.answer.text', :text) WHERE key = '2'`, {
        text: 'x'.repeat(8 * 1024 * 1024),
      }),
    );
    expect((await attempt.tool('artifacts.list', {})).body['code']).toBe('call-not-asked');
    expect((await attempt.tool('artifacts.list', { old: true }, { step: '0.0' })).body['code']).not.toBe(
      'call-not-asked',
    );
  });

  test('is told from others that the model nested without end', async () => {
    const project = await create(100_000);
    const attempt = await bench.begin(project, 'ada', 'Go.');
    const endless = `{"name":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
    await ask(attempt, '0', { calls: [{ name: 'artifacts_list', arguments: endless }] });
    const { status, body } = await attempt.tool('artifacts.list', {}, { step: '0.0' });
    expect({ status, code: body['code'] }).toEqual({ status: 403, code: 'call-not-asked' });
  });
});
