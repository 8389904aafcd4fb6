import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { followUps } from '@suzumio/protocol/conversation';
import type { AnswerReading } from '@suzumio/protocol/model-chat';
import { type Behaviour, streamedAnswer, wholeAnswer } from '../../test/support/model-server.js';
import type { Begun } from '../../services/toolhost/test/toolhost-client.js';
import { AttachingTeam, Killed } from './support/attaching-team.js';

// What models leave in the text of their answers, at a ToolHost and its providers as a turn meets them.

let team: AttachingTeam;
beforeEach(async () => {
  team = await AttachingTeam.start();
});
afterEach(() => team.close());

type Reply = Parameters<typeof wholeAnswer>[0];
const json = '{"name": "artifacts_list", "arguments": {}}';
const list = { calls: [{ id: 'abcdefgh1', name: 'artifacts_list', arguments: {} }] };
const refused = { calls: [{ id: 'abcdefgh2', name: 'artifacts_read', arguments: { name: 'nothing.txt' } }] };
const end = { text: '<think>\nAll is done.\n</think>\n\nDone.' };

/** Has the server answer one after the other, and the last again and again. */
function says(replies: readonly Reply[], isStreamed: boolean): void {
  team.server.answers = (_request, number): Behaviour => {
    const reply = replies[Math.min(number, replies.length) - 1] ?? {};
    return isStreamed
      ? { lines: streamedAnswer(reply) }
      : { status: 200, headers: { 'content-type': 'application/json' }, body: wholeAnswer(reply) };
  };
}

const asked = (number: number) => team.server.requests[number]?.body.messages ?? [];
const readings = async () =>
  (await team.bench.testing.rows<{ reading: AnswerReading | null }>('attached', 'SELECT reading FROM model_calls')).map(
    ({ reading }) => reading,
  );

const variants: [name: string, replies: Reply[], made: (AnswerReading | null)[]][] = [
  ['nothing', [{ text: '' }, list, end], ['blank', null, null]],
  ['white space', [{ text: ' \n' }, list, end], ['blank', null, null]],
  ['thoughts alone', [{ text: '<think>I should look.</think>' }, list, end], ['blank', null, null]],
  ['thoughts that never close', [{ text: '<think>I should look.' }, list, end], ['blank', null, null]],
  ['nothing after a refused call', [refused, { text: '' }, list, end], [null, 'blank', null, null]],
  ['nothing after a call', [list, { text: '' }], [null, null]],
  ['nothing after a call that follows a refused one', [refused, list, { text: '' }], [null, null, null]],
  ['nothing three times', [{ text: '' }, { text: '' }, { text: '' }, end], ['blank', 'blank', 'blank', null]],
  ['a call as text', [{ text: json }, list, end], ['call-as-text', null, null]],
  [
    'a call as text after thoughts',
    [{ text: `I look.\n</think>\n\n${json}` }, list, end],
    ['call-as-text', null, null],
  ],
  ['a call as text, then nothing', [list, { text: json }, { text: '' }, end], [null, 'call-as-text', 'blank', null]],
  ['what is cut, then nothing', [{ text: 'And', finish: 'length' }, { text: '' }, end], ['cut', 'blank', null]],
  ['talk of a call', [{ text: `Qwen writes \`<tool_call>${json}</tool_call>\`, I read.` }], [null]],
  ['thoughts of a call', [{ text: `<think>${json}</think>\nDone.` }], [null]],
];

