import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import type { Router } from 'express';
import type { ClaimWaits } from '../src/claim-waits.js';
import type { ToolhostContext } from '../src/context.js';
import { runnerRouters, workerRouters } from '../src/routers.js';
import { teamYaml } from '../../../test/support/cell.js';
import { type Begun, type ToolhostBench, toolhostBench } from './toolhost-client.js';

type Opens = 'tool' | 'tool of a handler' | 'lease' | 'worker' | 'handler' | 'service';

/** A layer of a router, as Express keeps it. */
interface Layer {
  route?: { path: string; stack: { method?: string }[] };
  handle: { stack?: Layer[] };
}

/** Each route of some routers, as `METHOD path`. */
function routesOf(routers: readonly Router[]): string[] {
  const within = (layers: readonly Layer[]): string[] =>
    layers.flatMap(({ route, handle }) => {
      if (!route) return within(handle.stack ?? []);
      return route.stack.map(({ method = 'all' }) => `${method.toUpperCase()} ${route.path}`);
    });
  return [...new Set(within(routers.flatMap((router) => router.stack as unknown as Layer[])))].sort();
}

const attempt = '/projects/:project/turns/:turn/attempts/:attempt';
const comparison = '/projects/:project/repository-diffs/:diff';
const claims = '/projects/:project/handlers';

const toolRoutes: Record<string, Opens> = {
  'POST /tool': 'tool',
  'POST /tool/begin': 'tool',
  'POST /tool/end': 'tool',
  'POST /support': 'tool',
  'GET /content/:sha256': 'tool',
  'PUT /content/:sha256': 'tool',
};
/** Which credential opens each route. A new one is refused here until it has its line. */
const listeners: { runner: Record<string, Opens>; worker: Record<string, Opens> } = {
  runner: {
    ...toolRoutes,
    'GET /git': 'tool',
    'GET /git/packs/:sha256': 'tool',
    'PUT /git/packs/:sha256': 'tool',
    'POST /git/push': 'tool',
    'POST /v1/chat/completions': 'tool',
    'GET /v1/models': 'tool',
  },
  worker: {
    ...(Object.fromEntries(Object.keys(toolRoutes).map((route) => [route, 'tool of a handler'])) as typeof toolRoutes),
    'POST /projects/:project/turns/:turn/claim': 'worker',
    'POST /projects/gone': 'worker',
    [`POST ${attempt}/heartbeat`]: 'lease',
    [`POST ${attempt}/capture`]: 'lease',
    [`POST ${attempt}/mark`]: 'lease',
    [`POST ${attempt}/live`]: 'lease',
    [`POST ${attempt}/complete`]: 'lease',
    [`POST ${attempt}/fail`]: 'lease',
    [`PUT ${attempt}/log`]: 'lease',
    [`PUT ${attempt}/base`]: 'lease',
    [`PUT ${attempt}/upstream`]: 'lease',
    [`GET ${attempt}/content/:sha256`]: 'lease',
    [`PUT ${attempt}/content/:sha256`]: 'lease',
    [`POST ${comparison}/claim`]: 'worker',
    [`GET ${comparison}/packs/:sha256`]: 'worker',
    [`POST ${comparison}/end`]: 'worker',
    'GET /handlers/self': 'handler',
    [`POST ${claims}/claim`]: 'handler',
    [`DELETE ${claims}/claims/:claimId`]: 'handler',
    'GET /projects/:project/turns/:turn/live': 'service',
    'GET /health': 'service',
  },
};
type Listener = keyof typeof listeners;
const routes = (['runner', 'worker'] as const).flatMap((listener) =>
  Object.entries(listeners[listener]).map(([route, opens]): [Listener, string, Opens] => [listener, route, opens]),
);

test('each route of the ToolHost is in this table', () => {
  // They use their context when they are asked only.
  const context = {} as ToolhostContext;
  expect(routesOf(runnerRouters(context))).toEqual(Object.keys(listeners.runner).sort());
  expect(routesOf(workerRouters(context, {} as ClaimWaits))).toEqual(Object.keys(listeners.worker).sort());
});

interface Refusal {
  status: number;
  code: unknown;
}
const rejected = { status: 401, code: 'token-rejected' };

