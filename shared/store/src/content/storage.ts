import {
  type DiskUse,
  type StorageLimits,
  type StorageReached,
  storedKinds,
  type StoredKind,
  type StoredView,
} from '@suzumio/contract/model/storage';
import type { DiskSpace } from '../sqlite/disk-space.js';
import type { SqlReader } from '../sqlite/sql.js';
import { reachedQuotas, storedByOwner } from './stored-bytes.js';

const uses: readonly DiskUse[] = ['files', 'rows', 'mail'];

/** The uses that the disk has no room for. */
export function shortFor(disk: DiskSpace): DiskUse[] {
  return uses.filter((use) => disk.isShortFor(use));
}

/** The quotas that a project and its agents have reached, and the disk's reserves where it is short. */
export function storageReached(reader: SqlReader, limits: StorageLimits, disk?: DiskSpace): StorageReached[] {
  const [first, ...others] = disk ? shortFor(disk) : [];
  const all = first === undefined ? [] : [first, ...others].map((use) => refused[use]);
  const message = `The server's disk is short: it takes no ${all.join(', no ')}.`;
  return [
    ...reachedQuotas(reader, limits).map(({ of, pool, message: reached }) => ({
      agent: of === 'project' ? null : of,
      limit: pool,
      message: reached,
    })),
    ...(first === undefined ? [] : [{ agent: null, limit: 'disk' as const, message }]),
  ];
}

const refused = { files: 'files', rows: 'calls of agents', mail: 'changes but deletions' } as const;

/** Adds up what projects have stored. */
export class StoredSum {
  readonly bytes = nothing();
  #owners = new Map<string, Record<StoredKind, number>>();
  #overQuota = 0;

  constructor(private readonly limits: StorageLimits) {}

  add(reader: SqlReader): void {
    for (const { owner, kind, bytes } of storedByOwner(reader)) {
      if (owner === null) {
        this.bytes[kind] += bytes;
        continue;
      }
      const own = this.#owners.get(owner) ?? nothing();
      own[kind] += bytes;
      this.#owners.set(owner, own);
    }
    if (reachedQuotas(reader, this.limits).length > 0) this.#overQuota += 1;
  }

  get projectsOverQuota(): number {
    return this.#overQuota;
  }

  /** @param only whether the view is of one project */
  view(only: boolean, disk: DiskSpace | undefined): StoredView {
    return {
      bytes: this.bytes,
      owners: only ? [...this.#owners].map(([owner, bytes]) => ({ owner, bytes })) : [],
      projectsOverQuota: this.#overQuota,
      disk: disk ? diskView(disk) : null,
    };
  }
}

/** How much of the disk is free, and what it is short for. */
export function diskView(disk: DiskSpace): StoredView['disk'] {
  const { bytes, files } = disk.free;
  return { freeBytes: bytes, freeFiles: Number.isFinite(files) ? files : null, shortFor: shortFor(disk) };
}

function nothing(): Record<StoredKind, number> {
  return Object.fromEntries(storedKinds.map((kind) => [kind, 0])) as Record<StoredKind, number>;
}
