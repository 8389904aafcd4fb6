import { chmodSync, lstatSync, type Stats } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { errnoOf } from '../files/errno.js';
import type { OpenDirectory } from '../files/open-directory.js';
import { isSameFile } from './file-clock.js';
import type { KnownEntry } from './known-tree.js';
import { WorkspaceUnreadable } from './workspace-errors.js';

/**
 * The system error of a file on which a program holds a lease, as a server of files does. The system has asked the program to
 * give it back, and takes it away after `fs.lease-break-time`, 45 seconds unless set otherwise.
 */
export const leased = 'EAGAIN';
/** The system errors of an entry that cannot be read. */
export const unreadable: ReadonlySet<string> = new Set([leased, 'EACCES', 'EPERM']);

/** Longer than the system lets programs hold leases. */
export const usualLeasePatienceMs = 60_000;
const leasePollMs = 50;
const maxShownPath = 500;

/** Waits until programs give leases back, for a bounded time in all. */
export class LeasePatience {
  /** @param check called before each wait; throws to cancel */
  constructor(
    private leftMs: number,
    private readonly check: () => void,
  ) {}

  /** @returns whether the file is worth another look */
  async wait(): Promise<boolean> {
    this.check();
    if (this.leftMs <= 0) return false;
    this.leftMs -= leasePollMs;
    await sleep(leasePollMs);
    return true;
  }
}

/** Gives the owner of a workspace the permissions for its directory again, whose permissions are no part of it. */
export function permitRoot(path: string): void {
  const { mode, uid } = lstatSync(path);
  if ((mode & 0o700) !== 0o700 && uid === process.geteuid?.()) chmodSync(path, (mode & 0o777) | 0o700);
}

/**
 * Gives the owner permissions that it has taken from itself, if this process may: root needs none.
 *
 * @returns takes them away again
 */
export function permit(directory: OpenDirectory, name: string, { mode }: Stats, needed: number): () => void {
  if ((mode & needed) === needed || process.geteuid?.() === 0) return () => undefined;
  const permissive = (mode & 0o7777) | needed;
  const change = (to: number): void => {
    try {
      directory.chmod(name, to);
    } catch (error) {
      // It is another user's, or was replaced: reading it says which.
      if (errnoOf(error) === undefined) throw error;
    }
  };
  change(permissive);
  return () => {
    // A program may have changed them meanwhile.
    if (((directory.look(name)?.mode ?? 0) & 0o7777) === permissive) change(mode & 0o7777);
  };
}

/**
 * A file that cannot be read, as it was known. What has happened since depends on files as they are, so it must not have changed.
 *
 * @param path for messages
 * @throws WorkspaceUnreadable
 */
export function asBefore(
  stat: Stats | undefined,
  path: string,
  before: KnownEntry | undefined,
  code: string,
): KnownEntry {
  if (stat?.isFile() && before?.kind === 'file' && before.seen && isSameFile(stat, before.seen)) return before;
  const what = stat?.isDirectory() ? 'directory' : 'file';
  const named = JSON.stringify(path.slice(0, maxShownPath));
  throw new WorkspaceUnreadable(
    code === leased
      ? `The ${what} ${named} cannot be read now, because a program holds a lease on it (F_SETLEASE).`
      : `The ${what} ${named} cannot be read: its owner or its permissions forbid it (${code}).`,
  );
}
