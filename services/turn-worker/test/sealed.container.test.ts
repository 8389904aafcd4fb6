import { mkdir, readFile, stat } from 'node:fs/promises';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { agentCommand, baseImage, deriveImage, docker } from './support/images.js';
import { World } from './support/world.js';

/** Tries what a sealed container must not be able to do, and tells how each attempt ended. */
const prisoner = `
import dns from 'node:dns/promises';
import fs from 'node:fs';
import net from 'node:net';
import os from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
const attempt = (work) => { try { work(); return 'ok'; } catch (error) { return error.code; } };
const knock = (options) => new Promise((resolve) => {
  const socket = net.connect(options).on('connect', () => resolve('ok')).on('error', (error) => resolve(error.code));
  socket.on('connect', () => socket.destroy());
});
const status = fs.readFileSync('/proc/self/status', 'utf8');
const field = (name) => new RegExp('^' + name + ':\\\\s*(.*)$', 'm').exec(status)[1];
const input = JSON.parse(fs.readFileSync('/turn/input.json', 'utf8'));
const found = {
  uid: process.getuid(), gid: process.getgid(), groups: process.getgroups(),
  capabilities: [field('CapEff'), field('CapPrm'), field('CapBnd'), field('CapAmb')],
  noNewPrivs: field('NoNewPrivs'), seccomp: field('Seccomp'),
  init: fs.readFileSync('/proc/1/comm', 'utf8').trim(),
  interfaces: Object.keys(os.networkInterfaces()),
  root: attempt(() => fs.writeFileSync('/x', '')),
  etc: attempt(() => fs.writeFileSync('/etc/x', '')),
  tmp: attempt(() => fs.writeFileSync('/tmp/x', '')),
  passwd: attempt(() => fs.appendFileSync('/etc/passwd', 'x:x:0:0::/:')),
  replacePasswd: attempt(() => { fs.writeFileSync('/tmp/p', ''); fs.renameSync('/tmp/p', '/etc/passwd'); }),
  device0: attempt(() => fs.mkdtempSync('/dev/x')),
  memory: fs.readFileSync('/proc/mounts', 'utf8').split('\\n').map((line) => line.split(' '))
    .filter(([, at]) => ['/tmp', '/dev/shm'].includes(at)).map(([, at, type, options]) => at + ' ' + type + ' ' + options),
  tmpFull: attempt(() => fs.writeFileSync('/tmp/x', Buffer.alloc(20e6))),
  workspace: attempt(() => fs.writeFileSync('/workspace/x', '')),
  readInput: input.turn.id,
  writeInput: attempt(() => fs.writeFileSync('/turn/input.json', '{}')),
  removeInput: attempt(() => fs.unlinkSync('/turn/input.json')),
  replaceInput: attempt(() => { fs.writeFileSync('/turn/y', '{}'); fs.renameSync('/turn/y', '/turn/input.json'); }),
  moveDoor: attempt(() => fs.renameSync('/turn/door', '/turn/elsewhere')),
  removeSocket: attempt(() => fs.unlinkSync('/turn/door/door.sock')),
  becomeRoot: attempt(() => process.setuid(0)),
  chown: attempt(() => fs.chownSync('/workspace/x', 0, 0)),
  device: attempt(() => fs.readFileSync('/dev/sda')),
  toolhost: await knock({ host: '172.17.0.1', port: input.port ?? 80 }),
  outside: await knock({ host: '192.0.2.1', port: 80 }),
  door: await knock({ path: '/turn/door/door.sock' }),
  localhost: (await dns.lookup('localhost', 4)).address,
  environment: Object.keys(process.env).sort(),
  turnFiles: fs.readdirSync('/turn').sort(),
};
fs.writeFileSync('/turn/output.json', JSON.stringify({ text: JSON.stringify(found) }));
await sleep(input.runner.script[0].steps.length > 1 ? 60_000 : 0);
`;

let world: World;
let image: Awaited<ReturnType<typeof deriveImage>>;

beforeAll(async () => {
  image = await deriveImage(baseImage, [agentCommand, 'LABEL suzumio.runner=1', 'ENV FROM_THE_IMAGE=1']);
  world = await World.open({ settings: { door: 'auto' }, limits: { lingerMs: 600_000 } });
});

afterAll(async () => {
  await world.close();
  await image.remove();
});

