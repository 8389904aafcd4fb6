import { existsSync } from 'node:fs';
import { mkdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, describe, expect, test } from '@jest/globals';
import { eventually } from '../../test/support/poll.js';
import { type CliWorld, createCliWorld, notesProject, printed } from './support/cli.js';
import { freePort } from '../../test/support/free-port.js';

const worlds: CliWorld[] = [];
const worldWith = async (policy: string) => {
  const world = await createCliWorld({ policy });
  worlds.push(world);
  return world;
};
afterEach(async () => {
  for (const world of worlds.splice(0)) await world.remove();
});

const sealed = 'backends: [docker]\n';
const project = (backend: string) => `
name: greedy
task: Take what is there.
backend: { runner: { mode: mock }, ${backend} }
agents:
  mole: { role: mole, prompt: Dig. }
`;

describe('a file of my own', () => {
  test('does not run as processes unless I say so, here or in the policy', async () => {
    const world = await worldWith(sealed);
    const file = await world.write('notes.yaml', notesProject('notes'));
    for (const command of ['up', 'init']) {
      expect(await world.run(command, file)).toMatchObject({
        code: 3,
        err: expect.stringMatching(
          /notes\.yaml:6:9 {2}backend\.kind: turns may not run in process \(policy: backends\)\nnext: suzumio policy show/,
        ),
      });
    }
    expect(existsSync(world.root)).toBe(false);
    expect(await world.run('init', file, '--allow-process')).toMatchObject({ code: 0 });
  });

  test('that was let run as processes once is refused by a server that was not told so', async () => {
    const world = await worldWith(sealed);
    const file = await world.write('notes.yaml', notesProject('notes'));
    await world.run('init', file, '--allow-process');
    const server = await world.serve();
    await world.run('start', 'notes');
    await world.run('send', 'notes', 'writer', 'P1', 'A note, please.');
    await eventually('the turn has failed', async () =>
      (await world.run('status', 'notes')).out.includes('policy-denied in turn 1'),
    );
    expect((await server.stop()).code).toBe(0);
  });

  test('is allowed its directory and its image, which is said and kept with the project', async () => {
    const world = await worldWith(sealed);
    await mkdir(join(world.directory, 'readings'));
    const mounts = 'mounts: [{ source: readings, target: /data, readonly: false }]';
    const file = await world.write('greedy.yaml', project(`image: mine:1, docker: { ${mounts} }`));
    expect(await world.run('policy', 'check', file, '--posted')).toMatchObject({ code: 3 });
    const made = await world.run('init', file);
    expect(made.out).toContain(
      `Allowed for greedy, as its file is on your own disk: mounts from ${world.directory}, writing to ${world.directory}/readings, the image mine:1.\n`,
    );
    const kept = await readFile(join(world.root, 'projects/greedy/grant.json'), 'utf8');
    expect(JSON.parse(kept)).toEqual({
      directories: [join(world.directory, 'readings')],
      readonly: [world.directory],
      images: ['mine:1'],
      toolpacks: [],
      git: [],
      providers: [],
    });
  });

  test.each([
    ['docker: { mounts: [{ source: .., target: /data }] }', 'backend.docker.mounts[0].source'],
    ['docker: { mounts: [{ source: /, target: /data }] }', 'backend.docker.mounts[0].source'],
    ['docker: { mounts: [{ source: data, target: /data }] }', 'backend.docker.mounts[0].source'],
    ['docker: { network: host }', 'backend.docker.network'],
    ['docker: { user: root }', 'backend.docker.user'],
    ['docker: { memory: 64g }', 'backend.docker.memory'],
  ])('does not get { %s }', async (backend, field) => {
    const world = await worldWith(sealed);
    const { code, err } = await world.run('init', await world.write('greedy.yaml', project(backend)));
    expect(code).toBe(3);
    expect(err).toContain(`${field}: `);
    expect(existsSync(world.root)).toBe(false);
  });

  test('that asks for nothing leaves no trace of what it was allowed', async () => {
    const world = await worldWith(sealed);
    const made = await world.run('init', await world.write('greedy.yaml', project('docker: { cpus: 2 }')));
    expect(made.code).toBe(0);
    expect(made.out).not.toContain('Allowed');
    expect(existsSync(join(world.root, 'projects/greedy/grant.json'))).toBe(false);
  });

  test('says where it is served', async () => {
    const world = await worldWith('backends: [docker, process]\n');
    const port = await freePort();
    const served = `${notesProject('notes')}observability: { http: { host: 127.0.0.1, port: ${String(port)} } }\n`;
    const up = world.begin('up', await world.write('notes.yaml', served));
    await printed(up, 'listens on');
    expect(up.out).toContain(`Suzumio listens on http://127.0.0.1:${String(port)} `);
    expect((await up.stop()).code).toBe(0);
  });
});

describe('policy', () => {
  test('show prints what holds, and check what that does not allow', async () => {
    const world = await worldWith('networks: [none, bridge]\n');
    const shown = await world.run('policy', 'show');
    expect(shown).toMatchObject({ code: 0, err: '' });
    expect(shown.out).toMatch(/^# .*policy\.yaml\nbackends:\n {2}- docker\n/);
    expect(JSON.parse((await world.run('policy', 'show', '--json')).out)).toMatchObject({
      file: join(world.directory, 'policy.yaml'),
      policy: { networks: ['none', 'bridge'], writableRoot: false },
    });
    const modest = await world.write('modest.yaml', project('docker: { network: bridge }'));
    expect(await world.run('policy', 'check', modest)).toMatchObject({
      code: 0,
      out: `${modest} asks for nothing that the policy does not allow.\n`,
    });
    const greedy = await world.write('greedy.yaml', project('docker: { network: host }'));
    expect(await world.run('policy', 'check', greedy)).toMatchObject({
      code: 3,
      err: expect.stringContaining('containers may not join the network host (policy: networks)'),
    });
  });

  test('check says what the budget of the day cannot count', async () => {
    const world = await worldWith('providers: [{ baseURL: http://m/v1 }]\n');
    const models = `model: fast, models: { providers: { m: { type: openai-compatible, baseURL: http://m/v1 } },
      presets: { fast: { provider: m, model: fast-1, price: { input: 0, output: 0 } } } }`;
    const file = await world.write('priced.yaml', project('').replace('mode: mock', `mode: ai, ${models}`));
    expect(await world.run('policy', 'check', file)).toMatchObject({ code: 0 });
    world.setEnvironment({ SUZUMIO_BUDGET_USD_PER_DAY: '5' });
    expect(await world.run('policy', 'check', file)).toMatchObject({
      code: 3,
      err: expect.stringContaining('the policy gives fast-1 no price, and there is a budget of the day'),
    });
  });

  test('that is written wrongly serves nothing', async () => {
    const world = await worldWith('netwroks: [bridge]\n');
    for (const command of [['up'], ['serve', '--port', '0'], ['policy', 'show']]) {
      expect(await world.run(...command)).toMatchObject({
        code: 3,
        err: expect.stringMatching(/policy\.yaml:1:1 {2}unknown field `netwroks`: did you mean `networks`\?/),
      });
    }
    expect(existsSync(world.root)).toBe(false);
  });
});
