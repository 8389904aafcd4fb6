import { describe, expect, test } from '@jest/globals';
import { type SandboxRequest, sandboxDenials } from '@suzumio/core/policy/check-sandbox';
import type { HostPath, HostPaths } from '@suzumio/core/policy/host-paths';
import { unseenHost } from '@suzumio/core/policy/host-paths';
import { defaultPolicy, type Policy } from '@suzumio/core/policy/policy';
import { resolvePolicy } from '@suzumio/core/policy/resolve-policy';

type Sandbox = SandboxRequest['sandbox'];

const modest: Sandbox = {
  image: 'suzumio-runner:dev',
  network: 'none',
  mounts: [],
  env: {},
  memoryBytes: 1024 ** 3,
  cpus: 1,
  pids: 256,
  readOnlyRoot: true,
  tmpfs: { '/tmp': 1024 ** 2 },
  keep: 'failed',
  keepForMs: 3_600_000,
};

const GIB = 1024 ** 3;
const denials = (
  sandbox: Partial<Sandbox>,
  policy: Partial<Policy> = {},
  host: HostPaths = unseenHost,
  rest: Partial<SandboxRequest> = {},
) =>
  sandboxDenials(
    { ...defaultPolicy, ...policy },
    { backend: 'docker', timeoutMs: 900_000, ...rest, sandbox: { ...modest, ...sandbox } },
    host,
  ).map(({ field, rule }) => `${field} ${rule}`);

describe('what asks for no more than the defaults', () => {
  test('is allowed', () => {
    expect(denials({})).toEqual([]);
  });
});

describe('a container', () => {
  test.each<[Partial<Sandbox>, string]>([
    [{ image: 'redis:7' }, 'image images'],
    [{ image: 'evil/suzumio-runner:dev' }, 'image images'],
    [{ image: 'suzumio-runner:5000/evil' }, 'image images'],
    [{ image: 'suzumio-runner' }, 'image images'],
    [{ network: 'host' }, 'network networks'],
    [{ network: 'bridge' }, 'network networks'],
    [{ network: 'container:abc' }, 'network networks'],
    [{ network: 'default' }, 'network networks'],
    [{ network: '' }, 'network networks'],
    [{ user: '0:0' }, 'user root'],
    [{ user: '0:1000' }, 'user root'],
    [{ user: '1000:0' }, 'user root'],
    [{ user: '000:1' }, 'user root'],
    [{ user: 'root' }, 'user root'],
    [{ user: 'node:node' }, 'user root'],
    [{ user: '1000' }, 'user root'],
    [{ user: '-1:1' }, 'user root'],
    [{ user: '4294967296:1' }, 'user root'],
    [{ user: '' }, 'user root'],
    [{ runtime: 'kata' }, 'runtime runtimes'],
    [{ readOnlyRoot: false }, 'readOnlyRoot writableRoot'],
    [{ memoryBytes: 4 * GIB + 1 }, 'memory ceilings.memory'],
    [{ cpus: 4.5 }, 'cpus ceilings.cpus'],
    [{ pids: 1025 }, 'pids ceilings.pids'],
    [{ tmpfs: { '/a': GIB, '/b': 1 } }, 'tmpfs ceilings.tmpfs'],
    [{ keep: 'always', keepForMs: 25 * 3_600_000 }, 'keepFor ceilings.keepFor'],
    [{ env: { SUZUMIO_TURN_DIR: '/x' } }, 'env.SUZUMIO_TURN_DIR reserved-env'],
    [{ env: { suzumio_x: '' } }, 'env.suzumio_x reserved-env'],
    [{ env: { LD_PRELOAD: '/x.so' } }, 'env.LD_PRELOAD env.forbidden'],
    [{ env: { NODE_OPTIONS: '--require /x' } }, 'env.NODE_OPTIONS env.forbidden'],
    [{ env: { PATH: '/x' } }, 'env.PATH env.forbidden'],
    [{ tmpfs: { '/turn': 1 } }, 'tmpfs./turn targets'],
    [{ tmpfs: { '/workspace/x': 1 } }, 'tmpfs./workspace/x targets'],
    [{ tmpfs: { relative: 1 } }, 'tmpfs.relative targets'],
    [{ tmpfs: { '/dev': 1 } }, 'tmpfs./dev targets'],
    [{ tmpfs: { '/dev/shm/x': 1 } }, 'tmpfs./dev/shm/x targets'],
    [{ tmpfs: { '/dev/shm': GIB + 1 } }, 'tmpfs ceilings.tmpfs'],
  ])('with %j is denied', (sandbox, expected) => {
    expect(denials(sandbox)).toEqual([expected]);
  });

  test.each<[Partial<Sandbox>, Partial<Policy>]>([
    [{ image: 'team/runner:1' }, { images: ['team/*'] }],
    [{ tmpfs: { '/tmp': 1, '/dev/shm': 1024 ** 2 } }, {}],
    [{ image: 'registry.example/a/b@sha256:00' }, { images: ['registry.example/**'] }],
    [{ network: 'host' }, { networks: ['host'] }],
    [{ user: '1000:1000' }, {}],
    [{ user: '1000:100' }, { users: ['1000:*'] }],
    [{ runtime: 'kata' }, { runtimes: ['kata'] }],
    [{ readOnlyRoot: false }, { writableRoot: true }],
    [{ env: { GAUGE: 'north', pathology: 'x' } }, {}],
    [{ keep: 'never', keepForMs: 25 * 3_600_000 }, {}],
    [{ env: { PATH: '/x' } }, { env: { allowed: ['*'], forbidden: [] } }],
  ])('with %j is allowed by %j', (sandbox, policy) => {
    expect(denials(sandbox, policy)).toEqual([]);
  });

  test.each<[Partial<Sandbox>, Partial<Policy>, string]>([
    [{ user: '0:0' }, { users: ['**', '0:0'] }, 'user root'],
    [{ user: '1001:1001' }, { users: ['1000:*'] }, 'user users'],
    [{ env: { GAUGE: '' } }, { env: { allowed: ['APP_*'], forbidden: [] } }, 'env.GAUGE env.allowed'],
    [{ env: { SUZUMIO_X: '' } }, { env: { allowed: ['SUZUMIO_*'], forbidden: [] } }, 'env.SUZUMIO_X reserved-env'],
  ])('with %j is denied by %j', (sandbox, policy, expected) => {
    expect(denials(sandbox, policy)).toEqual([expected]);
  });
});

