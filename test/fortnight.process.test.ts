import { mkdtempSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestRepository } from '../services/turn-worker/test/support/repository.js';
import { endedTurn } from './support/ended-turn.js';
import { mountable } from './support/mountable.js';
import { type Stack, startStack } from './support/stack.js';

let base: string;
let origin: TestRepository;
let stack: Stack;
beforeAll(async () => {
  base = mkdtempSync(join(mountable, 'suzumio-fortnight-'));
  origin = new TestRepository(join(base, 'tides'));
  origin.commit({ 'tides.py': ten(), 'notes.md': 'Notes\n' }, 'First');
  stack = await startStack({ backends: ['process'], policy: { git: [`${base}/**`] }, sweepMs: 500 });
});
afterAll(async () => {
  await stack.stop();
  rmSync(base, { recursive: true, force: true });
});

/** Ten lines, far enough apart for each to be changed alone. */
function ten(): string {
  return Array.from({ length: 10 }, (_, at) => `step ${at + 1}\n\n\n\n`).join('');
}

/** What the developer does in a round: a line of the program, and a file. */
const change = {
  run: {
    command:
      'n="{{turn.number}}"; sed -i "s/^step $n$/done in round $n/" tides.py && mkdir -p log && echo "$n" > "log/$n"',
  },
};

const refresh = { tool: 'workspace.git.refresh', input: {} };
const apply = { tool: 'file.apply', input: { artifact: 'tides.patch' } };
const publish = { tool: 'artifacts.publish', input: { patch: true, name: 'tides.patch' } };
const script = [
  // The person has changed the same line otherwise: the developer takes its own back.
  {
    agent: 'dev',
    when: { turn: 6 },
    steps: [
      { ...refresh, expectError: 'merge-conflict' },
      { run: { command: 'git checkout -q tides.py' } },
      refresh,
      change,
      publish,
    ],
  },
  // The reviewer, too, has what it has applied before.
  {
    agent: 'rev',
    when: { turn: 6 },
    steps: [
      { ...refresh, expectError: 'merge-conflict' },
      { run: { command: 'git checkout -q . && git clean -fdq' } },
      refresh,
      apply,
      { run: { command: 'cat tides.py log/*' } },
      { text: '{{steps.4.output}}' },
    ],
  },
  // It commits what it has.
  {
    agent: 'dev',
    when: { turn: 7 },
    steps: [change, { run: { command: 'git add -A && git commit -qm "Round 7"' } }, refresh, publish],
  },
  { agent: 'dev', steps: [refresh, change, publish] },
  {
    agent: 'rev',
    steps: [refresh, apply, { run: { command: 'cat tides.py log/*' } }, { text: '{{steps.2.output}}' }],
  },
];

async function create(): Promise<void> {
  const agent = (tools: string[]) => ({
    role: 'one of two',
    prompt: 'Work.',
    tools,
    workspace: { git: origin.path },
  });
  const file = {
    name: 'fortnight',
    task: 'Keep the tides.',
    backend: { kind: 'process', runner: { mode: 'mock', script } },
    tools: { toolpacks: ['core', 'files', 'workspace'] },
    agents: {
      dev: agent(['workspace.git.refresh', 'artifacts.publish']),
      rev: agent(['workspace.git.refresh', 'file.apply']),
    },
  };
  expect(await stack.api('POST', '/projects', { file: JSON.stringify(file), start: true })).toMatchObject({
    status: 201,
  });
}

/** Has a turn of an agent run, and returns what it said. */
async function turn(agent: string, number: number): Promise<string> {
  await stack.api('POST', '/projects/fortnight/messages', { recipient: agent, priority: 'P1', body: 'Go on.' });
  return (await endedTurn(stack, 'fortnight', `${agent}:${number}`)).text;
}

/** The newest patch, and the commit that it is against. */
async function newestPatch(): Promise<{ base: string | null; text: string }> {
  const { body } = await stack.api('GET', '/projects/fortnight/artifacts?name=tides.patch&limit=100');
  const { id, base: against } = (body as { items: { id: string; base: string | null }[] }).items.at(-1) ?? {
    id: '',
    base: null,
  };
  const response = await fetch(`${stack.url}/api/projects/fortnight/artifacts/${id}/content`, {
    headers: { authorization: `Bearer ${stack.adminToken()}` },
  });
  return { base: against, text: await response.text() };
}

test("ten rounds of patch, the person's own change, request and review", async () => {
  await create();
  const head = () => origin.git('rev-parse', 'HEAD');
  const take = (text: string) => {
    origin.write({ '../tides.patch': text });
    origin.git('apply', '--index', '../tides.patch');
    origin.git('commit', '--quiet', '--message', 'The patch of the team');
  };
  for (let round = 1; round <= 10; round += 1) {
    const before = head();
    await turn('dev', round);
    const { base: against, text } = await newestPatch();
    expect({ round, against }).toEqual({ round, against: before });
    // The reviewer has the whole of it, and what is in the repository, whatever it has applied before.
    const reviewed = await turn('rev', round);
    expect(reviewed).toContain(`done in round ${round}`);
    expect(reviewed).toMatch(new RegExp(`^${round}$`, 'm'));
    // Rounds in which the person asks for changes first, and takes nothing.
    if (round % 3 !== 0) {
      take(text);
    }
    origin.commit({ 'notes.md': `Notes of round ${round}\n`, [`person/${round}.md`]: `${round}\n` }, `Round ${round}`);
    if (round === 4) {
      // What agents have seen is not in its history any more.
      origin.git('reset', '--quiet', '--soft', `${before}~1`);
      origin.git('commit', '--quiet', '--message', 'Round 4, said better');
    }
    if (round === 5) {
      // The person changes the line that the developer is about to.
      const file = origin.git('show', 'HEAD:tides.py');
      origin.commit({ 'tides.py': `${file.replace('done in round 5', 'done in round 5, by hand')}\n` }, 'By hand');
    }
    if (round === 8) {
      origin.git('branch', '--quiet', '--move', 'main', 'trunk');
    }
  }
  const { text } = await newestPatch();
  expect(text).toContain('+10');
});
