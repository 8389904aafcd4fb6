import { randomBytes } from 'node:crypto';
import { monotonicFactory } from 'ulid';
import type { StorageLimits } from '@suzumio/contract/model/storage';
import type { DiskSpace } from './disk-space.js';

/** The world outside the store, passed in so that a test can hold it still. */
export interface StoreContext {
  /** Milliseconds since 1970. */
  now: () => number;
  /** A new id, sortable by time: `prefix_` and 26 characters. */
  id: (prefix: 'msg' | 'turn' | 'art' | 'call' | 'tok' | 'proc') => string;
  /** A number in [0, 1). */
  random: () => number;
  /** What may be stored. @default the bounds of a host whose operator wrote none */
  storage?: StorageLimits | undefined;
  /** The disk that it is on. @default one with room enough */
  disk?: DiskSpace | undefined;
}

/** The real clock, ids and chance. */
export function systemContext(): StoreContext {
  const ulid = monotonicFactory(() => randomBytes(4).readUInt32BE() / 2 ** 32);
  return { now: () => Date.now(), id: (prefix) => `${prefix}_${ulid()}`, random: Math.random };
}
