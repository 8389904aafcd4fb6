import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { redact } from '@suzumio/store/redaction/redact';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { Sql } from '@suzumio/store/sqlite/sql';
import { event, type ModelRequest } from '../../test/support/model-server.js';
import { attaching, AttachingProvider } from './support/attaching-providers.js';
import { AttachingTeam, Killed } from './support/attaching-team.js';

let team: AttachingTeam;
beforeEach(async () => {
  team = await AttachingTeam.start();
});
afterEach(() => team.close());

const list = 'artifacts_list';

/** What is kept of what came with answers. */
const attachedRows = async (project = 'attached') => {
  const rows = await team.bench.testing.rows<{ attached: string | null }>(
    project,
    `SELECT attached_json AS attached FROM turn_steps WHERE key NOT LIKE '%.%' ORDER BY turn_id, key`,
  );
  return rows.map(({ attached }) => attached);
};

const wordsOf = (request: ModelRequest | undefined) => JSON.stringify(request?.body ?? {});

describe('a reference', () => {
  const question = (answer: unknown) => ({
    messages: [
      { role: 'user', content: 'Well?' },
      { role: 'assistant', content: 'So.', suzumio: answer },
      { role: 'user', content: 'And?' },
    ],
  });

  test('of another agent, of another project and of nobody is refused, and its own is not', async () => {
    const provider = new AttachingProvider(attaching.deepseek, false);
    team.server.answers = () => provider.text('The secret thought.', 1);
    const project = await team.create();
    const ada = await team.bench.begin(project, 'ada');
    const { choices } = (await (await ada.ask({ messages: [{ role: 'user', content: 'Well?' }] })).json()) as {
      choices: { message: { suzumio: { answer: string; attachedBytes: number } } }[];
    };
    const given = choices[0]?.message.suzumio;
    expect(given).toEqual({
      answer: expect.stringMatching(/^call_/),
      attachedBytes: expect.any(Number),
      reading: null,
    });
    await team.create({ name: 'other' });
    const ben = await team.bench.begin(project, 'ben');
    const elsewhere = await team.bench.begin('other', 'ada');
    for (const [runner, answer] of [
      [ben, given],
      [elsewhere, given],
      [ada, { ...given, answer: 'call_01ARZ3NDEKTSV4RRFFQ69G5FAV' }],
      [ada, { ...given, answer: "' OR 1=1 --" }],
    ] as const) {
      const refused = await runner.ask(question(answer), { 'x-suzumio-step': '7' });
      expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([404, 'answer-unknown']);
    }
    for (const invalid of [given?.answer, { answer: 7 }, { ...given, attachedBytes: -1 }]) {
      expect((await ada.ask(question(invalid))).status).toBe(400);
    }
    expect(team.server.requests).toHaveLength(1);
    expect((await ada.ask(question(given))).status).toBe(200);
    expect(team.server.requests[1]?.body.messages[1]).toMatchObject({
      reasoning_content: expect.stringContaining('at last 1'),
    });
  });

  test('is no part of what is asked: its question is the same without it', async () => {
    team.server.answers = () => new AttachingProvider(attaching.deepseek, true).text('So.', 1);
    const ada = await team.bench.begin(await team.create(), 'ada');
    await (await ada.ask({ messages: [{ role: 'user', content: 'Well?' }] }, { 'x-suzumio-step': '0' })).text();
    const [row] = await team.bench.testing.rows<{ id: string }>('attached', 'SELECT id FROM model_calls');
    for (const reference of [{ answer: row?.id, attachedBytes: 100 }, undefined, { answer: row?.id }]) {
      const response = await ada.ask(question(reference), { 'x-suzumio-step': '1' });
      await response.text();
      expect(response.status).toBe(200);
    }
    expect(team.server.requests).toHaveLength(2);
  });
});

/** Redacts the message that has the needle. */
async function redactNeedle(project: string): Promise<void> {
  const { testing } = team.bench;
  const { directory } = testing.cell;
  const sql = `SELECT id FROM messages WHERE body LIKE '%szmneedle%'`;
  const [message] = await testing.rows<{ id: string }>(project, sql);
  const place = { directory: directory.projectDir(project), file: directory.projectFile(project) };
  const asked = { actor: 'ops', because: null };
  await testing.store(project, (store) =>
    redact({ store, ...place }, redactableMessage(store.reader, message?.id ?? ''), asked),
  );
}

