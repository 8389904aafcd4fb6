import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from '@jest/globals';
import { readProjectFile } from '@suzumio/runtime/disk/load-project-file';
import { requireRepositories } from '@suzumio/runtime/repository/project-repositories';
import { checkRepositories } from '../src/doctor/check-repositories.js';
import type { Session } from '../src/session.js';
import { TestRepository } from '../../services/turn-worker/test/support/repository.js';
import { mountable } from '../../test/support/mountable.js';
import { type CliWorld, createCliWorld, notesProject } from './support/cli.js';

// Starts: cli, services/api.
let world: CliWorld;
let place: string;
let tides: TestRepository;
beforeEach(async () => {
  world = await createCliWorld();
  place = await mkdtemp(join(mountable, 'suzumio-repositories-'));
  tides = new TestRepository(join(place, 'tides'));
  tides.commit({ 'a.txt': 'a\n' });
});
afterEach(async () => {
  await world.remove();
  await rm(place, { recursive: true, force: true });
});

async function project(git: string, settings = ''): Promise<string> {
  const file = join(place, 'notes.yaml');
  await writeFile(
    file,
    `${notesProject('notes').replace('prompt: Write.', `prompt: Write., workspace: { git: ${git} }`)}${settings}`,
  );
  return file;
}

test('init refuses what no turn could clone, and doctor says it of what has come to be so', async () => {
  tides.git('submodule', '--quiet', 'add', tides.path, 'inner');
  tides.commit({});
  const refused = await world.run('init', await project('./tides'));
  expect(refused.code).not.toBe(0);
  expect(refused.err).toMatch(
    /notes\.yaml:\d+:\d+ {2}.*tides has a submodule \("inner"\).*git: \{ submodules: skip \}/,
  );
  expect((await world.run('init', await project('./tides', 'git: { submodules: skip }\n'))).err).toBe('');
  const ended: (() => unknown)[] = [];
  const session = {
    root: world.root,
    suzumio: 'suzumio',
    context: { env: {}, now: Date.now },
    onEnd: (end: () => unknown) => ended.push(end),
  } as unknown as Session;
  expect(await checkRepositories(session)).toEqual([]);
  execFileSync('rm', ['-r', join(tides.path, '.git/objects')]);
  expect(await checkRepositories(session)).toEqual([
    {
      what: 'git',
      state: 'broken',
      detail: expect.stringMatching(/^notes, \w+: There is no repository at .*tides/),
      remedy: expect.stringContaining('suzumio config apply notes FILE'),
    },
  ]);
  for (const end of ended) await end();
});

test("config check agrees with init on a file of one's own: on what is taken, refused and not there yet", async () => {
  const server = await world.serve();
  try {
    const checked = async (git: string, settings = '') => {
      const { code, err } = await world.run('config', 'check', await project(git, settings));
      return [code, err.replaceAll(place, 'HERE')];
    };
    expect(await checked('./tides')).toEqual([0, '']);
    expect(await checked('./none')).toEqual([
      0,
      'warning: HERE/none is no Git repository; turns that clone it fail until it is one.\n',
    ]);
    tides.git('submodule', '--quiet', 'add', tides.path, 'inner');
    tides.commit({});
    const [code, err] = await checked('./tides');
    expect([code, err]).toEqual([expect.any(Number), expect.stringMatching(/tides has a submodule \("inner"\)/)]);
    expect(code).not.toBe(0);
    expect(await checked('./tides', 'git: { submodules: skip }\n')).toEqual([0, '']);
  } finally {
    await server.stop();
  }
});

test('what is too large for a workspace is taken once the file allows more, as the refusal says', async () => {
  await writeFile(join(world.directory, 'policy.yaml'), 'backends: [process]\nceilings: { workspaceFiles: 30000 }\n');
  tides.commit({ 'b.txt': 'b\n', 'c.txt': 'c\n' });
  const { code, err } = await world.run('init', await project('./tides', 'workspace: { maxFiles: 2 }\n'));
  expect([code, err]).toEqual([
    3,
    expect.stringMatching(/more than 2 files and directories.*workspace: \{ maxFiles: … \}.*ceilings\.workspaceFiles/),
  ]);
  expect((await world.run('init', await project('./tides', 'workspace: { maxFiles: 30000 }\n'))).err).toBe('');
});

test('config check lets turns run as processes where --allow-process does', async () => {
  const server = await world.serve('--allow-process');
  try {
    await writeFile(join(world.directory, 'policy.yaml'), 'backends: [docker]\n');
    const file = await project('./tides');
    expect((await world.run('config', 'check', file)).err).toContain('and --allow-process allows processes');
    expect(await world.run('config', 'check', file, '--allow-process')).toMatchObject({ code: 0, err: '' });
  } finally {
    await server.stop();
  }
});

test('init --repository writes what a clone has to do without, and the file is taken', async () => {
  tides.git('submodule', '--quiet', 'add', tides.path, 'inner');
  tides.commit({
    '.gitattributes': '*.psd filter=lfs\n',
    'a.psd': `version https://git-lfs.github.com/spec/v1\noid sha256:${'a'.repeat(64)}\nsize 12\n`,
  });
  const command = join(import.meta.dirname, '../bin/suzumio.js');
  execFileSync(process.execPath, [command, 'init', '--repository'], {
    cwd: tides.path,
    env: { PATH: process.env['PATH'], HOME: place, NO_COLOR: '1' },
    stdio: 'pipe',
  });
  const file = join(tides.path, 'tides.yaml');
  expect(existsSync(file)).toBe(true);
  expect(readFileSync(file, 'utf8')).toContain('git: { lfs: pointers, submodules: skip }');
  tides.commit({});
  expect(await requireRepositories(readProjectFile(file, { env: {} }))).toEqual([]);
});
