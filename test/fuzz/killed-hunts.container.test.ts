import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { entriesOf, readSnapshot } from '@suzumio/protocol/workspace-snapshot';
import { ContentStore } from '@suzumio/store/content/content-store';
import type { Sql } from '@suzumio/store/sqlite/sql';
import { OwnEngine } from '../../services/turn-worker/test/support/own-engine.js';
import { agentOf, bugHunt, huntFile, playBugHunt, stepOf } from '../support/bug-hunters.js';
import { mountable } from '../support/mountable.js';
import { type ModelRequest, type ModelServer, startModelServer } from '../support/model-server.js';
import { overlappingAttempts, withoutMove } from '../support/outcomes.js';
import { eventually } from '../support/poll.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { seed } from '../support/fast-check.js';
import { seeded } from '../support/seeded.js';
import { type ServiceProcess, startStack, type Stack } from '../support/stack.js';
import { casesOf } from './support/campaign.js';

// The team of examples/bug-hunt, of which something is killed at any of its steps: it comes to the same as one that nobody
// disturbs. FUZZ_CASES=350000 is every kind of kill at every step.

const huntsAtOnce = 5;
const boundMs = 600_000;
const image = 'suzumio-runner:dev';
/** Only root may start an engine, and only on Linux. */
const hasOwnEngine = process.platform === 'linux' && process.getuid?.() === 0;

/** `host`: a worker that does not come back before its turn is run elsewhere, or waits for the person. */
const victims = ['container', 'worker', 'host', 'toolhost', ...(hasOwnEngine ? (['engine'] as const) : [])] as const;
type Victim = (typeof victims)[number];
const players = ['script', 'models'] as const;

interface Kill {
  victim: Victim;
  by: (typeof players)[number];
  /** When the hunt has so many calls on record. */
  atCall: number;
  afterMs: number;
}

let base: string;
let repository: string;
let server: ModelServer;
let stack: Stack;
let engine: OwnEngine | undefined;
const askedAgain: string[] = [];
/** What kills services waits for the kill before: one of them is away at a time. */
let kills: Promise<unknown> = Promise.resolve();

beforeAll(async () => {
  base = mkdtempSync(join(mountable, 'suzumio-killed-'));
  repository = join(base, 'repository');
  execFileSync('sh', [join(bugHunt, 'make-repository.sh'), repository]);
  server = await startModelServer((request) => {
    noteAsked(request);
    return playBugHunt(request);
  });
  if (hasOwnEngine) {
    engine = await OwnEngine.open();
    await engine.copyImage(image);
  }
  stack = await startStack({
    backends: ['docker', 'process'],
    workers: 2,
    slots: huntsAtOnce,
    environment: {
      MODEL_KEY: 'sk-test-0123456789',
      ...(engine === undefined ? {} : { SUZUMIO_DOCKER_SOCKET: engine.socket }),
    },
    policy: { providers: [{ baseURL: server.baseURL, apiKeyEnv: 'MODEL_KEY' }], git: [repository] },
    leaseMs: 5_000,
  });
});
afterAll(async () => {
  await stack.stop();
  await server.close();
  await engine?.close();
  rmSync(base, { recursive: true, force: true });
});

function noteAsked(request: ModelRequest): void {
  const [, project = ''] = /^# Project (\S+)/.exec(String(request.body.messages[1]?.content)) ?? [];
  const asked = { agent: agentOf(request), key: String(stepOf(request)) };
  const journaled = `SELECT 1 FROM turn_steps JOIN turns ON turns.id = turn_id
    WHERE agent_id = :agent AND key = :key AND turns.status = 'running'`;
  if (reading(project, (database) => database.get(journaled, asked)))
    askedAgain.push(`${project} ${asked.agent} ${asked.key}`);
}

function reading<Result>(project: string, read: (database: Sql) => Result): Result {
  const database = openProject(stack.root, project);
  try {
    return read(database);
  } finally {
    database.close();
  }
}

/** Every kind of kill at every step, in an order in which the kinds come by turns. */
function allKills(calls: Record<Kill['by'], number>): Kill[] {
  const random = seeded(seed);
  const shuffled = victims.map((victim) =>
    players
      .flatMap((by) => Array.from({ length: calls[by] }, (_, call) => ({ victim, by, atCall: call + 1 })))
      .map((kill) => ({ ...kill, afterMs: Math.floor(random() * 40), place: random() }))
      .sort((one, other) => one.place - other.place),
  );
  const most = Math.max(...shuffled.map(({ length }) => length));
  return Array.from({ length: most }, (_, row) => shuffled.flatMap((kind) => kind[row] ?? [])).flat();
}

