import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { anyBackend, type CliWorld, createCliWorld } from '../cli/test/support/cli.js';
import { gitIn } from '../services/turn-worker/test/support/repository.js';
import { bugHunt, huntFile, playBugHunt } from './support/bug-hunters.js';
import { type ModelServer, startModelServer } from './support/model-server.js';
import { eventually } from './support/poll.js';

describe.each([
  ['docker', 'models'],
  ['process', 'a script'],
  ['process', 'models'],
] as const)('the team of the example, in the %s backend, played by %s', (backend, players) => {
  let world: CliWorld;
  let models: ModelServer;
  let base: string;
  let repository: string;

  beforeAll(async () => {
    base = mkdtempSync(join(tmpdir(), 'suzumio-hunt-'));
    repository = join(base, 'repository');
    execFileSync('sh', [join(bugHunt, 'make-repository.sh'), repository]);
    models = await startModelServer(playBugHunt);
    const providers = `providers: [{ baseURL: "${models.baseURL}", apiKeyEnv: MODEL_KEY }]\n`;
    world = await createCliWorld({ policy: `${anyBackend}git: ["${repository}"]\n${providers}` });
    world.setEnvironment({ MODEL_KEY: 'sk-test-0123456789' });
    await world.serve();
  });

  afterAll(async () => {
    await world.remove();
    await models.close();
    rmSync(base, { recursive: true, force: true });
  });

  const submitted = (version: number) =>
    eventually(`version ${version} of the report is submitted`, async () => {
      const { out } = await world.run('status', 'bug-hunt', '--json');
      const { project } = JSON.parse(out) as { project: { status: string; reportVersion: number | null } };
      return project.status === 'submitted' && project.reportVersion === version;
    }).catch(async (error: unknown) => {
      throw new Error(`${String(error)}\n${(await world.run('tool-calls', 'bug-hunt', '--json')).out}`);
    });

  test('finds, mends, reviews and submits', async () => {
    const asked = players === 'models' ? { modelServer: models.baseURL } : {};
    const file = huntFile({ name: 'bug-hunt', backend, repository, ...asked });
    expect(await world.run('init', await world.write('bug-hunt.yaml', file))).toMatchObject({ code: 0 });
    await world.run('start', 'bug-hunt');
    await world.run('send', 'bug-hunt', 'maintainer', 'P1', 'A test of the library fails.');
    await submitted(1);
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
  });

  test('goes on from what the person has taken, to a second patch', async () => {
    const take = () => world.run('patch', 'apply', 'bug-hunt', 'developer.patch', '--repository', repository);
    expect(await take()).toMatchObject({ code: 0, out: expect.stringContaining('1 file changed') });
    writeFileSync(join(repository, 'CHANGES'), 'The mean is no longer rounded down.\n');
    // In the line above what the patch has changed.
    const tides = join(repository, 'tides.py');
    writeFileSync(tides, readFileSync(tides, 'utf8').replace('The mean of some', 'The arithmetic mean of some'));
    gitIn(repository, 'add', '--all');
    gitIn(repository, 'commit', '--quiet', '--message', 'Mend the mean');
    const head = gitIn(repository, 'rev-parse', 'HEAD');
    const asked = await world.run('request-changes', 'bug-hunt', 'maintainer', 'An empty list has no mean: say so.');
    expect(asked).toMatchObject({ code: 0 });
    await submitted(2);
    expect(await take()).toMatchObject({ code: 0, out: expect.stringContaining(`against ${head}: 1 file changed`) });
    expect(readFileSync(join(repository, 'tides.py'), 'utf8')).toContain("raise ValueError('there are no levels')");
    expect(gitIn(repository, 'diff', '--stat')).toMatch(/tides\.py \| 2 \+\+/);
    expect(readFileSync(tides, 'utf8')).toContain('The arithmetic mean of some levels.');
    execFileSync('python3', ['-m', 'unittest'], { cwd: repository, stdio: 'pipe' });
  });
});
