import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { TestRepository } from '../services/turn-worker/test/support/repository.js';
import { eventually } from './support/poll.js';

describe.each(['docker', 'process'] as const)('a workspace that is a clone, in the %s backend', (backend) => {
  let world: CliWorld;
  let base: string;
  let origin: TestRepository;
  let first: string;
  let server: ReturnType<CliWorld['begin']>;

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'suzumio-clone-'));
    origin = new TestRepository(join(base, 'tides'));
    first = origin.commit({ 'tides.py': 'print(1)\n' });
    world = await createCliWorld({ policy: `${anyBackend}git: ["${base}/**"]\n` });
    server = world.begin('serve', '--port', '0');
    await eventually('it serves', () => server.out.includes('next: '), 90_000);
  }, 120_000);

  afterAll(async () => {
    server.interrupt();
    await server.ended;
    await world.remove();
    rmSync(base, { recursive: true, force: true });
  });

  /** Runs until a turn of the developer has ended, and returns it. */
  async function turn(project: string, number: number) {
    await world.run('send', project, 'developer', 'P1', `Turn ${number}.`);
    const turns = async () =>
      JSON.parse((await world.run('turns', project, '--json')).out) as { number: number; status: string }[];
    const ended = async () =>
      (await turns()).find((one) => one.number === number && ['completed', 'failed'].includes(one.status));
    await eventually(`turn ${number} of ${project} ends`, async () => (await ended()) !== undefined, 90_000);
    return ended();
  }

  test('is made once, keeps its commits, and runs nothing on the host', async () => {
    const marker = join(base, `ran-${backend}`);
    const plant = `git config core.fsmonitor 'touch ${marker};false' && mkdir -p .git/hooks && printf '#!/bin/sh\\ntouch ${marker}\\n' > .git/hooks/post-checkout && chmod +x .git/hooks/post-checkout && git config filter.x.smudge 'touch ${marker};cat'`;
    const file = (git: string) => ({
      name: 'cloned',
      task: 'Mend it.',
      backend: {
        kind: backend,
        runner: {
          mode: 'mock',
          script: [
            {
              agent: 'developer',
              when: { turn: 1 },
              steps: [
                { run: { command: 'git status --short --branch && git log --format=%H && ls' } },
                { run: { command: `echo 'print(2)' > tides.py && git commit -qam Second && ${plant}` } },
                { text: '{{steps.0.output}}' },
              ],
            },
            {
              agent: 'developer',
              steps: [
                { run: { command: 'git -c core.fsmonitor=false log --format=%s && cat tides.py' } },
                { text: '{{steps.0.output}}' },
              ],
            },
          ],
        },
      },
      agents: { developer: { role: 'developer', prompt: 'Mend.', workspace: { git } } },
    });
    await world.run('init', await world.write('cloned.json', JSON.stringify(file(origin.path))));
    await world.run('start', 'cloned');
    expect(await turn('cloned', 1)).toMatchObject({ status: 'completed' });
    const shown = await world.run('turns', 'show', 'cloned', 'developer:1');
    expect(shown.out).toContain(`  ## suzumio/developer\n  ${first}\n  tides.py`);
    const events = await world.run('events', 'cloned');
    expect(events.out).toContain(`{"repository":"tides","branch":"suzumio/developer","commit":"${first}"}`);

    // What is committed there meanwhile is not in the agent's clone.
    origin.commit({ 'tides.py': 'print(3)\n' });
    expect(await turn('cloned', 2)).toMatchObject({ status: 'completed' });
    expect((await world.run('turns', 'show', 'cloned', 'developer:2')).out).toContain(
      '  Second\n  Change something\n  print(2)',
    );
    if (backend === 'docker') expect(existsSync(marker)).toBe(false);
  }, 240_000);

  test('fails its first turn where it cannot be made, and why says what would be right', async () => {
    const file = {
      name: 'refused',
      task: 'Mend it.',
      backend: { kind: backend, runner: { mode: 'mock' } },
      agents: { developer: { role: 'developer', prompt: 'Mend.', workspace: { git: origin.path, ref: 'nope' } } },
    };
    await world.run('init', await world.write('refused.json', JSON.stringify(file)));
    await world.run('start', 'refused');
    expect(await turn('refused', 1)).toMatchObject({ status: 'failed' });
    const { out } = await world.run('why', 'refused', 'developer');
    expect(out).toContain('ref-unknown');
    expect(out).toContain('has no branch, tag or commit nope');
    // Once that is mended, a retry goes on.
    origin.git('branch', 'nope', first);
    await world.run('agents', 'retry', 'refused', 'developer');
    await eventually(
      'the turn is completed',
      async () => (await world.run('turns', 'refused', '--json')).out.includes('"completed"'),
      90_000,
    );
  }, 240_000);
});

test('a clone that no policy allows is refused before anything is made', async () => {
  const world = await createCliWorld({ policy: anyBackend });
  try {
    const file = `name: denied
task: Mend it.
backend: { runner: { mode: mock } }
agents:
  developer: { role: developer, prompt: Mend., workspace: { git: /srv/elsewhere } }
`;
    const { code, err } = await world.run('init', await world.write('denied.yaml', file));
    expect(code).not.toBe(0);
    expect(err).toContain(
      '5:66  agents.developer.workspace.git: workspaces may not be clones of /srv/elsewhere (policy: git)',
    );
  } finally {
    await world.remove();
  }
});
