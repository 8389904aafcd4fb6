import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { chmod, mkdir, stat, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer } from 'node:http';
import { createServer } from 'node:net';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import type { Finding } from '@suzumio/cli/doctor/check';
import { checkDataDirectory, checkFileSystem } from '@suzumio/cli/doctor/check-data';
import { checkEngine } from '@suzumio/cli/doctor/check-engine';
import { checkClock, checkInstallation, checkNode } from '@suzumio/cli/doctor/check-machine';
import { checkGit, checkPrograms } from '@suzumio/cli/doctor/check-programs';
import { checkQueue } from '@suzumio/cli/doctor/check-queue';
import { checkPort, serverClock } from '@suzumio/cli/doctor/check-server';
import { missingPrograms } from '@suzumio/turn-worker';
import { startRedis } from '../../test/support/redis.js';
import { anyBackend, type CliWorld, createCliWorld } from './support/cli.js';

const command = fileURLToPath(new URL('../bin/suzumio.js', import.meta.url));
const asRoot = process.getuid?.() === 0 ? test : test.skip;

let world: CliWorld;
beforeEach(async () => {
  world = await createCliWorld({ policy: anyBackend });
});
afterEach(() => world.remove());

/** Runs the built command as another process, below `sh` where that prepares something first. */
async function doctorIn(prepared: string, user?: number): Promise<{ code: number; findings: Finding[] }> {
  const script = `${prepared} exec "$NODE" "$COMMAND" doctor --json --port 0`;
  const env = { ...process.env, NODE_OPTIONS: '', NODE: process.execPath, COMMAND: command, SUZUMIO_ROOT: world.root };
  const options = { env: { ...env, WORLD: world.directory }, ...(user === undefined ? {} : { uid: user, gid: user }) };
  const shell =
    user === undefined ? (['unshare', ['-m', 'sh', '-ec', script]] as const) : (['sh', ['-ec', script]] as const);
  const ended = await promisify(execFile)(shell[0], shell[1], options).then(
    ({ stdout }) => ({ code: 0, stdout }),
    (error: unknown) => error as { code: number; stdout: string },
  );
  return { code: ended.code, findings: JSON.parse(ended.stdout) as Finding[] };
}

const about = (findings: readonly Finding[], what: string) => findings.find((finding) => finding.what === what);

