import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { isPublished } from './artifacts.js';
import { chargeFound, type StoredFile } from './charge-found.js';
import { collectLogs } from './collect-logs.js';
import { ContentSearch } from './content-search.js';
import { ContentStore } from './content-store.js';
import { listReports } from './reports.js';
import { usedContent } from './search-content.js';
import { putBack, setAside } from './set-aside.js';
import { isPushed } from './shared-repository.js';
import { isNeededUpstreamPack } from './upstream-packs.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Database } from '../sqlite/tx.js';

/** How long content may exist, or be confirmed to exist, before a row refers to it. */
export const unreferencedMs = 24 * 60 * 60 * 1000;

/** How many files one transaction removes: the project's database is locked meanwhile. */
const atOnce = 500;

/** How often workspaces of turns that ended meanwhile are checked before the rest waits for the next round. */
const maxLooks = 100;

/**
 * Removes content that nothing refers to and that was neither stored nor confirmed in the last day: older workspace
 * snapshots, uploads that were never published, rejected reports, partial files. Also removes older logs of turns.
 *
 * @param history how much of agents' earlier workspaces is kept
 * @returns how many content files were removed
 */
export async function collectContent(
  store: Database,
  projectDir: string,
  nowMs: number,
  { keepFor, turns }: StorageLimits['history'] = defaultStorageLimits.history,
): Promise<number> {
  const beforeMs = nowMs - unreferencedMs;
  await collectLogs(store, projectDir, beforeMs);
  return ContentSearch.within(store.reader, projectDir, async (search) => {
    await search.search({ kind: 'files', beforeMs, history: { sinceMs: nowMs - keepFor, turns } });
    let removed = 0;
    for (const files of search.unused()) {
      const count = await removeUnused(store, projectDir, files, search, () => beforeMs);
      if (count === undefined) break;
      removed += count;
    }
    for (const files of search.uncharged()) await chargeFound(store, files);
    return removed;
  });
}

/** Why some content was not removed. */
export type StillUsed = 'published' | 'reported' | 'pushed' | 'fetched' | 'in a workspace' | 'just confirmed';

/**
 * Removes content at once where nothing refers to it. Content that a running attempt may have been told to be there is left
 * to {@link collectContent}.
 *
 * @returns why some of it is still there
 */
export async function removeContent(
  store: Database,
  projectDir: string,
  hashes: readonly string[],
): Promise<Set<StillUsed>> {
  const content = new ContentStore(projectDir);
  const files = hashes.filter((name) => content.has(name)).map((name) => ({ name, path: content.pathOf(name) }));
  return ContentSearch.within(store.reader, projectDir, async (search) => {
    await search.search({ kind: 'snapshots' });
    for (let start = 0; start < files.length; start += atOnce) {
      await removeUnused(store, projectDir, files.slice(start, start + atOnce), search, oldestAttemptMs);
    }
    const reports = new Set(listReports(store.reader).map(({ path }) => path));
    const left = files.filter(({ name }) => content.has(name));
    return new Set(
      left.map(({ name, path }): StillUsed => {
        if (isPublished(store.reader, name)) return 'published';
        if (reports.has(path)) return 'reported';
        if (isPushed(store.reader, name)) return 'pushed';
        if (isNeededUpstreamPack(store.reader, name)) return 'fetched';
        return search.kept.agentWith(name) === undefined ? 'just confirmed' : 'in a workspace';
      }),
    );
  });
}

/** When the oldest attempt began that still runs: what it may refer to was confirmed since. */
function oldestAttemptMs(reader: SqlReader): number {
  const running = `SELECT min(started_at_ms) AS at FROM turn_attempts WHERE status = 'running'`;
  return reader.get<{ at: number | null }>(running)?.at ?? Infinity;
}

/**
 * Removes files that nothing refers to. Turns may end meanwhile, and their workspaces may contain candidates: only
 * those workspaces are checked then, which is quick beside the search.
 *
 * A file is unlinked only after the transaction that stops charging for it: until then it is set aside, and it returns
 * if the transaction fails. Files that a crash leaves aside return in the next round.
 *
 * @returns undefined where turns end faster than their workspaces can be checked
 */
async function removeUnused(
  store: Pick<Database, 'write'>,
  projectDir: string,
  files: readonly Pick<StoredFile, 'name' | 'path'>[],
  search: ContentSearch,
  beforeMs: (reader: SqlReader) => number,
): Promise<number | undefined> {
  for (let look = 0; look < maxLooks; look += 1) {
    const aside: string[] = [];
    try {
      const unknown = await store.write((tx) => {
        const left = search.kept.unknown(tx);
        if (left.length > 0) return left;
        const inUse = usedContent(tx, search.kept);
        const before = beforeMs(tx);
        for (const { name, path } of files) {
          if (inUse(name, path)) continue;
          const file = setAside(join(projectDir, path), before);
          if (file === undefined) continue;
          aside.push(file);
          tx.run('DELETE FROM stored_content WHERE sha256 = :name', { name });
        }
        return [];
      });
      if (unknown.length > 0) {
        await search.search({ kind: 'more', snapshots: unknown });
        continue;
      }
    } catch (error) {
      for (const file of aside) putBack(file);
      throw error;
    }
    for (const file of aside) await rm(file, { force: true });
    return aside.length;
  }
  return undefined;
}
