import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { eventually } from '../support/poll.js';
import { openProject } from '../support/project.js';
import { startStack, type Stack } from '../support/stack.js';
import { casesOf } from './support/campaign.js';
import { HostFiles, marker, namesOfHostFiles } from './support/host-files.js';

// Containers that swap, rename, truncate and grow what is in their workspace, while their calls have it captured. Their links
// lead to files of the host, which they do not have themselves.

const capturesInTurn = 250;
const project = 'swappers';
const agents = ['one', 'two'];

let directory: string;
let outside: HostFiles;
let stack: Stack;

beforeAll(async () => {
  directory = mkdtempSync(join(tmpdir(), 'suzumio-live-'));
  outside = await HostFiles.make(join(directory, 'outside'));
  stack = await startStack({ slots: agents.length, policy: { ceilings: { maxToolCalls: 100_000 } } });
});
afterAll(async () => {
  await stack.stop();
  await rm(directory, { recursive: true, force: true });
});

function rows<Row>(sql: string): Row[] {
  const database = openProject(stack.root, project);
  try {
    return database.all<Row>(sql);
  } finally {
    database.close();
  }
}

/** Has each agent take a turn with so many captures, beside programs of its own that change the workspace. */
async function start(captures: number): Promise<void> {
  // Project files have placeholders of the same kind as its templates.
  const program = readFileSync(fileURLToPath(new URL('support/swapping-agent.mjs', import.meta.url)), 'base64');
  const swapping = `node /tmp/swap.mjs "$PWD" ${outside.directory} $RANDOM`;
  const steps = [
    { tool: 'shell.exec', input: { command: `echo ${program} | base64 -d > /tmp/swap.mjs` } },
    { tool: 'shell.exec', input: { command: swapping, background: true } },
    { tool: 'shell.exec', input: { command: swapping, background: true } },
    ...Array.from({ length: captures }, () => [
      { tool: 'file.list', input: {} },
      { tool: 'artifacts.list', input: {} },
    ]).flat(),
  ];
  const file = JSON.stringify({
    name: project,
    task: 'Swap.',
    tools: { toolpacks: ['files', 'shell'] },
    turn: { maxToolCalls: 100_000, maxAttempts: 10 },
    protection: { emptyTurns: 1_000_000 },
    backend: { docker: { keep: 'never' }, runner: { mode: 'mock', script: agents.map((agent) => ({ agent, steps })) } },
    agents: Object.fromEntries(agents.map((agent) => [agent, { role: 'tester', prompt: 'Swap.', tools: ['*'] }])),
  });
  expect(await stack.api('POST', '/projects', { file, start: true })).toMatchObject({ status: 201 });
}

const ended = `SELECT status FROM turns WHERE status NOT IN ('queued', 'running')`;

/** Everything that the project's captures have stored. */
function stored(): string[] {
  const root = join(stack.root, 'projects', project);
  const entries = readdirSync(root, { recursive: true, withFileTypes: true });
  return entries
    .filter((entry) => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map((entry) => join(entry.parentPath, entry.name));
}

test('no capture that a call brings about reads, writes or follows anything of the host', async () => {
  const wanted = casesOf('live captures');
  const inTurn = Math.min(capturesInTurn, Math.ceil(wanted / agents.length));
  const before = await outside.state();
  await start(inTurn);
  let taken = 0;
  for (let turns = 0; taken < wanted;) {
    for (const recipient of agents) {
      const posted = await stack.api('POST', `/projects/${project}/messages`, { recipient, body: 'Go.' });
      expect(posted).toMatchObject({ status: 201 });
    }
    turns += agents.length;
    await eventually('the turns end', () => rows(ended).length === turns);
    expect(rows(`${ended} AND status <> 'completed'`)).toEqual([]);
    taken = rows<{ number: number }>('SELECT number FROM turn_captures').reduce((sum, { number }) => sum + number, 0);
    expect(await outside.state()).toEqual(before);
  }
  const contents = stored();
  // The programs were at it all the time: what was captured was seldom the same.
  expect(contents.length).toBeGreaterThan(taken / 4);
  for (const path of contents) expect(readFileSync(path).includes(marker)).toBe(false);
  expect(await outside.names()).toEqual(namesOfHostFiles);
  // To look there would have been noticed.
  readFileSync(join(outside.directory, 'secret.txt'));
  expect(await outside.state()).not.toEqual(before);
});