let bench: ToolhostBench;
/** Attempts under way, of which each token below is not. */
let living: Begun;
let neighbour: Begun;
/** Attempts whose tokens are tried. */
let first: Begun;
let ended: Begun;
let recreated: Begun;
let recreatedNow: Begun;
let deleted: Begun;

beforeAll(async () => {
  bench = await toolhostBench();
  const { testing } = bench;
  const remove = (project: string) => testing.cell.deleteProject(project, { actor: 'test' });
  const named = (name: string) => testing.create(teamYaml.replace('name: team', `name: ${name}`));
  const team = await testing.create(`${teamYaml}git: { shared: true, maintainers: [ada] }\n`);
  first = await bench.begin(team, 'ada');
  expect((await first.report('fail', { failure: { code: 'worker-lost', message: 'Gone.' } })).body).toEqual({
    turn: 'queued',
  });
  testing.setNow(testing.cell.context.now() + 3_600_000);
  const again = await bench.claim(team, first.turn);
  living = { ...first, answer: again.body as unknown as Begun['answer'] };
  expect(living.answer.attempt).toBe(2);
  ended = await bench.begin(team, 'cat');
  await ended.report('complete', { output: { text: 'Done.' } });
  neighbour = await bench.begin(team, 'ben');
  recreated = await bench.begin(await named('again'), 'ada');
  await remove('again');
  recreatedNow = await bench.begin(await named('again'), 'ada');
  deleted = await bench.begin(await named('gone'), 'ada');
  await remove('gone');
});
afterAll(() => bench.close());

/** Asks a route, with what names a turn in its path. */
async function ask(
  [listener, route]: readonly [Listener, string, ...unknown[]],
  token: string,
  at: { project: string; turn: string; attempt: number },
  body: unknown = {},
): Promise<Refusal> {
  const [method = '', path = ''] = route.split(' ');
  const values: Record<string, string> = {
    project: at.project,
    turn: at.turn,
    attempt: String(at.attempt),
    sha256: 'a'.repeat(64),
    diff: '1',
    claimId: 'c'.repeat(32),
  };
  const url = listener === 'runner' ? bench.toolhost.runnerUrl : bench.toolhost.workerUrl;
  const response = await fetch(url + path.replaceAll(/:(\w+)/g, (_whole, name: string) => values[name] ?? ''), {
    method,
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: method === 'GET' ? null : JSON.stringify(body),
  });
  const text = await response.text();
  const told = text.startsWith('{') ? (JSON.parse(text) as { code?: unknown }) : {};
  return { status: response.status, code: told.code };
}

const placeOf = ({ turn, answer }: Begun, project = 'team') => ({ project, turn, attempt: answer.attempt });
const replaced = (token: string, part: number, by: string) =>
  token
    .split('.')
    .map((each, index) => (index === part ? by : each))
    .join('.');

/** Bodies that are read before it is seen that an attempt is over. */
const bodies: Record<string, unknown> = {
  capture: { number: 1, snapshot: null, steps: ['0.0'] },
  mark: { steps: ['0.0'] },
  live: { skipped: 0, output: [] },
  complete: { output: { text: 'Again.' } },
  fail: { failure: { code: 'non-zero-exit', message: 'Exit 1.' } },
};

/** What bodies hold that name a turn, besides its name. */
const named: Record<string, object> = {
  'POST /tool': { tool: 'artifacts.list', input: {} },
  'POST /tool/begin': { tool: 'file.read', input: {}, step: '0.0' },
  'POST /tool/end': { step: '0.0', result: { output: '' } },
  'POST /support': { step: '0.0', number: 1, toolpack: 'gauges', asks: { tool: 'x', input: {} } },
  'POST /git/push': { key: 'k'.repeat(8), updates: [{ ref: 'refs/heads/x', from: null, to: 'a'.repeat(40) }] },
};

