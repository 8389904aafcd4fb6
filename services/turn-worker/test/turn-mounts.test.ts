import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { reservedTargets } from '@suzumio/core/policy/check-mounts';
import { isWithin } from '@suzumio/core/policy/host-paths';
import { containerOptions } from '../src/engine/docker/container-options.js';
import { environmentVariables } from '../src/engine/docker/environment-variables.js';
import { turnMounts, writeEtcFiles } from '../src/engine/docker/turn-mounts.js';
import type { StartOptions } from '../src/engine/turn-engine.js';

let doorDirectory: string;
beforeEach(async () => (doorDirectory = await mkdtemp(join(tmpdir(), 'suzumio-door-'))));
afterEach(() => rm(doorDirectory, { recursive: true }));

const mib = 1024 ** 2;
const users = { passwd: 'agent:x:7:8:Agent:/home/agent:/bin/sh\n', group: 'agent:x:8:\n' };
const limits = {
  env: {},
  network: 'none',
  mounts: [],
  tmpfs: { '/tmp': mib },
  readOnlyRoot: true,
  memoryBytes: 64 * mib,
};
const start = (): StartOptions => ({
  ref: { cell: 'c', project: 'p', epoch: 1, agent: 'AGENT', turn: 't', attempt: 1, turnNumber: 1 },
  turnDirectory: '/w/turns/t',
  doorDirectory,
  temporary: '/w/tmp',
  workspace: '/w/workspace',
  artifacts: { all: '/w/all', own: '/w/own' },
  home: '/w/home',
  toolpacks: '/w/toolpacks',
  mounts: [],
  recheckMounts: () => undefined,
  input: { controllerUrl: '', token: '' },
  onConnection: () => undefined,
  maxFileBytes: 1,
  maxLogBytes: 1,
});

describe('what is mounted into a container', () => {
  test('is what the docs say, and no project can cover the turn’s own part of it', async () => {
    const etc = await writeEtcFiles(start(), users, limits);
    const mounts = turnMounts(
      start(),
      { door: { kind: 'socket' }, entrypoint: ['node'] },
      { shimFile: '/w/shim.mjs', etc },
    );
    const page = await readFile(new URL('../../../docs/turn-worker.md', import.meta.url), 'utf8');
    const [, table = ''] = /### What is mounted\n\n([^]*?)\n\n/.exec(page) ?? [];
    const listed = table.split('\n').flatMap((row) => {
      const [, paths = '', , right = ''] = row.split('|');
      return [...paths.matchAll(/`([^`]+)`/g)].map(([, path]) => [path, right.trim() === 'writable']);
    });
    expect(mounts.map(({ target, writable = false }) => [target, writable]).sort()).toEqual(listed.sort());
    const covered = mounts.filter(({ target }) => !reservedTargets.some((path) => isWithin(target, path)));
    expect(covered.map(({ target }) => target)).toEqual(['/home/agent', '/etc/passwd', '/etc/group', '/etc/hosts']);
  });

  test.each([
    ['all three files of /etc', [], {}, ['group', 'hosts', 'passwd']],
    ['no hosts on a network, where the engine has them', [], { network: 'bridge' }, ['group', 'passwd']],
    ['none that the project mounts itself', ['/etc/passwd', '/etc/hosts'], {}, ['group']],
    ['none below what the project mounts', ['/etc'], {}, []],
    ['none below a directory in memory', [], { tmpfs: { '/etc': 1 } }, []],
  ])('has %s', async (_what, targets, more, names) => {
    const mounts = targets.map((target) => ({ source: '/s', target, readonly: true }));
    const etc = await writeEtcFiles({ ...start(), mounts }, users, { ...limits, ...more });
    expect(Object.keys(etc).sort()).toEqual(names.map((name) => `/etc/${name}`));
  });
});

describe('the environment of a container', () => {
  const of = (more: object, inImage: readonly string[] | null = null) =>
    environmentVariables({ ...limits, ...more }, start(), inImage);

  test('has a language, a place for temporary files, and the home', () => {
    expect(of({})).toMatchObject({ LANG: 'C.UTF-8', TMPDIR: '/tmp', HOME: '/home/agent', SUZUMIO_TURN_DIR: '/turn' });
  });

  test('leaves what the image says, and what the project says before all', () => {
    const image = ['LANG=de_DE.UTF-8', 'TMPDIR=/var/tmp', 'HOME=/srv=x', 'PATH=/bin', 'LANGUAGE=de', 'odd'];
    expect(of({}, image)).toMatchObject({ LANG: 'de_DE.UTF-8', TMPDIR: '/var/tmp', HOME: '/home/agent' });
    expect(Object.keys(of({}, image))).not.toContain('PATH');
    expect(environmentVariables(limits, { ...start(), home: undefined }, image)).toMatchObject({ HOME: '/srv=x' });
    expect(of({ env: { HOME: '/h', TMPDIR: '/t', LANG: 'C' } }, image)).toMatchObject({
      HOME: '/h',
      TMPDIR: '/t',
      LANG: 'C',
    });
  });

  test.each([
    ['/scratch', { tmpfs: { '/dev/shm': 1, '/scratch': 1 } }],
    ['/tmp', { tmpfs: { '/run': 1 }, readOnlyRoot: false }],
    ['/tmp', { tmpfs: { '/run': 1 }, mounts: [{ source: '/s', target: '/tmp', readonly: false }] }],
    ['/tmp', { tmpfs: {} }],
  ])('has %s for temporary files with %j', (TMPDIR, more) => {
    expect(of(more)).toMatchObject({ TMPDIR });
  });
});

test.each([
  [{}, 'size=33554432'],
  [{ '/dev/shm': 5 * mib }, 'size=5242880'],
])('memory that programs share is half of what there is, or what the project says: %j', (tmpfs, size) => {
  const { HostConfig: host } = containerOptions({
    image: 'i',
    user: '7:8',
    limits: { ...limits, cpus: 1, pids: 8, tmpfs },
    labels: {},
    environment: {},
    network: { mode: 'none', hosts: [] },
    mounts: [],
    attached: false,
    maxFileBytes: 1,
    maxLogBytes: 1,
  });
  expect(host?.Tmpfs).toEqual({ '/dev/shm': `rw,exec,nosuid,nodev,mode=1777,${size}` });
});
