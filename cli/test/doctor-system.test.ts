import { expect, test } from '@jest/globals';
import type { SystemAnswer } from '@suzumio/contract/operations/service';
import { judgeSystem } from '../src/doctor/check-system.js';

const at = '2026-11-26T08:00:00.000Z';
const alive = (service: string) => ({ service, host: 'north', since: at, seenAt: at, alive: true });

const system = (change: Partial<SystemAnswer> = {}): SystemAnswer => ({
  version: '1.0.0',
  at,
  paused: null,
  services: [alive('api'), alive('scheduler'), alive('toolhost')],
  toolhosts: [{ url: 'http://toolhost:39410', version: '1.0.0', problem: null }],
  queue: { kind: 'redis', turns: { waiting: 3, active: 2, delayed: 0 } },
  workers: { connected: 1, ready: 1, slots: 4, busy: 2, elsewhere: 0 },
  failures: { agents: 0, items: [] },
  undelivered: { messages: 0, items: [] },
  disk: null,
  projects: 1,
  unreadable: [],
  ...change,
});
const judged = (change: Partial<SystemAnswer> = {}) =>
  judgeSystem(system(change), 'suzumio').map(({ what, state, detail }) => `${state} ${what}: ${detail}`);

test('what was seen is said, with how much is queued', () => {
  expect(judged()).toEqual([
    'ok scheduler: 1 alive, on north',
    'ok toolhost: 1 alive, on north',
    'ok queue: Redis: 3 waiting, 2 active, 0 delayed',
  ]);
});

test('a service that does not beat, a ToolHost that does not answer and a queue that is away are broken', () => {
  const services = [alive('api'), { ...alive('scheduler'), alive: false }];
  const toolhosts = [{ url: 'http://toolhost:39410', version: null, problem: 'fetch failed' }];
  expect(judged({ services, toolhosts, queue: { kind: 'redis', turns: null } })).toEqual([
    `broken scheduler: none is alive (the last was seen at ${at}): no turn starts`,
    'broken toolhost: none is alive (none has been seen lately): no turn can be claimed',
    'broken toolhost: http://toolhost:39410 does not answer the API (fetch failed)',
    'broken queue: the API cannot reach Redis',
  ]);
});

test('failed agents and undelivered mail are named with the command that goes on', () => {
  const failure = { project: 'river', agent: 'mio', turnNumber: 4, code: 'step-limit' as const, message: 'No.', at };
  const mail = { project: 'river', seq: 3, agent: 'mio', turnNumber: 4 };
  expect(
    judged({
      failures: { agents: 2, items: [{ ...failure, next: 'why river mio', request: null }] },
      undelivered: { messages: 1, items: [{ ...mail, next: 'redeliver river 3 --agent mio', request: null }] },
    }).slice(3),
  ).toEqual([
    'skipped agents: 2 agents failed; suzumio why river mio',
    'skipped mail: 1 message undelivered; suzumio redeliver river 3 --agent mio',
  ]);
});
