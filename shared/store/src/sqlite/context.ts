import { randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import type { StorageLimits } from '@suzumio/contract/model/storage';
import type { DiskSpace } from './disk-space.js';

/** Clock, ids, chance and disk, passed in so that tests control them. */
export interface StoreContext {
  /** Milliseconds since 1970. */
  now: () => number;
  /** A new id, sortable by time: `prefix_` and 26 characters. */
  id: (prefix: 'msg' | 'turn' | 'art' | 'call' | 'note' | 'tok' | 'ses' | 'proc' | 'cfg') => string;
  /** A number in [0, 1). */
  random: () => number;
  /** Storage limits. @default those of a host without a policy */
  storage?: StorageLimits | undefined;
  /** The disk of the data directory. @default one with enough room */
  disk?: DiskSpace | undefined;
}

/** The real clock, ids and chance. */
export function systemContext(): StoreContext {
  const ulid = monotonicFactory(() => randomBytes(4).readUInt32BE() / 2 ** 32);
  return { now: () => Date.now(), id: (prefix) => `${prefix}_${ulid()}`, random: Math.random };
}
