import { mkdtempSync, rmSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { createClient } from '@suzumio/contract/client/client';
import type { NextRequest } from '@suzumio/contract/model/next-request';
import type { AgentView } from '@suzumio/contract/model/agent';
import { TeamHandler } from '@suzumio/sdk';
import type { FailureCode } from '@suzumio/protocol/failure-codes';
import { TestRepository } from '../services/turn-worker/test/support/repository.js';
import { type Behaviour, type ModelServer, startModelServer } from './support/model-server.js';
import { mountable } from './support/mountable.js';
import { eventually } from './support/poll.js';
import { type Stack, startStack } from './support/stack.js';

let base: string;
let origin: TestRepository;
let server: ModelServer;
let stack: Stack;
/** What the model answers until its fault is mended. */
let fault: Behaviour | undefined;
const policy = () => ({
  backends: ['process'],
  git: [`${base}/**`],
  providers: [{ baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' }],
});
beforeAll(async () => {
  base = mkdtempSync(join(mountable, 'suzumio-advice-'));
  origin = new TestRepository(join(base, 'tides'));
  origin.commit({ 'tides.py': 'print(1)\n' }, 'First');
  server = await startModelServer(() => fault ?? { text: 'Well.' });
  stack = await startStack({
    backends: ['process'],
    environment: { MODEL_KEY: 'sk-test-0123456789' },
    policy: policy(),
    sweepMs: 500,
  });
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  rmSync(base, { recursive: true, force: true });
});

const thinking = (more: object = {}) => ({
  backend: {
    kind: 'process',
    runner: {
      mode: 'ai',
      model: 'main',
      models: {
        providers: { local: { type: 'openai-compatible', baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' } },
        presets: { main: { provider: 'local', model: 'scripted' } },
      },
    },
  },
  ...more,
});
const scripted = (steps: object[], more: object = {}) => ({
  backend: { kind: 'process', runner: { mode: 'mock', script: [{ agent: 'dev', steps }] } },
  ...more,
});

const client = () => createClient({ url: stack.url, token: stack.adminToken() });

/** A project whose agent has mail. */
async function create(name: string, file: object, dev: object = {}): Promise<void> {
  const whole = {
    name,
    task: 'Work.',
    agents: { dev: { role: 'developer', prompt: 'Work.', tools: ['messages.send', 'artifacts.list'], ...dev } },
    ...file,
  };
  const made = await stack.api('POST', '/projects', {
    file: JSON.stringify(whole),
    start: true,
    message: { recipient: 'dev', body: 'Go.' },
  });
  expect(made).toMatchObject({ status: 201 });
}

async function agentOf(project: string): Promise<AgentView> {
  const { agents } = (await stack.api('GET', `/projects/${project}`)).body as { agents: AgentView[] };
  if (!agents[0]) throw new Error(`${project} has no agent`);
  return agents[0];
}

async function until(project: string, state: AgentView['state'], turns: number): Promise<AgentView> {
  let seen: AgentView | undefined;
  await eventually(
    `the agent of ${project} is ${state}`,
    async () => {
      seen = await agentOf(project);
      return seen.state === state && seen.turns >= turns;
    },
    { show: () => `${JSON.stringify(seen)}\n${stack.logs().slice(-3_000)}` },
  );
  return seen as AgentView;
}

/** Waits for the failure, and for what all places advise then. */
async function advised(project: string, code: FailureCode, turns = 1): Promise<NextRequest> {
  const { failure } = await until(project, 'failed', turns);
  expect(failure?.code).toBe(code);
  const why = (await stack.api('GET', `/projects/${project}/agents/dev/why`)).body as {
    reasons: { code: string; next: string; request: NextRequest }[];
  };
  const reason = why.reasons.find((one) => one.code === 'agent-failed');
  const inbox = (await stack.api('GET', `/inbox?project=${project}&kind=failure`)).body as {
    items: { next: string; request: NextRequest }[];
  };
  // What has to be mended first is told by why, which is what the others lead to.
  const { next, request } = failure as NonNullable<AgentView['failure']>;
  expect(inbox.items[0]).toMatchObject({ next, request });
  if (next !== `why ${project} dev`) expect(reason).toMatchObject({ next, request });
  if (!reason) throw new Error('why says nothing of the failure');
  return reason.request;
}

async function take({ operation, params, asks }: NextRequest): Promise<void> {
  expect(asks).toEqual([]);
  const api = client() as unknown as Record<string, (input: unknown) => Promise<unknown>>;
  await api[operation]?.(params);
}

const retried = (project: string): NextRequest => ({
  operation: 'retryAgent',
  params: { project, agent: 'dev' },
  asks: [],
});
const begunAnew = (project: string): NextRequest => ({
  operation: 'resetAgent',
  params: { project, agent: 'dev', body: { redeliver: true } },
  asks: [],
});
const looked = (operation: string) => expect.objectContaining({ operation, asks: [] }) as unknown as NextRequest;

/** What is advised is `what`; taken, it lets the agent do its work, in that turn or the next one. */
async function leadsOn(
  project: string,
  code: FailureCode,
  what: NextRequest,
  mend?: () => Promise<void>,
): Promise<void> {
  const request = await advised(project, code);
  expect(request).toEqual(what);
  await mend?.();
  await take(request);
  if (request.operation.startsWith('get')) await take(retried(project));
  const expected = request.operation === 'resetAgent' ? 2 : 1;
  const { turns, undelivered, unread } = await until(project, 'quiet', expected);
  expect({ turns, undelivered, unread }).toEqual({ turns: expected, undelivered: 0, unread: 0 });
}

const calling = { calls: [{ name: 'artifacts_list', arguments: {} }] };
const mended = () => {
  fault = undefined;
  return Promise.resolve();
};

describe.each<[code: FailureCode, again: number, answer: Behaviour, file?: object]>([
  ['step-limit', 0, calling, { turn: { maxSteps: 1 } }],
  ['answer-withheld', 0, { text: '', finish: 'content_filter' }],
  ['model-refused', 1, { status: 400, body: { error: { message: 'temperature is not supported' } } }],
])('after %s', (code, again, answer, file) => {
  test(`a retry asks ${String(again)} times and ends as before, and the new turn that is advised does the work`, async () => {
    fault = answer;
    const project = `anew-${code}`;
    await create(project, thinking(file));
    const request = await advised(project, code);
    if (again === 0) await mended();
    const asked = server.requests.length;
    await take(retried(project));
    expect(await advised(project, code)).toEqual(request);
    expect(server.requests).toHaveLength(asked + again);
    await leadsOn(project, code, begunAnew(project), mended);
  });
});

describe.each<[code: FailureCode, answer: Behaviour]>([
  ['provider-key-rejected', { status: 401, body: { error: { message: 'Incorrect API key' } } }],
  ['provider-quota-spent', { status: 429, body: { error: { code: 'insufficient_quota', message: 'No money' } } }],
  ['model-unknown', { status: 404, body: { error: { code: 'model_not_found', message: 'No such model' } } }],
])('after %s', (code, answer) => {
  test('the retry that is advised does the work once the provider is mended', async () => {
    fault = answer;
    const project = `mend-${code}`;
    await create(project, thinking());
    await leadsOn(project, code, retried(project), mended);
  });
});

test('after ref-unknown a retry does the work once the repository has the ref', async () => {
  const git = { git: origin.path, ref: 'next' };
  await create('ref', scripted([{ text: 'Done.' }]), { workspace: git });
  await leadsOn('ref', 'ref-unknown', retried('ref'), () => {
    origin.git('branch', 'next');
    return Promise.resolve();
  });
});

test('after a fault of the turn itself a retry goes on from its journal', async () => {
  await create('exit', {
    backend: {
      kind: 'process',
      runner: {
        mode: 'mock',
        script: [
          { agent: 'dev', when: { attempt: 1 }, steps: [{ fail: { exit: 3 } }] },
          { agent: 'dev', steps: [{ text: 'Done.' }] },
        ],
      },
    },
  });
  await leadsOn('exit', 'non-zero-exit', retried('exit'));
});

test('after budget-reached the budget is looked at, and a larger one lets a retry do the work', async () => {
  fault = undefined;
  await create('budget', thinking({ budget: { tokens: 10 } }));
  await leadsOn('budget', 'budget-reached', looked('getBudget'), async () => {
    await client().changeBudget({ project: 'budget', body: { tokens: 'unlimited' } });
  });
});

test('after a fault of a handler a retry, and after a contradiction of its journal a new turn does the work', async () => {
  await create('handled', {
    backend: { runner: { mode: 'mock' } },
    agents: { dev: { role: 'clerk', prompt: 'Work.', tools: ['messages.send'], backend: 'external' } },
  });
  const { secret } = await client().createToken({
    body: { name: 'clerk-1', scope: 'handler', project: 'handled', agents: ['dev'] },
  });
  let attempts = 0;
  const handler = new TeamHandler({ url: stack.toolhosts[0]?.worker ?? '', token: secret, batch: 1 }).handle(
    async (_turn, ctx) => {
      attempts += 1;
      await ctx.send({ recipient: 'user', body: `Attempt ${Math.min(attempts, 2)}.` });
      if (attempts === 1) throw new Error('Once.');
      return 'Done.';
    },
  );
  try {
    const request = await advised('handled', 'handler-failed');
    expect(request).toEqual(retried('handled'));
    await take(request);
    await leadsOn('handled', 'journal-mismatch', begunAnew('handled'));
  } finally {
    await handler.stop();
  }
});

test('after quota-exceeded the usage is looked at, and room lets a retry do the work', async () => {
  const file = join(dirname(stack.root), 'policy.yaml');
  const restart = async (more: object) => {
    await writeFile(file, JSON.stringify({ images: ['**'], ...policy(), ...more }));
    for (const service of [...stack.services.toolhost, ...stack.services.api, ...stack.services.scheduler]) {
      await service.stop();
      await service.start();
    }
  };
  fault = undefined;
  await restart({ storage: { agent: { rows: 0 } } });
  await create('quota', thinking());
  await leadsOn('quota', 'quota-exceeded', looked('getUsage'), () => restart({}));
});
