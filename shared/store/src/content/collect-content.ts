import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { sha256 } from '@suzumio/protocol/ids';
import { defaultStorageLimits, type StorageLimits } from '@suzumio/contract/model/storage';
import { chargeFound, type StoredFile } from './charge-found.js';
import { collectLogs } from './collect-logs.js';
import { ContentStore } from './content-store.js';
import type { Database } from '../sqlite/tx.js';
import { isPublished, publishedContents } from './artifacts.js';
import { listReports } from './reports.js';
import { type KeptHistory, KeptSnapshots } from './kept-snapshots.js';
import { imagesInUse } from './call-images.js';
import { pushedPacks } from './shared-repository.js';
import type { SqlReader } from '../sqlite/sql.js';

/** How long content may exist, or be confirmed to exist, before a row refers to it. */
export const unreferencedMs = 24 * 60 * 60 * 1000;

/** How many files one transaction removes: the project's database is locked meanwhile. */
const atOnce = 500;

/** How often workspaces of turns that ended meanwhile are checked before the rest waits for the next round. */
const maxLooks = 100;

/** What is removed on request is told to be in use, also where it will soon be collected. */
const wholeHistory: KeptHistory = { sinceMs: 0, turns: Infinity };

/** Prefix of files that are being removed; the file's name follows. */
const removingPrefix = '.old-';

/** Where an earlier version stored reports, relative to a project's directory. */
const earlierReports = 'reports';

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
  const history = { sinceMs: nowMs - keepFor, turns };
  const places = ['artifacts', ...(existsSync(join(projectDir, earlierReports)) ? [earlierReports] : [])];
  const old = (await Promise.all(places.map((place) => oldFiles(projectDir, place, beforeMs)))).flat();
  await collectLogs(store, projectDir, beforeMs);
  if (old.length === 0) return 0;
  const workspaces = new KeptSnapshots(new ContentStore(projectDir), history);
  await workspaces.add(workspaces.unknown(store.reader));
  // Most old files are in use: they are found before anything is locked.
  const published = publishedContents(store.reader);
  const reports = reportPaths(store.reader);
  const images = imagesInUse(store.reader);
  const packs = pushedPacks(store.reader);
  const unused = old.filter(
    ({ name, path }) =>
      ![workspaces.contents, published, images, packs].some((used) => used.has(name)) && !reports.has(path),
  );
  let removed = 0;
  for (let start = 0; start < unused.length; start += atOnce) {
    const some = unused.slice(start, start + atOnce);
    const count = await removeUnused(store, projectDir, some, workspaces, () => beforeMs);
    if (count === undefined) break;
    removed += count;
  }
  const inUse = new Set(old);
  for (const file of unused) inUse.delete(file);
  await chargeFound(store, [...inUse], (sha256) => workspaces.contents.get(sha256));
  return removed;
}

/** Why some content was not removed. */
export type StillUsed = 'published' | 'reported' | 'pushed' | 'in a workspace' | 'just confirmed';

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
  const workspaces = new KeptSnapshots(content, wholeHistory);
  await workspaces.add(workspaces.unknown(store.reader));
  const files = hashes
    .filter((name) => content.has(name))
    .map((name) => ({ name, path: content.pathOf(name), sizeBytes: 0 }));
  for (let start = 0; start < files.length; start += atOnce) {
    await removeUnused(store, projectDir, files.slice(start, start + atOnce), workspaces, oldestAttemptMs);
  }
  const reports = reportPaths(store.reader);
  const packs = pushedPacks(store.reader);
  const left = files.filter(({ name }) => content.has(name));
  return new Set(
    left.map(({ name, path }) => {
      if (isPublished(store.reader, name)) return 'published';
      if (reports.has(path)) return 'reported';
      if (packs.has(name)) return 'pushed';
      return workspaces.contents.has(name) ? 'in a workspace' : 'just confirmed';
    }),
  );
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
  files: readonly StoredFile[],
  workspaces: KeptSnapshots,
  beforeMs: (reader: SqlReader) => number,
): Promise<number | undefined> {
  for (let look = 0; look < maxLooks; look += 1) {
    const aside: string[] = [];
    try {
      const unknown = await store.write((tx) => {
        const left = workspaces.unknown(tx);
        if (left.length > 0) return left;
        const reports = reportPaths(tx);
        const images = imagesInUse(tx);
        const packs = pushedPacks(tx);
        const before = beforeMs(tx);
        for (const { name, path } of files) {
          const isUsed = [workspaces.contents, images, packs].some((used) => used.has(name));
          if (isUsed || isPublished(tx, name) || reports.has(path)) continue;
          const file = putAside(join(projectDir, path), before);
          if (file === undefined) continue;
          aside.push(file);
          tx.run('DELETE FROM stored_content WHERE sha256 = :name', { name });
        }
        return [];
      });
      if (unknown.length > 0) {
        await workspaces.add(unknown);
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

/** Files last stored or confirmed before a moment. Those that a crash left aside are put back first. */
async function oldFiles(projectDir: string, place: string, beforeMs: number): Promise<StoredFile[]> {
  const found: StoredFile[] = [];
  for (const entry of await readdir(join(projectDir, place), { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const listed = join(entry.parentPath, entry.name);
    const path = entry.name.startsWith(removingPrefix) ? putBack(listed) : listed;
    const name = basename(path);
    const facts = await stat(path).catch(() => undefined);
    if (facts && facts.mtimeMs < beforeMs && isOurs(name)) {
      found.push({ name, path: relative(projectDir, path), sizeBytes: facts.size });
    }
  }
  return found;
}

/** Whether a file is content or a report, complete or partial. */
function isOurs(name: string): boolean {
  return sha256.safeParse(name).success || /^\.(?:[0-9a-f]{12}|[0-9a-f]{16})$|^turn_\w+-[0-9a-f]{12}\.md$/.test(name);
}

function reportPaths(reader: SqlReader): Set<string> {
  return new Set(listReports(reader).map(({ path }) => path));
}

/**
 * Renames a file aside, unless it was confirmed meanwhile. Later requests find it missing, and store it again.
 *
 * @returns its new path
 */
function putAside(path: string, beforeMs: number): string | undefined {
  const aside = join(dirname(path), `${removingPrefix}${basename(path)}`);
  try {
    renameSync(path, aside);
    if (statSync(aside).mtimeMs < beforeMs) return aside;
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  }
  putBack(aside);
  return undefined;
}

/** Gives a file its name back, unless it was stored again meanwhile. Returns its path. */
function putBack(aside: string): string {
  const path = join(dirname(aside), basename(aside).slice(removingPrefix.length));
  try {
    linkSync(aside, path);
  } catch (error) {
    if (codeOf(error) !== 'EEXIST' && codeOf(error) !== 'ENOENT') throw error;
  }
  rmSync(aside, { force: true });
  return path;
}

function codeOf(error: unknown): string | undefined {
  return (error as NodeJS.ErrnoException).code;
}