describe.each([
  ['streamed', true],
  ['whole', false],
])('an answer with (%s)', (_how, isStreamed) => {
  test.each(variants)('%s', async (_name, replies, made) => {
    says(replies, isStreamed);
    const project = await team.create();
    let attempt = await team.bench.begin(project, 'ada');
    // Killed before each of its questions, the turn pays for no answer twice.
    for (let step = 1; step < made.length; step += 1) {
      await expect(team.takeTurn(attempt, { killedAt: step })).rejects.toThrow(Killed);
      attempt = await team.nextAttempt(project, attempt, { attempt: step });
    }
    const text = await team.takeTurn(attempt);
    expect(text).not.toMatch(/<\/?think>|^\{/);
    expect(await readings()).toEqual(made);
    expect(team.server.requests).toHaveLength(made.length);
    for (const [at, reading] of made.entries()) {
      if (reading !== null && reading !== 'notes') expect(asked(at + 1).at(-1)).toEqual(followUps[reading]);
    }
    await attempt.report('complete', { output: { text } });
    says([end], isStreamed);
    await team.takeTurn(await team.bench.begin(project, 'ada', 'More.'));
    const words = team.server.requests.map(({ body }) => JSON.stringify(body.messages));
    for (const one of words) expect(one).not.toMatch(/<\/?think>|I should look|All is done/);
    const told = made.filter((reading) => reading !== null && reading !== 'notes');
    expect(
      asked(made.length).filter(({ content }) => Object.values(followUps).some((one) => one.content === content)),
    ).toEqual(told.map((reading) => followUps[reading]));
  });
});

test('a model that says nothing again and again fails its turn, whose mail is undelivered', async () => {
  says([{ text: '' }], true);
  const project = await team.create();
  const attempt = await team.bench.begin(project, 'ada', 'Look, please.');
  const failed: unknown = await team.takeTurn(attempt).catch((error: unknown) => error);
  expect(failed).toMatchObject({ code: 'answer-empty', message: expect.stringMatching(/one word.*Redeliver/) });
  expect(team.server.requests).toHaveLength(4);
  await attempt.report('fail', { failure: { code: 'answer-empty', message: (failed as Error).message } });
  const [turn] = await team.bench.testing.rows<object>(project, 'SELECT status, failure_json FROM turns');
  expect(turn).toMatchObject({ status: 'failed', failure_json: expect.stringContaining('answer-empty') });
  const metrics = await team.bench.metrics.registry.metrics();
  expect(metrics).toMatch(/^suzumio_model_answers_asked_again_total\{(?=.*reading="blank").*\} 3$/m);
});

describe('a turn that was in flight at an upgrade', () => {
  /** As a ToolHost of before has recorded it. */
  const forget = (project: string) =>
    team.bench.testing.write(project, (tx) => tx.run('UPDATE model_calls SET reading = NULL'));

  test.each<[string, Reply, number]>([
    ['a call as text by the rule of before', { text: 'Qwen writes <tool_call>{"name": "f"}</tool_call>.' }, 1],
    ['an answer that was cut', { text: 'And so', finish: 'length' }, 1],
    ['a call as text by both rules', { text: `<tool_call>${json}</tool_call>` }, 1],
  ])('goes on as it began: %s', async (_name, reply, killedAt) => {
    says([reply, end], true);
    const project = await team.create();
    const first = await team.bench.begin(project, 'ada');
    await team.takeTurn(first, { isOld: true });
    await forget(project);
    const again = await team.nextAttempt(project, first);
    expect(await team.takeTurn(again)).toContain('Done.');
    expect(team.server.requests).toHaveLength(killedAt + 1);
  });

  test('is judged anew where nothing followed', async () => {
    says([{ text: '' }, end], true);
    const project = await team.create();
    const first = await team.bench.begin(project, 'ada');
    await expect(team.takeTurn(first, { killedAt: 1, isOld: true })).resolves.toBe('');
    const again = await team.nextAttempt(project, first);
    expect(await team.takeTurn(again)).toBe('Done.');
    expect(team.server.requests).toHaveLength(2);
  });

  test('reads its notes as it did', async () => {
    const notes = { text: '<think>What was it?</think>The gauge is in order.' };
    says([{ text: 'x'.repeat(60_000) }, notes, end], true);
    const project = await team.create({ presets: 'main: { provider: p, model: m, contextLimit: 16000 }' });
    await team.completeTurn(project, 'ada', 'First.');
    const second = await team.bench.begin(project, 'ada', 'Second.');
    expect(await team.takeTurn(second)).toBe('Done.');
    expect(JSON.stringify(asked(2))).toContain('The gauge is in order.');
    expect(JSON.stringify(asked(2))).not.toContain('What was it?');
    const again: Begun = await team.nextAttempt(project, second);
    expect(await team.takeTurn(again)).toBe('Done.');
    expect(team.server.requests).toHaveLength(3);
  });
});

test('what was made of another turn’s answer is not kept', async () => {
  says([{ text: 'One.' }, { text: 'Two.' }], true);
  const project = await team.create();
  await team.completeTurn(project, 'ada');
  const [row] = await team.bench.testing.rows<{ id: string }>(project, 'SELECT id FROM model_calls');
  const ben = await team.bench.begin(project, 'ben');
  const forged = { messages: [{ role: 'user', content: 'Well?' }], suzumio: { answer: row?.id, reading: 'blank' } };
  expect((await ben.ask(forged, { 'x-suzumio-step': '0' })).status).toBe(200);
  const unknown = { messages: [{ role: 'user', content: 'Well?' }], suzumio: { answer: row?.id, reading: 'mad' } };
  expect((await ben.ask(unknown, { 'x-suzumio-step': '1' })).status).toBe(200);
  expect(await readings()).toEqual([null, null, null]);
});

test.each<[string, Reply[]]>([
  ['one word', [{ text: 'Noted.' }]],
  ['nothing, then one word', [{ text: '' }, { text: 'Noted.' }]],
  ['a look, then nothing', [list, { text: '' }]],
])('twenty agents end well that get a letter which needs no act, and answer %s', async (_name, replies) => {
  const told = new Map<string, number>();
  team.server.answers = ({ body }) => {
    const agent = /You are (\w+)/.exec(JSON.stringify(body.messages[0]))?.[1] ?? '';
    const number = told.get(agent) ?? 0;
    told.set(agent, number + 1);
    return replies[number] ?? { status: 500 };
  };
  const names = Array.from({ length: 20 }, (_, number) => `reader${number}`);
  const project = await team.create({ agents: names });
  for (const agent of names) await team.completeTurn(project, agent, 'For your information: all is well.');
  const rows = await team.bench.testing.rows<{ status: string }>(project, 'SELECT status FROM turns');
  expect(rows.map(({ status }) => status)).toEqual(Array(20).fill('completed'));
  const paused = 'SELECT id FROM agents WHERE paused_json IS NOT NULL';
  expect(await team.bench.testing.rows(project, paused)).toEqual([]);
});
