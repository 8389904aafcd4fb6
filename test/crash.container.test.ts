import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, describe, expect, test } from '@jest/globals';
import { Sql } from '../shared/store/src/sqlite/sql.js';
import { eventually } from './support/poll.js';
import { docker } from './support/images.js';
import { count, overlappingAttempts } from './support/outcomes.js';
import { brokenInvariants, openProject } from './support/project.js';
import { seeded } from './support/seeded.js';
import { type ServiceProcess, type Stack, startStack } from './support/stack.js';

const stacks: Stack[] = [];

afterEach(async () => {
  await Promise.all(stacks.splice(0).map((stack) => stack.stop()));
});

async function start(options: Parameters<typeof startStack>[0]): Promise<Stack> {
  const stack = await startStack({ leaseMs: 6_000, ...options });
  stacks.push(stack);
  return stack;
}

const projectFile = (name: string) => `
name: ${name}
task: Write notes, and tell the editor.
turn: { maxAttempts: 50 }
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: writer
        steps:
          - write: { path: note.md, text: "Written in {{turn.id}}." }
          - wait: 100ms
          - tool: artifacts.publish
            input: { path: note.md, name: "{{turn.id}}.md" }
          - wait: 100ms
          - tool: messages.send
            input: { recipient: editor, body: "{{turn.id}}: {{steps.2.output}}" }
          - wait: 100ms
          - tool: messages.send
            input: { recipient: user, body: "{{turn.id}}: done" }
          - text: Noted.
      - { agent: held, when: { attempt: 1 }, steps: [{ hang: true }] }
      - { agent: held, steps: [{ text: Let go. }] }
      - agent: editor
        when: { from: user }
        steps:
          - tool: completion.submit
            input: { report: "# All notes" }
agents:
  editor: { role: editor, prompt: Read and submit., tools: [completion.submit] }
  held: { role: tester, prompt: Run until your worker is killed. }
  writer: { role: writer, count: 4, prompt: Write., tools: [messages.send, artifacts.publish] }
`;

/** A project of writers, and the mail that was written to them. */
class Writers {
  #sent = 0;

  private constructor(
    readonly stack: Stack,
    readonly name: string,
  ) {}

  static async start(stack: Stack): Promise<Writers> {
    const writers = new Writers(stack, 'notes');
    await writers.post('/projects', { file: projectFile('notes'), start: true });
    return writers;
  }

  /** Writes one message to each writer. */
  async send(): Promise<void> {
    const posts = [1, 2, 3, 4].map((writer) => {
      this.#sent += 1;
      return { recipient: `writer-${String(writer)}`, body: `Note ${String(this.#sent)}, please.` };
    });
    await Promise.all(posts.map((post) => this.post(`/projects/${this.name}/messages`, post)));
  }

  /** Posts until it is answered: with its key, a post that was interrupted may be repeated. */
  async post(path: string, body: unknown): Promise<void> {
    const token = readFileSync(join(this.stack.root, 'admin.token'), 'utf8').trim();
    const headers = {
      authorization: `Bearer ${token}`,
      'content-type': 'application/json',
      'idempotency-key': randomUUID(),
    };
    const request = { method: 'POST', headers, body: JSON.stringify(body) };
    let said = 'nothing';
    await eventually(`${path} is answered`, async () => {
      const response = await fetch(`${this.stack.url}/api${path}`, request).catch(() => undefined);
      if (response === undefined || response.status === 503) return false;
      said = await response.text();
      if (!response.ok) throw new Error(`${path} was answered ${String(response.status)}: ${said}`);
      return true;
    });
  }

  read<Result>(read: (database: Sql) => Result): Result {
    const database = openProject(this.stack.root, this.name);
    try {
      return read(database);
    } finally {
      database.close();
    }
  }