describe('doctor, of the machine, says what is broken and what to do', () => {
  test('a Node that is too old', () => {
    expect(checkNode('v20.20.2')).toMatchObject({ state: 'broken', detail: 'v20.20.2; 22 or later is needed' });
    expect(checkNode('v22.0.0').state).toBe('ok');
  });

  test('a runner that was not built', () => {
    expect(checkInstallation(['/nowhere/runner.mjs'])).toMatchObject({ state: 'broken', remedy: 'npm run build' });
  });

  asRoot('a disk that is full', async () => {
    const full =
      'mkdir -p "$SUZUMIO_ROOT"; mount -t tmpfs -o size=1m tmpfs "$SUZUMIO_ROOT"; head -c 1m /dev/zero > "$SUZUMIO_ROOT/x" || true;';
    const { code, findings } = await doctorIn(full);
    expect(code).toBe(1);
    expect(about(findings, 'disk')).toEqual({
      what: 'disk',
      state: 'broken',
      detail: `0 B of 1.0 MB free for ${world.root}; 537 MB are needed`,
      remedy: 'make room there, or set SUZUMIO_ROOT to a directory on a larger disk',
    });
  });

  test('a clock that is not that of the server, or of Redis', async () => {
    const late = createHttpServer((_request, response) => {
      response.setHeader('date', new Date(Date.now() - 3_600_000).toUTCString());
      response.end('{}');
    });
    await once(late.listen(0, '127.0.0.1'), 'listening');
    const url = `http://127.0.0.1:${String((late.address() as AddressInfo).port)}`;
    const clock = await serverClock(url, Date.now);
    late.close();
    expect(checkClock(clock ? [clock, { of: 'Redis', aheadMs: 20 }] : [])).toMatchObject({
      state: 'broken',
      detail: expect.stringMatching(/^this machine's is (60 min 0 s|59 min 5\d s|1 h 0 min) ahead of that of http/),
    });
    expect(checkClock([{ of: 'Redis', aheadMs: 90_000 }])).toMatchObject({
      state: 'broken',
      detail: "this machine's is 1 min 30 s behind that of Redis",
    });
    expect(checkClock([{ of: 'Redis', aheadMs: 20 }])).toMatchObject({ state: 'ok' });
    expect(checkClock([])).toMatchObject({ state: 'skipped' });
  });

  test('a port that is taken, and by whom', async () => {
    const other = createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
    await once(other, 'listening');
    const { port } = other.address() as AddressInfo;
    expect(await checkPort('127.0.0.1', port, undefined)).toMatchObject({
      state: 'broken',
      detail: expect.stringMatching(
        process.platform === 'linux'
          ? new RegExp(`^127\\.0\\.0\\.1:${String(port)} is taken by .+ \\(process ${String(process.pid)}\\)$`)
          : /is taken/,
      ),
      remedy: 'stop that one, or serve with another --port',
    });
    expect(await checkPort('127.0.0.1', port, `http://127.0.0.1:${String(port)}`)).toMatchObject({ state: 'ok' });
    expect(await checkPort('127.0.0.1', port, 'http://127.0.0.1:1')).toEqual({
      what: 'port',
      state: 'skipped',
      detail: 'not looked at: the server answers at http://127.0.0.1:1',
    });
    other.close();
    await once(other, 'close');
    expect(await checkPort('127.0.0.1', port, undefined)).toMatchObject({ state: 'ok' });
    expect(await checkPort('192.0.2.1', port, undefined)).toMatchObject({
      state: 'broken',
      detail: '192.0.2.1 is no address of this machine',
    });
  });
});

describe('doctor, of the data directory, says what is broken and what to do', () => {
  test('one that cannot be one', async () => {
    await writeFile(world.root, 'a file');
    expect(checkDataDirectory(world.root)).toMatchObject({
      state: 'broken',
      detail: `${world.root} is not a directory`,
      remedy: expect.stringContaining('SUZUMIO_ROOT'),
    });
    expect(checkDataDirectory(join(world.directory, 'new'))).toMatchObject({ state: 'ok' });
  });

  test('one with a project that is damaged, and which that is', async () => {
    for (const name of ['well', 'torn']) {
      const file = await world.write(
        `${name}.yaml`,
        `name: ${name}\ntask: t\nbackend: { runner: { mode: mock } }\nagents: { a1: { role: r, prompt: p, tools: [] } }\n`,
      );
      expect(await world.run('init', file)).toMatchObject({ code: 0 });
    }
    expect(checkDataDirectory(world.root)).toMatchObject({ state: 'ok', detail: `${world.root}, 2 projects` });
    await writeFile(join(world.root, 'projects/torn/project.db'), 'no database '.repeat(100));
    expect(checkDataDirectory(world.root)).toMatchObject({
      state: 'broken',
      detail: expect.stringMatching(/^torn: store-corrupt: .*restore the project from a backup/) as unknown,
      remedy: expect.stringContaining('suzumio verify') as unknown,
    });
  });

  test('one that others may write to', async () => {
    await mkdir(world.root);
    await chmod(world.root, 0o777);
    expect(checkDataDirectory(world.root)).toMatchObject({
      state: 'broken',
      detail: `others may write to ${world.root} (mode 0777)`,
      remedy: `chmod go-w ${world.root}`,
    });
  });

  asRoot("one that is somebody else's, that cannot be written to, or cannot be made", async () => {
    const nobody = 65_534;
    await chmod(world.directory, 0o755);
    await mkdir(world.root);
    const foreign = await doctorIn('', nobody);
    expect([foreign.code, about(foreign.findings, 'data')]).toMatchObject([
      1,
      { state: 'broken', detail: `${world.root} belongs to user 0, and you are user ${String(nobody)}` },
    ]);
    await promisify(execFile)('chown', [String(nobody), world.root]);
    await chmod(world.root, 0o500);
    const locked = await doctorIn('', nobody);
    expect(about(locked.findings, 'data')).toMatchObject({
      state: 'broken',
      detail: `${world.root} cannot be written to by you (mode 0500)`,
    });
    const missing = await doctorIn('SUZUMIO_ROOT="$WORLD/deep/data"; export SUZUMIO_ROOT;', nobody);
    expect(about(missing.findings, 'data')).toMatchObject({
      state: 'broken',
      detail: `${join(world.directory, 'deep', 'data')} cannot be made: you may not write to ${world.directory}`,
    });
  });

  test.each([
    [0x6969, 'NFS'],
    [0xff534d42, 'CIFS'],
    [0x65735546, 'FUSE'],
  ])('one on a network file system (%i, %s)', (type, name) => {
    expect(checkFileSystem(world.root, () => ({ type }))).toMatchObject({
      state: 'broken',
      detail: `${world.root} is on a network file system (${name}), where SQLite can lose data`,
    });
  });

  test('one on this disk is on a local one', () => {
    expect(checkFileSystem(world.root)).toMatchObject({ state: 'ok' });
  });

  test('a server that is announced and dead is none', async () => {
    await mkdir(world.root);
    await writeFile(join(world.root, 'server.json'), JSON.stringify({ url: 'http://127.0.0.1:1', pid: process.pid }));
    const { out } = await world.run('doctor', '--json', '--port', '0');
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ what: 'server', state: 'skipped' }));
  });

  test('a policy that cannot be read', async () => {
    await writeFile(join(world.directory, 'policy.yaml'), 'backends: [dokcer]\n');
    const { code, out } = await world.run('doctor', '--json', '--port', '0');
    expect(code).toBe(1);
    expect(JSON.parse(out)).toContainEqual(expect.objectContaining({ what: 'policy', state: 'broken' }));
  });
});

