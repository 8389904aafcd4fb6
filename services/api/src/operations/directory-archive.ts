import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { type Header, type Pack, pack } from 'tar-stream';
import { artifactName } from '@suzumio/contract/model/artifact-name';
import type { ArtifactView } from '@suzumio/contract/model/artifact';
import type { DirectoryEntry, DirectoryManifest } from '@suzumio/protocol/artifacts';
import { asOneName } from '@suzumio/protocol/one-name';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { publishedDirectory } from '@suzumio/store/content/directories';

/** The most that a file system takes as a name, in bytes. */
const maxNameBytes = 255;

/** How many names of an archive are remembered: some megabytes. All artifacts after them have their ids in their names. */
const mostNames = 20_000;

/**
 * A published directory as a tar, always with the same bytes. All entries are in one directory with the artifact's
 * name, owned by uid 0, and dated at its publication.
 */
export function directoryArchive(content: ContentStore, artifact: ArtifactView, manifest: DirectoryManifest): Readable {
  return archiveOf((archive) => addDirectory(archive, content, artifact, { manifest, place: artifact.name }));
}

/**
 * Published files and directories as a tar, below one directory. No two of them have the same name, on any disk. Each is read when
 * its turn has come.
 */
export function artifactsArchive(
  content: ContentStore,
  directory: string,
  artifacts: AsyncIterable<ArtifactView>,
): Readable {
  return archiveOf(async (archive) => {
    archive.entry({ ...owner, mtime: new Date(0), name: `${directory}/`, type: 'directory', mode: 0o755 });
    const names = new Set<string>();
    for await (const artifact of artifacts) {
      const { sha256, sizeBytes, createdAt } = artifact;
      const place = `${directory}/${nameInArchive(artifact, names)}`;
      if (artifact.kind === 'directory') {
        const manifest = await publishedDirectory(content, sha256);
        await addDirectory(archive, content, artifact, { manifest, place });
      } else {
        const header = { ...owner, mtime: new Date(createdAt), name: place, mode: 0o644, size: sizeBytes };
        await addFile(archive, content, sha256, { ...header, type: 'file' });
      }
    }
  });
}

const owner = { uid: 0, gid: 0 };

/** A tar that is written while it is read. */
function archiveOf(fill: (archive: Pack) => Promise<void>): Readable {
  const archive = pack();
  fill(archive).then(
    () => archive.finalize(),
    (error: unknown) => archive.destroy(error as Error),
  );
  return Readable.from(archive, { objectMode: false });
}

async function addDirectory(
  archive: Pack,
  content: ContentStore,
  { createdAt }: ArtifactView,
  { manifest, place }: { manifest: DirectoryManifest; place: string },
): Promise<void> {
  const shared = { mtime: new Date(createdAt), ...owner };
  archive.entry({ ...shared, name: `${place}/`, type: 'directory', mode: 0o755 });
  for (const entry of manifest.entries) {
    const header = { ...shared, ...headerOf(entry), name: `${place}/${entry.path}` };
    if (entry.kind === 'directory') archive.entry(header);
    else await addFile(archive, content, entry.sha256, header);
  }
}

async function addFile(
  archive: Pack,
  content: ContentStore,
  sha256: string,
  header: Parameters<Pack['entry']>[0],
): Promise<void> {
  // First, since it throws where the archive was let go: a file that is open then would stay so.
  const entry = archive.entry(header) as unknown as NodeJS.WritableStream;
  await pipeline(content.read(sha256), entry);
}

function headerOf(entry: DirectoryEntry): Partial<Header> {
  if (entry.kind === 'directory') return { type: 'directory', mode: 0o755 };
  return { type: 'file', mode: entry.executable ? 0o755 : 0o644, size: entry.sizeBytes };
}

/**
 * An artifact's name; or what is left of it before its id, where no file can be called so or a file of another name is the same on
 * some disk.
 *
 * @param names those before it, as such disks see them
 */
function nameInArchive({ id, name }: ArtifactView, names: Set<string>): string {
  const isName = artifactName.safeParse(name).success && Buffer.byteLength(name) <= maxNameBytes;
  const isOwn = names.size < mostNames && !names.has(asOneName(name));
  if (isOwn) names.add(asOneName(name));
  if (isName && isOwn) return name;
  const left = name.replaceAll(/[\p{Cc}\p{Cf}\\/]/gu, '_').replace(/^\.+/, '');
  return `${left.slice(0, 40).toWellFormed()}-${id}`;
}
