import { expect, test } from '@jest/globals';
import type { SystemAnswer, WorkerView } from '@suzumio/contract/operations/service';
import { judgeSystem } from '../src/operations/judge-system.js';

const at = '2026-11-26T08:00:00.000Z';
const alive = (service: string) => ({ service, host: 'north', since: at, seenAt: at, alive: true });

type Seen = Omit<SystemAnswer, 'findings'>;
const system = (change: Partial<Seen> = {}): Seen => ({
  version: '1.0.0',
  at,
  paused: null,
  services: [alive('api'), alive('scheduler'), alive('toolhost')],
  toolhosts: [{ url: 'http://toolhost:39410', version: '1.0.0', problem: null }],
  queue: { kind: 'redis', turns: { waiting: 3, active: 2, delayed: 0 } },
  workers: { connected: 1, ready: 1, slots: 4, busy: 2, elsewhere: 0, lost: 0 },
  failures: { agents: 0, items: [] },
  undelivered: { messages: 0, items: [] },
  models: [],
  disk: null,
  projects: 1,
  unreadable: [],
  ...change,
});
const judged = (change: Partial<Seen> = {}) =>
  judgeSystem(system(change), null).map(({ what, state, detail, next }) =>
    [`${state} ${what}: ${detail}`, ...(next === null ? [] : [next])].join('; '),
  );

test('what was seen is said, with how much is queued', () => {
  expect(judged()).toEqual([
    'ok scheduler: 1 alive, on north',
    'ok toolhost: 1 alive, on north',
    'ok queue: Redis: 3 waiting, 2 active, 0 delayed',
    'ok data: is written to, 1 project',
    'skipped disk: how much is free is not known',
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
    'ok data: is written to, 1 project',
    'skipped disk: how much is free is not known',
  ]);
});

test('a data directory that takes no heartbeats or has projects that cannot be read, and a full disk, are broken', () => {
  const disk = { freeBytes: 3 * 1024 ** 2, freeFiles: null, shortFor: ['files' as const] };
  expect(judged({ projects: 3, unreadable: ['river'], disk }).slice(3)).toEqual([
    'broken data: river cannot be read (1 of 3 projects); verify',
    'broken disk: 3 MiB free: too little for files',
  ]);
  expect(judged({ services: [] })).toContain(
    'broken data: none is alive (none has been seen lately): the API answers and cannot write to its data directory',
  );
});

test('failed agents and undelivered mail are named with the command that goes on', () => {
  const failure = { project: 'river', agent: 'mio', turnNumber: 4, code: 'step-limit' as const, message: 'No.', at };
  const mail = { project: 'river', seq: 3, agent: 'mio', turnNumber: 4 };
  expect(
    judged({
      failures: { agents: 2, items: [{ ...failure, next: 'why river mio', request: null }] },
      undelivered: { messages: 1, items: [{ ...mail, next: 'redeliver river 3 --agent mio', request: null }] },
    }).slice(3, 5),
  ).toEqual([
    'skipped agents: 2 agents failed; why river mio',
    'skipped mail: 1 message undelivered; redeliver river 3 --agent mio',
  ]);
});

const worker = (change: Partial<WorkerView> = {}): WorkerView => ({
  worker: 'w1',
  state: 'ready',
  problem: null,
  slots: 4,
  busy: null,
  version: null,
  commit: null,
  host: null,
  lostSince: null,
  backends: ['docker'],
  images: null,
  ...change,
});
const judgedOf = (...workers: WorkerView[]) =>
  judgeSystem(system(), workers)
    .filter(({ what }) => what === 'workers')
    .map(({ state, detail, remedy, next }) => `${state} ${detail} | ${remedy ?? ''} | ${next ?? ''}`);

test('a worker whose credential was revoked is named, with what to do', () => {
  const refused = worker({ worker: 'w2', state: 'not-ready', slots: 0, problem: 'token-rejected' });
  expect(judgedOf(worker(), refused)).toEqual([
    'ok 1 connected |  | ',
    expect.stringMatching(
      /^broken w2 is refused \(token-rejected\): .*revoked.* \| make another .* \| tokens create NAME --scope worker$/,
    ),
  ]);
});

test('a worker whose host can run no turns is named, with its problem', () => {
  expect(judgedOf(worker({ state: 'not-ready', problem: 'engine-unreachable' }))).toEqual([
    'broken w1 takes no turns (engine-unreachable) | its log says what is wrong on its host | ',
  ]);
});

test('a lost worker is named with its host, its program and the moment, beside those that work', () => {
  const gone = { state: 'lost' as const, slots: 0, host: 'north', version: '1.0.0', commit: 'a1b2c3', lostSince: at };
  const named = `broken w2 on north (1.0.0 a1b2c3) is lost: last heard of at ${at}; its turns go on elsewhere once their leases end`;
  const lost = worker({ worker: 'w2', ...gone });
  expect(judgedOf(worker(), lost).map((finding) => finding.split(' | ')[0])).toEqual(['ok 1 connected', named]);
  expect(judgedOf(lost).map((finding) => finding.split(' | ')[0])).toEqual([
    named,
    'skipped none is connected: turns wait for one',
  ]);
});

test('without workers, or with draining ones, nothing is broken', () => {
  expect(judgedOf()).toEqual(['skipped none is connected: turns wait for one |  | ']);
  expect(judgedOf(worker({ state: 'draining', slots: 0 }))).toEqual(['ok 1 connected |  | ']);
});

test('a preset that refuses is broken, though another one may answer in its place', () => {
  const models = [
    { project: 'river', preset: 'quick', code: 'provider-key-rejected' as const, message: 'No such key.', at },
  ];
  expect(judgeSystem(system({ models }), null)).toContainEqual(
    expect.objectContaining({
      what: 'models',
      state: 'broken',
      detail: expect.stringContaining('preset quick of river refuses') as unknown,
    }),
  );
});
