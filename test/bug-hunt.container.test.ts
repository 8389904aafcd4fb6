import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { gitIn } from '../services/turn-worker/test/support/repository.js';
import { renderConfig } from '../shared/core/src/config/render-config.js';
import { loadProjectFile } from '../shared/runtime/src/disk/load-project-file.js';
import { eventually } from './support/poll.js';

const example = fileURLToPath(new URL('../examples/bug-hunt', import.meta.url));

describe.each(['docker', 'process'] as const)('the team of the example, in the %s backend', (backend) => {
  let world: CliWorld;
  let base: string;
  let repository: string;
  let server: ReturnType<CliWorld['begin']>;

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'suzumio-hunt-'));
    repository = join(base, 'repository');
    execFileSync('sh', [join(example, 'make-repository.sh'), repository]);
    world = await createCliWorld({ policy: `${anyBackend}git: ["${repository}"]\n` });
    server = world.begin('serve', '--port', '0');
    await eventually('it serves', () => server.out.includes('next: '), 90_000);
  }, 120_000);

  afterAll(async () => {
    server.interrupt();
    await server.ended;
    await world.remove();
    rmSync(base, { recursive: true, force: true });
  });

  test('finds, mends, reviews and submits', async () => {
    const { config } = loadProjectFile(join(example, 'bug-hunt.yaml'), { env: {} });
    const agents = Object.fromEntries(
      Object.entries(config.agents).map(([id, agent]) => [
        id,
        agent.workspace ? { ...agent, workspace: { git: repository } } : agent,
      ]),
    );
    const file = renderConfig({ ...config, agents, backend: { ...config.backend, kind: backend } });
    await world.run('init', await world.write('bug-hunt.yaml', file));
    await world.run('start', 'bug-hunt');
    await world.run('send', 'bug-hunt', 'maintainer', 'P1', 'A test of the library fails.');
    await eventually(
      'the report is submitted',
      async () => (await world.run('status', 'bug-hunt', '--json')).out.includes('"submitted"'),
      120_000,
    );
    const head = gitIn(repository, 'rev-parse', 'HEAD');
    const patch = join(world.directory, 'developer.patch');
    await world.run('artifacts', 'get', 'bug-hunt', 'developer.patch', '--output', patch);
    expect(readFileSync(patch, 'utf8')).toContain(
      '-    return sum(levels) // len(levels)\n+    return sum(levels) / len(levels)\n',
    );
    const messages = JSON.parse((await world.run('messages', 'bug-hunt', '--json')).out) as {
      sender: string;
      body: string;
    }[];
    const said = (sender: string) => messages.find((message) => message.sender === sender)?.body ?? '';
    expect(said('developer')).toContain(`against the commit ${head}`);
    expect(said('developer')).toMatch(/exit code 1[^]*211 != 211\.5[^]*exit code 0[^]*OK/);
    expect(said('reviewer')).toMatch(/Changed tides\.py \(\+1 -1\)\.[^]*exit code 0[^]*OK/);
    // A person takes it with Git.
    gitIn(repository, 'apply', patch);
    expect(gitIn(repository, 'status', '--porcelain')).toBe('M tides.py');
  }, 240_000);
});