describe.each(routes)('the %s listener’s %s, for a token of kind %s,', (listener, route, opens) => {
  const asked = [listener, route] as const;
  const attempts = ['tool', 'lease'] as const;
  const tokenOf = ({ answer }: Begun, kind: (typeof attempts)[number]) =>
    kind === 'tool' ? answer.toolToken : answer.leaseToken;

  test('is closed to tokens of another kind, and to altered ones', async () => {
    const others = attempts.filter((kind) => kind !== opens).map((kind) => tokenOf(living, kind));
    const altered = attempts.flatMap((kind) => {
      const token = tokenOf(living, kind);
      const last = token.endsWith('A') ? 'B' : 'A';
      return [
        replaced(token, 1, 'another-cell'),
        replaced(token, 5, '1'),
        replaced(token, 5, '3'),
        replaced(token, 4, neighbour.turn),
        token.slice(0, -1) + last,
      ];
    });
    for (const token of [...others, ...altered]) expect(await ask(asked, token, placeOf(living))).toEqual(rejected);
    for (const kind of attempts) {
      // Of another project, which knows the turn not.
      const other = replaced(tokenOf(living, kind), 2, 'again');
      const refused = await ask(asked, other, placeOf(living, 'again'));
      expect([401, 404]).toContain(refused.status);
    }
  });

  test('is closed to tokens of a project that was deleted, also where another has its name', async () => {
    for (const kind of attempts) {
      const isKind = opens === kind || (kind === 'tool' && opens === 'tool of a handler');
      const old = tokenOf(recreated, kind);
      expect(await ask(asked, old, placeOf(recreated, 'again'))).toEqual(rejected);
      expect(await ask(asked, old, placeOf(recreatedNow, 'again'))).toEqual(rejected);
      const gone = await ask(asked, tokenOf(deleted, kind), placeOf(deleted, 'gone'));
      expect(gone).toEqual(isKind ? { status: 404, code: 'project-unknown' } : rejected);
    }
  });

  if (opens === 'tool' || opens === 'tool of a handler') {
    test('is closed to the tool token of an attempt that is over, or of an earlier one of its turn', async () => {
      for (const over of [ended, first])
        expect(await ask(asked, over.answer.toolToken, placeOf(over))).toEqual(rejected);
    });
  }

  if (opens === 'lease') {
    test('does for another turn or attempt nothing, and for one that is over only what ends it', async () => {
      for (const each of [neighbour, first, ended]) {
        expect(await ask(asked, each.answer.leaseToken, placeOf(living))).toEqual(rejected);
      }
      const lateness: Record<string, Refusal[]> = {
        // It learns that it is to stop.
        heartbeat: [{ status: 200, code: undefined }],
        // A report that is repeated is answered the same, and changes nothing.
        complete: [
          { status: 200, code: undefined },
          { status: 409, code: 'attempt-over' },
        ],
        // Once, within a minute.
        log: [
          { status: 204, code: undefined },
          { status: 409, code: 'attempt-over' },
        ],
      };
      const over = lateness[route.slice(route.lastIndexOf('/') + 1)] ?? [{ status: 409, code: 'attempt-over' }];
      for (const each of [first, ended]) {
        const answer = await ask(
          asked,
          each.answer.leaseToken,
          placeOf(each),
          bodies[route.slice(route.lastIndexOf('/') + 1)],
        );
        expect(over).toContainEqual(answer);
      }
    });
  }

  if (opens === 'tool' && route in named) {
    test('is for the token’s own turn: a body that names another one is refused', async () => {
      const body = { project: 'team', agent: 'ada', turn: living.turn, ...named[route] };
      expect(await ask(asked, neighbour.answer.toolToken, placeOf(living), body)).toEqual({
        status: 403,
        code: 'forbidden',
      });
    });
  }

  if (opens === 'tool' || opens === 'lease') {
    test('is open to the token of the attempt under way', async () => {
      if (/\/(?:complete|fail)$/.test(route)) return;
      const { status } = await ask(asked, tokenOf(living, opens), placeOf(living));
      expect([200, 204, 400, 403, 404, 411, 413, 422]).toContain(status);
    });
  }
});

test('no token of another attempt counted against the one under way, or changed what was reported', async () => {
  const rows = await bench.testing.rows<{ refused_calls: number; contradictions: number }>(
    'team',
    `SELECT refused_calls, contradictions FROM turn_attempts WHERE turn_id = '${living.turn}' ORDER BY number`,
  );
  expect(rows[0]).toEqual({ refused_calls: 0, contradictions: 0 });
  expect(rows[1]?.contradictions).toBe(0);
  const done = await bench.testing.rows('team', `SELECT output_text FROM turns WHERE id = '${ended.turn}'`);
  expect(done).toEqual([{ output_text: 'Done.' }]);
});
