import { chmod, mkdir, mkdtemp, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createServer as createHttpServer, request as httpRequest } from 'node:http';
import { createServer, type Server } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { policySchema } from '@suzumio/core/policy/policy';
import { agentCommand, baseImage, deriveImage, docker } from './support/images.js';
import { until } from './support/until.js';
import { type TurnSpec, World } from './support/world.js';

const mib = 1024 * 1024;

let world: World;
let image: Awaited<ReturnType<typeof deriveImage>>;
/** The only directory that may be mounted, and beside it one that may not. */
let root: string;
let socket: Server;

beforeAll(async () => {
  image = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1']);
  root = await mkdtemp('/tmp/suzumio-mounts-');
  for (const path of ['open', 'open/data', 'held', 'held/kept', 'shown', 'closed']) await mkdir(`${root}/${path}`);
  // Whoever runs in the container may write there, as far as the mount lets them.
  for (const path of ['open', 'open/data', 'shown']) await chmod(`${root}/${path}`, 0o777);
  await writeFile(`${root}/open/data/note.md`, 'A note.');
  await writeFile(`${root}/closed/secret`, 'A secret.');
  await symlink(`${root}/closed`, `${root}/open/way-out`);
  await symlink('/', `${root}/open/way-up`);
  socket = createServer();
  await new Promise<void>((resolve) => socket.listen(`${root}/open/engine.sock`, resolve));
  world = await World.open({
    settings: {
      protectedPaths: [`${root}/held/kept`],
      policy: {
        images: [image.name],
        networks: ['none'],
        runtimes: ['runc'],
        mounts: {
          roots: [{ path: `${root}/open`, readonly: false }, { path: `${root}/shown` }, { path: `${root}/held` }],
        },
        env: { allowed: ['GREETING', 'PROJECT_*'] },
        ceilings: { memory: 512 * mib, cpus: 2, pids: 128, tmpfs: 64 * mib, timeout: 600_000 },
      },
    },
  });
});

afterAll(async () => {
  await world.close();
  await new Promise((resolve) => socket.close(resolve));
  await rm(root, { recursive: true });
  await image.remove();
});

const mount = (source: string, target = '/data', readonly = true) => ({ mounts: [{ source, target, readonly }] });

/** What is asked for is made only when the tests run: the directories that it names are there by then. */
type Case = [name: string, spec: () => TurnSpec, field: string, rule: string];

