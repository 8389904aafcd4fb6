import { afterAll, beforeAll, beforeEach, expect, test } from '@jest/globals';
import * as z from 'zod';
import fc from '../support/fast-check.js';
import { routesOf } from '../../services/api/test/support/routes.js';
import { attemptsRouter } from '../../services/toolhost/src/attempts-router.js';
import { ClaimWaits } from '../../services/toolhost/src/claim-waits.js';
import type { ToolhostContext } from '../../services/toolhost/src/context.js';
import { gitRouter } from '../../services/toolhost/src/git-router.js';
import { healthRouter } from '../../services/toolhost/src/health-router.js';
import { handlersRouter } from '../../services/toolhost/src/handlers-router.js';
import { liveRouter } from '../../services/toolhost/src/live-router.js';
import { toolsRouter } from '../../services/toolhost/src/tools-router.js';
import type { ClaimAnswer } from '../../shared/protocol/src/attempts.js';
import {
  captureRequest,
  claimRequest,
  completeRequest,
  failRequest,
  goneProjects,
  markRequest,
} from '../../shared/protocol/src/attempts.js';
import { handlerClaimRequest, handlersProtocol } from '../../shared/protocol/src/handlers.js';
import { liveReport } from '../../shared/protocol/src/live.js';
import { endStepRequest } from '../../shared/protocol/src/sandbox-steps.js';
import { pushRequest } from '../../shared/protocol/src/shared-repository.js';
import { lookReport, workspaceBase } from '../../shared/protocol/src/repository.js';
import { coreToolNames, toolsOfPacks } from '../../shared/protocol/src/tool-names.js';
import { supportRequest } from '../../shared/protocol/src/toolpacks/support.js';
import type { Transport } from '../../shared/runtime/src/queue/transport.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { type Campaign, campaign, casesOf } from './support/campaign.js';
import type { JsonSchema } from './support/json-schema.js';
import { judgeConversation } from './support/judge.js';
import { talk } from './support/raw-http.js';
import { type Placeholders, requestsTo, type Route, wireOf } from './support/request.js';
import { knownToTools, toolCallsOf } from './support/tool-calls.js';
import { startWorld, type World } from './support/world.js';
import { spoiledWire } from './support/wire.js';

const schema = (type: z.ZodType) => z.toJSONSchema(type, { io: 'input' }) as JsonSchema;
const id = { type: 'string' };

/** What workers, handlers and runners send, by route. A route that is not here fails a test. */
const details: Readonly<Record<string, Partial<Route>>> = {
  'POST /projects/:project/turns/:turn/claim': { body: schema(claimRequest), token: '~worker~' },
  'POST /projects/gone': { body: schema(goneProjects), token: '~worker~' },
  'POST /projects/:project/turns/:turn/attempts/:attempt/heartbeat': { token: '~lease~' },
  'POST /projects/:project/turns/:turn/attempts/:attempt/capture': { body: schema(captureRequest), token: '~lease~' },
  'POST /projects/:project/turns/:turn/attempts/:attempt/mark': { body: schema(markRequest), token: '~lease~' },
  'POST /projects/:project/turns/:turn/attempts/:attempt/live': { body: schema(liveReport), token: '~lease~' },
  // Whoever may follow gets no end; the token of services is in nobody else's hands.
  'GET /projects/:project/turns/:turn/live': { token: '~worker~' },
  'GET /health': { token: '~worker~' },
  'POST /projects/:project/turns/:turn/attempts/:attempt/complete': { body: schema(completeRequest), token: '~lease~' },
  'POST /projects/:project/turns/:turn/attempts/:attempt/fail': { body: schema(failRequest), token: '~lease~' },
  'PUT /projects/:project/turns/:turn/attempts/:attempt/base': { body: schema(workspaceBase), token: '~lease~' },
  'PUT /projects/:project/turns/:turn/attempts/:attempt/upstream': { body: schema(lookReport), token: '~lease~' },
  'PUT /projects/:project/turns/:turn/attempts/:attempt/log': { bytes: 'text/plain', token: '~lease~' },
  'GET /projects/:project/turns/:turn/attempts/:attempt/content/:sha256': { token: '~lease~' },
  'PUT /projects/:project/turns/:turn/attempts/:attempt/content/:sha256': {
    bytes: 'application/octet-stream',
    token: '~lease~',
  },
  'GET /handlers/self': { token: '~handler~' },
  // Whoever may wait keeps the campaign waiting.
  'POST /projects/:project/handlers/claim': {
    body: schema(handlerClaimRequest.omit({ waitMs: true }).extend({ protocol: z.literal(handlersProtocol) })),
    token: '~handler~',
  },
  'DELETE /projects/:project/handlers/claims/:claimId': { token: '~handler~' },
  'POST /tool': { body: toolCallsOf(coreToolNames), token: '~tool~' },
  'POST /tool/begin': { body: toolCallsOf(toolsOfPacks(['files', 'shell'])), token: '~tool~' },
  'POST /tool/end': { body: schema(endStepRequest), token: '~tool~' },
  'POST /support': { body: schema(supportRequest), token: '~tool~' },
  'GET /content/:sha256': { token: '~tool~' },
  'GET /git': { query: { after: id }, token: '~tool~' },
  'GET /git/packs/:sha256': { token: '~tool~' },
  'PUT /git/packs/:sha256': { bytes: 'application/octet-stream', token: '~tool~' },
  'POST /git/push': { body: schema(pushRequest), token: '~tool~' },
  'PUT /content/:sha256': { bytes: 'application/octet-stream', token: '~tool~' },
};

