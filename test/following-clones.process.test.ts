import { mkdtempSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { TestRepository } from '../services/turn-worker/test/support/repository.js';
import { endedTurn } from './support/ended-turn.js';
import { mountable } from './support/mountable.js';
import { type Stack, startStack } from './support/stack.js';

let base: string;
let origin: TestRepository;
let first: string;
let stack: Stack;
beforeAll(async () => {
  base = mkdtempSync(join(mountable, 'suzumio-follow-'));
  origin = new TestRepository(join(base, 'tides'));
  first = origin.commit({ 'tides.py': 'print(1)\n' }, 'First');
  stack = await startStack({ backends: ['process'], policy: { git: [`${base}/**`] }, sweepMs: 500 });
});
afterAll(async () => {
  await stack.stop();
  rmSync(base, { recursive: true, force: true });
});

/** What is said of turns by what their commands printed. */
const steps = (...commands: string[]) => [
  ...commands.map((command) => ({ run: { command: `(${command}) 2>&1 || echo "exit $?"` } })),
  { text: commands.map((_, index) => `{{steps.${index}.output}}`).join('\n--\n') },
];

async function create(name: string, script: object[], workspace: object = {}): Promise<void> {
  const file = {
    name,
    task: 'Mend it.',
    backend: { kind: 'process', runner: { mode: 'mock', script } },
    agents: {
      dev: {
        role: 'developer',
        prompt: 'Mend.',
        tools: [],
        workspace: { git: origin.path, ref: 'main', ...workspace },
      },
    },
  };
  expect(await stack.api('POST', '/projects', { file: JSON.stringify(file), start: true })).toMatchObject({
    status: 201,
  });
}

/** Has a turn run, and returns what it said. */
async function turn(project: string, number: number): Promise<string> {
  await stack.api('POST', `/projects/${project}/messages`, { recipient: 'dev', priority: 'P1', body: 'Go on.' });
  return ended(project, number);
}

/** What a turn said in the end. */
const ended = async (project: string, number: number) => (await endedTurn(stack, project, `dev:${number}`)).json;

const shown = async (project: string) =>
  (await stack.api('GET', `/projects/${project}/agents/dev/workspace/repository`)).body;

test('a turn is told where the repository of its clone is, and fetches it as it was before the turn', async () => {
  const look = 'git fetch -q upstream && git log --format=%s HEAD..upstream/tip && git status --short --branch';
  await create('follow', [
    { agent: 'dev', when: { turn: 1 }, steps: steps('git remote', 'git log --format=%s') },
    {
      agent: 'dev',
      when: { turn: 2 },
      steps: steps(
        'git remote; git status --short --branch; git rev-list --all --count',
        look,
        'git push -q upstream HEAD:tip',
        'git merge -q upstream/tip && cat tides.py',
      ),
    },
    { agent: 'dev', when: { turn: 3 }, steps: steps(look) },
    { agent: 'dev', when: { turn: 4 }, steps: steps(look, 'git log --format=%s upstream/tip') },
    { agent: 'dev', steps: steps('rm -rf .git/objects && mkdir .git/objects && git fetch upstream') },
  ]);
  expect(await turn('follow', 1)).toContain('First');
  expect(await shown('follow')).toMatchObject({ repository: { base: first, turnNumber: 1, upstream: null } });

  const second = origin.commit({ 'tides.py': 'print(2)\n' }, 'Second');
  const said = await turn('follow', 2);
  // Nothing of the clone has changed by itself.
  expect(said).toContain(String.raw`upstream\n## suzumio/dev\n1\n`);
  expect(said).toContain(String.raw`--\nSecond\n## suzumio/dev`);
  expect(said).toContain('upstream-read-only');
  expect(said).toContain('print(2)');
  expect(await shown('follow')).toMatchObject({
    repository: { upstream: { commit: second, ahead: 1, rewritten: false, turnNumber: 2, noNews: null } },
  });

  // The repository is away: the turn runs on what was known.
  renameSync(origin.path, `${origin.path}.away`);
  expect(await turn('follow', 3)).toContain(String.raw`## suzumio/dev`);
  renameSync(`${origin.path}.away`, origin.path);
  expect(await shown('follow')).toMatchObject({
    repository: { upstream: { commit: second, turnNumber: 3, noNews: { code: 'repository-refused' } } },
  });

  origin.git('reset', '--hard', '--quiet', first);
  const other = origin.commit({ 'tides.py': 'print(22)\n' }, 'Instead');
  const rewritten = await turn('follow', 4);
  expect(rewritten).toContain(String.raw`Instead\nFirst`);
  expect(await shown('follow')).toMatchObject({ repository: { upstream: { commit: other, rewritten: true } } });

  expect(await turn('follow', 5)).toContain('upstream-base-gone');
});

test('a shallow clone has the new tip as far as its depth reaches', async () => {
  for (const n of [3, 4, 5]) origin.commit({ 'tides.py': `print(${n})\n` }, `Change ${n}`);
  await create(
    'shallow',
    [
      { agent: 'dev', when: { turn: 1 }, steps: steps('git log --format=%s') },
      { agent: 'dev', when: { turn: 2 }, steps: steps('git fetch -q upstream && git log --format=%s upstream/tip') },
      { agent: 'dev', when: { turn: 3, attempt: 1 }, steps: [{ fail: { exit: 3 } }] },
      {
        agent: 'dev',
        steps: steps(
          'git fetch -q --update-shallow upstream && git log --format=%s upstream/tip',
          // As the turn is told, since Git sees no history in common.
          'git diff suzumio/base upstream/tip | git apply --3way --index && cat tides.py && git log --format=%s',
        ),
      },
    ],
    { depth: 2 },
  );
  expect(await turn('shallow', 1)).toContain(String.raw`Change 5\nChange 4`);
  expect(await turn('shallow', 2)).toContain(String.raw`Change 5\nChange 4`);
  for (const n of [6, 7, 8]) origin.commit({ 'tides.py': `print(${n})\n` }, `Change ${n}`);
  await expect(turn('shallow', 3)).rejects.toThrow('non-zero-exit');
  // Whatever happens there meanwhile, all attempts of a turn have the same.
  origin.commit({ 'tides.py': 'print(9)\n' }, 'Change 9');
  await stack.api('POST', '/projects/shallow/agents/dev/retry', {});
  expect(await ended('shallow', 3)).toMatch(
    /Change 8\\nChange 7\\n--\\nApplied patch to 'tides.py' cleanly\.\\nprint\(8\)\\nChange 5\\nChange 4/,
  );
  expect(await shown('shallow')).toMatchObject({ repository: { upstream: { ahead: null, rewritten: false } } });
});
