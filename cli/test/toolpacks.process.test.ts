import { existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { mountable } from '../../test/support/mountable.js';
import { type CliWorld, createCliWorld, type CliWorldOptions } from './support/cli.js';

let directory: string;
const worlds: CliWorld[] = [];
beforeEach(async () => {
  directory = await realpath(await mkdtemp(join(mountable, 'suzumio-own-pack-')));
  mkdirSync(join(directory, 'gauges'));
  writeFileSync(
    join(directory, 'gauges/suzumio.toolpack.json'),
    '{ "id": "gauges", "tools": [{ "name": "gauges.mean" }] }',
  );
  writeFileSync(join(directory, 'gauges/runner.mjs'), 'export default () => ({});\n');
});
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.remove();
  await rm(directory, { recursive: true, force: true });
});

const worldWith = async (options: CliWorldOptions = {}) => {
  const world = await createCliWorld(options);
  worlds.push(world);
  return world;
};

function write(name = 'tides', more = ''): string {
  const file = join(directory, `${name}.yaml`);
  const text = `name: ${name}
task: Watch.
tools:
  toolpacks:
    - { path: ./gauges }
backend: { kind: process, runner: { mode: mock } }
agents: { reader: { tools: ["gauges.*"] } }
${more}`;
  writeFileSync(file, text);
  return file;
}

const grantOf = (world: CliWorld, name = 'tides') =>
  JSON.parse(readFileSync(join(world.root, 'projects', name, 'grant.json'), 'utf8')) as { toolpacks: unknown };

describe('a file that loads a toolpack', () => {
  test.each(['init', 'up'])('is refused by %s where nobody is there to be asked', async (command) => {
    const world = await worldWith();
    const { code, err } = await world.run(command, write());
    expect(code).toBe(3);
    expect(err).toMatch(
      /tides\.yaml:5:7 {2}tools\.toolpacks: nobody is there to be asked about the toolpack gauges in .*gauges \(policy: toolpacks\.directories\)\n/,
    );
    expect(err).toContain(
      `next: the same on a terminal, which asks, or with --allow-toolpack ${join(directory, 'gauges')} `,
    );
    expect(existsSync(world.root)).toBe(false);
  });

  test('is made where the command allows the directory', async () => {
    const world = await worldWith();
    expect(await world.run('init', write(), '--allow-toolpack', directory)).toMatchObject({ code: 3 });
    const made = await world.run('init', write(), '--allow-toolpack', join(directory, 'gauges'));
    expect(made).toMatchObject({ code: 0, err: '' });
    expect(made.out).toContain(`the toolpack in ${join(directory, 'gauges')}.\n`);
    expect(grantOf(world)).toMatchObject({ toolpacks: [join(directory, 'gauges')] });
    expect(existsSync(join(world.root, 'toolpacks-allowed.json'))).toBe(false);
    // It is made as it was: what was taken from the directory is no change of the file.
    const up = world.begin('up', write(), '--port', '0', '--allow-toolpack', join(directory, 'gauges'));
    for (let looks = 0; looks < 500 && !up.out.includes('tides'); looks += 1)
      await new Promise((done) => setTimeout(done, 20));
    expect((await up.stop()).err).not.toContain('has changed');
  });

  test('is asked about once, and the answer is kept for that file, for the owner alone', async () => {
    const answers = ['yes', 'n'];
    const world = await worldWith({ answers });
    const first = await world.run('init', write());
    expect(first).toMatchObject({ code: 0 });
    expect(first.err).toContain(
      `loads the toolpack gauges from ${join(directory, 'gauges')}. Its controller module is code that runs on this machine, as you.\n`,
    );
    const kept = join(world.root, 'toolpacks-allowed.json');
    expect(statSync(kept).mode & 0o777).toBe(0o600);
    expect(JSON.parse(readFileSync(kept, 'utf8'))).toEqual({
      [join(directory, 'tides.yaml')]: [join(directory, 'gauges')],
    });
    write();
    writeFileSync(
      join(directory, 'tides.yaml'),
      readFileSync(join(directory, 'tides.yaml'), 'utf8').replace('name: tides', 'name: again'),
    );
    expect(await world.run('init', join(directory, 'tides.yaml'))).toMatchObject({ code: 0, err: '' });
    expect(await world.run('init', write('other'))).toMatchObject({
      code: 2,
      err: expect.stringContaining('Nothing was made.'),
    });
    expect(answers).toEqual([]);
  });

  test('needs no question where the policy has the directory', async () => {
    const world = await worldWith({ policy: `backends: [process]\ntoolpacks: { directories: [${directory}] }\n` });
    expect(await world.run('init', write())).toMatchObject({ code: 0, err: '' });
    expect(await world.run('policy', 'check', write('posted'), '--posted')).toMatchObject({ code: 0 });
    const bare = await worldWith();
    expect(await bare.run('policy', 'check', write())).toMatchObject({
      code: 0,
      out: expect.stringContaining('the toolpack in '),
    });
    expect(await bare.run('policy', 'check', write(), '--posted')).toMatchObject({ code: 3 });
  });

  test('is refused where its agents may write in the toolpack', async () => {
    const policy = 'backends: [process, docker]\n';
    const world = await worldWith({ policy, answers: ['y'] });
    const mounted = write();
    writeFileSync(
      mounted,
      readFileSync(mounted, 'utf8').replace(
        'kind: process,',
        'docker: { mounts: [{ source: ., target: /own, readonly: false }] },',
      ),
    );
    expect(await world.run('init', mounted)).toMatchObject({
      code: 3,
      err: expect.stringMatching(/gauges is where agents may write .*\(policy: writable\)/),
    });
  });

  test('cannot overrule a server elsewhere', async () => {
    const world = await worldWith();
    expect(
      await world.run('init', write(), '--url', 'http://127.0.0.1:9', '--allow-toolpack', directory),
    ).toMatchObject({
      code: 3,
      err: expect.stringContaining('leave out --allow-toolpack'),
    });
    expect(await world.run('init', '--allow-toolpack', directory)).toMatchObject({
      code: 2,
      err: expect.stringContaining('--allow-toolpack is about a project file'),
    });
  });
});
