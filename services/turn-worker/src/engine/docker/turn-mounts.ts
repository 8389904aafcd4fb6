import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { isWithin } from '@suzumio/core/policy/host-paths';
import type { SandboxLimits } from '@suzumio/protocol/attempts';
import { defaultTurnDir } from '@suzumio/protocol/door';
import type { StartOptions } from '../turn-engine.js';
import { artifactsMounts } from './artifacts-mounts.js';
import { type Connection, shimPath } from './connection.js';
import { type BindMount, sealedHostName } from './container-options.js';
import type { ContainerUser } from './container-user.js';
import { homePath } from './environment-variables.js';

export const workspacePath = '/workspace';
export const toolpacksPath = '/suzumio/toolpacks';

/** Programs ask for their own address by the host name, and Git makes one of mail from the long form. */
const hosts = `127.0.0.1\tlocalhost
::1\tlocalhost ip6-localhost ip6-loopback
127.0.0.1\t${sealedHostName}.localdomain ${sealedHostName}
`;

/** What the worker has written for a container's `/etc`, by the path there. */
export type EtcFiles = Readonly<Record<string, string>>;

/**
 * Writes what a container finds in `/etc` beside what its image has there: its user's name, and without a network the
 * addresses of loopback. What the project itself mounts there stays.
 */
export async function writeEtcFiles(
  { doorDirectory, mounts }: Pick<StartOptions, 'doorDirectory' | 'mounts'>,
  { passwd, group }: Pick<ContainerUser, 'passwd' | 'group'>,
  { network, tmpfs }: Pick<SandboxLimits, 'network' | 'tmpfs'>,
): Promise<EtcFiles> {
  const contents = { passwd, group, ...(network === 'none' ? { hosts } : {}) };
  const covered = [...mounts.map(({ target }) => target), ...Object.keys(tmpfs)];
  const directory = join(doorDirectory, 'etc');
  await mkdir(directory, { recursive: true, mode: 0o755 });
  const files: Record<string, string> = {};
  for (const [name, content] of Object.entries(contents)) {
    const target = `/etc/${name}`;
    if (covered.some((path) => isWithin(target, path))) continue;
    const file = join(directory, name);
    await writeFile(file, content, 'latin1');
    // Under any umask.
    await chmod(file, 0o444);
    files[target] = file;
  }
  return files;
}

/** What a container's environment says of its user; a project that mounts its own users knows that itself. */
export function variablesOf({ name, home }: Pick<ContainerUser, 'name' | 'home'>, etc: EtcFiles) {
  return { HOME: home, ...('/etc/passwd' in etc ? { USER: name, LOGNAME: name } : {}) };
}

/** Everything of the host in a turn's container; `docs/turn-worker.md` lists it. */
export function turnMounts(
  start: StartOptions,
  { door, entrypoint }: Pick<Connection, 'door' | 'entrypoint'>,
  { shimFile, etc }: { shimFile: string; etc: EtcFiles },
): BindMount[] {
  const below = (name: string) => join(defaultTurnDir, name);
  return [
    { source: start.turnDirectory, target: defaultTurnDir, writable: true },
    { source: join(start.turnDirectory, 'input.json'), target: below('input.json') },
    { source: start.workspace, target: workspacePath, writable: true },
    ...artifactsMounts(start),
    ...(start.home === undefined ? [] : [{ source: start.home, target: homePath, writable: true }]),
    ...(start.toolpacks === undefined ? [] : [{ source: start.toolpacks, target: toolpacksPath }]),
    ...(door.kind === 'socket' ? [{ source: start.doorDirectory, target: below('door') }] : []),
    ...(entrypoint ? [{ source: shimFile, target: shimPath }] : []),
    ...Object.entries(etc).map(([target, source]) => ({ source, target })),
    ...start.mounts.map(({ source, target, readonly }) => ({ source, target, writable: !readonly })),
  ];
}
