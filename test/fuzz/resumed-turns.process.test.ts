import { mkdtempSync, readdirSync, readFileSync, renameSync } from 'node:fs';
import { mkdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '@suzumio/store/content/content-store';
import { type Behaviour, type ModelRequest, type ModelServer, startModelServer } from '../support/model-server.js';
import { overlappingAttempts, withoutMove } from '../support/outcomes.js';
import { eventually } from '../support/poll.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { seed } from '../support/fast-check.js';
import { seeded } from '../support/seeded.js';
import { startStack, type Stack } from '../support/stack.js';
import { casesOf } from './support/campaign.js';
import {
  commandOf,
  expectedOutcome,
  fileText,
  linkText,
  patchAdding,
  type Plan,
  planOf,
  type Victim,
  type Work,
} from './support/work-plan.js';

// Turns whose runner, worker or ToolHost is killed at any moment, on two hosts: in the end each step has taken effect once.

const turnsAtOnce = 12;

let directory: string;
let signals: string;
let server: ModelServer;
let stack: Stack;
const plans = new Map<string, Plan>();
/** Kills at questions that have been carried out. */
const carriedOut = new Set<string>();
const askedAgain: string[] = [];
/** What the model of each agent was told last, and which agents were told otherwise later. */
const told = new Map<string, readonly string[]>();
const toldOtherwise: string[] = [];
let kills = Promise.resolve();

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-resumed-'));
  signals = join(directory, 'signals');
  await mkdir(signals);
  server = await startModelServer(answer);
  stack = await startStack({
    backends: ['process'],
    workers: 2,
    slots: 6,
    environment: { MODEL_KEY: 'sk-test-0123456789' },
    policy: { providers: [{ baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' }] },
    leaseMs: 5_000,
  });
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  await rm(directory, { recursive: true, force: true });
});

function projectFile(name: string, agents: readonly string[]): string {
  return `
name: ${name}
task: Work.
tools: { toolpacks: [files, shell] }
turn: { maxAttempts: 100 }
backend:
  kind: process
  runner:
    mode: ai
    model: main
    models:
      providers: { local: { type: openai-compatible, baseURL: "${server.baseURL}", apiKeyEnv: MODEL_KEY } }
      presets: { main: { provider: local, model: scripted } }
agents:
${agents.map((agent) => `  ${agent}: { role: worker, prompt: Work., tools: ["*"] }`).join('\n')}
`;
}

/** Answers the question of a turn, whose mail names its project and agent. */
async function answer({ body: { messages } }: ModelRequest): Promise<Behaviour> {
  const prompt = messages.findLastIndex(({ role }) => role === 'user');
  const [, project = '', agent = ''] = /Work as (\S+)\/(\S+)!/.exec(String(messages[prompt]?.content)) ?? [];
  const step = messages.slice(prompt).filter(({ role }) => role === 'assistant').length;
  const plan = plans.get(agent);
  noteTold(agent, messages);
  if (isJournaled(project, agent, step)) askedAgain.push(`${agent} ${String(step)}`);
  const victim = plan?.killedAt.get(step);
  const place = `${agent}-question-${String(step)}`;
  if (victim !== undefined && !carriedOut.has(place)) {
    carriedOut.add(place);
    await kill(victim, runnerOf(agent));
  }
  const calls = plan?.answers[step];
  return calls
    ? { calls: calls.map((work, index) => callOf(work, `${agent}-${String(step)}-${String(index)}`)) }
    : { text: 'Done.' };
}

/** Of a conversation, what was said stays as it was said. */
function noteTold(agent: string, messages: ModelRequest['body']['messages']): void {
  const now = messages.map((message) => JSON.stringify(message));
  const before = told.get(agent) ?? [];
  const shared = Math.min(before.length, now.length);
  if (before.slice(0, shared).join() !== now.slice(0, shared).join()) toldOtherwise.push(agent);
  if (now.length >= before.length) told.set(agent, now);
}

function callOf(work: Work, place: string): { name: string; arguments: object } {
  switch (work.kind) {
    case 'shell':
      return { name: 'shell_exec', arguments: { command: commandOf(work, signals, place) } };
    case 'write':
      return { name: 'file_write', arguments: { path: work.path, content: work.content } };
    case 'edit': {
      const { path, search, replace } = work;
      return { name: 'file_patch', arguments: { path, search, replace, replaceAll: true } };
    }
    case 'read':
      return { name: 'file_read', arguments: { path: 'n' } };
    case 'list':
      return { name: 'file_list', arguments: { recursive: true } };
    case 'search':
      return { name: 'file_search', arguments: { pattern: work.pattern } };
    case 'propose':
      return {
        name: 'artifacts_publish',
        arguments: { name: work.name, content: patchAdding(work.path, work.content) },
      };
    case 'apply':
      return { name: 'file_apply', arguments: { artifact: work.name } };
    case 'mail':
      return { name: 'messages_send', arguments: { recipient: 'user', body: work.body } };
    case 'publish':
      return { name: 'artifacts_publish', arguments: { path: 'n', name: work.name } };
    case 'fetch':
      return { name: 'artifacts_read', arguments: { name: work.name, to: work.path } };
  }
}

function isJournaled(project: string, agent: string, step: number): boolean {
  const database = openProject(stack.root, project);
  try {
    const journaled = `SELECT 1 FROM turn_steps JOIN turns ON turns.id = turn_id WHERE agent_id = :agent AND key = :key`;
    return database.get(journaled, { agent, key: String(step) }) !== undefined;
  } finally {
    database.close();
  }
}

/** The process that runs an agent's turn, if one does. */
function runnerOf(agent: string): number | undefined {
  const pids = readdirSync('/proc').filter((name) => /^\d+$/.test(name));
  return pids.map(Number).find((pid) => agentOf(pid) === agent);
}

/** The agent whose turn a process runs: it has the turn's directory in its environment. */
function agentOf(pid: number): string | undefined {
  try {
    const turn = /SUZUMIO_TURN_DIR=([^\0]+)/.exec(readFileSync(`/proc/${String(pid)}/environ`, 'utf8'))?.[1];
    if (turn?.startsWith(directoryOfWorkers()) !== true) return undefined;
    return (JSON.parse(readFileSync(join(turn, 'input.json'), 'utf8')) as { agent: { id: string } }).agent.id;
  } catch {
    // It has ended meanwhile.
    return undefined;
  }
}

const directoryOfWorkers = () => join(stack.root, '..', 'worker-');

/** Kills a runner at once; services one after the other, and each is started again. */
async function kill(victim: Victim, runner: number | undefined): Promise<void> {
  if (victim === 'runner') {
    if (runner !== undefined && agentOf(runner) !== undefined) process.kill(runner, 'SIGKILL');
    return;
  }
  const services = victim === 'worker' ? stack.services['turn-worker'] : stack.services.toolhost;
  const service = services[carriedOut.size % services.length];
  const done = kills.then(async () => {
    await service?.kill();
    await service?.start();
  });
  kills = done.catch(() => undefined);
  await (victim === 'toolhost' ? done : Promise.resolve());
}

/** Carries out the kills that commands ask for. */
async function attendToSignals(over: AbortSignal): Promise<void> {
  const attending: Promise<void>[] = [];
  while (!over.aborted) {
    for (const name of readdirSync(signals).filter((file) => file.endsWith('.kill'))) {
      const path = join(signals, name);
      const [victim = '', afterMs, runner] = readFileSync(path, 'utf8').trim().split(' ');
      renameSync(path, `${path}ed`);
      carriedOut.add(name);
      attending.push(sleep(Number(afterMs)).then(() => kill(victim as Victim, Number(runner))));
    }
    await sleep(5);
  }
  await Promise.all(attending);
}

/** Has turns that failed because their runner was killed tried again, as an operator would. */
async function retryFailed(project: string): Promise<void> {
  const database = openProject(stack.root, project);
  const failed = database.all<{ id: string }>(`SELECT id FROM agents WHERE state = 'failed'`);
  database.close();
  for (const { id } of failed)
    await stack.api('POST', `/projects/${project}/agents/${id}/retry`, {}).catch(() => undefined);
}

async function treeOf(project: string, agent: string): Promise<Record<string, string>> {
  const database = openProject(stack.root, project);
  const row = database.get<{ snapshot: string | null }>('SELECT snapshot FROM agents WHERE id = :agent', { agent });
  database.close();
  const content = new ContentStore(join(stack.root, 'projects', project));
  const read = async (sha256: string) => content.readStart(sha256, (await content.sizeOf(sha256)) ?? 0);
  const tree: Record<string, string> = {};
  if (row?.snapshot == null) return tree;
  for (const { path, entry } of entriesOf(await readSnapshot(row.snapshot, read))) {
    if (entry.kind === 'file') tree[path] = fileText(entry.executable, (await read(entry.sha256)).toString());
    else if (entry.kind === 'link') tree[path] = linkText(entry.target);
  }
  return tree;
}

test('each step takes effect once, whatever is killed and wherever the turn goes on', async () => {
  const random = seeded(seed);
  const over = new AbortController();
  const attending = attendToSignals(over.signal);
  try {
    for (let left = casesOf('resumed turns'), round = 0; left > 0; left -= turnsAtOnce, round += 1) {
      const count = Math.min(left, turnsAtOnce);
      const agents = Array.from({ length: count }, (_, n) => `worker-${String(round)}-${String(n)}`);
      for (const agent of agents) plans.set(agent, planOf(agent, random));
      const project = `round-${String(round)}`;
      await takeTurns(project, agents);
      await judge(project, agents);
    }
  } finally {
    over.abort();
    await attending;
    await kills;
  }
  expect(carriedOut.size).toBeGreaterThan(0);
});

async function judge(project: string, agents: readonly string[]): Promise<void> {
  const database = openProject(stack.root, project);
  try {
    expect(askedAgain).toEqual([]);
    expect(toldOtherwise).toEqual([]);
    expect(brokenInvariants(database)).toEqual([]);
    expect(overlappingAttempts(database)).toEqual([]);
    for (const agent of agents) {
      const plan = plans.get(agent);
      if (!plan) continue;
      const whole = { ...expectedOutcome(plan, join(directory, 'expected', agent)), repeated: [] };
      const mail = database
        .all<{ body: string }>('SELECT body FROM messages WHERE sender = :agent ORDER BY seq', { agent })
        .map(({ body }) => body);
      const read = database
        .all<{ told: string }>(
          `SELECT output_json ->> '$' AS told FROM tool_calls WHERE agent_id = :agent AND tool = 'file.read' ORDER BY step`,
          { agent },
        )
        .map((row) => withoutMove(row.told).replace(/^1\t/, ''));
      const steps = 'SELECT step FROM tool_calls WHERE agent_id = :agent GROUP BY step HAVING count(*) > 1';
      const found = { tree: await treeOf(project, agent), mail, read, repeated: database.all(steps, { agent }) };
      try {
        expect(found).toEqual(whole);
      } catch (error) {
        const tables = ['turns', 'turn_attempts', 'turn_captures', 'tool_calls', 'events'].map((table) =>
          database.all(
            `SELECT * FROM ${table} WHERE ${table === 'turns' ? 'id' : 'turn_id'} IN (SELECT id FROM turns WHERE agent_id = :agent)`,
            { agent },
          ),
        );
        throw new Error(`${agent}: ${String(error)}\n${JSON.stringify(tables, undefined, 1)}`, { cause: error });
      }
    }
  } finally {
    database.close();
  }
}

async function takeTurns(project: string, agents: readonly string[]): Promise<void> {
  expect(await stack.api('POST', '/projects', { file: projectFile(project, agents), start: true })).toMatchObject({
    status: 201,
  });
  for (const agent of agents) {
    const mail = { recipient: agent, body: `Work as ${project}/${agent}!` };
    expect(await stack.api('POST', `/projects/${project}/messages`, mail)).toMatchObject({ status: 201 });
  }
  const told = () => {
    const database = openProject(stack.root, project);
    try {
      return database.all<{ status: string; failure: string | null }>(
        `SELECT status, (SELECT group_concat(failure_json) FROM turn_attempts WHERE turn_id = turns.id) AS failure FROM turns`,
      );
    } finally {
      database.close();
    }
  };
  await eventually(`the turns of ${project} complete`, async () => {
    await retryFailed(project);
    return told().every(({ status }) => status === 'completed') && told().length === agents.length;
  }).catch((error: unknown) => {
    throw new Error(`${String(error)}\n${JSON.stringify(told(), undefined, 1)}\n${stack.logs().slice(-5_000)}`);
  });
}