describe('a claim that no cell should have granted', () => {
  const cases: Case[] = [
    ['the disk of the host', () => ({ sandbox: mount('/') }), 'mounts[0].source', 'protected'],
    ["the engine's socket", () => ({ sandbox: mount('/var/run/docker.sock') }), 'mounts[0].source', 'protected'],
    [
      "the engine's socket by way of a link",
      () => ({ sandbox: mount(`${root}/open/way-up/run`) }),
      'mounts[0].source',
      'protected',
    ],
    [
      'a socket where mounts are allowed',
      () => ({ sandbox: mount(`${root}/open/engine.sock`) }),
      'mounts[0].source',
      'protected',
    ],
    [
      'a directory beside the allowed one',
      () => ({ sandbox: mount(`${root}/closed`) }),
      'mounts[0].source',
      'mounts.roots',
    ],
    ['a way back up', () => ({ sandbox: mount(`${root}/open/../closed`) }), 'mounts[0].source', 'mounts.roots'],
    ['a link that leads out', () => ({ sandbox: mount(`${root}/open/way-out`) }), 'mounts[0].source', 'mounts.roots'],
    ['what is not there', () => ({ sandbox: mount(`${root}/open/none`) }), 'mounts[0].source', 'mounts.roots'],
    [
      "the worker's own directory",
      () => ({ sandbox: mount(`${world.directory}/w/turns`) }),
      'mounts[0].source',
      'protected',
    ],
    [
      'what its settings protect',
      () => ({ sandbox: mount(`${root}/held/kept/projects`) }),
      'mounts[0].source',
      'protected',
    ],
    ['what holds that', () => ({ sandbox: mount(`${root}/held`) }), 'mounts[0].source', 'protected'],
    [
      'to write what may be read',
      () => ({ sandbox: mount(`${root}/shown`, '/data', false) }),
      'mounts[0].readonly',
      'mounts.roots',
    ],
    ['to cover /turn', () => ({ sandbox: mount(`${root}/open`, '/turn') }), 'mounts[0].target', 'targets'],
    ['to hide in /turn', () => ({ sandbox: mount(`${root}/open`, '/turn/door') }), 'mounts[0].target', 'targets'],
    ['to cover everything', () => ({ sandbox: mount(`${root}/open`, '/') }), 'mounts[0].target', 'targets'],
    [
      'memory over the input',
      () => ({ sandbox: { tmpfs: { '/turn/input.json': mib } } }),
      'tmpfs./turn/input.json',
      'targets',
    ],
    ["the host's network", () => ({ sandbox: { network: 'host' } }), 'network', 'networks'],
    ["another container's network", () => ({ sandbox: { network: 'container:abc' } }), 'network', 'networks'],
    ['a bridge', () => ({ sandbox: { network: 'bridge' } }), 'network', 'networks'],
    ['to be root', () => ({ sandbox: { user: '0:0' } }), 'user', 'root'],
    ["to be of root's group", () => ({ sandbox: { user: '1000:0' } }), 'user', 'root'],
    ['to be whoever the image calls so', () => ({ sandbox: { user: 'daemon' } }), 'user', 'root'],
    ['no container at all', () => ({ backend: 'process' }), 'backend', 'backends'],
    ['another image', () => ({ image: baseImage }), 'image', 'images'],
    ['another runtime', () => ({ sandbox: { runtime: 'io.containerd.runc.v2' } }), 'runtime', 'runtimes'],
    ['a root that can be written', () => ({ sandbox: { readOnlyRoot: false } }), 'readOnlyRoot', 'writableRoot'],
    ['more memory', () => ({ sandbox: { memoryBytes: 1024 * mib } }), 'memory', 'ceilings.memory'],
    ['more processors', () => ({ sandbox: { cpus: 64 } }), 'cpus', 'ceilings.cpus'],
    ['more processes', () => ({ sandbox: { pids: 100_000 } }), 'pids', 'ceilings.pids'],
    ['more time', () => ({ timeoutMs: 1_000_000 }), 'timeout', 'ceilings.timeout'],
    [
      'a larger workspace',
      () => ({ workspaceLimits: { maxBytes: 1024 * mib, maxFiles: 50_000 } }),
      'workspaceFiles',
      'ceilings.workspaceFiles',
    ],
    [
      "a variable of Suzumio's",
      () => ({ sandbox: { env: { SUZUMIO_TURN_DIR: '/tmp' } } }),
      'env.SUZUMIO_TURN_DIR',
      'reserved-env',
    ],
    [
      'a variable of the loader',
      () => ({ sandbox: { env: { LD_PRELOAD: '/data/x.so' } } }),
      'env.LD_PRELOAD',
      'env.forbidden',
    ],
    ['any other variable', () => ({ sandbox: { env: { HOME: '/' } } }), 'env.HOME', 'env.allowed'],
  ];

  test.each(cases)('is refused, and makes nothing: %s', async (_name, spec, field, rule) => {
    const asked = spec();
    const kept = { keep: 'always', keepForMs: 60_000, ...asked.sandbox } as const;
    const { failed } = await world.run({ image: image.name, ...asked, sandbox: kept });
    expect(failed?.failure).toMatchObject({ code: 'policy-denied', message: expect.stringContaining(`${field}: `) });
    expect(failed?.failure.message).toContain(`(policy: ${rule})`);
    expect(await world.containers()).toEqual([]);
  });

  test('does not stop the worker from taking others', () => {
    expect(world.worker.ready).toBe(true);
    expect(world.lines.filter(({ level }) => level === 'error')).toEqual([]);
  });
});