describe('a redaction', () => {
  test('removes what was attached in the turn and in later ones, and no signature is missed then', async () => {
    const secret = 'the key of the north gauge is szmneedle7f3a, and nobody is to know';
    const hidden = Buffer.from(secret).toString('base64');
    const signed = { extra_content: { google: { thought_signature: hidden } } };
    team.server.answers = ({ body: { messages } }, number) => {
      const calls = [{ id: `c${number}`, function: { name: list, arguments: '{}' }, ...signed }];
      const isAsked = messages.at(-1)?.role === 'user';
      const message = isAsked
        ? { reasoning_content: hidden, tool_calls: calls }
        : { content: 'Done.', reasoning: hidden };
      return { status: 200, body: { choices: [{ message, finish_reason: isAsked ? 'tool_calls' : 'stop' }] } };
    };
    const project = await team.create();
    for (const body of ['Good morning.', secret, 'And now?']) await team.completeTurn(project, 'ada', body);
    expect((await attachedRows()).filter((row) => row?.includes(hidden))).toHaveLength(6);
    await redactNeedle(project);
    expect((await attachedRows()).map((row) => row === 'null')).toEqual([false, false, true, true, true, true]);
    await team.completeTurn(project, 'ada', 'And tomorrow?');
    const last = team.server.requests.at(-2);
    expect(wordsOf(last).split(hidden)).toHaveLength(4);
    expect(last?.body.messages.filter(({ tool_calls: calls }) => calls)).toHaveLength(1);
    expect(wordsOf(last)).toContain('It called artifacts_list with:');
  });

  test('finds what is in nothing but what was attached', async () => {
    const body = 'the word of the day is szmneedle7f3a, a long one, to be kept';
    team.server.answers = ({ body: { messages } }) => ({
      status: 200,
      body: {
        choices: [{ message: { content: 'Yes.', reasoning_content: wordsIn(messages) }, finish_reason: 'stop' }],
      },
    });
    const wordsIn = (messages: unknown) => (JSON.stringify(messages).includes('guess') ? `It is: ${body}` : 'Well.');
    const project = await team.create();
    await team.completeTurn(project, 'ada', 'What do you guess?');
    await team.completeTurn(project, 'ben', body);
    await redactNeedle(project);
    expect(await attachedRows()).toEqual(['null', 'null']);
  });
});

const deep = (levels: number): object => (levels === 0 ? {} : { a: deep(levels - 1) });

describe('what is attached', () => {
  test.each<[string, object, string | null]>([
    ['of 2 MB', { reasoning_content: 'x'.repeat(2_000_000) }, 'null'],
    ['of 2 MB in many places', { extra_content: { a: ['y'.repeat(2_000_000)] }, reasoning: 'short' }, 'null'],
    ['deeply nested', { extra_content: deep(2_000) }, 'null'],
    ['of other types', { reasoning_content: { a: 1 }, reasoning: 7, reasoning_details: 'x', extra_content: [1] }, null],
    ['with nothing in it', { reasoning_content: '', reasoning: null, reasoning_details: [], extra_content: {} }, null],
    ['under other names', { annotations: [{ a: 1 }], audio: { id: 'x' }, metadata: { b: 2 } }, null],
  ])('%s is not kept, and the turn goes on', async (_what, fields, kept) => {
    team.server.answers = ({ body: { messages } }, number) => {
      const calls = [{ id: 'c1', function: { name: list, arguments: '{}' } }];
      const message = number === 1 ? { ...fields, content: 'Let me see.', tool_calls: calls } : { content: 'Done.' };
      const finish = number === 1 ? 'tool_calls' : 'stop';
      expect(messages.length).toBeLessThan(6);
      return { status: 200, body: { choices: [{ message, finish_reason: finish }] } };
    };
    await team.create();
    expect(await team.completeTurn('attached', 'ada')).toBe('Let me see.\n\nDone.');
    expect(await attachedRows()).toEqual([kept, null]);
    const words = wordsOf(team.server.requests[1]);
    for (const name of Object.keys(fields)) expect(words).not.toContain(`"${name}"`);
    expect(words.includes('"tool_calls"')).toBe(kept === null);
    expect(words).toContain('Let me see.');
  });

  test('in pieces without end is not kept, and in the size of a question it counts', async () => {
    const chunk = (delta: object, finish: string | null = null) =>
      event({ choices: [{ index: 0, delta, finish_reason: finish }] });
    const details = Array.from({ length: 600 }, (_, at) => ({
      reasoning_details: [{ type: 'reasoning.text', index: at, text: 'z'.repeat(900) }],
    }));
    const call = { tool_calls: [{ index: 0, id: 'c1', function: { name: list, arguments: '{}' } }] };
    const thought = 'w'.repeat(60_000);
    team.server.answers = (_request, number) =>
      number === 1
        ? { lines: [...details.map((one) => chunk(one)), chunk(call, 'tool_calls'), 'data: [DONE]\n'] }
        : number === 2
          ? { lines: [chunk({ reasoning_content: thought }), chunk(call, 'tool_calls'), 'data: [DONE]\n'] }
          : { text: 'Done.' };
    const project = await team.create({ presets: 'main: { provider: p, model: m, contextLimit: 200000 }' });
    const stored = async () => {
      const sql = `SELECT bytes FROM stored_bytes WHERE owner = 'ada' AND kind = 'rows'`;
      return (await team.bench.testing.rows<{ bytes: number }>(project, sql))[0]?.bytes ?? 0;
    };
    await team.completeTurn(project, 'ada');
    const kept = await attachedRows();
    expect(kept.map((row) => row?.length ?? 0)).toEqual([4, kept[1]?.length, 0]);
    expect(kept[1]).toContain(thought);
    expect(await stored()).toBeGreaterThan(60_000);
    const held = await team.bench.testing.rows<{ held: number }>(
      project,
      'SELECT held_tokens AS held FROM model_calls ORDER BY seq',
    );
    expect((held[2]?.held ?? 0) - (held[1]?.held ?? 0)).toBeGreaterThan(thought.length / 3);
  });
});

