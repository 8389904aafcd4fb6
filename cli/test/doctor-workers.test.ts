import { expect, test } from '@jest/globals';
import type { WorkerView } from '@suzumio/contract/operations/service';
import { judgeWorkers } from '../src/doctor/check-workers.js';

const worker = (change: Partial<WorkerView> = {}): WorkerView => ({
  worker: 'w1',
  state: 'ready',
  problem: null,
  slots: 4,
  busy: null,
  version: null,
  backends: ['docker'],
  images: null,
  ...change,
});
const judged = (...workers: WorkerView[]) =>
  judgeWorkers(workers, 'suzumio').map(({ state, detail, remedy = '' }) => `${state} ${detail} | ${remedy}`);

test('a worker whose credential was revoked is named, with what to do', () => {
  const refused = worker({ worker: 'w2', state: 'not-ready', slots: 0, problem: 'token-rejected' });
  expect(judged(worker(), refused)).toEqual([
    'ok 1 connected | ',
    expect.stringMatching(
      /^broken w2 is refused \(token-rejected\): .*revoked.* \| .*suzumio tokens create NAME --scope worker/,
    ),
  ]);
});

test('a worker whose host can run no turns is named, with its problem', () => {
  expect(judged(worker({ state: 'not-ready', problem: 'engine-unreachable' }))).toEqual([
    'broken w1 takes no turns (engine-unreachable) | its log says what is wrong on its host',
  ]);
});

test('without workers, or with draining ones, nothing is broken', () => {
  expect(judged()).toEqual(['skipped none is connected: turns wait for one | ']);
  expect(judged(worker({ state: 'draining', slots: 0 }))).toEqual(['ok 1 connected | ']);
});
