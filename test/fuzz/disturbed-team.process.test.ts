import { mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { ReadOnlyCell } from '@suzumio/store/cell/read-only-cell';
import { verifyCatalogue, verifyProject } from '@suzumio/store/cell/verify';
import type { Sql } from '@suzumio/store/sqlite/sql';
import { count, failedAttempts, overlappingAttempts, withoutMove } from '../support/outcomes.js';
import { eventually } from '../support/poll.js';
import { brokenInvariants, openProject } from '../support/project.js';
import { seed } from '../support/fast-check.js';
import { seeded } from '../support/seeded.js';
import { type SmallDisk, smallDisk } from '../support/small-disk.js';
import { type ServiceProcess, startStack, type Stack } from '../support/stack.js';
import { casesOf } from './support/campaign.js';

// Three teams, one of which pushes to its shared repository, while services are killed, turns are cancelled and the disk fills:
// they come to their end without anybody's help, and leave no temporary file and no process.

const mib = 1024 * 1024;
const reserve = { files: 48 * mib, rows: 32 * mib, mail: 16 * mib };
const random = seeded(seed);
const oneOf = <Kind>(kinds: readonly Kind[]): Kind => kinds[Math.floor(random() * kinds.length)] as Kind;

/** Writers answer each message with its body; `P0` asks the shared ones what there is. */
const projectFile = (name: string, rules: string, more = '') => `
name: ${name}
task: Keep the log.
tools: { toolpacks: [shell] }
scheduler: { maxPromptMessages: 1 }
turn: { maxAttempts: 100 }
${more}
backend:
  kind: process
  runner:
    mode: mock
    script:${rules}
          - tool: messages.send
            input: { recipient: user, body: "{{mail.0.body}}" }
agents:
  writer: { count: 3, role: writer, prompt: Write., tools: ["*"] }
`;

/**
 * What is cancelled has left its branch ahead of the workspace that the next turn begins with. A push that is interrupted is
 * not repeated: the next turn's push brings what it did not.
 */
const pushes = `
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
            allowError: outcome-unknown`;
const publishes = `
      - agent: writer
        steps:
          - tool: shell.exec
            input: { command: "echo '{{mail.0.body}}' > $SUZUMIO_ARTIFACTS_DIR/{{agent.id}}/{{turn.id}}.txt; cat $SUZUMIO_ARTIFACTS_DIR/*/*.txt | wc -l" }
          - write: { path: note.md, text: "{{mail.0.body}}" }
          - tool: artifacts.publish
            input: { path: note.md, name: "{{turn.id}}.md" }`;
const relays = `
      - agent: writer
        steps:
          - wait: 100ms
          - tool: messages.send
            input: { channel: "#project", priority: P3, body: "A copy: {{mail.0.body}}" }`;

const shared = 'tides';
const teams = {
  [shared]: projectFile(shared, pushes, 'git: { shared: true }'),
  maps: projectFile('maps', publishes),
  news: projectFile('news', relays.replace('agent: writer', 'agent: writer\n        when: { from: user }')),
};
const projects = Object.keys(teams);
const agents = ['writer-1', 'writer-2', 'writer-3'];

let temporary: string;
let disk: SmallDisk;
let stack: Stack;
let databases: { project: string; database: Sql }[];

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
  for (const file of Object.values(teams)) {
    expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
  }
  databases = projects.map((project) => ({ project, database: openProject(stack.root, project) }));
});
afterAll(async () => {
  for (const { database } of databases) database.close();
  await stack.stop();
  await disk.close();
  await rm(temporary, { recursive: true, force: true });
});

async function write(project: string, recipient: string, body: string, priority = 'P2'): Promise<boolean> {
  const { status } = await stack
    .api('POST', `/projects/${project}/messages`, { recipient, priority, body })
    .catch(() => ({ status: 0 }));
  return status === 201;
}

const disturbances = {
  api: () => restart(oneOf(stack.services.api)),
  worker: () => restart(oneOf(stack.services['turn-worker'])),
  toolhost: () => restart(oneOf(stack.services.toolhost)),
  scheduler: () => restart(oneOf(stack.services.scheduler)),
  cancel: async () => {
    const { project, database } = oneOf(databases);
    const running = database.all<{ id: string }>(`SELECT id FROM turns WHERE status = 'running'`);
    if (running.length > 0) await stack.api('POST', `/projects/${project}/turns/${oneOf(running).id}/cancel`, {});
  },
  disk: async () => {
    await disk.fill(random() < 0.3 ? 0 : Math.floor(random() * reserve.files));
    await sleep(500 + random() * 2_000);
    await disk.empty();
  },
} as const;
type Kind = keyof typeof disturbances;