async function start(name: string, by: Kill['by'], backend: 'docker' | 'process'): Promise<void> {
  const asked = by === 'models' ? { modelServer: server.baseURL } : {};
  const file = huntFile({ name, backend, repository, maxAttempts: 100, ...asked });
  const message = { recipient: 'maintainer', body: 'A test of the library fails.' };
  expect(await stack.api('POST', '/projects', { file, start: true, message })).toMatchObject({ status: 201 });
}

async function submitted(name: string): Promise<void> {
  const status = 'SELECT status FROM projects';
  await eventually(`${name} is submitted`, async () => {
    await retryFailed(name);
    const row = reading(name, (database) => database.get<{ status: string }>(status));
    return row?.status === 'submitted';
  }).catch((error: unknown) => {
    const tables = ['turns', 'turn_attempts', 'turn_captures', 'tool_calls'];
    const rows = reading(name, (database) => tables.map((table) => database.all(`SELECT * FROM ${table}`)));
    throw new Error(`${String(error)}\n${JSON.stringify(rows, undefined, 1)}\n${stack.logs().slice(-8_000)}`);
  });
  // A turn that was interrupted after its last call waits while the project is submitted, and ends with what was captured.
  expect(await stack.api('POST', `/projects/${name}/approve`, {})).toMatchObject({ status: 200 });
}

/** Has turns tried again that failed because their container was killed, as an operator would. */
async function retryFailed(project: string): Promise<void> {
  const failed = reading(project, (database) =>
    database.all<{ id: string }>(`SELECT id FROM agents WHERE state = 'failed'`),
  );
  for (const { id } of failed)
    await stack.api('POST', `/projects/${project}/agents/${id}/retry`, {}).catch(() => undefined);
}

/** What a hunt came to: of its calls and mail, of the files that it left, and of what it published. */
async function outcomeOf(project: string): Promise<unknown> {
  const database = openProject(stack.root, project);
  try {
    expect(brokenInvariants(database)).toEqual([]);
    expect(overlappingAttempts(database)).toEqual([]);
    const calls = `SELECT tool_calls.agent_id AS agent, turns.number, step, tool, tool_calls.status
      FROM tool_calls JOIN turns ON turns.id = turn_id ORDER BY 1, 2, step`;
    const mail = database.all<{ sender: string; recipient: string; body: string }>(
      'SELECT sender, recipient, body FROM messages ORDER BY seq',
    );
    return {
      calls: database.all(calls),
      mail: mail.map(({ body, ...message }) => ({ ...message, body: lasting(body) })),
      artifacts: database.all('SELECT creator, name, sha256 FROM artifacts ORDER BY name'),
      developer: await treeOf(database, project, 'developer'),
      reviewer: await treeOf(database, project, 'reviewer'),
    };
  } finally {
    database.close();
  }
}

/** A text without its times, ids and directories, which are never the same. */
const lasting = (text: string) =>
  withoutMove(text)
    .replace(/\b[a-z]+_[0-9A-Z]{26}\b/g, '<id>')
    .replace(/\b\d+(\.\d+)? ?m?s\b/g, '<time>')
    .replace(/\/\S+\/(\w+\.py)\b/g, '$1');

