import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Header, type Pack, pack } from 'tar-stream';
import type { ArtifactView } from '@suzumio/contract/model/views';
import type { DirectoryEntry, DirectoryManifest } from '@suzumio/protocol/artifacts';
import type { ContentStore } from '@suzumio/store/content/content-store';

/**
 * A published directory as a tar, always with the same bytes. All entries are in one directory with the artifact's
 * name, owned by uid 0, and dated at its publication.
 */
export function directoryArchive(content: ContentStore, artifact: ArtifactView, manifest: DirectoryManifest): Readable {
  const archive = pack();
  fill(archive, content, artifact, manifest).catch((error: unknown) => archive.destroy(error as Error));
  return Readable.from(archive, { objectMode: false });
}

async function fill(
  archive: Pack,
  content: ContentStore,
  { name, createdAt }: ArtifactView,
  { entries }: DirectoryManifest,
): Promise<void> {
  const shared = { mtime: new Date(createdAt), uid: 0, gid: 0 };
  archive.entry({ ...shared, name: `${name}/`, type: 'directory', mode: 0o755 });
  for (const entry of entries) {
    const header = { ...shared, ...headerOf(entry), name: `${name}/${entry.path}` };
    if (entry.kind === 'directory') archive.entry(header);
    else await pipeline(content.read(entry.sha256), archive.entry(header) as unknown as NodeJS.WritableStream);
  }
  archive.finalize();
}

function headerOf(entry: DirectoryEntry): Partial<Header> {
  if (entry.kind === 'directory') return { type: 'directory', mode: 0o755 };
  return { type: 'file', mode: entry.executable ? 0o755 : 0o644, size: entry.sizeBytes };
}
