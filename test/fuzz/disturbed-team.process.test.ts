import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import type { Sql } from '@suzumio/store/sqlite/sql';
import { count, failedAttempts, overlappingAttempts } from '../support/outcomes.js';
import { eventually } from '../support/poll.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { seeded } from '../support/seeded.js';
import { type SmallDisk, smallDisk } from '../support/small-disk.js';
import { type ServiceProcess, startStack, type Stack } from '../support/stack.js';
import { casesOf } from './support/campaign.js';

// A team that pushes to its shared repository, while services are killed, turns are cancelled and the disk fills: it comes
// to its end without anybody's help, and leaves nothing where temporary files are.

const { FUZZ_SEED = '20261126' } = process.env;
const mib = 1024 * 1024;
const project = 'tides';
const agents = ['writer-1', 'writer-2', 'writer-3'];
const reserve = { files: 48 * mib, rows: 32 * mib, mail: 16 * mib };
const random = seeded(Number(FUZZ_SEED));
const oneOf = <Kind>(kinds: readonly Kind[]): Kind => kinds[Math.floor(random() * kinds.length)] as Kind;

/** What is cancelled has left its branch ahead of the workspace that the next turn begins with. */
const projectFile = `
name: ${project}
task: Keep the log.
tools: { toolpacks: [shell] }
git: { shared: true }
scheduler: { maxPromptMessages: 1 }
turn: { maxAttempts: 100 }
backend:
  kind: process
  runner:
    mode: mock
    script:
      - agent: writer
        when: { priority: P0 }
        steps:
          - tool: shell.exec
            input: { command: "git fetch -q shared && git diff --stat HEAD shared/suzumio/{{agent.id}} && sort log | uniq -d && git status --short --untracked-files=no && wc -l < log" }
          - tool: messages.send
            input: { recipient: user, body: "Found: {{steps.0.output}}" }
      - agent: writer
        steps:
          - tool: shell.exec
            input: { command: "{ test -d .git || { git init -q && git config user.name W && git config user.email w@example.org; }; } && echo '{{mail.0.body}}' >> log && git add log && git commit -qm '{{mail.0.body}}'" }
          - tool: shell.exec
            input: { command: "git push -q --force shared HEAD:suzumio/{{agent.id}}" }
          - tool: messages.send
            input: { recipient: user, body: "{{mail.0.body}}" }
agents:
  writer: { count: ${String(agents.length)}, role: writer, prompt: Write., tools: ["*"] }
`;

let temporary: string;
let disk: SmallDisk;
let stack: Stack;
let database: Sql;

beforeAll(async () => {
  temporary = await mkdtemp(join(tmpdir(), 'suzumio-disturbed-'));
  disk = await smallDisk(192 * mib);
  stack = await startStack({
    backends: ['process'],
    workers: 2,
    slots: 2,
    leaseMs: 5_000,
    data: disk.path,
    environment: { TMPDIR: temporary },
    policy: { storage: { reserve } },
  });
  expect(await stack.api('POST', '/projects', { file: projectFile })).toMatchObject({ status: 201 });
  expect(await stack.api('POST', `/projects/${project}/start`, {})).toMatchObject({ status: 200 });
  database = openProject(stack.root, project);
});
afterAll(async () => {
  database.close();
  await stack.stop();
  await disk.close();
  await rm(temporary, { recursive: true, force: true });
});

async function write(recipient: string, body: string, priority = 'P2'): Promise<boolean> {
  const { status } = await stack
    .api('POST', `/projects/${project}/messages`, { recipient, priority, body })
    .catch(() => ({ status: 0 }));
  return status === 201;
}

const disturbances = {
  worker: () => restart(oneOf(stack.services['turn-worker'])),
  toolhost: () => restart(oneOf(stack.services.toolhost)),
  scheduler: () => restart(oneOf(stack.services.scheduler)),
  cancel: async () => {
    const running = database.all<{ id: string }>(`SELECT id FROM turns WHERE status = 'running'`);
    if (running.length > 0) await stack.api('POST', `/projects/${project}/turns/${oneOf(running).id}/cancel`, {});
  },
  disk: async () => {
    await disk.fill(random() < 0.3 ? 0 : Math.floor(random() * reserve.files));
    await sleep(500 + random() * 2_000);
    await disk.empty();
  },
} as const;

async function restart(service: ServiceProcess): Promise<void> {
  await service.kill();
  await service.start();
}

test('it comes to its end without help, and every message has taken effect once', async () => {
  const done: string[] = [];
  for (let number = 1; number <= casesOf('disturbances'); number += 1) {
    for (const agent of agents) await write(agent, `${agent} ${String(number)}`);
    const kind = oneOf(Object.keys(disturbances) as (keyof typeof disturbances)[]);
    done.push(kind);
    await sleep(random() * 1_500);
    await disturbances[kind]();
  }
  const isQuiet = () =>
    count(database, 'inbox') === 0 && count(database, `turns WHERE status IN ('queued', 'running')`) === 0;
  const show = () => ({ done, agents: database.all('SELECT id, state FROM agents'), ends: failedAttempts(database) });
  await eventually('all mail is read and every turn has ended', isQuiet, { show });

  expect(brokenInvariants(database)).toEqual([]);
  expect(overlappingAttempts(database)).toEqual([]);
  expect({ done, ended: database.all(`SELECT id FROM turns WHERE status NOT IN ('completed', 'cancelled')`) }).toEqual({
    done,
    ended: [],
  });
  const answers = `messages WHERE recipient = 'user'`;
  expect(count(database, `(SELECT 1 FROM ${answers} GROUP BY body HAVING count(*) > 1)`)).toBe(0);
  const unanswered = `message_reads r JOIN messages m ON m.id = r.message_id JOIN turns t ON t.id = r.turn_id
    WHERE t.status = 'completed' AND r.voided_at_ms IS NULL
      AND NOT EXISTS (SELECT 1 FROM messages a WHERE a.recipient = 'user' AND a.body = m.body)`;
  expect(database.all(`SELECT m.body FROM ${unanswered}`)).toEqual([]);

  for (const agent of agents) expect(await write(agent, 'What is there?', 'P0')).toBe(true);
  await eventually('all have looked', isQuiet, { show });
  const found = database.all<{ body: string }>(`SELECT body FROM ${answers} AND body LIKE 'Found:%'`);
  // The shared branch is what the workspace has committed; no line is there twice, and nothing is left uncommitted.
  expect(found.map(({ body }) => body)).toEqual(
    agents.map(() => expect.stringMatching(/^Found: \[exit code 0, .*\]\s+\[stdout\]\s+\d+\s*$/)),
  );

  await Promise.all(
    Object.values(stack.services)
      .flat()
      .map((service) => service.stop()),
  );
  expect(await readdir(temporary)).toEqual([]);
});
