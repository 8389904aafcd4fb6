import { readdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { eventually } from './support/poll.js';
import { count, failedAttempts, overlappingAttempts } from './support/outcomes.js';
import { brokenInvariants, openProject } from './support/project.js';
import { type Stack, startStack } from './support/stack.js';

const project = 'load';
const agents = 100;
/** Each agent gets this many from the person, one of which asks it to write to another agent. */
const mailPerAgent = 9;
const messages = agents * (mailPerAgent + 1);

const projectFile = `
name: ${project}
task: Read the mail.
scheduler: { maxPromptMessages: 10 }
turn: { maxAttempts: 10 }
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: reader
        when: { priority: P0 }
        steps:
          - tool: messages.send
            input: { recipient: "{{mail.0.body}}", body: "From {{agent.id}}." }
          - wait: 100ms
          - text: Passed on.
agents:
  reader: { count: ${String(agents)}, role: reader, prompt: Read., tools: [messages.send] }
`;

describe('two schedulers, two ToolHosts, two workers', () => {
  let stack: Stack;

  beforeAll(async () => {
    stack = await startStack({
      schedulers: 2,
      toolhosts: 2,
      workers: 2,
      slots: 4,
      backends: ['process'],
      leaseMs: 6_000,
    });
  });
  afterAll(async () => {
    const root = dirname(stack.root);
    await stack.stop();
    await eventually('no runner is left', async () => !(await anyProcessNames(root)));
  });

  test('100 agents read 1,000 messages exactly once each, although a worker dies on the way', async () => {
    expect(await stack.api('POST', '/projects', { file: projectFile })).toMatchObject({ status: 201 });
    await send(mailPerAgent - 2, 0);
    expect((await stack.api('POST', `/projects/${project}/start`, {})).status).toBe(200);
    const database = openProject(stack.root, project);
    try {
      const sent = send(2, mailPerAgent - 2);
      const [victim] = stack.services['turn-worker'];
      const running = () =>
        count(
          database,
          `(SELECT worker FROM turn_attempts WHERE status = 'running' GROUP BY worker HAVING count(*) > 1)`,
        );
      /** Stops a worker for good while both run turns. */
      const isStoppedAtWork = async (pid: number) => {
        process.kill(pid, 'SIGSTOP');
        // What it has already reported arrives.
        await sleep(500);
        if (running() === 2) return true;
        process.kill(pid, 'SIGCONT');
        return false;
      };
      await eventually(
        'a third of the mail is read, and both workers run turns',
        async () => count(database, 'message_reads') > messages / 3 && isStoppedAtWork(victim?.pid ?? 0),
      );
      await victim?.kill();
      await sent;
      expect(brokenInvariants(database)).toEqual([]);

      await eventually(
        'all mail is read and every turn has ended',
        () =>
          count(database, 'messages') === messages &&
          count(database, 'inbox') === 0 &&
          count(database, `turns WHERE status IN ('queued', 'running')`) === 0,
      );
      expect(brokenInvariants(database)).toEqual([]);
      expect(overlappingAttempts(database)).toEqual([]);
      expect(count(database, `agents WHERE state <> 'quiet'`)).toBe(0);
      expect(count(database, `turns WHERE status <> 'completed'`)).toBe(0);
      expect(count(database, 'message_reads WHERE voided_at_ms IS NULL')).toBe(messages);
      expect(count(database, '(SELECT 1 FROM message_reads GROUP BY message_id, recipient HAVING count(*) > 1)')).toBe(
        0,
      );
      expect(count(database, `messages WHERE sender <> 'user'`)).toBe(agents);
      expect(count(database, `(SELECT DISTINCT sender FROM messages WHERE sender <> 'user')`)).toBe(agents);
      expect(count(database, 'turns')).toBeGreaterThan(messages / 10 - 1);
      expect(count(database, `(SELECT DISTINCT worker FROM turn_attempts)`)).toBe(2);
      // The victim's attempts were taken from it by their leases, and by nothing else.
      const failed = failedAttempts(database);
      expect(failed['lease-expired']).toBeGreaterThan(0);
    } finally {
      database.close();
    }
  });

  /** Writes `each` messages to every agent; the first of all asks it to write to its neighbour. */
  async function send(each: number, from: number): Promise<void> {
    const posts = Array.from({ length: each * agents }, (_, index) => {
      const [agent, round] = [index % agents, from + Math.floor(index / agents)];
      const recipient = `reader-${String(agent + 1)}`;
      const neighbour = `reader-${String(((agent + 1) % agents) + 1)}`;
      return round === mailPerAgent - 1
        ? { recipient, priority: 'P0', body: neighbour }
        : { recipient, body: `Number ${String(round)}.` };
    });
    const left = posts.values();
    const lane = async () => {
      for (const post of left) {
        const { status, body } = await stack.api('POST', `/projects/${project}/messages`, post);
        if (status !== 201) throw new Error(`${String(status)}: ${JSON.stringify(body)}`);
      }
    };
    await Promise.all(Array.from({ length: 8 }, lane));
  }
});

/** Whether the environment of any process names `directory`. */
async function anyProcessNames(directory: string): Promise<boolean> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const environments = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '')));
  return environments.some((environment) => environment.includes(directory));
}