describe('a container', () => {
  test('is sealed, as seen from inside', async () => {
    const turn = await world.run({ image: image.name, program: prisoner });
    const found = JSON.parse(turn.completed?.output.text ?? '{}') as Record<string, unknown>;
    expect(found).toMatchObject({
      uid: 1000,
      gid: 1000,
      groups: [1000],
      capabilities: ['0000000000000000', '0000000000000000', '0000000000000000', '0000000000000000'],
      noNewPrivs: '1',
      seccomp: '2',
      init: expect.stringMatching(/init|tini/),
      root: 'EROFS',
      etc: 'EROFS',
      tmp: 'ok',
      tmpFull: 'ENOSPC',
      passwd: expect.stringMatching(/^(EACCES|EROFS)$/),
      replacePasswd: expect.stringMatching(/^(EXDEV|EBUSY|EROFS)$/),
      device0: expect.stringMatching(/^(EACCES|EROFS)$/),
      workspace: 'ok',
      readInput: turn.answer.input.turn.id,
      writeInput: 'EROFS',
      removeInput: 'EBUSY',
      replaceInput: 'EBUSY',
      moveDoor: 'EBUSY',
      removeSocket: 'EROFS',
      becomeRoot: 'EPERM',
      chown: 'EPERM',
      toolhost: 'ENETUNREACH',
      outside: 'ENETUNREACH',
      door: 'ok',
      localhost: '127.0.0.1',
    });
    expect(found['interfaces']).toEqual(['lo']);
    expect(found['device']).not.toBe('ok');
    const memory = (found['memory'] as string[]).sort();
    expect(memory.map((mount) => mount.split(' ').slice(0, 2).join(' '))).toEqual(['/dev/shm tmpfs', '/tmp tmpfs']);
    for (const mount of memory) expect(mount).toMatch(/nosuid,nodev/);
    expect(found['environment']).toEqual([
      ...['FROM_THE_IMAGE', 'HOME', 'HOSTNAME', 'LANG', 'LOGNAME', 'PATH', 'SUZUMIO_TURN_DIR', 'TMPDIR', 'USER'],
    ]);
    expect(found['turnFiles']).toEqual(['door', 'input.json', 'y']);
  });

  test('is sealed and labelled, as seen by the engine', async () => {
    const turn = await world.give({
      image: image.name,
      program: prisoner,
      steps: [{ text: 'stay' }, { text: 'a while' }],
      sandbox: { cpus: 0.5, pids: 48 },
    });
    const container = docker.getContainer(await world.containerOf(turn));
    const { Config: config, HostConfig: host, Mounts: mounts } = await container.inspect();
    await container.kill();
    await world.toolhost.ended(turn.answer.input.turn.id);
    expect(config).toMatchObject({
      User: '1000:1000',
      Labels: {
        'suzumio.cell': world.cell,
        'suzumio.project': 'paper',
        'suzumio.agent': 'writer',
        'suzumio.turn': turn.answer.input.turn.id,
        'suzumio.attempt': '1',
        'suzumio.worker': await readFile(`${world.directory}/w/worker-id`, 'utf8'),
      },
    });
    expect(host).toMatchObject({
      NetworkMode: 'none',
      ReadonlyRootfs: true,
      CapDrop: ['ALL'],
      SecurityOpt: ['no-new-privileges'],
      Privileged: false,
      Init: true,
      Memory: 256 * 1024 * 1024,
      MemorySwap: 256 * 1024 * 1024,
      NanoCpus: 5e8,
      PidsLimit: 48,
      LogConfig: { Type: 'json-file', Config: { 'max-file': '2' } },
      RestartPolicy: { Name: expect.stringMatching(/^(no)?$/) },
    });
    expect(host.CapAdd ?? []).toEqual([]);
    expect(host.Devices ?? []).toEqual([]);
    expect(mounts.map(({ Destination, RW }) => [Destination, RW]).sort()).toEqual([
      ['/etc/group', false],
      ['/etc/hosts', false],
      ['/etc/passwd', false],
      ['/turn', true],
      ['/turn/door', false],
      ['/turn/input.json', false],
      ['/workspace', true],
    ]);
    expect(JSON.stringify(config.Env)).not.toContain(turn.answer.toolToken);
  });

  test('gets a shim that it cannot change, where its image has a runner of its own', async () => {
    const foreign = await deriveImage(baseImage, [agentCommand]);
    try {
      const turn = await world.run({
        image: foreign.name,
        agent: 'foreign',
        program: `
          import fs from 'node:fs';
          let code = 'ok';
          try { fs.writeFileSync('/turn-shim/shim.mjs', ''); } catch (error) { code = error.code; }
          fs.writeFileSync('/turn/output.json', JSON.stringify({ text: code }));
        `,
      });
      expect(turn.completed?.output.text).toBe('EROFS');
    } finally {
      await foreign.remove();
    }
  });

  test('runs as the user that the project asks for, who owns what it finds', async () => {
    const snapshot = world.snapshotOf({
      'agent.mjs': `
        import fs from 'node:fs';
        fs.appendFileSync('/workspace/data.txt', '!');
        fs.writeFileSync('/turn/output.json', JSON.stringify({ text: process.getuid() + ':' + process.getgid() }));
      `,
      'data.txt': 'data',
    });
    const turn = await world.run({ image: image.name, agent: 'other', snapshot, sandbox: { user: '1234:1235' } });
    expect(turn.completed?.output.text).toBe('1234:1235');
    expect(await readFile(`${world.directory}/w/workspaces/${world.cell}/paper.1/other/data.txt`, 'utf8')).toBe(
      'data!',
    );
  });

  test('runs as the user that its worker’s settings have for its project, who is given what another one has left', async () => {
    const here = await World.open();
    try {
      const program = `
        import fs from 'node:fs';
        fs.appendFileSync('/workspace/data.txt', '!');
        const text = process.getuid() + ':' + process.getgid() + fs.readFileSync('/workspace/data.txt', 'utf8');
        fs.writeFileSync('/turn/output.json', JSON.stringify({ text }));
      `;
      const first = await here.run({ image: image.name, program });
      await here.worker.stop();
      here.worker = here.newWorker({ turnUser: '390000000-399999999:39400' });
      await here.worker.start();
      // Only root can give files to another user; whoever cannot runs nothing.
      expect(here.worker.ready).toBe(process.getuid?.() === 0);
      if (!here.worker.ready) return;
      const second = await here.run({ image: image.name, snapshot: first.completed?.snapshot ?? null });
      expect(second.completed?.output.text).toMatch(/^39\d{7}:39400!!$/);
    } finally {
      await here.close();
    }
  });

  test('and the directories around it are closed to everybody else on the host', async () => {
    await mkdir(`${world.directory}/w/turns`, { recursive: true });
    expect((await stat(`${world.directory}/w`)).mode & 0o777).toBe(0o700);
  });
});
