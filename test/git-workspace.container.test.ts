import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
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

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'suzumio-clone-'));
    origin = new TestRepository(join(base, 'tides'));
    first = origin.commit({ 'tides.py': 'print(1)\n' });
    world = await createCliWorld({ policy: `${anyBackend}git: ["${base}/**"]\n` });
    await world.serve();
  });

  afterAll(async () => {
    await world.remove();
    rmSync(base, { recursive: true, force: true });
  });

  /** Runs until a turn of an agent has ended, and returns it. */
  async function turn(project: string, number: number, agent = 'developer') {
    await world.run('send', project, agent, 'P1', `Turn ${number}.`);
    const turns = async () =>
      JSON.parse((await world.run('turns', project, '--json')).out) as {
        agent: string;
        number: number;
        status: string;
      }[];
    const ended = async () =>
      (await turns()).find(
        (one) => one.agent === agent && one.number === number && ['completed', 'failed'].includes(one.status),
      );
    await eventually(`turn ${number} of ${agent} in ${project} ends`, async () => (await ended()) !== undefined);
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
  });

  test('shares a repository with the other agents of its project, by plain git', async () => {
    const steps = (...commands: string[]) => [
      ...commands.map((command) => ({ run: { command } })),
      { text: commands.map((_, index) => `{{steps.${index}.output}}`).join('\n') },
    ];
    // What goes around the helper: a push of anything, by the socket that the helper uses.
    const asked = (more: string) => `jq -c '{project, agent, turn, ${more}}' "$SUZUMIO_GIT/turn.json"`;
    const curl = 'curl -s --unix-socket "$SUZUMIO_GIT/door.sock" -H "content-type: application/json"';
    const around = (more: string) => `${asked(more)} | ${curl} -d @- http://door/git/push`;
    const hostile = (name: string) =>
      `key: "hostile-${name}", updates: [{ref: "refs/tags/suzumio/ben/${name}", from: null, to: `;
    const tree = [
      `tree=$(printf '040000 tree %s\\t.git\\n' "$(git rev-parse 'HEAD^{tree}')" | git mktree)`,
      'bad=$(git commit-tree -m Bad "$tree")',
      `printf '%s\\n^HEAD\\n' "$bad" | git pack-objects --revs --stdout --delta-base-offset -q > .suzumio/bad.pack`,
      'sha=$(sha256sum < .suzumio/bad.pack | cut -c 1-64)',
      `${curl} -T .suzumio/bad.pack "http://door/git/packs/$sha"`,
      `jq -c --arg bad "$bad" --arg sha "$sha" '{project, agent, turn, pack: $sha, ${hostile('tree')}$bad}]}' "$SUZUMIO_GIT/turn.json" | ${curl} -d @- http://door/git/push`,
      'git push shared "$bad:refs/heads/suzumio/ben" 2>&1 || echo refused by Git',
    ].join(' && ');
    const file = {
      name: 'shared',
      task: 'Mend it.',
      git: { shared: true, maintainers: ['ada'] },
      backend: {
        kind: backend,
        runner: {
          mode: 'mock',
          script: [
            { agent: 'ada', when: { turn: 1 }, steps: steps('git push -q shared HEAD:main && git ls-remote shared') },
            {
              agent: 'ada',
              steps: steps(
                'git fetch shared 2>&1 && git ls-remote shared 2>&1',
                'git fetch -q && git merge -q --ff-only shared/suzumio/ben && cat tides.py',
                'git push -q shared HEAD:main && git push -q shared :suzumio/ben && git fetch -q --prune && git branch -r',
              ),
            },
            {
              agent: 'ben',
              when: { turn: 1 },
              steps: steps(
                'git fetch -q && git log --format=%s shared/main',
                `echo 'print(9)' > tides.py && git commit -qam Ninth && git push -q && git status -sb | head -1`,
                'git push shared HEAD:main 2>&1 || echo refused',
                'git push shared HEAD:suzumio/ada 2>&1 || echo refused again',
                'rm -rf .suzumio && git clone -q suzumio::shared /tmp/again-$$ && git -C /tmp/again-$$ log --format=%s && rm -rf /tmp/again-$$',
                around(`key: "hostile-name", updates: [{ref: "refs/heads/../../hooks/x", from: null, to: null}]`),
                around(`${hostile('none')}"${'1'.repeat(40)}"}]`),
                tree,
                'env | grep -c SUZUMIO_AGENT_TOKEN || true',
              ),
            },
          ],
        },
      },
      agents: Object.fromEntries(
        ['ada', 'ben'].map((agent) => [
          agent,
          { role: agent, prompt: 'Mend.', workspace: { git: origin.path, ref: first } },
        ]),
      ),
    };
    await world.run('init', await world.write('shared.json', JSON.stringify(file)));
    await world.run('start', 'shared');
    const said = async (agent: string, number: number) => {
      const ended = await turn('shared', number, agent);
      const shown = (await world.run('turns', 'show', 'shared', `${agent}:${number}`)).out;
      if (ended?.status !== 'completed') throw new Error(shown);
      return shown;
    };
    expect(await said('ada', 1)).toContain(`${first}\trefs/heads/main`);
    const ben = await said('ben', 1);
    expect(ben).toContain('Change something');
    expect(ben).toContain('## suzumio/ben');
    expect(ben).toContain('git-ref-refused: refs/heads/main is not yours to move');
    expect(ben).toContain('refused again');
    expect(ben).toContain('"code":"invalid-request"');
    // Both were put on record, and the second was refused by Git where it came in by the helper.
    expect(ben).toContain('{"push":3}');
    expect(ben).toContain('{"push":4}');
    expect(ben).toContain('hasDotgit');
    expect(ben).toContain('refused by Git');
    const ada = await said('ada', 2);
    expect(ada).toContain('what push 4 has brought is left out');
    expect(ada).toContain(`refs/tags/suzumio/ben/none is left out: it is at ${'1'.repeat(40)}, which is in no push`);
    expect(ada).toContain('refs/tags/suzumio/ben/tree is left out');
    expect(ada).toContain('refs/heads/suzumio/ben');
    expect(ada).not.toMatch(/^ *[0-9a-f]{40}\trefs\/tags/m);
    expect(ada).toContain('print(9)');

    const shown = await world.run('git', 'refs', 'shared');
    expect(shown.out).toMatch(/^REF +AT +PUSHED BY +TIME\nmain +[0-9a-f]{10} +ada/);
    expect(shown.out).not.toMatch(/^suzumio\/ben/m);
    expect((await world.run('git', 'log', 'shared')).out).toMatch(/suzumio\/ben [0-9a-f]{10} -> deleted/);
    expect((await world.run('events', 'shared')).out).toMatch(
      /git\.pushed.*"ref":"refs\/heads\/suzumio\/ben","from":null/,
    );
    const bundle = join(base, `${backend}.bundle`);
    await world.run('git', 'bundle', 'shared', 'refs/heads/main', '--output', bundle);
    expect(origin.git('ls-remote', bundle)).toContain('refs/heads/main');
    origin.git('clone', '--quiet', bundle, join(base, `bundle-${backend}`));
    expect(readFileSync(join(base, `bundle-${backend}`, 'tides.py'), 'utf8')).toBe('print(9)\n');

    const differs = await world.run('git', 'diff', 'shared', first, 'main');
    expect(differs.out).toContain('diff --git a/tides.py b/tides.py\n');
    expect(differs.out).toContain('\n+print(9)\n');
    expect((await world.run('git', 'diff', 'shared', first, 'main', '--commits')).out).toMatch(
      /\n[0-9a-f]{10} .* Ninth\n/,
    );
    const hostileTag = await world.run('git', 'diff', 'shared', 'main', 'refs/tags/suzumio/ben/tree');
    expect(hostileTag).toMatchObject({ code: 3, err: expect.stringContaining('is no commit of what was pushed') });
  });

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
    await eventually('the turn is completed', async () =>
      (await world.run('turns', 'refused', '--json')).out.includes('"completed"'),
    );
  });
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