/** All kinds come before one comes again. */
function nextAfter(done: readonly Kind[]): Kind {
  const kinds = Object.keys(disturbances) as Kind[];
  const round = done.slice(done.length - (done.length % kinds.length));
  return oneOf(kinds.filter((kind) => !round.includes(kind)));
}

async function restart(service: ServiceProcess): Promise<void> {
  await service.kill();
  await service.start();
}

/** What runs with something of the stack in its environment, or in a directory of its agents. */
async function processesLeft(): Promise<string[]> {
  const pids = (await readdir('/proc')).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  const left = await Promise.all(
    pids.map(async (pid) => {
      const at = await readlink(`/proc/${pid}/cwd`).catch(() => '');
      const knows = await readFile(`/proc/${pid}/environ`, 'utf8').catch(() => '');
      if (!`${at}\0${knows}`.includes(stack.cell)) return [];
      return [(await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).replaceAll('\0', ' ')];
    }),
  );
  return left.flat();
}

const answers = `messages WHERE recipient = 'user'`;
const unanswered = `message_reads r JOIN messages m ON m.id = r.message_id JOIN turns t ON t.id = r.turn_id
  WHERE t.status = 'completed' AND r.voided_at_ms IS NULL AND m.sender = 'user'
    AND NOT EXISTS (SELECT 1 FROM messages a WHERE a.recipient = 'user' AND a.body = m.body)`;

test('they come to their end without help, and every message has taken effect once', async () => {
  const done: Kind[] = [];
  for (let number = 1; number <= casesOf('disturbances'); number += 1) {
    for (const project of projects)
      for (const agent of agents) await write(project, agent, `${agent} ${String(number)}`);
    const kind = nextAfter(done);
    done.push(kind);
    await sleep(random() * 1_500);
    await disturbances[kind]();
  }
  const isQuiet = () =>
    databases.every(
      ({ database }) =>
        count(database, 'inbox') === 0 && count(database, `turns WHERE status IN ('queued', 'running')`) === 0,
    );
  const show = () => ({
    seed,
    done,
    projects: databases.map(({ project, database }) => ({
      project,
      agents: database.all('SELECT id, state FROM agents'),
      ends: failedAttempts(database),
      failed: database.all(
        `SELECT a.turn_id, a.number, a.failure_json FROM turn_attempts a JOIN turns t ON t.id = a.turn_id
         WHERE t.status = 'failed'`,
      ),
    })),
  });
  await eventually('all mail is read and every turn has ended', isQuiet, { show });

  for (const [body, priority] of [
    ['The last line.', 'P2'],
    ['What is there?', 'P0'],
  ] as const) {
    for (const agent of agents) expect(await write(shared, agent, `${body} ${agent}`, priority)).toBe(true);
    await eventually(`all have answered: ${body}`, isQuiet, { show });
  }
  for (const { project, database } of databases) {
    expect({
      ...{ seed, done, project },
      broken: brokenInvariants(database),
      overlapping: overlappingAttempts(database),
      ended: database.all(`SELECT id FROM turns WHERE status NOT IN ('completed', 'cancelled')`),
      twice: database.all(`SELECT body FROM ${answers} AND body NOT LIKE 'Found:%' GROUP BY body HAVING count(*) > 1`),
      unanswered: database.all(`SELECT m.body FROM ${unanswered} AND m.body NOT LIKE 'What is there?%'`),
    }).toEqual({
      ...{ seed, done, project },
      ...{ broken: [], overlapping: [], ended: [], twice: [], unanswered: [] },
    });
  }
  const found = databases[0]?.database.all<{ body: string }>(`SELECT body FROM ${answers} AND body LIKE 'Found:%'`);
  // The shared branch is what the workspace has committed; no line is there twice, and nothing is left uncommitted.
  expect(found?.map(({ body }) => withoutMove(body))).toEqual(
    agents.map(() => expect.stringMatching(/^Found: \[exit code 0, .*\]\s+\[stdout\]\s+\d+\s*$/)),
  );

  await Promise.all(
    Object.values(stack.services)
      .flat()
      .map((service) => service.stop()),
  );
  expect(await readdir(temporary)).toEqual([]);
  expect(await processesLeft()).toEqual([]);
  const cell = new ReadOnlyCell(stack.root);
  const verdicts = await Promise.all(projects.map((project) => verifyProject(cell, project)));
  expect([...(await verifyCatalogue(cell)), ...verdicts.flatMap(({ flaws }) => flaws)]).toEqual([]);
});
