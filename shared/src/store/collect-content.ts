import { renameSync, statSync, unlinkSync } from 'node:fs';
import { readdir, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { sha256 } from '../protocol/ids.js';
import { workspaceManifest } from '../protocol/workspace-manifest.js';
import { ContentStore } from './content-store.js';
import type { ProjectStore } from './project-store.js';
import { isPublished, publishedContents } from './queries/artifacts.js';
import type { SqlReader } from './sql.js';

/** Content may be stored, or found stored, this long before something refers to it. */
export const unreferencedMs = 24 * 60 * 60 * 1000;

/** The most files that are removed at a time: the project's database is locked meanwhile. */
const atOnce = 500;

/** A file that is being removed begins with this, and goes on with its name. */
const removingPrefix = '.old-';

/**
 * Removes content that nothing refers to and that was neither stored nor asked for in the last day: older snapshots of
 * workspaces, what was uploaded and not published, what a crash left half written.
 *
 * @returns how many files were removed
 */
export async function collectContent(
  store: Pick<ProjectStore, 'reader' | 'write'>,
  projectDir: string,
  nowMs: number,
): Promise<number> {
  const beforeMs = nowMs - unreferencedMs;
  const old = await oldFiles(join(projectDir, 'artifacts'), beforeMs);
  if (old.length === 0) return 0;
  const snapshots = snapshotsOf(store.reader);
  const inSnapshots = await contentsOf(new ContentStore(projectDir), snapshots);
  // Most of what is old is in use: that is found out before anything is locked.
  const published = publishedContents(store.reader);
  const unused = old.filter(({ name }) => !inSnapshots.has(name) && !published.has(name)).slice(0, atOnce);
  if (unused.length === 0) return 0;
  return store.write((tx) => {
    // A turn has ended meanwhile, and its workspace may hold what was found: the next round looks again.
    if (snapshotsOf(tx).some((snapshot) => !snapshots.includes(snapshot))) return 0;
    return unused.filter(({ name, path }) => !isPublished(tx, name) && removeOld(path, name, beforeMs)).length;
  });
}

/** Files that were last stored or asked for before a moment; those that a crash left half removed are put back first. */
async function oldFiles(directory: string, beforeMs: number): Promise<{ name: string; path: string }[]> {
  const found: { name: string; path: string }[] = [];
  for (const entry of await readdir(directory, { withFileTypes: true, recursive: true })) {
    if (!entry.isFile()) continue;
    const path = join(entry.parentPath, entry.name);
    if (entry.name.startsWith(removingPrefix)) renameIfThere(path, entry.name.slice(removingPrefix.length));
    const facts = await stat(path).catch(() => undefined);
    if (facts && facts.mtimeMs < beforeMs && isOurs(entry.name)) found.push({ name: entry.name, path });
  }
  return found;
}

/** Stored content, or the beginning of some. */
function isOurs(name: string): boolean {
  return sha256.safeParse(name).success || /^\.[0-9a-f]{16}$/.test(name);
}

/** Every agent's snapshot. */
function snapshotsOf(reader: SqlReader): string[] {
  return reader
    .all<{ snapshot: string }>('SELECT DISTINCT snapshot FROM agents WHERE snapshot IS NOT NULL')
    .map(({ snapshot }) => snapshot);
}

/** The snapshots and all that is in them. One that cannot be read keeps everything: it throws. */
async function contentsOf(content: ContentStore, snapshots: readonly string[]): Promise<Set<string>> {
  const contents = new Set<string>(snapshots);
  for (const snapshot of snapshots) {
    const sizeBytes = await content.sizeOf(snapshot);
    if (sizeBytes === undefined) throw new Error(`the snapshot ${snapshot} is missing`);
    const text = (await content.readStart(snapshot, sizeBytes)).toString('utf8');
    for (const entry of workspaceManifest.parse(JSON.parse(text)).entries) {
      if (entry.kind === 'file') contents.add(entry.sha256);
    }
  }
  return contents;
}

/**
 * Removes a file unless it was asked for meanwhile. It is first put out of reach: whoever asks from then on is told that it
 * is not there, and stores it again.
 */
function removeOld(path: string, name: string, beforeMs: number): boolean {
  const aside = join(dirname(path), `${removingPrefix}${name}`);
  try {
    renameSync(path, aside);
    if (statSync(aside).mtimeMs < beforeMs) {
      unlinkSync(aside);
      return true;
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    return false;
  }
  renameIfThere(aside, name);
  return false;
}

function renameIfThere(path: string, name: string): void {
  try {
    renameSync(path, join(dirname(path), name));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
  }
}
