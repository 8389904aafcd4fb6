import { setImmediate as nextRound } from 'node:timers/promises';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import {
  type DirectoryManifest,
  directoryManifest,
  filesOf,
  maxManifestBytes,
  maxManifestMembers,
} from '@suzumio/protocol/artifacts';
import { countMembers } from '@suzumio/protocol/count-members';
import { ProjectTurns } from '@suzumio/protocol/project-turns';
import type { ContentStore } from './content-store.js';
import type { SqlReader } from '../sqlite/sql.js';
import type { Database } from '../sqlite/tx.js';

/**
 * Reads an uploaded manifest, from any client, and checks that all of its files are stored.
 *
 * @returns undefined where the manifest is not stored
 * @throws SuzumioError `artifact-directory-invalid`, `content-missing`, `content-mismatch`
 */
export async function uploadedDirectory(content: ContentStore, sha256: string): Promise<DirectoryManifest | undefined> {
  const sizeBytes = await content.renew(sha256);
  if (sizeBytes === undefined) return undefined;
  const manifest = await parsed(content, sha256, sizeBytes);
  if (typeof manifest === 'string') {
    throw new SuzumioError(
      'artifact-directory-invalid',
      `What was uploaded is not the list of a directory's files: ${manifest}.`,
    );
  }
  for (const entry of manifest.entries) {
    if (entry.kind === 'directory') continue;
    const found = await content.renew(entry.sha256);
    if (found === undefined) {
      throw new SuzumioError('content-missing', `The content of ${JSON.stringify(entry.path)} was not uploaded.`);
    }
    if (found !== entry.sizeBytes) {
      throw new SuzumioError(
        'content-mismatch',
        `${JSON.stringify(entry.path)} has ${String(found)} bytes, not ${String(entry.sizeBytes)}.`,
      );
    }
  }
  return manifest;
}

/**
 * The manifest of a published directory.
 *
 * @throws SuzumioError `store-corrupt`
 */
export async function publishedDirectory(content: ContentStore, sha256: string): Promise<DirectoryManifest> {
  const sizeBytes = await content.sizeOf(sha256);
  const manifest = sizeBytes === undefined ? 'it is missing' : await parsed(content, sha256, sizeBytes);
  if (typeof manifest !== 'string') return manifest;
  throw new SuzumioError('store-corrupt', `The list of a directory's files, ${sha256}, cannot be read: ${manifest}.`);
}

/** A manifest of 10,000 entries takes some 200 ms of the event loop. */
const turns = new ProjectTurns();

/** The manifest, or what is wrong with it. One is parsed at a time, and what else there is to do comes between two. */
function parsed(content: ContentStore, sha256: string, sizeBytes: number): Promise<DirectoryManifest | string> {
  return turns.take(content.projectDir, async () => {
    await nextRound();
    return parse(content, sha256, sizeBytes);
  });
}

async function parse(content: ContentStore, sha256: string, sizeBytes: number): Promise<DirectoryManifest | string> {
  if (sizeBytes > maxManifestBytes) {
    return `it has ${String(sizeBytes)} bytes, and may have ${String(maxManifestBytes)}`;
  }
  const bytes = await content.readStart(sha256, sizeBytes);
  if (countMembers(bytes, maxManifestMembers) > maxManifestMembers) {
    return `its lists and objects have more than ${String(maxManifestMembers)} members`;
  }
  let document: unknown;
  try {
    document = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
  } catch {
    return 'it is no JSON';
  }
  const manifest = directoryManifest.safeParse(document);
  if (manifest.success) return manifest.data;
  const [issue] = manifest.error.issues;
  return issue ? `${issue.path.join('.')}${issue.path.length > 0 ? ': ' : ''}${issue.message}` : 'it has another form';
}

/** Says of content that it is in no published directory any more, unless another one has it that is not redacted. */
export async function forgetDirectory(
  store: Database,
  content: ContentStore,
  hashes: readonly string[],
): Promise<void> {
  for (;;) {
    const directories = readableDirectories(store.reader);
    const others = new Set<string>();
    for (const { sha256 } of directories) {
      for (const file of filesOf(await publishedDirectory(content, sha256))) others.add(file.sha256);
    }
    const unused = JSON.stringify(hashes.filter((hash) => !others.has(hash)));
    const done = await store.write((tx) => {
      // Another one may have been published meanwhile.
      if (readableDirectories(tx).length > directories.length) return false;
      tx.run('DELETE FROM directory_contents WHERE sha256 IN (SELECT value FROM json_each(:unused))', { unused });
      return true;
    });
    if (done) return;
  }
}

function readableDirectories(reader: SqlReader): { sha256: string }[] {
  return reader.all(`SELECT DISTINCT sha256 FROM artifacts WHERE kind = 'directory' AND redacted_json IS NULL`);
}