/** The files of an agent by their hashes, but for what Git and Python note for themselves, with times. */
async function treeOf(database: Sql, project: string, agent: string): Promise<Record<string, string>> {
  const row = database.get<{ snapshot: string | null }>('SELECT snapshot FROM agents WHERE id = :agent', { agent });
  const content = new ContentStore(join(stack.root, 'projects', project));
  const read = async (sha256: string) => content.readStart(sha256, (await content.sizeOf(sha256)) ?? 0);
  const tree: Record<string, string> = {};
  if (row?.snapshot == null) return tree;
  for (const { path, entry } of entriesOf(await readSnapshot(row.snapshot, read))) {
    if (entry.kind === 'file' && !/(^|\/)(\.git|__pycache__)\//.test(path)) tree[path] = entry.sha256;
  }
  return tree;
}

/** Runs a hunt of which something is killed, to its end. */
async function disturbed(name: string, kill: Kill): Promise<unknown> {
  const { victim, by, atCall, afterMs } = kill;
  await start(name, by, victim === 'container' || victim === 'engine' ? 'docker' : 'process');
  const database = openProject(stack.root, name);
  try {
    const calls = () => database.get<{ count: number }>('SELECT count(*) AS count FROM tool_calls')?.count ?? 0;
    // Looked for often, so that it is this step that is interrupted.
    for (const overMs = performance.now() + boundMs; calls() < atCall;) {
      if (performance.now() > overMs) throw new Error(`${name} does not make call ${atCall}`);
      await sleep(2);
    }
    await sleep(afterMs);
    const running = database.get<Running>(
      `SELECT turn_id AS turn, worker FROM turn_attempts WHERE status = 'running' ORDER BY started_at_ms DESC`,
    );
    if (victim === 'container') await killContainer(running?.turn);
    else await (kills = kills.then(() => killService(name, victim, running)));
  } finally {
    database.close();
  }
  await submitted(name);
  return outcomeOf(name);
}

interface Running {
  turn: string;
  worker: string;
}

async function killContainer(turn: string | undefined): Promise<void> {
  if (turn === undefined) return;
  const list = () => docker('ps', '--quiet', '--filter', `label=suzumio.turn=${turn}`);
  // Another hunt may just have killed the engine.
  const listed = await Promise.resolve()
    .then(list)
    .catch(() => kills.then(list));
  const ids = listed.split('\n').filter((id) => id !== '');
  // It may have ended meanwhile.
  for (const id of ids)
    await Promise.resolve()
      .then(() => docker('kill', id))
      .catch(() => undefined);
}

const docker = (...args: string[]) =>
  execFileSync('docker', [...(engine ? ['--host', `unix://${engine.socket}`] : []), ...args], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });

async function killService(project: string, victim: Victim, running: Running | undefined): Promise<void> {
  if (victim === 'engine') {
    await engine?.end('SIGKILL');
    await engine?.start();
    return;
  }
  const service = victim === 'toolhost' ? stack.services.toolhost[0] : workerNamed(running?.worker);
  await service?.kill();
  const elsewhere = `SELECT 1 FROM turns WHERE id = :turn AND status = 'completed'
    UNION SELECT 1 FROM turn_attempts WHERE turn_id = :turn AND worker <> :worker
    UNION SELECT 1 FROM projects WHERE status = 'submitted'`;
  if (victim === 'host' && running) {
    const isElsewhere = () => reading(project, (database) => database.get(elsewhere, { ...running })) !== undefined;
    await eventually(`a turn of ${project} goes on elsewhere`, () => isElsewhere());
  }
  await service?.start();
}

function workerNamed(id: string | undefined): ServiceProcess | undefined {
  const workers = stack.services['turn-worker'];
  return workers.find((_worker, index) => {
    const file = join(stack.root, '..', `worker-${String(index)}`, 'worker-id');
    return readFileSync(file, 'utf8').trim() === id;
  });
}

test('a hunt of which something is killed comes to what an undisturbed one comes to', async () => {
  const undisturbed = async (by: Kill['by']) => {
    await start(`calm-${by}`, by, 'process');
    await submitted(`calm-${by}`);
    return outcomeOf(`calm-${by}`);
  };
  const expected = { script: await undisturbed('script'), models: await undisturbed('models') };
  const made = (by: Kill['by']) => (expected[by] as { calls: unknown[] }).calls.length;
  const all = allKills({ script: made('script'), models: made('models') }).slice(0, casesOf('killed hunts'));
  for (let first = 0; first < all.length; first += huntsAtOnce) {
    const some = all.slice(first, first + huntsAtOnce);
    // None is left behind where another fails.
    const found = await Promise.allSettled(some.map((kill, index) => disturbed(`hunt-${String(first + index)}`, kill)));
    for (const [index, result] of found.entries()) {
      const kill = some[index];
      if (result.status === 'rejected') throw new Error(JSON.stringify(kill), { cause: result.reason });
      expect({ kill, outcome: result.value }).toEqual({ kill, outcome: kill && expected[kill.by] });
    }
    expect(askedAgain).toEqual([]);
  }
});
