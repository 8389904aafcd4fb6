import { execFileSync, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { Sql } from '@suzumio/store/sqlite/sql';
import {
  type Behaviour,
  type ModelRequest,
  type ModelServer,
  type Reply,
  startModelServer,
} from './support/model-server.js';
import { eventually } from './support/poll.js';
import { startStack, type Stack, type StackOptions } from './support/stack.js';

const key = 'sk-test-planted-0123456789abcdef';
let server: ModelServer;
let stack: Stack;
let say: (request: ModelRequest, agent: string, turn: number) => Behaviour;

beforeEach(async () => {
  server = await startModelServer((request) => {
    const agent = agentOf(request);
    return say(request, agent, turnsSoFar(request));
  });
});
afterEach(async () => {
  await stack.stop();
  // They are kept for what is looked for in them.
  const kept = containers();
  const networks = kept.length === 0 ? [] : networksOf(kept);
  if (kept.length > 0) execFileSync('docker', ['rm', '--force', '--volumes', ...kept]);
  await server.close();
  expect(new Set(networks)).toEqual(new Set(['none']));
});

async function start(options: StackOptions = {}): Promise<void> {
  stack = await startStack({
    ...options,
    environment: { MODEL_KEY: key, ...options.environment },
    policy: { providers: [{ baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' }], ...options.policy },
  });
}

/** Who asks, as the system prompt says. */
function agentOf({ body }: ModelRequest): string {
  return /^You are ([\w-]+),/.exec(String(body.messages[0]?.content))?.[1] ?? '';
}

/** How often this agent's model has been asked in this conversation's last turn. */
function turnsSoFar({ body }: ModelRequest): number {
  const prompt = body.messages.findLastIndex(({ role }) => role === 'user');
  return body.messages.slice(prompt).filter(({ role }) => role === 'assistant').length;
}

function lastPrompt({ body }: ModelRequest): string {
  const content = body.messages.findLast(({ role }) => role === 'user')?.content;
  return typeof content === 'string' ? content : '';
}

const send = (recipient: string, body: string): Reply => ({
  calls: [{ name: 'messages_send', arguments: { recipient, body } }],
});

const file = (extra = '') => `
name: bulletin
task: Write a bulletin.
backend:
  docker: { keep: always }
  runner:
    mode: ai
    model: main
    models:
      providers: { local: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: MODEL_KEY } }
      presets: { main: { provider: local, model: scripted, price: { input: 1, output: 2 } } }
${extra}agents:
  editor: { role: editor, prompt: Lead., tools: [messages.send, completion.submit] }
  writer: { role: writer, prompt: Write., tools: [messages.send, "artifacts.*"] }
  checker: { role: checker, prompt: Check., tools: [messages.send, "artifacts.*"] }
`;

async function create(extra?: string): Promise<void> {
  const { status, body } = await stack.api('POST', '/projects', {
    file: file(extra),
    start: true,
    message: { recipient: 'editor', body: 'The bulletin, please.' },
  });
  expect({ status, body }).toMatchObject({ status: 201 });
}

/** The project's state, and what the services wrote. */
function show(): string {
  const state = ['turns', 'turn_attempts', 'model_calls', 'agents'].map((table) => ({
    [table]: rows<Record<string, unknown>>(`SELECT * FROM ${table}`).map((row) =>
      Object.fromEntries(Object.entries(row).filter(([, value]) => String(value).length < 300)),
    ),
  }));
  return `${stack.logs().slice(-1_500)}\n${JSON.stringify(state)}`;
}

async function untilStatus(status: string): Promise<void> {
  await eventually(
    `the project is ${status}`,
    async () => {
      const { body } = await stack.api('GET', '/projects/bulletin');
      return (body as { project: { status: string } }).project.status === status;
    },
    { show },
  );
}

function rows<Row>(sql: string): Row[] {
  const database = Sql.open(join(stack.root, 'projects/bulletin/project.db'), { readonly: true });
  try {
    return database.all<Row>(sql);
  } finally {
    database.close();
  }
}

/** The team's work, step by step, as models would do it. */
function teamwork(request: ModelRequest, agent: string, step: number): Behaviour {
  const prompt = lastPrompt(request);
  if (agent === 'editor') {
    if (prompt.includes('The bulletin, please.'))
      return step === 0 ? send('writer', 'Write it.') : { text: 'Assigned.' };
    if (prompt.includes('ACCEPT')) {
      return step === 0
        ? { calls: [{ name: 'completion_submit', arguments: { report: '# Bulletin\nThe river is high.' } }] }
        : { text: '' };
    }
    return { text: 'Nothing to do.' };
  }
  if (agent === 'writer') {
    // Both calls at once, and the words of a person who thinks aloud.
    return step === 0
      ? {
          text: 'I will tell the checker.',
          calls: [
            { name: 'artifacts_list', arguments: {} },
            { id: 'x', name: 'messages_send', arguments: { recipient: 'checker', body: 'Please check.' } },
          ],
        }
      : { text: 'Sent.' };
  }
  return step === 0 ? send('editor', 'ACCEPT') : { text: 'Checked.' };
}

test('a scripted model takes three agents in sealed containers to an approved report, and its key is nowhere', async () => {
  say = teamwork;
  await start();
  await create();
  await untilStatus('submitted');
  expect((await stack.api('POST', '/projects/bulletin/approve')).status).toBe(200);
  const report = await fetch(`${stack.url}/api/projects/bulletin/report`, {
    headers: { authorization: `Bearer ${stack.adminToken()}` },
  });
  expect(await report.text()).toContain('The river is high.');
  expect(server.requests.every(({ headers }) => headers.authorization === `Bearer ${key}`)).toBe(true);
  // No key is in any container, or in anything that was written.
  const kept = containers();
  expect(kept.length).toBeGreaterThanOrEqual(4);
  expect(execFileSync('docker', ['inspect', ...kept], { encoding: 'utf8' })).not.toContain(key);
  expect(filesWith('The river is high.', join(stack.root, '..'))).not.toEqual([]);
  expect(filesWith(key, join(stack.root, '..'))).toEqual([]);
  const events = await stack.api('GET', '/projects/bulletin/events?limit=1000');
  expect(JSON.stringify(events.body)).not.toContain(key);
});

test('a worker that is killed between two answers costs none of them: the turn goes on elsewhere', async () => {
  say = (request, agent, step) => {
    const said = teamwork(request, agent, step) as Reply;
    return agent === 'writer' && step === 1 ? { ...said, delayMs: 1_500 } : said;
  };
  await start({ workers: 2, slots: 1, leaseMs: 10_000 });
  await create();
  await eventually(
    'the writer is at its second question',
    () => server.requests.some((request) => agentOf(request) === 'writer' && turnsSoFar(request) === 1),
    { show },
  );
  const [attempt] = rows<{ worker: string }>(`SELECT worker FROM turn_attempts WHERE status = 'running'`);
  const killed =
    stack.services['turn-worker'].find(({ pid }) => attempt?.worker.includes(String(pid))) ??
    stack.services['turn-worker'][0];
  await killed?.kill();
  await untilStatus('submitted');
  const asked = server.requests.map(({ body }) => JSON.stringify(body.messages));
  expect(new Set(asked).size).toBe(asked.length);
});

test('a ToolHost that is killed in the middle of an answer repeats that one call at the most, and loses nothing', async () => {
  say = (request, agent, step) => ({ ...(teamwork(request, agent, step) as Reply), delayMs: 800 });
  await start();
  await create();
  const kills = 3;
  for (let kill = 1; kill <= kills; kill += 1) {
    const before = server.requests.length;
    await eventually('a model is being asked', () => server.requests.length > before, { show });
    await stack.services.toolhost[0]?.kill();
    await stack.services.toolhost[0]?.start();
  }
  await untilStatus('submitted');
  const [journaled] = rows<{ answers: number }>(
    `SELECT count(*) AS answers FROM model_calls WHERE status = 'answered'`,
  );
  expect(server.requests.length - (journaled?.answers ?? 0)).toBeLessThanOrEqual(kills);
  expect(rows(`SELECT 1 FROM messages WHERE recipient = 'writer'`)).toHaveLength(1);
  expect(rows(`SELECT 1 FROM turns WHERE status = 'failed'`)).toEqual([]);
});

/** The containers of all turns that have been. */
function containers(): string[] {
  const list = ['ps', '--all', '--quiet', '--filter', `label=suzumio.cell=${stack.cell}`];
  return execFileSync('docker', list, { encoding: 'utf8' })
    .split('\n')
    .filter((id) => id !== '');
}

/** No model was ever asked from a container. */
function networksOf(ids: readonly string[]): string[] {
  const inspected = execFileSync('docker', ['inspect', '--format', '{{.HostConfig.NetworkMode}}', ...ids]);
  return inspected.toString().trim().split('\n');
}

/** Files that hold a text. What is removed meanwhile is left out: services are at work there. */
function filesWith(text: string, directory: string): string[] {
  const { stdout, error } = spawnSync('grep', ['-rlasF', '-e', text, directory], { encoding: 'utf8' });
  if (error) throw error;
  return stdout.split('\n').filter((path) => path !== '');
}
