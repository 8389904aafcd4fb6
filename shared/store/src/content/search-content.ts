import { type Dirent, existsSync, opendirSync, statSync } from 'node:fs';
import { basename, join, relative } from 'node:path';
import { sha256 } from '@suzumio/protocol/ids';
import type { Sql, SqlReader } from '../sqlite/sql.js';
import { isPublished } from './artifacts.js';
import { imagesInUse } from './call-images.js';
import { ownersIn, type StoredFile } from './charge-found.js';
import type { ContentOwner } from './charged-content.js';
import { ContentStore } from './content-store.js';
import { type KeptHistory, KeptSnapshots, type ReferredSnapshot } from './kept-snapshots.js';
import { listReports } from './reports.js';
import { isAside, putBack } from './set-aside.js';
import { isPushed } from './shared-repository.js';
import { isUpstreamPack } from './upstream-packs.js';
import { storedManifest, TooLong } from './stored-snapshot.js';
import { toolpackContents } from './toolpack-contents.js';

/** A stored file, found in a search. */
export interface FoundFile extends StoredFile {
  id: number;
}

/** What is looked for in a project's stored content. */
export type SearchJob =
  /** Files last stored or confirmed before a moment: those that nothing refers to, and those that nobody is charged for. */
  | { kind: 'files'; beforeMs: number; history: KeptHistory }
  /** What the snapshots of its whole history contain. */
  | { kind: 'snapshots' }
  /** The same for snapshots that rows refer to since. */
  | { kind: 'more'; snapshots: readonly ReferredSnapshot[] };

/** What a search may do before it gives up. */
export interface SearchBounds {
  manifestBytes: number;
  files: number;
}

/** Where an earlier version stored reports, relative to a project's directory. */
const earlierReports = 'reports';

/** How many files are in memory at a time. */
const atOnce = 1_000;

/** Makes the tables of an index. */
export function prepareIndex(index: Sql): void {
  new KeptSnapshots(index).prepare();
  index.handle.exec(`
    CREATE TABLE found (
      id INTEGER PRIMARY KEY,
      name TEXT NOT NULL,
      path TEXT NOT NULL,
      size_bytes INTEGER NOT NULL,
      -- Of a file that is in use, and that nobody is charged for yet: who is to be.
      owner TEXT,
      kind TEXT
    );
  `);
}

/**
 * Carries out a search, whose result is in the index then. A search that gave up goes on where it is carried out again.
 *
 * @throws TooLong beyond the bounds; SnapshotInvalid where an agent's own snapshot cannot be read
 */
export async function searchContent(
  { index, reader, projectDir }: { index: Sql; reader: SqlReader; projectDir: string },
  job: SearchJob,
  bounds: SearchBounds,
): Promise<void> {
  const content = new ContentStore(projectDir);
  const kept = new KeptSnapshots(index);
  let { manifestBytes } = bounds;
  const read = (hash: string) =>
    storedManifest(content, hash, (sizeBytes) => {
      manifestBytes -= sizeBytes;
      if (manifestBytes < 0) throw new TooLong();
    });
  index.handle.exec('BEGIN');
  try {
    if (job.kind === 'more') await kept.add(job.snapshots, read);
    else if (job.kind === 'snapshots') await kept.addAll(reader, { sinceMs: 0, turns: Infinity }, read);
    else {
      noteOldFiles(index, projectDir, job.beforeMs, bounds.files);
      if (filesAfter(index, 0, 1).length === 0) return;
      await kept.addAll(reader, job.history, read);
      sortFiles(index, reader, kept);
    }
  } finally {
    index.handle.exec('COMMIT');
  }
}

/** Some of the files that nothing refers to, after one of them. */
export function unusedAfter(index: Sql, after: number, limit: number): FoundFile[] {
  return index.all<FoundFile>(
    `SELECT id, name, path, size_bytes AS sizeBytes FROM found WHERE id > :after AND owner IS NULL ORDER BY id LIMIT :limit`,
    { after, limit },
  );
}