describe('a claim within the policy', () => {
  const program = `
    import fs from 'node:fs';
    const attempt = (work) => { try { return work() ?? 'ok'; } catch (error) { return error.code; } };
    const found = {
      note: attempt(() => fs.readFileSync('/shown/data/note.md', 'utf8')),
      writeShown: attempt(() => fs.writeFileSync('/shown/x', 'x')),
      removeShown: attempt(() => fs.unlinkSync('/shown/data/note.md')),
      writeOpen: attempt(() => fs.writeFileSync('/open/written', 'x')),
      environment: process.env,
      uid: process.getuid(),
    };
    fs.writeFileSync('/turn/output.json', JSON.stringify({ text: JSON.stringify(found) }));
  `;

  test('is effective, as seen from inside and by the engine', async () => {
    const { completed } = await world.run({
      image: image.name,
      program,
      sandbox: {
        mounts: [
          { source: `${root}/open`, target: '/shown', readonly: true },
          { source: `${root}/open/data`, target: '/open', readonly: false },
        ],
        env: { GREETING: 'good day = "x"', PROJECT_KIND: 'two\nlines' },
        user: '1234:1235',
        runtime: 'runc',
        memoryBytes: 128 * mib,
        cpus: 0.5,
        pids: 32,
        keep: 'always',
        keepForMs: 60_000,
      },
    });
    const found = JSON.parse(completed?.output.text ?? '{}') as Record<string, unknown>;
    expect(found).toMatchObject({
      note: 'A note.',
      writeShown: 'EROFS',
      removeShown: 'EROFS',
      writeOpen: 'ok',
      uid: 1234,
      environment: { GREETING: 'good day = "x"', PROJECT_KIND: 'two\nlines', SUZUMIO_TURN_DIR: '/turn' },
    });
    const { HostConfig: host, Mounts: mounts } = await docker.getContainer(completed?.stats?.container ?? '').inspect();
    expect(host).toMatchObject({ Runtime: 'runc', Memory: 128 * mib, NanoCpus: 5e8, PidsLimit: 32 });
    expect(mounts).toEqual(
      expect.arrayContaining([
        expect.objectContaining({
          Source: `${root}/open/data`,
          Destination: '/open',
          RW: true,
          Propagation: 'rprivate',
        }),
        expect.objectContaining({ Source: `${root}/open`, Destination: '/shown', RW: false, Propagation: 'rprivate' }),
      ]),
    );
    const { Mounts: asked } = host as { Mounts?: { BindOptions: unknown }[] };
    for (const { BindOptions: options } of asked ?? [])
      expect(options).toEqual({ Propagation: 'rprivate', NonRecursive: true });
  });

  test('mounts what a link inside leads to, by its real path', async () => {
    await mkdir(`${root}/open/version-1`);
    await symlink('version-1', `${root}/open/current`);
    const { completed } = await world.run({
      image: image.name,
      program: `import fs from 'node:fs'; fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'ok' }));`,
      agent: 'linked',
      sandbox: { ...mount(`${root}/open/current`), keep: 'always', keepForMs: 60_000 },
    });
    const { Mounts: mounts } = await docker.getContainer(completed?.stats?.container ?? '').inspect();
    expect(mounts).toContainEqual(expect.objectContaining({ Source: `${root}/open/version-1`, Destination: '/data' }));
  });

  test('waits while another turn could put a link in the place of what it mounts', async () => {
    await mkdir(`${root}/open/project/sub`, { recursive: true });
    for (const path of ['project', 'project/sub']) await chmod(`${root}/open/${path}`, 0o777);
    const swaps = `
      import fs from 'node:fs';
      for (;;) {
        try { fs.renameSync('/data/sub', '/data/kept'); fs.symlinkSync('${root}/closed', '/data/sub'); } catch {}
        await new Promise((resolve) => setTimeout(resolve, 1));
        try { fs.unlinkSync('/data/sub'); fs.renameSync('/data/kept', '/data/sub'); } catch {}
      }`;
    const looks = `
      import fs from 'node:fs';
      fs.writeFileSync('/turn/output.json', JSON.stringify({ text: fs.readdirSync('/data').join() || 'nothing' }));`;
    const outer = await world.give({
      image: image.name,
      program: swaps,
      agent: 'outer',
      sandbox: mount(`${root}/open/project`, '/data', false),
    });
    await world.containerOf(outer);
    const inner = { image: image.name, program: looks, agent: 'inner', sandbox: mount(`${root}/open/project/sub`) };
    for (let tries = 0; tries < 5; tries += 1) {
      const { failed, completed } = await world.run(inner);
      expect(completed).toBeUndefined();
      // Refused by its path where the link stands at that moment.
      expect(failed?.failure.code).toMatch(/^(mount-in-use|policy-denied)$/);
    }
    outer.cancel = true;
    const runs = async () => (await world.containers()).some(({ state }) => state === 'running');
    await until(async () => !(await runs()), 'the other turn to end');
    await rm(`${root}/open/project`, { recursive: true });
    await mkdir(`${root}/open/project/sub`, { recursive: true });
    expect((await world.run(inner)).completed?.output.text).toBe('nothing');
  });

  test('is refused where its directory was replaced by a link meanwhile', async () => {
    await mkdir(`${root}/open/moving`);
    const spec = {
      image: image.name,
      agent: 'moved',
      program: `import fs from 'node:fs'; fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'ok' }));`,
      sandbox: mount(`${root}/open/moving`),
    };
    expect((await world.run(spec)).completed?.output.text).toBe('ok');
    await rename(`${root}/open/moving`, `${root}/open/moved`);
    await symlink(`${root}/closed`, `${root}/open/moving`);
    const { failed } = await world.run(spec);
    expect(failed?.failure).toMatchObject({ code: 'policy-denied', message: expect.stringContaining('mounts.roots') });
  });
});