describe('a turn', () => {
  test('does not run as a process of the host, nor for longer than the ceiling', () => {
    const asked = { backend: 'process', timeoutMs: 5 * 3_600_000 } as const;
    expect(denials({}, {}, unseenHost, asked)).toEqual(['backend backends', 'timeout ceilings.timeout']);
    expect(denials({}, { backends: ['process'] }, unseenHost, { backend: 'process' })).toEqual([]);
    expect(denials({}, { backends: ['process'] })).toEqual(['backend backends']);
  });
});

describe('a mount', () => {
  const roots = (...paths: string[]): Partial<Policy> => ({
    mounts: { roots: paths.map((path) => ({ path, readonly: !path.includes('rw') })) },
  });
  /** A host on which these are there; what points elsewhere is a link. */
  const hostWith = (paths: Record<string, string | HostPath>, mounting = true): HostPaths => ({
    ...unseenHost,
    mounting,
    protectedPaths: [...unseenHost.protectedPaths, '/var/lib/suzumio'],
    lookUp(path) {
      const found = paths[path];
      return typeof found === 'string' ? { real: found, kind: 'directory' } : found;
    },
  });
  const mount = (source: string, target = '/data', readonly = true) => ({ mounts: [{ source, target, readonly }] });

  test.each([
    ['/', 'protected'],
    ['/var/run/docker.sock', 'protected'],
    ['/run', 'protected'],
    ['/var', 'protected'],
    ['/var/lib', 'protected'],
    ['/proc/1/root', 'protected'],
    ['/dev', 'protected'],
    ['/var/lib/suzumio', 'protected'],
    ['/var/lib/suzumio/projects/x', 'protected'],
    ['/srv/../etc', 'mounts.roots'],
    ['/srv/./data', 'mounts.roots'],
    ['//srv/data', 'mounts.roots'],
    ['srv/data', 'mounts.roots'],
    ['', 'mounts.roots'],
    ['/srv', 'mounts.roots'],
    ['/srv/database', 'mounts.roots'],
    ['/etc', 'mounts.roots'],
  ])('of %s is denied by %s', (source, rule) => {
    const policy = roots('/srv/data', '/var/lib/suzumio', '/var/run');
    expect(denials(mount(source), policy, hostWith({ [source]: source }))).toEqual([`mounts[0].source ${rule}`]);
  });

  test.each(['/srv/data', '/srv/data/', '/srv/data/north/2026'])('of %s is allowed below its root', (source) => {
    expect(denials(mount(source), roots('/srv/data'), hostWith({ [source]: source.replace(/\/$/, '') }))).toEqual([]);
  });

  test('is judged by where its links lead', () => {
    const host = hostWith({
      '/srv/data/etc': '/etc',
      '/srv/data/run': '/run/user/1000',
      '/home/a/data': '/srv/data/a',
      '/data': '/srv/data',
      '/srv/data/a': '/srv/data/a',
    });
    const judged = (source: string) => denials(mount(source), roots('/srv/data'), host);
    expect(judged('/srv/data/etc')).toEqual(['mounts[0].source mounts.roots']);
    expect(judged('/srv/data/run')).toEqual(['mounts[0].source protected']);
    expect(judged('/home/a/data')).toEqual([]);
    expect(denials(mount('/srv/data/a'), resolvePolicy({ ...defaultPolicy, ...roots('/data') }, host), host)).toEqual(
      [],
    );
  });

  test('is not judged by where a link in place of a root leads that was put there after the policy was read', () => {
    const host = hostWith({ '/srv/data': '/etc', '/etc': '/etc' });
    expect(denials(mount('/srv/data'), roots('/srv/data'), host)).toEqual(['mounts[0].source mounts.roots']);
  });

  test('of what is not there, or is no directory and no file, is denied by the host that would mount it', () => {
    const socket = { '/srv/data/x.sock': { real: '/srv/data/x.sock', kind: 'other' } } as const;
    expect(denials(mount('/srv/data/a'), roots('/srv/data'), hostWith({}))).toEqual(['mounts[0].source mounts.roots']);
    expect(denials(mount('/srv/data/a'), roots('/srv/data'), hostWith({}, false))).toEqual([]);
    expect(denials(mount('/srv/data/x.sock'), roots('/srv/data'), hostWith(socket))).toEqual([
      'mounts[0].source protected',
    ]);
  });

  test('is for reading only unless its root says otherwise', () => {
    const host = hostWith({ '/srv/data': '/srv/data', '/srv/rw/a': '/srv/rw/a' });
    const policy = roots('/srv/data', '/srv/rw');
    expect(denials(mount('/srv/data', '/data', false), policy, host)).toEqual(['mounts[0].readonly mounts.roots']);
    expect(denials(mount('/srv/rw/a', '/data', false), policy, host)).toEqual([]);
  });

  test.each([
    '/',
    '/turn',
    '/turn/door',
    '/workspace',
    '/workspace/data',
    '/proc',
    '/sys/fs',
    '/dev/shm',
    '/opt',
    '/opt/suzumio',
    '/turn-shim',
    'data',
    '/data/../turn',
    '/data/',
    '//turn',
    '',
    '/tmp',
  ])('at %j is denied', (target) => {
    expect(denials(mount('/srv/data', target), roots('/srv/data'), hostWith({ '/srv/data': '/srv/data' }))).toEqual([
      'mounts[0].target targets',
    ]);
  });

  test('is the only one at its place', () => {
    const host = hostWith({ '/srv/data': '/srv/data' });
    const [one] = mount('/srv/data').mounts;
    if (!one) throw new Error('no mount');
    expect(denials({ mounts: [one, one] }, roots('/srv/data'), host)).toEqual(['mounts[1].target targets']);
    expect(denials({ mounts: [one, { ...one, target: '/turned' }] }, roots('/srv/data'), host)).toEqual([]);
  });
});