describe('doctor, of what containers and queues need, says what is broken and what to do', () => {
  test('an engine that does not answer', async () => {
    const socket = join(world.directory, 'docker.sock');
    const findings = await checkEngine(world.root, { environment: { DOCKER_HOST: `unix://${socket}` } });
    expect(findings).toEqual([
      {
        what: 'docker',
        state: 'broken',
        detail: expect.stringMatching(`does not answer: .*connect ENOENT ${socket} \\(DOCKER_HOST\\)\\.$`),
        // The one that these suites use.
        remedy: 'an engine answers at /var/run/docker.sock, use it: export DOCKER_HOST=unix:///var/run/docker.sock',
      },
    ]);
  });

  test('an image that is not there', async () => {
    const [docker, image] = await checkEngine(world.root, {
      environment: process.env,
      image: 'suzumio-nobody-made-this:dev',
    });
    expect([docker?.state, image]).toEqual([
      'ok',
      {
        what: 'image',
        state: 'broken',
        detail: 'The engine has no image suzumio-nobody-made-this:dev.',
        remedy: 'pull it or build it there, on a runner of this release',
      },
    ]);
  });

  test('an image of an earlier release, whose runner has none of the toolpacks', async () => {
    const [, image, door] = await checkEngine(world.root, { environment: process.env, image: 'suzumio-test-base:dev' });
    expect([image, door?.state]).toEqual([
      {
        what: 'image',
        state: 'broken',
        detail:
          'suzumio-test-base:dev is of an earlier release: its runner has no tools of the toolpacks files, shell and workspace',
        remedy: 'pull it or build it there, on a runner of this release',
      },
      'ok',
    ]);
  });

  asRoot('a data directory that containers cannot see', async () => {
    const hidden = 'mkdir -p "$SUZUMIO_ROOT"; mount -t tmpfs tmpfs "$SUZUMIO_ROOT";';
    const { code, findings } = await doctorIn(hidden);
    expect([code, about(findings, 'door')]).toMatchObject([
      1,
      { state: 'broken', remedy: 'put the data directory where containers can see it, as SUZUMIO_ROOT' },
    ]);
  });

  test('a Redis that is configured and away', async () => {
    const server = createServer((connection) => connection.destroy()).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    server.close();
    const { finding, clock } = await checkQueue(`redis://127.0.0.1:${String(port)}`);
    expect(finding).toMatchObject({ state: 'broken', remedy: expect.stringContaining('noeviction') });
    expect(clock).toBeUndefined();
    expect((await checkQueue(undefined)).finding).toMatchObject({ state: 'skipped' });
  });

  test('a Redis that drops keys when it is full, and one that is well', async () => {
    const redis = await startRedis(['--maxmemory-policy', 'allkeys-lru']);
    try {
      expect((await checkQueue(redis.url)).finding).toMatchObject({
        state: 'broken',
        detail: expect.stringContaining('maxmemory-policy allkeys-lru'),
      });
    } finally {
      await redis.stop();
    }
    const sound = await startRedis();
    try {
      const { finding, clock } = await checkQueue(sound.url);
      expect(finding).toMatchObject({ state: 'ok', detail: expect.stringMatching(/^\d+\.\d+\.\d+, noeviction$/) });
      expect(checkClock(clock ? [clock] : [])).toMatchObject({ state: 'ok', detail: 'agrees with Redis' });
    } finally {
      await sound.stop();
    }
  });
});