  /** Lets a turn run that ends no sooner than its worker. */
  async hold(): Promise<void> {
    await this.post(`/projects/${this.name}/messages`, { recipient: 'held', body: 'Begin.' });
    const running = `turn_attempts JOIN turns ON id = turn_id WHERE agent_id = 'held' AND turn_attempts.status = 'running'`;
    await this.comes('the held turn runs', (database) => count(database, running) === 1);
  }

  /** Waits until something holds in the project's database. */
  async comes(what: string, holds: (database: Sql) => boolean): Promise<void> {
    await eventually(what, () => this.read(holds), { show: () => this.show() });
  }

  show(): string {
    const turns = this.read((database) =>
      database.all(`SELECT agent_id, number, status, attempt, failure_json FROM turns WHERE status <> 'completed'`),
    );
    return `${this.stack.logs().slice(-2_500)}\n${JSON.stringify(turns)}`;
  }

  /** Waits for the end of all turns, and checks that everything took effect once. */
  async finish(): Promise<void> {
    await this.comes(
      'all mail is read and every turn has ended',
      (database) =>
        count(database, 'inbox') === 0 && count(database, `turns WHERE status IN ('queued', 'running')`) === 0,
    );
    this.read((database) => {
      expect(brokenInvariants(database)).toEqual([]);
      expect(overlappingAttempts(database)).toEqual([]);
      expect(database.all(`SELECT id, failure_json FROM turns WHERE status <> 'completed'`)).toEqual([]);
      expect(count(database, `(SELECT DISTINCT body FROM messages WHERE body LIKE 'Note %')`)).toBe(this.#sent);
      expect(count(database, `messages WHERE body LIKE 'Note %'`)).toBe(this.#sent);

      const turns = database.all<{ id: string }>(`SELECT id FROM turns WHERE agent_id LIKE 'writer-%' ORDER BY id`);
      const artifacts = database.all<{ id: string; turn_id: string; name: string; path: string }>(
        'SELECT id, turn_id, name, path FROM artifacts ORDER BY turn_id',
      );
      expect(artifacts.map(({ name }) => name)).toEqual(turns.map(({ id }) => `${id}.md`));
      for (const { turn_id, path } of artifacts) {
        const file = join(this.stack.root, 'projects', this.name, path);
        expect(readFileSync(file, 'utf8')).toBe(`Written in ${turn_id}.`);
      }
      const bodies = (recipient: string) =>
        database
          .all<{ body: string }>(`SELECT body FROM messages WHERE sender <> 'user' AND recipient = '${recipient}'`)
          .map(({ body }) => body)
          .sort();
      expect(bodies('editor')).toEqual(artifacts.map(({ id, name, turn_id }) => `${turn_id}: ${name} (${id})`).sort());
      expect(bodies('user')).toEqual(turns.map(({ id }) => `${id}: done`));
    });
  }

  /** The project goes on to its end. */
  async approve(): Promise<void> {
    await this.post(`/projects/${this.name}/messages`, { recipient: 'editor', body: 'Hand it in.' });
    await this.comes(
      'the report is submitted',
      (database) => count(database, `projects WHERE status = 'submitted'`) === 1,
    );
    await this.post(`/projects/${this.name}/approve`, {});
    this.read((database) => {
      expect(count(database, 'reports')).toBe(1);
      expect(brokenInvariants(database)).toEqual([]);
    });
  }
}

describe('a service that is killed', () => {
  test('at any moment leaves sound databases, and once it is back the work goes on', async () => {
    const stack = await start({ backends: ['process'] });
    const random = seeded(20_261_122);
    const writers = await Writers.start(stack);
    await writers.hold();
    const each = Object.values(stack.services);
    const everything = each.flat();
    // Every service twice, and twice all of them at once, in an order and at moments that the seed decides.
    const victims = shuffled([...each, ...each, everything, everything], random);
    for (const victim of victims) {
      const sent = writers.send();
      await sleep(200 + random() * 1_500);
      await Promise.all(victim.map((service) => service.kill()));
      expect(writers.read(brokenInvariants)).toEqual([]);
      expect(catalogFaults(stack)).toEqual([]);
      await sleep(random() * 500);
      await startAll(victim);
      await sent;
    }
    await writers.finish();
    expect(writers.read((database) => count(database, 'turn_attempts WHERE number > 1'))).toBeGreaterThan(0);
    await writers.approve();
  });
});

describe('Redis', () => {
  test('may be wiped, killed and restarted empty, and be away when services start', async () => {
    const stack = await start({ backends: ['process'] });
    const writers = await Writers.start(stack);
    await writers.send();
    await flushAll(stack.redis.port);
    await writers.send();
    await writers.finish();

    await writers.send();
    await stack.redis.kill();
    await writers.send();
    await stack.redis.restart();
    await writers.finish();

    const services = Object.values(stack.services).flat();
    await Promise.all(services.map((service) => service.kill()));
    await stack.redis.kill();
    await startAll(services);
    await writers.send();
    await stack.redis.restart();
    await writers.finish();
    await writers.approve();
  });
});

describe('a worker that is killed', () => {
  test('removes the containers of its former life when it comes back', async () => {
    const stack = await start({ backends: ['docker'], slots: 3 });
    const file = `
name: containers
task: Outlive your worker.
backend:
  docker: { keep: never }
  runner:
    mode: mock
    script:
      - { agent: hanging, when: { attempt: 1 }, steps: [{ hang: true }] }
      - { agent: ending, when: { attempt: 1 }, steps: [{ wait: 8s }, { text: Too late. }] }
agents:
  hanging: { role: tester, prompt: Hang. }
  ending: { role: tester, prompt: End. }
`;
    expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
    for (const recipient of ['hanging', 'ending']) {
      const mail = { recipient, body: 'Begin.' };
      expect(await stack.api('POST', '/projects/containers/messages', mail)).toMatchObject({ status: 201 });
    }
    const containers = async (...filters: string[]) => {
      const all = [`label=suzumio.cell=${stack.cell}`, ...filters].flatMap((filter) => ['--filter', filter]);
      return (await docker('ps', '--all', '--quiet', '--no-trunc', ...all)).split('\n').filter((id) => id !== '');
    };
    const [worker] = stack.services['turn-worker'];
    await eventually('both run', async () => (await containers('status=running')).length === 2);
    const first = await containers();
    await worker?.kill();
    await eventually('one has ended', async () => (await containers('status=exited')).length === 1);
    await worker?.start();
    await eventually('neither is left', async () => (await containers()).every((id) => !first.includes(id)));
    const database = openProject(stack.root, 'containers');
    try {
      const completed = `turns WHERE status = 'completed' AND attempt > 1`;
      await eventually('both turns end in a later attempt', () => count(database, completed) === 2);
      expect(brokenInvariants(database)).toEqual([]);
      expect(overlappingAttempts(database)).toEqual([]);
    } finally {
      database.close();
    }
    await worker?.stop();
    expect(await containers()).toEqual([]);
  });
});

/** What is wrong with the file of the cell's catalog. */
function catalogFaults(stack: Stack): unknown[] {
  const catalog = Sql.open(join(stack.root, 'catalog.db'), { readonly: true });
  try {
    return catalog.all(`SELECT * FROM pragma_integrity_check WHERE integrity_check <> 'ok'`);
  } finally {
    catalog.close();
  }
}

async function startAll(services: readonly ServiceProcess[]): Promise<void> {
  await Promise.all(services.map((service) => service.start()));
}

async function flushAll(port: number): Promise<void> {
  const socket = connect(port, '127.0.0.1');
  socket.write('FLUSHALL\r\n');
  const [answer] = (await once(socket, 'data')) as [Buffer];
  expect(answer.toString()).toBe('+OK\r\n');
  socket.destroy();
}

function shuffled<Item>(items: readonly Item[], random: () => number): Item[] {
  return items
    .map((item) => ({ item, at: random() }))
    .sort((one, other) => one.at - other.at)
    .map(({ item }) => item);
}
