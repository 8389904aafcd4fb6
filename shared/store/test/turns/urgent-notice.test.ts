import { describe, expect, test } from '@jest/globals';
import { redactableMessage } from '@suzumio/store/redaction/redact-message';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { requestHash, resultAt } from '@suzumio/store/journal';
import { beginSandboxStep, endSandboxStep } from '@suzumio/store/turns/sandbox-steps';
import { keptInput } from '@suzumio/store/turns/kept-input';
import { teamYaml, withModel } from '../../../../test/support/cell.js';
import { answered, answerOf, call } from '../redaction/support.js';
import { type Begun, hashes, type Team, teams } from '../team.js';

const team = teams();
const ai = () => team(withModel(teamYaml).replace('task:', 'tools: { toolpacks: [files, shell] }\ntask:'));
const urgent = (of: Team, change = {}) => of.mail('ada', { priority: 'P0', body: 'The secret word.', ...change });

const input = { artifact: 'x' };
let step = 0;

/** A model's question, and the only call of its answer. */
async function asks(of: Team, begun: Begun, tool: string): Promise<string> {
  const name = tool.replace('.', '_');
  await answered(of, begun, String(++step), answerOf([{ id: 'a', name, arguments: JSON.stringify(input) }]));
  return `${step}.0`;
}

async function told(of: Team, begun: Begun, output: unknown = 'ok'): Promise<string> {
  const at = await asks(of, begun, 'artifacts.list');
  const { result } = await call(of, begun, 'ada', at, 'artifacts.list', input, { output });
  return JSON.stringify(result);
}

const one = 'An urgent message (P0) has come from \\"user\\" while you work. Your next turn reads it';

describe("a person's urgent mail to an agent at work", () => {
  test('is noticed with the next result, once, without its text, and stays unread', async () => {
    const of = await ai();
    const begun = await of.work('ada');
    expect(await told(of, begun)).not.toContain('P0');
    await urgent(of);
    const first = await told(of, begun);
    expect(first).toContain(one);
    expect(first).toContain('\\n\\nok"');
    expect(first).not.toContain('secret');
    expect(await told(of, begun)).not.toContain('P0');
    expect(of.unread('ada')).toBe(1);
    expect(of.rows('SELECT message_id FROM message_reads')).toHaveLength(1);
    await of.complete(begun);
    const [next = ''] = await of.schedule();
    await of.begin(next);
    expect(of.turn(next)?.prompt).toContain('The secret word.');
  });

  test('is counted, all that came since the last notice', async () => {
    const of = await ai();
    const begun = await of.work('ada');
    await urgent(of);
    await urgent(of, { actor: 'another' });
    expect(await told(of, begun)).toContain('2 urgent messages (P0) have come');
    await urgent(of);
    expect(await told(of, begun)).toContain(one);
  });

  test.each([
    ["an agent's", { sender: 'ben', actor: 'ben' }],
    ['less urgent', { priority: 'P1' as const }],
    ["another agent's", { recipient: 'ben' }],
  ])('is not noticed where it is %s', async (_, change) => {
    const of = await ai();
    const begun = await of.work('ada');
    await urgent(of, change);
    expect(await told(of, begun)).not.toContain('P0');
  });

  test('is not noticed where it was in the prompt, or was redacted meanwhile', async () => {
    const of = await ai();
    await urgent(of);
    const begun = await of.work('ada');
    expect(await told(of, begun)).not.toContain('P0');
    const { id } = await urgent(of);
    await of.write((tx) => tx.run(`UPDATE messages SET redacted_json = '{}', body = '' WHERE id = :id`, { id }));
    expect(redactableMessage(of.store.reader, id).redacted).toBeDefined();
    expect(await told(of, begun)).not.toContain('P0');
  });

  test('is noticed with a failure, and not with a result that is no text', async () => {
    const of = await ai();
    const begun = await of.work('ada');
    await urgent(of);
    expect(await told(of, begun, { is: 1 })).not.toContain('P0');
    const made = { step: await asks(of, begun, 'artifacts.list'), tool: 'artifacts.list' };
    const hash = { input: keptInput(input), requestHash: requestHash('artifacts.list', input) };
    const failed = await of.call(begun, 'ada', { ...made, ...hash }, () => {
      throw new SuzumioError('artifact-unknown', 'There is none.');
    });
    expect(failed.result).toMatchObject({
      ok: false,
      message: expect.stringContaining('urgent message (P0)') as unknown,
    });
  });

  test('is not noticed by a script', async () => {
    const of = await team();
    const begun = await of.work('ada');
    await urgent(of);
    const { result } = await of.call(begun, 'ada', { step: '0.0' });
    expect(result).toEqual({ ok: true, response: { output: 'ok' } });
  });
});

describe('a recorded notice', () => {
  test('is the same for a later attempt', async () => {
    const of = await ai();
    const begun = await of.work('ada');
    await urgent(of);
    const at = await asks(of, begun, 'artifacts.list');
    const first = await call(of, begun, 'ada', at, 'artifacts.list', input, { output: 'ok' });
    await of.fail(begun, 'container-vanished');
    const again = await of.begin(begun.turn);
    await urgent(of);
    const second = await call(of, again, 'ada', at, 'artifacts.list', input, { output: 'other' });
    expect(second).toEqual({ ...first, replayed: true });
    expect(JSON.stringify(first.result)).toContain(one);
  });

  test('is the same for a step in the sandbox that is taken again', async () => {
    const of = await ai();
    const take = async (begun: Begun, key: string) => {
      const at = { ...begun, tokenHash: hashes(begun.attempt).tool, step: key };
      const made = { tool: 'shell.exec', input: keptInput(input), requestHash: requestHash('shell.exec', input) };
      expect(await of.write((tx) => beginSandboxStep(tx, { ...at, ...made, agent: 'ada' }))).toBe('begun');
      await of.write((tx) => endSandboxStep(tx, at, { output: `run ${begun.attempt}` }));
      return JSON.stringify(resultAt(of.store.reader, begun.turn, key));
    };
    const begun = await of.work('ada');
    await urgent(of);
    const at = await asks(of, begun, 'shell.exec');
    expect(await take(begun, at)).toContain(one);
    await of.fail(begun, 'container-vanished');
    const again = await of.begin(begun.turn);
    const second = await take(again, at);
    expect(second).toContain(one);
    expect(second).toContain('run 2');
    expect(await take(again, await asks(of, again, 'shell.exec'))).not.toContain('P0');
  });
});

test('senders hear who is at work, and since when', async () => {
  const of = await team();
  const begun = await of.work('ada');
  const since = new Date(of.nowMs).toISOString();
  of.advance(60_000);
  expect((await of.mail('ada')).busy).toEqual([{ agent: 'ada', turn: 1, since }]);
  expect((await of.mail('ben')).busy).toEqual([]);
  await of.complete(begun);
  expect((await of.mail('ada')).busy).toEqual([]);
});
