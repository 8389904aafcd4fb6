import { existsSync, linkSync, renameSync, rmSync, statSync } from 'node:fs';
import { readdir, rm, stat } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { sha256 } from '@suzumio/protocol/ids';
import { workspaceManifest } from '@suzumio/protocol/workspace-manifest';
import { chargeFound, type StoredFile } from './charge-found.js';
import { collectLogs } from './collect-logs.js';
import { ContentStore } from './content-store.js';
import type { Database } from '../sqlite/tx.js';
import { isPublished, publishedContents } from './artifacts.js';
import { listReports } from './reports.js';
import type { SqlReader } from '../sqlite/sql.js';

/** Content may be stored, or found stored, this long before something refers to it. */
export const unreferencedMs = 24 * 60 * 60 * 1000;

/** The most files that are removed at a time: the project's database is locked meanwhile. */
const atOnce = 500;

/** As often workspaces that turns left meanwhile are looked into before the rest waits for the next round. */
const maxLooks = 100;

/** A file that is being removed begins with this, and goes on with its name. */
const removingPrefix = '.old-';

/** Where reports are that an earlier version took, relative to a project's directory. */
const earlierReports = 'reports';

/**
 * Removes content that nothing refers to and that was neither stored nor asked for in the last day: older snapshots of
 * workspaces, what was uploaded and not published, reports that were not taken, what a crash left half written. Removes
 * older logs of turns, too.
 *
 * @returns how many files of content were removed
 */
export async function collectContent(store: Database, projectDir: string, nowMs: number): Promise<number> {
  const beforeMs = nowMs - unreferencedMs;
  const places = ['artifacts', ...(existsSync(join(projectDir, earlierReports)) ? [earlierReports] : [])];
  const old = (await Promise.all(places.map((place) => oldFiles(projectDir, place, beforeMs)))).flat();
  await collectLogs(store, projectDir, beforeMs);
  if (old.length === 0) return 0;
  const workspaces = new Workspaces(new ContentStore(projectDir));
  await workspaces.add(snapshotsOf(store.reader));
  // Most of what is old is in use: that is found out before anything is locked.
  const published = publishedContents(store.reader);
  const reports = reportPaths(store.reader);
  const unused = old.filter(
    ({ name, path }) => !workspaces.contents.has(name) && !published.has(name) && !reports.has(path),
  );
  let removed = 0;
  for (let start = 0; start < unused.length; start += atOnce) {
    const some = unused.slice(start, start + atOnce);
    const count = await removeUnused(store, projectDir, some, workspaces, beforeMs);
    if (count === undefined) break;
    removed += count;
  }
  const inUse = new Set(old);
  for (const file of unused) inUse.delete(file);
  await chargeFound(store, [...inUse], (sha256) => workspaces.contents.get(sha256));
  return removed;
}

/**
 * Removes files unless something refers to them now. Turns may end meanwhile, and their workspaces may hold what was
 * found: only those are looked into then, which takes no time beside the search.
 *
 * Files go after the transaction that no longer charges them: until then they are put aside, and come back where it fails.
 * Those that a crash leaves aside come back with the next round.
 *
 * @returns undefined where turns end faster than their workspaces can be looked into
 */
async function removeUnused(
  store: Pick<Database, 'write'>,
  projectDir: string,
  files: readonly StoredFile[],
  workspaces: Workspaces,
  beforeMs: number,
): Promise<number | undefined> {
  for (let look = 0; look < maxLooks; look += 1) {
    const aside: string[] = [];
    try {
      const unknown = await store.write((tx) => {
        const left = snapshotsOf(tx).filter((snapshot) => !workspaces.contents.has(snapshot));
        if (left.length > 0) return left;
        const reports = reportPaths(tx);
        for (const { name, path } of files) {
          if (workspaces.contents.has(name) || isPublished(tx, name) || reports.has(path)) continue;
          const file = putAside(join(projectDir, path), beforeMs);
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

/** Files that were last stored or asked for before a moment; those that a crash left half removed are put back first. */
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

/** Stored content, a report, or the beginning of either. */
function isOurs(name: string): boolean {
  return sha256.safeParse(name).success || /^\.(?:[0-9a-f]{12}|[0-9a-f]{16})$|^turn_\w+-[0-9a-f]{12}\.md$/.test(name);
}

/** Every agent's snapshot. */
function snapshotsOf(reader: SqlReader): string[] {
  return reader
    .all<{ snapshot: string }>('SELECT DISTINCT snapshot FROM agents WHERE snapshot IS NOT NULL')
    .map(({ snapshot }) => snapshot);
}

function reportPaths(reader: SqlReader): Set<string> {
  return new Set(listReports(reader).map(({ path }) => path));
}

/** Snapshots and all that is in them. */
class Workspaces {
  /** Which of the snapshots holds it. */
  readonly contents = new Map<string, string>();

  constructor(private readonly content: ContentStore) {}

  /** One that cannot be read keeps everything: it throws. */
  async add(snapshots: readonly string[]): Promise<void> {
    for (const snapshot of snapshots) {
      const sizeBytes = await this.content.sizeOf(snapshot);
      if (sizeBytes === undefined) throw new Error(`the snapshot ${snapshot} is missing`);
      const text = (await this.content.readStart(snapshot, sizeBytes)).toString('utf8');
      for (const entry of workspaceManifest.parse(JSON.parse(text)).entries) {
        if (entry.kind === 'file') this.contents.set(entry.sha256, snapshot);
      }
      this.contents.set(snapshot, snapshot);
    }
  }
}

/**
 * Puts a file out of reach, unless it was asked for meanwhile: whoever asks from then on is told that it is not there, and
 * stores it again.
 *
 * @returns where it is then
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

/** Gives a file its name again, unless it was stored again meanwhile: that one is younger. Returns its path. */
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