test("a project may have a policy of its own, besides the worker's", async () => {
  const asked: string[] = [];
  const here = await World.open({
    policyOf: ({ cell, project }) => {
      asked.push(`${cell}/${project}`);
      return policySchema.parse({ images: [image.name], ceilings: { pids: 64 } });
    },
  });
  try {
    const program = `import fs from 'node:fs'; fs.writeFileSync('/turn/output.json', JSON.stringify({ text: 'ok' }));`;
    expect((await here.run({ image: image.name, program })).completed?.output.text).toBe('ok');
    const { failed } = await here.run({ image: image.name, program, sandbox: { pids: 65 } });
    expect(failed?.failure.code).toBe('policy-denied');
    expect(new Set(asked)).toEqual(new Set([`${here.cell}/paper`]));
  } finally {
    await here.close();
  }
});

test('where an engine keeps its state, it says itself', async () => {
  const state = `${root}/shown/engine`;
  await mkdir(`${state}/volumes`, { recursive: true });
  const path = `${root}/closed/engine.sock`;
  const engine = createHttpServer((request, response) => {
    const { url = '', method, headers } = request;
    const onward = httpRequest({ socketPath: '/var/run/docker.sock', path: url, method, headers }, (answer) => {
      if (!url.endsWith('/info')) {
        response.writeHead(answer.statusCode ?? 500, answer.headers).flushHeaders();
        answer.pipe(response);
        return;
      }
      const changed = (info: string) => JSON.stringify({ ...(JSON.parse(info) as object), DockerRootDir: state });
      text(answer).then(
        (info) => response.end(changed(info)),
        () => response.destroy(),
      );
    });
    onward.on('error', () => response.destroy());
    response.on('close', () => onward.destroy());
    request.pipe(onward);
  });
  await new Promise<void>((resolve) => engine.listen(path, resolve));
  const policy = { images: [image.name], mounts: { roots: [{ path: `${root}/shown` }] } };
  const here = await World.open({ settings: { dockerSocket: path, door: 'socket', policy } });
  try {
    const { failed } = await here.run({ image: image.name, sandbox: mount(`${state}/volumes`) });
    expect(failed?.failure).toMatchObject({ code: 'policy-denied', message: expect.stringContaining('protected') });
  } finally {
    await here.close();
    engine.closeAllConnections();
    await new Promise((resolve) => engine.close(resolve));
  }
});
