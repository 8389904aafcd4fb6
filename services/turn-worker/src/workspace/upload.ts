import { createReadStream } from 'node:fs';
import { join } from 'node:path';
import type { AttemptClient } from '../toolhost/toolhost-client.js';
import type { Captured } from './capture.js';

/** Below this size, asking whether the content exists costs more than sending it. */
const askFirstFromBytes = 64 * 1024;
const atATime = 4;

/** Uploads the parts of a snapshot that the ToolHost may lack: files first, the manifest last. */
export async function uploadSnapshot(
  directory: string,
  captured: Captured & { id: string },
  stored: ReadonlySet<string>,
  client: Pick<AttemptClient, 'hasContent' | 'putContent'>,
): Promise<void> {
  const missing = new Map<string, () => Promise<void>>();
  for (const entry of captured.manifest.entries) {
    if (entry.kind !== 'file' || stored.has(entry.sha256)) continue;
    const { sha256, sizeBytes, path } = entry;
    missing.set(sha256, async () => {
      if (sizeBytes >= askFirstFromBytes && (await client.hasContent(sha256))) return;
      await client.putContent(sha256, { stream: () => createReadStream(join(directory, path)), sizeBytes });
    });
  }
  const uploads = missing.values();
  await Promise.all(
    Array.from({ length: atATime }, async () => {
      for (const upload of uploads) await upload();
    }),
  );
  await client.putContent(captured.id, captured.manifestBytes);
}