/** Some of the files that somebody is to be charged for, after one of them. */
export function unchargedAfter(index: Sql, after: number, limit: number): (FoundFile & ContentOwner)[] {
  return index.all<FoundFile & ContentOwner>(
    `SELECT id, name, path, size_bytes AS sizeBytes, owner, kind FROM found WHERE id > :after AND owner IS NOT NULL
     ORDER BY id LIMIT :limit`,
    { after, limit },
  );
}

/** Notes all files last stored or confirmed before a moment. Those that a crash left aside are put back first. */
function noteOldFiles(index: Sql, projectDir: string, beforeMs: number, mostFiles: number): void {
  index.run('DELETE FROM found');
  let files = 0;
  for (const place of ['artifacts', earlierReports]) {
    if (place === earlierReports && !existsSync(join(projectDir, place))) continue;
    for (const entry of filesBelow(join(projectDir, place))) {
      files += 1;
      if (files > mostFiles) throw new TooLong();
      const listed = join(entry.parentPath, entry.name);
      const path = isAside(entry.name) ? putBack(listed) : listed;
      const name = basename(path);
      const facts = statSync(path, { throwIfNoEntry: false });
      if (!facts || facts.mtimeMs >= beforeMs || !isOurs(name)) continue;
      index.run('INSERT INTO found (name, path, size_bytes) VALUES (:name, :path, :size)', {
        name,
        path: relative(projectDir, path),
        size: facts.size,
      });
    }
  }
}

function* filesBelow(path: string): Generator<Dirent> {
  const directory = opendirSync(path);
  try {
    for (let entry = directory.readSync(); entry; entry = directory.readSync()) {
      if (entry.isDirectory()) yield* filesBelow(join(path, entry.name));
      else if (entry.isFile()) yield entry;
    }
  } finally {
    directory.closeSync();
  }
}

/** Whether a file is content or a report, complete or partial. */
function isOurs(name: string): boolean {
  return sha256.safeParse(name).success || /^\.(?:[0-9a-f]{12}|[0-9a-f]{16})$|^turn_\w+-[0-9a-f]{12}\.md$/.test(name);
}

/** Forgets the files that are in use and charged, and says of the others in use who is to be charged. */
function sortFiles(index: Sql, reader: SqlReader, kept: KeptSnapshots): void {
  const inUse = usedContent(reader, kept);
  const ownerOf = ownersIn(reader, (hash) => kept.agentWith(hash));
  for (let after = 0; ;) {
    const files = filesAfter(index, after, atOnce);
    for (const { id, name, path } of files) {
      if (!inUse(name, path)) continue;
      if (reader.get('SELECT 1 FROM stored_content WHERE sha256 = :name', { name })) {
        index.run('DELETE FROM found WHERE id = :id', { id });
      } else {
        index.run('UPDATE found SET owner = :owner, kind = :kind WHERE id = :id', { id, ...ownerOf({ name, path }) });
      }
    }
    after = files.at(-1)?.id ?? after;
    if (files.length < atOnce) return;
  }
}

function filesAfter(index: Sql, after: number, limit: number): Pick<FoundFile, 'id' | 'name' | 'path'>[] {
  return index.all('SELECT id, name, path FROM found WHERE id > :after ORDER BY id LIMIT :limit', { after, limit });
}

/** What tells whether something refers to a file. */
export function usedContent(reader: SqlReader, kept: KeptSnapshots): (name: string, path: string) => boolean {
  const reports = new Set(listReports(reader).map(({ path }) => path));
  const images = imagesInUse(reader);
  const toolpacks = new Set(toolpackContents(reader).map(({ sha256: name }) => name));
  return (name, path) =>
    isPublished(reader, name) ||
    isPushed(reader, name) ||
    isUpstreamPack(reader, name) ||
    images.has(name) ||
    toolpacks.has(name) ||
    reports.has(path) ||
    (sha256.safeParse(name).success && kept.agentWith(name) !== undefined);
}
