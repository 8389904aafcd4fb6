import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { type DirectoryManifest, directoryManifest, maxManifestBytes } from '@suzumio/protocol/artifacts';
import type { ContentStore } from './content-store.js';

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

/** The manifest, or what is wrong with it. */
async function parsed(content: ContentStore, sha256: string, sizeBytes: number): Promise<DirectoryManifest | string> {
  if (sizeBytes > maxManifestBytes) {
    return `it has ${String(sizeBytes)} bytes, and may have ${String(maxManifestBytes)}`;
  }
  const bytes = await content.readStart(sha256, sizeBytes);
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
