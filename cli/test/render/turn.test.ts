import { expect, test } from '@jest/globals';
import type { ModelCallView } from '@suzumio/contract/model/model-call';
import type { TurnDetail } from '@suzumio/contract/model/turn';
import { renderTurn } from '@suzumio/cli/render/turn';

const at = (clock: string) => `2026-11-21T${clock}Z`;
const context = {
  out: {
    write: () => undefined,
    drained: () => Promise.resolve(),
    isTerminal: false,
    colors: false,
    columns: undefined,
  },
  timeZone: 'UTC',
};

const call: ModelCallView = {
  id: 'call_1',
  step: '0',
  attempt: 1,
  purpose: 'turn',
  status: 'answered',
  preset: 'quick',
  provider: 'one',
  model: 'quick-1',
  inputTokens: 1200,
  outputTokens: 80,
  cachedTokens: 0,
  costUsd: 0.0012,
  estimated: false,
  reading: null,
  errorCode: null,
  startedAt: at('20:00:00.000'),
  endedAt: at('20:00:02.500'),
};

const attempt: TurnDetail['attempts'][number] = {
  number: 1,
  status: 'completed',
  worker: 'w1',
  credential: null,
  engine: 'docker',
  counted: null,
  failure: null,
  stats: null,
  startedAt: at('20:00:00.000'),
  endedAt: at('20:00:05.000'),
};

const plain: TurnDetail = {
  id: 'turn_1',
  seq: 1,
  agent: 'ada',
  number: 1,
  status: 'running',
  priority: 'P1',
  attempt: 1,
  configVersion: 1,
  text: null,
  usage: null,
  endedByTool: null,
  failure: null,
  queuedAt: at('20:00:00.000'),
  notBefore: null,
  startedAt: null,
  endedAt: null,
  files: null,
  toolCalls: 0,
  prompt: null,
  reads: [],
  attempts: [],
  calls: [],
  modelCalls: [],
};

test('a turn lists what it has asked models, what it came to and how that ended', () => {
  const turn: TurnDetail = {
    ...plain,
    modelCalls: [
      { ...call, cachedTokens: 1140 },
      { ...call, step: '1', purpose: 'summary', estimated: true, costUsd: 0 },
      { ...call, step: '2', status: 'failed', errorCode: 'provider-down', model: null, costUsd: 0, endedAt: null },
    ],
  };
  const lines = renderTurn(turn, context);
  expect(lines.slice(lines.indexOf('model calls') + 1).map((line) => line.split(/ {2,}/))).toEqual([
    ['STEP', 'PRESET', 'MODEL', 'OUTCOME', 'TOKENS IN', 'TOKENS OUT', 'COST', 'TOOK'],
    ['0', 'quick', 'quick-1', 'answered', '1200 (1140 cached)', '80', '$0.0012', '2.5 s'],
    ['1 (summary)', 'quick', 'quick-1', 'answered', '1200 (estimated)', '80', '-', '2.5 s'],
    ['2', 'quick', 'provider-down', '1200', '80', '-'],
  ]);
});

test('a turn says what of its files no snapshot has', () => {
  const facts = (stats: typeof attempt.stats) =>
    renderTurn({ ...plain, attempts: [attempt, { ...attempt, number: 2, stats }] }, context).filter((line) =>
      /^(ignored|left out|withheld|unsaved)/.test(line),
    );
  expect(facts(null)).toEqual([]);
  expect(
    facts({
      ignoredFiles: 1234,
      leftOut: { count: 3, names: ['pipe', 'caf\ufffd\nunsaved'] },
      unpublished: { count: 2, items: [{ name: 'a\nb', why: 'it is a link' }] },
      unsaved: { code: 'quota-exceeded', message: 'Too much.\nIndeed.' },
    }),
  ).toEqual([
    'ignored  1234 files',
    'left out 3: pipe, caf\ufffd unsaved, …',
    'withheld 2: a b (it is a link), …',
    'unsaved  quota-exceeded: Too much. Indeed.',
  ]);
});
