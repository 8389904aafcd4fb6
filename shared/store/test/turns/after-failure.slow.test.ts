import { describe, expect, test } from '@jest/globals';
import { stepAfterEvent, stepAfterFailure, wordsAfterFailure } from '@suzumio/core/why/what-helps';
import { type FailureCode, failureCodes } from '@suzumio/protocol/failure-codes';
import { changeBudget } from '@suzumio/store/budgets/change-budget';
import { beginModelCall } from '@suzumio/store/models/begin-model-call';
import { recordModelAnswer, recordModelRefusal } from '@suzumio/store/models/record-model-answer';
import { turnRow } from '@suzumio/store/rows';
import { resetAgent } from '@suzumio/store/turns/agent-transitions';
import { failTurn } from '@suzumio/store/turns/fail-attempt';
import { retryTurn } from '@suzumio/store/turns/retry-turn';
import { type Begun, hashes, type Team, teams } from '../team.js';

const team = teams();

const thinkers = `
name: thinkers
task: Think.
turn: { maxSteps: 1 }
backend:
  runner:
    mode: ai
    model: only
    models:
      providers: { one: { type: openai-compatible, baseURL: "http://127.0.0.1:9/v1" } }
      presets: { only: { provider: one, model: m, price: { input: 1, output: 2 } } }
agents:
  ada: { role: thinker, prompt: Think. }
`;

/** Has a turn ask its model at a step, as its runner would. */
async function ask(of: Team, begun: Begun, step: string) {
  const sent = { preset: 'only', model: 'm', cost: { tokens: 0, nanoUsd: 0 }, inputTokens: 0, outputTokens: 0 };
  const question = {
    ...begun,
    tokenHash: hashes(begun.attempt).tool,
    step,
    requestHash: 'h',
    purpose: 'turn' as const,
    preset: 'only',
    worst: { tokens: 1, nanoUsd: 1 },
    sent: { ...sent, estimated: true },
  };
  return of.write((tx) => beginModelCall(tx, question, { owner: 'o', untilMs: of.nowMs + 1_000 }));
}

/** The same, and what the model answers. */
async function answer(of: Team, begun: Begun, step: string): Promise<void> {
  const asked = await ask(of, begun, step);
  if (asked.state !== 'begun') throw new Error(JSON.stringify(asked));
  const cost = { tokens: 2, nanoUsd: 2 };
  const by = { preset: 'only', provider: 'one', model: 'm', cost, inputTokens: 1, outputTokens: 1, estimated: false };
  await of.write((tx) => recordModelAnswer(tx, asked.call, { text: 'Well.', toolCalls: [], finishReason: 'stop' }, by));
}

const failureOf = (of: Team, turn: string) =>
  (JSON.parse(of.turn(turn)?.failure_json ?? '{}') as { code?: FailureCode }).code;

/** Takes the step that is advised; where that is to look at a limit, the limit is lifted and the turn retried. */
async function takeAdvice(of: Team, agent: string, code: string): Promise<string | undefined> {
  const { next, request } = stepAfterFailure(of.project, agent, code);
  switch (request?.operation) {
    case 'retryAgent':
      await of.write((tx) => retryTurn(tx, agent, 'test'));
      break;
    case 'resetAgent':
      await of.write((tx) => resetAgent(tx, agent, 'test', { redeliver: true }));
      await of.schedule();
      break;
    case 'getBudget':
    case 'getUsage':
      await of.write((tx) => changeBudget(tx, undefined, { turns: 'unlimited' }, 'test'));
      await of.write((tx) => retryTurn(tx, agent, 'test'));
      break;
    case undefined:
    default:
      throw new Error(`nothing is advised after ${code}: ${next}`);
  }
  return request.operation;
}

describe('what is advised after a failure', () => {
  test.each(Object.keys(failureCodes) as FailureCode[])('%s leads on', async (code) => {
    const of = await team();
    const { turn } = await of.work('ada');
    await of.write((tx) => failTurn(tx, turnRow(tx, turn), { code, message: 'It went wrong.' }));
    expect(of.stateOf('ada')).toBe('failed');
    const taken = await takeAdvice(of, 'ada', code);
    const next = of.activeTurn('ada') ?? '';
    expect(next === turn).toBe(taken !== 'resetAgent');
    await of.complete(await of.begin(next));
    expect(of.stateOf('ada')).toBe('quiet');
    expect(of.unread('ada')).toBe(0);
  });

  test('step-limit begins a new turn, since another attempt is at its limit at once', async () => {
    const of = await team(thinkers);
    const first = await of.work('ada');
    await answer(of, first, '0');
    expect(await ask(of, first, '1')).toMatchObject({ state: 'refused', code: 'step-limit-reached' });
    await of.write((tx) => retryTurn(tx, 'ada', 'test'));
    const second = await of.begin(first.turn);
    expect(await ask(of, second, '0')).toMatchObject({ state: 'recorded' });
    expect(await ask(of, second, '1')).toMatchObject({ state: 'refused', code: 'step-limit-reached' });
    expect(failureOf(of, first.turn)).toBe('step-limit');
    await takeAdvice(of, 'ada', 'step-limit');
    const turn = of.activeTurn('ada') ?? '';
    expect(turn).not.toBe(first.turn);
    await answer(of, await of.begin(turn), '0');
  });

  test('context-overflow begins a new turn, since another attempt is told the same', async () => {
    const of = await team(thinkers);
    const first = await of.work('ada');
    const asked = await ask(of, first, '0');
    if (asked.state !== 'begun') throw new Error(JSON.stringify(asked));
    await of.write((tx) => recordModelRefusal(tx, asked.call, 'context-overflow', 'It is too long.'));
    await of.fail(first, 'context-overflow');
    await of.write((tx) => retryTurn(tx, 'ada', 'test'));
    const second = await of.begin(first.turn);
    expect(await ask(of, second, '0')).toMatchObject({ state: 'recorded', result: { code: 'context-overflow' } });
    await of.fail(second, 'context-overflow');
    await takeAdvice(of, 'ada', 'context-overflow');
    await answer(of, await of.begin(of.activeTurn('ada') ?? ''), '0');
  });

  test('something that a person has to mend first is told by why, and then retried', () => {
    for (const code of ['ref-unknown', 'provider-key-rejected', 'policy-denied', 'image-without-tools']) {
      expect(stepAfterEvent('team', 'ada', code).next).toBe('why team ada');
      expect(stepAfterFailure('team', 'ada', code).next).toBe('agents retry team ada');
      expect(wordsAfterFailure(code)).toMatch(/^Retry it once /);
    }
    expect(wordsAfterFailure('ref-unknown')).toContain('suzumio config apply');
    expect(stepAfterEvent('team', 'ada', 'model-refused').next).toBe('agents reset team ada --redeliver');
    expect(stepAfterEvent('team', 'ada', 'of-another-version').next).toBe('agents retry team ada');
  });
});