function routesIn(router: unknown): Route[] {
  return routesOf({ router } as unknown as Parameters<typeof routesOf>[0]).map((name): Route => {
    const [method = '', path = ''] = name.split(' ');
    const parameters = Object.fromEntries([...path.matchAll(/:(\w+)/g)].map(([, part = '']) => [part, id]));
    return { name, method, path, parameters, query: {}, headers: {}, ...details[name] };
  });
}

const context = {} as ToolhostContext;
const runnerRoutes = [...routesIn(toolsRouter(context)), ...routesIn(gitRouter(context))];
const isRunners = ({ name }: Route) => runnerRoutes.some((route) => route.name === name);
// Handlers have the tools at the listener for workers.
const handlerRoutes = routesIn(handlersRouter(context, new ClaimWaits({} as Transport))).filter(
  (route) => !isRunners(route),
);
const workerRoutes = [
  ...routesIn(attemptsRouter(context)),
  ...routesIn(liveRouter(context)),
  ...routesIn(healthRouter(context)),
  ...handlerRoutes,
];
const known = { ...knownToTools, attempt: fc.constant('~attempt~') };

let world: World;
let claimed: ClaimAnswer;
let handler: string;
const addresses = { worker: { host: '', port: 0 }, runner: { host: '', port: 0 } };
beforeAll(async () => {
  world = await startWorld();
  for (const listener of ['worker', 'runner'] as const) {
    const { hostname: host, port } = new URL(world.stack.toolhosts[0]?.[listener] ?? '');
    addresses[listener] = { host, port: Number(port) };
  }
  claimed = await world.begin('fuzz');
  world.forgive('fuzz');
  const token = { name: 'desk', scope: 'handler', project: 'fuzz', agents: ['desk'] };
  handler = ((await world.stack.api('POST', '/tokens', token)).body as { secret: string }).secret;
});
afterAll(() => world.close());

let sent = 0;
beforeEach(() => {
  sent = 0;
});

/** From time to time: a turn that was ended has a successor, and nothing has grown. */
async function between(name: Campaign): Promise<void> {
  sent += 1;
  const cases = casesOf(name);
  if (sent % 50 === 0 && !(await world.isRunning('fuzz', claimed.input.turn.id))) {
    claimed = await world.begin('fuzz');
  }
  if (sent === Math.floor(cases / 4) || sent === cases) await world.watch.check();
}

const placeholders = (): Placeholders => ({
  admin: world.stack.adminToken(),
  worker: world.stack.workerToken(),
  handler,
  lease: claimed.leaseToken,
  tool: claimed.toolToken,
  turn: claimed.input.turn.id,
  agent: claimed.input.agent.id,
  attempt: String(claimed.attempt),
});

/** Runs a campaign of single requests; returns how often each route had which status. */
async function requestsAt(
  listener: 'worker' | 'runner',
  name: Campaign,
  routes: readonly Route[],
): Promise<Map<string, number>> {
  const outcomes = new Map<string, number>();
  await campaign(name, requestsTo(routes, known), async (request) => {
    await between(name);
    const head = request.method === 'HEAD';
    const chunks = [wireOf(request, placeholders())];
    const conversation = await talk(addresses[listener], { chunks, head, answers: 1, withinMs: 5_000 });
    judgeConversation(conversation, head);
    for (const { status } of conversation.answers) {
      const key = `${request.route} ${String(status)}`;
      outcomes.set(key, (outcomes.get(key) ?? 0) + 1);
    }
  });
  world.judge();
  return outcomes;
}

const succeeded = (outcomes: Map<string, number>) =>
  [...outcomes.keys()].filter((key) => / (?:200|204)$/.test(key)).map((key) => key.slice(0, -4));

/** The routes at which a request was understood, and judged by what is in the project: of few requests, none may be allowed. */
const judged = (outcomes: Map<string, number>) =>
  [...outcomes.keys()].filter((key) => / (?:200|204|403|404|409|422)$/.test(key)).map((key) => key.slice(0, -4));

test('every route of the ToolHost is covered', () => {
  expect([...workerRoutes, ...runnerRoutes].map(({ name }) => name).sort()).toEqual(Object.keys(details).sort());
});

test('the listener for workers answers whatever it is sent', async () => {
  const outcomes = await requestsAt('worker', 'worker listener requests', workerRoutes);
  expect(succeeded(outcomes).length).toBeGreaterThan(3);
});

test('the listener for runners answers whatever it is sent', async () => {
  const outcomes = await requestsAt('runner', 'runner listener requests', runnerRoutes);
  expect(succeeded(outcomes).length).toBeGreaterThan(0);
  expect(judged(outcomes)).toEqual(expect.arrayContaining(['POST /tool', 'POST /tool/begin', 'POST /tool/end']));
});

test('both answer whatever bytes come, or close the connection', async () => {
  const listeners = [
    { address: addresses.worker, routes: workerRoutes },
    { address: addresses.runner, routes: runnerRoutes },
  ];
  const cases = listeners.map(({ address, routes }) =>
    spoiledWire(
      requestsTo(routes, known)
        .filter(({ method }) => method !== 'HEAD')
        .map((request) => wireOf(request, placeholders())),
    ).map((chunks) => ({ address, chunks })),
  );
  await campaign('toolhost bytes', fc.oneof(...cases), async ({ address, chunks }) => {
    await between('toolhost bytes');
    judgeConversation(await talk(address, { chunks, withinMs: 5_000 }));
  });
  world.judge();
});

test('leaves a project that is sound', () => {
  const project = openProject(world.stack.root, 'fuzz');
  try {
    expect(brokenInvariants(project)).toEqual([]);
  } finally {
    project.close();
  }
});
