import { lutimesSync, type Stats } from 'node:fs';
import type { EntryAttributes } from '@suzumio/protocol/workspace-manifest';
import type { SnapshotEntry } from '@suzumio/protocol/workspace-snapshot';
import { errnoOf } from '../files/errno.js';
import type { OpenDirectory } from '../files/open-directory.js';

/** What a snapshot keeps of an entry beside its content. */
export function attributesOf(stat: Stats): EntryAttributes {
  const mtimeUs = Math.floor(stat.mtimeMs * 1_000);
  const bound = Number.MAX_SAFE_INTEGER;
  return {
    ...(stat.isSymbolicLink() ? {} : { mode: stat.mode & 0o777 }),
    mtimeUs: Math.min(Math.max(mtimeUs, -bound), bound),
  };
}

/** Whether its owner may run it. */
export function isExecutable({ mode }: Stats): boolean {
  return (mode & 0o100) !== 0;
}

export function hasSameAttributes(one: EntryAttributes, { mode, mtimeUs }: EntryAttributes): boolean {
  return one.mode === mode && one.mtimeUs === mtimeUs;
}

/** Whether an entry has what a snapshot says of it beside its content. */
export function hasAttributesOf(stat: Stats, entry: SnapshotEntry): boolean {
  return !differs(stat, wantedOf(entry, stat, { timeUs: undefined, isNew: false }));
}

/** What an entry gets of which a snapshot says nothing, as those of earlier versions. */
export interface DefaultAttributes {
  /** Undefined leaves what there is. */
  timeUs: number | undefined;
  /** Whether the entry was just made: its permissions mean nothing. */
  isNew: boolean;
}

/**
 * Gives an entry the permissions and the time that a snapshot has.
 *
 * @returns the entry's facts from then on
 */
export function applyAttributes(
  parent: OpenDirectory,
  entry: SnapshotEntry,
  defaults: DefaultAttributes,
): Stats | undefined {
  const stat = parent.look(entry.name);
  if (!stat) return undefined;
  const wanted = wantedOf(entry, stat, defaults);
  // No bit with which a program would run as another user stays, either.
  const isMode = wanted.mode === undefined || wanted.mode === (stat.mode & 0o7777);
  if (isMode && !differs(stat, wanted)) return stat;
  if (!isMode && wanted.mode !== undefined) parent.chmod(entry.name, wanted.mode);
  if (wanted.mtimeUs !== undefined) setTime(parent.at(entry.name), wanted.mtimeUs, entry.kind);
  return parent.look(entry.name);
}

function differs(stat: Stats, { mode, mtimeUs }: EntryAttributes): boolean {
  const own = attributesOf(stat);
  return (mode !== undefined && own.mode !== mode) || (mtimeUs !== undefined && own.mtimeUs !== mtimeUs);
}

/** A snapshot of an earlier version says of permissions only who may run a file. */
function wantedOf(entry: SnapshotEntry, stat: Stats, { timeUs, isNew }: DefaultAttributes): EntryAttributes {
  const mtimeUs = entry.mtimeUs ?? timeUs;
  if (entry.kind === 'link') return { mtimeUs };
  if (entry.mode !== undefined) return { mode: entry.mode, mtimeUs };
  if (entry.kind === 'directory') return { mode: (stat.mode & 0o777) | 0o755, mtimeUs };
  if (!isNew && isExecutable(stat) === entry.executable) return { mode: stat.mode & 0o777, mtimeUs };
  return { mode: entry.executable ? 0o755 : 0o644, mtimeUs };
}

/** Sets the time of modification, of a link its own. */
function setTime(at: string, mtimeUs: number, kind: SnapshotEntry['kind']): void {
  // The system cuts off what is less than a nanosecond: from the middle of a microsecond, that leads to no other one.
  const seconds = (mtimeUs + 0.5) / 1_000_000;
  try {
    lutimesSync(at, seconds, seconds);
  } catch (error) {
    // Some file systems keep no time of a link.
    if (kind !== 'link' || errnoOf(error) === undefined) throw error;
  }
}
