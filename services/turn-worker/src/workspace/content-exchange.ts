import { createHash } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { Transform } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { maxManifestBytes } from '@suzumio/protocol/artifacts';
import { maxWorkspaceManifestBytes } from '@suzumio/protocol/workspace-manifest';
import { type SnapshotFile, SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import type { Content } from './read-file.js';

/** Fetches content, which is verified here. */
export type FetchContent = (sha256: string) => Promise<AsyncIterable<Uint8Array>>;

/** Below this size, asking whether the content exists costs more than sending it. */
const askFirstFromBytes = 64 * 1024;

/** Uploads content that the ToolHost may lack. */
export async function upload(
  content: Content,
  client: Pick<AttemptClient, 'hasContent' | 'putContent'>,
): Promise<void> {
  const { sha256, sizeBytes } = content;
  if (sizeBytes >= askFirstFromBytes && (await client.hasContent(sha256))) return;
  const body =
    'bytes' in content
      ? Buffer.from(content.bytes.buffer, content.bytes.byteOffset, sizeBytes)
      : { stream: () => createReadStream(content.file), sizeBytes };
  await client.putContent(sha256, body);
}

/**
 * Writes the content of a snapshot's file to `to`.
 *
 * @param path of the file in its workspace, for messages
 * @throws SnapshotInvalid when the content does not match the snapshot
 */
export async function download(
  file: Pick<SnapshotFile, 'sha256' | 'sizeBytes'>,
  path: string,
  to: string,
  fetch: FetchContent,
): Promise<void> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  const check = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      sizeBytes += chunk.length;
      hash.update(chunk);
      if (sizeBytes > file.sizeBytes)
        done(new SnapshotInvalid(`The content of ${path} is longer than the snapshot says.`));
      else done(null, chunk);
    },
  });
  await pipeline(await fetch(file.sha256), check, createWriteStream(to, { mode: 0o600 }));
  if (sizeBytes !== file.sizeBytes || hash.digest('hex') !== file.sha256) {
    throw new SnapshotInvalid(`The content of ${path} is not what the snapshot says.`);
  }
}

/** Writes a manifest to `to`; only its length is checked. */
export async function downloadManifest(sha256: string, to: string, fetch: FetchContent): Promise<void> {
  const chunks = atMost(maxWorkspaceManifestBytes, await fetch(sha256));
  await pipeline(chunks, createWriteStream(to, { mode: 0o600 }));
}

/** The list of a published directory; only its length is checked. */
export async function downloadList(sha256: string, fetch: FetchContent): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of atMost(maxManifestBytes, await fetch(sha256))) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** @throws SnapshotInvalid */
async function* atMost(maxBytes: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
  let sizeBytes = 0;
  for await (const chunk of chunks) {
    sizeBytes += chunk.length;
    if (sizeBytes > maxBytes) throw new SnapshotInvalid('The manifest of the snapshot is too long.');
    yield chunk;
  }
}
