import type { ClaimAnswer } from '@suzumio/protocol/attempts';
import { usualWorkspaceLimits } from '@suzumio/protocol/workspace-manifest';
import { cloneDenials } from './check-clone.js';
import { mountDenials } from './check-mounts.js';
import { type Denial, denial } from './denial.js';
import type { HostPaths } from './host-paths.js';
import { matchesAny, type Policy } from './policy.js';

/** What a turn requests of its host; a claim's answer is one. */
export type SandboxRequest = Pick<ClaimAnswer, 'backend' | 'sandbox' | 'timeoutMs' | 'workspaceLimits' | 'clone'>;

/**
 * Everything in a turn's request that a policy does not allow. The worker calls this just before it starts a container,
 * for the paths that it is about to mount.
 */
export function sandboxDenials(
  policy: Policy,
  { backend, sandbox, timeoutMs, workspaceLimits = usualWorkspaceLimits, clone }: SandboxRequest,
  host: HostPaths,
): Denial[] {
  const { ceilings } = policy;
  const denials = [
    ...unless(policy.backends.includes(backend), 'backend', 'backends', `turns may not run in ${backend}`),
    ...most('timeout', timeoutMs, ceilings.timeout, 'ms'),
    ...most('workspaceBytes', workspaceLimits.maxBytes, ceilings.workspaceBytes, 'bytes'),
    ...most('workspaceFiles', workspaceLimits.maxFiles, ceilings.workspaceFiles, 'files'),
    ...envDenials(policy, ['env'], sandbox.env),
    ...(clone ? cloneDenials(policy, ['workspace', 'git'], clone.git, host) : []),
  ];
  // A process has no container, so the remaining rules do not apply.
  if (backend === 'process') return denials;
  return [
    ...denials,
    ...unless(
      matchesAny(policy.images, sandbox.image),
      'image',
      'images',
      `the image ${sandbox.image} may not be used`,
    ),
    ...unless(
      policy.networks.includes(sandbox.network),
      'network',
      'networks',
      `containers may not join the network ${sandbox.network}`,
    ),
    ...userDenials(policy, sandbox.user),
    ...unless(
      sandbox.runtime === undefined || policy.runtimes.includes(sandbox.runtime),
      'runtime',
      'runtimes',
      `the runtime ${String(sandbox.runtime)} may not be used`,
    ),
    ...unless(
      sandbox.readOnlyRoot || policy.writableRoot,
      'readOnlyRoot',
      'writableRoot',
      "a container's own file system may not be writable: true, with tmpfs where the image must write",
    ),
    ...most('memory', sandbox.memoryBytes, ceilings.memory, 'bytes'),
    ...most('cpus', sandbox.cpus, ceilings.cpus),
    ...most('pids', sandbox.pids, ceilings.pids),
    ...most('tmpfs', sum(Object.values(sandbox.tmpfs)), ceilings.tmpfs, 'bytes'),
    ...(sandbox.keep === 'never' ? [] : most('keepFor', sandbox.keepForMs, ceilings.keepFor, 'ms')),
    ...mountDenials(policy, sandbox, host),
  ];
}

/** Denials of variables that may not be set; `at` is their field. */
export function envDenials(
  { env: { allowed, forbidden } }: Policy,
  at: readonly (string | number)[],
  env: Readonly<Record<string, string>>,
): Denial[] {
  return Object.keys(env).flatMap((name) => {
    const deny = (rule: Denial['rule']) => [denial([...at, name], rule, `the variable ${name} may not be set`)];
    if (/^suzumio_/i.test(name)) return deny('reserved-env');
    if (matchesAny(forbidden, name)) return deny('env.forbidden');
    return matchesAny(allowed, name) ? [] : deny('env.allowed');
  });
}

/** The largest id that an engine accepts. */
const maxId = 2 ** 31 - 1;

function userDenials({ users }: Policy, user: string | undefined): Denial[] {
  if (user === undefined) return [];
  const ids = /^(\d{1,10}):(\d{1,10})$/.exec(user)?.slice(1).map(Number);
  if (!ids || ids.some((id) => id > maxId)) {
    const message = `the user ${user} is not named by its numbers, uid:gid: a name means whatever the image says`;
    return [denial(['user'], 'root', message)];
  }
  if (ids.includes(0)) return [denial(['user'], 'root', `nothing runs as ${user}: neither may be 0`)];
  return unless(matchesAny(users, user), 'user', 'users', `containers may not run as ${user}`);
}

function most(
  field: 'memory' | 'cpus' | 'pids' | 'tmpfs' | 'timeout' | 'keepFor' | 'workspaceBytes' | 'workspaceFiles',
  asked: number,
  ceiling: number,
  unit = '',
) {
  const message = `${[asked, unit].join(' ').trim()} is more than the ceiling of ${String(ceiling)}`;
  return unless(asked <= ceiling, field, `ceilings.${field}`, message);
}

function unless(allowed: boolean, field: string, rule: Denial['rule'], message: string): Denial[] {
  return allowed ? [] : [denial([field], rule, message)];
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, number) => total + number, 0);
}