/** Rows as releases with an older schema have written them. */
function asWrittenBy(version: number, file: string): void {
  const sql = Sql.open(file);
  sql.handle.exec(`
    UPDATE turn_steps SET answered_by = NULL, attached_json = NULL, result_json = json_remove(result_json, '$.changes');
    ALTER TABLE model_calls DROP COLUMN reading;
    DROP TABLE model_faults;
    ALTER TABLE tool_calls DROP COLUMN notice;
    ALTER TABLE tool_calls DROP COLUMN notice_seq;`);
  if (version < 40) sql.handle.exec('ALTER TABLE model_calls DROP COLUMN cached_tokens');
  if (version < 39)
    sql.handle.exec(`
      DROP TRIGGER turn_steps_attached;
      DROP TRIGGER turn_steps_attached_less;
      ALTER TABLE turn_steps DROP COLUMN attached_json;
      ALTER TABLE turn_steps DROP COLUMN answered_by;`);
  sql.handle.pragma(`user_version = ${String(version)}`);
  sql.close();
}

describe.each([38, 40])('a turn in flight in a project of schema %i', (version) => {
  test.each([
    [1, 'new'],
    [2, 'new'],
    [3, 'new'],
    [1, 'old'],
    [3, 'old'],
  ])('survives that the ToolHost is replaced before step %i; the runner then is %s', async (step, runner) => {
    const provider = new AttachingProvider(attaching.mistral, true);
    team.server.answers = (_request, number) =>
      number === 4 ? provider.text('The end.', number) : provider.calls(list, [{}, { path: 'a' }], number);
    const project = await team.create();
    const before = await team.bench.begin(project, 'ada');
    await expect(team.takeTurn(before, { killedAt: step, isOld: true })).rejects.toThrow(Killed);
    const file = team.bench.testing.cell.directory.projectFile(project);
    const whileClosed = () => asWrittenBy(version, file);
    const again = await team.nextAttempt(project, before, { whileClosed });
    expect(await team.takeTurn(again, { isOld: runner === 'old' })).toBe('The end.');
    expect(team.server.requests).toHaveLength(4);
    const roles = team.server.requests.at(-1)?.body.messages.map(({ role }) => role);
    expect(roles?.filter((role) => role === 'tool')).toHaveLength(6);
    const sql = `SELECT status, count(*) AS questions, sum(input_tokens + output_tokens) AS tokens FROM model_calls GROUP BY 1`;
    expect(await team.bench.testing.rows(project, sql)).toEqual([{ status: 'answered', questions: 4, tokens: 60 }]);
  });
});