test('doctor names the programs that turns as processes do not find here, if there may be such turns', async () => {
  const bin = join(world.directory, 'bin');
  await mkdir(bin);
  for (const name of ['bash', 'git', 'jq', 'make', 'npm', 'pip', 'python', 'python3'])
    await writeFile(join(bin, name), '', { mode: 0o755 });
  await writeFile(join(bin, 'curl'), 'not to be executed', { mode: 0o644 });
  expect(missingPrograms(bin)).toEqual(['rg', 'curl', 'patch']);
  expect(checkPrograms(['rg', 'curl'])).toEqual({
    what: 'process',
    state: 'broken',
    detail: 'turns may run as processes, and do not find rg, curl on this machine; file.search needs rg',
    remedy: expect.stringContaining('ripgrep'),
  });
  expect(checkPrograms(['jq'])).toEqual({
    what: 'process',
    state: 'ok',
    detail: 'bash, git, rg, python3, python, pip, make, npm, curl, patch; not found, should agents want it: jq',
  });
  const looked = async () =>
    about(JSON.parse((await world.run('doctor', '--json', '--port', '0')).out) as Finding[], 'process');
  expect(await looked()).toMatchObject({ state: 'ok', detail: expect.stringContaining('git, rg, python3') });
  await writeFile(join(world.directory, 'policy.yaml'), 'backends: [docker]\n');
  expect(await looked()).toBeUndefined();
});

test('doctor finds a machine that has everything well, and leaves nothing behind', async () => {
  const { code, out } = await world.run('doctor', '--port', '0');
  expect(out).toContain('suzumio-runner:dev');
  expect(out).toContain('containers without network');
  expect([code, out.endsWith('All is well.\nnext: suzumio serve\n')]).toEqual([0, true]);
  await expect(stat(world.root)).rejects.toThrow('ENOENT');
});

test('doctor says whether workspaces can be clones here', () => {
  expect(checkGit()).toMatchObject({ what: 'git', state: 'ok', detail: expect.stringMatching(/^\d+\.\d+/) });
  expect(checkGit('no-such-git')).toMatchObject({ what: 'git', state: 'skipped' });
});
