import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { maxContentBytes } from '@suzumio/protocol/content';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { toolRequest } from '@suzumio/protocol/runner';
import { workspacePath } from '@suzumio/protocol/workspace-manifest';
import { errnoOf } from '../files/errno.js';
import { openFileWithin } from '../files/open-within.js';
import { NotARegularFile } from '../files/regular-file.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';

export interface PublishedFileOptions {
  /** The runner's workspace on this host, and as the runner sees it. */
  workspace: string;
  workspaceSeen: string;
  client: Pick<AttemptClient, 'putContent'>;
  /** The largest file that is uploaded. @default 256 MiB */
  maxBytes?: number;
}

/**
 * Uploads the file that an `artifacts.publish` names by its path alone, and adds hash and size to the call: what the
 * shim does for a sealed container, for a runner on a network that has none. Any other call, and one whose file cannot be
 * read, stays as it is, so that the ToolHost answers and records it.
 *
 * @throws HttpUnavailable when the file could not be sent
 */
export async function withPublishedFile(call: Buffer, options: PublishedFileOptions): Promise<Buffer> {
  const named = fileOf(call, options.workspaceSeen);
  if (named === undefined) return call;
  const file = await openFileWithin(options.workspace, named.path).catch(unreadable);
  if (file === undefined) return call;
  try {
    const { size: sizeBytes } = await file.stat();
    if (sizeBytes > (options.maxBytes ?? maxContentBytes)) return call;
    const hash = createHash('sha256');
    for await (const chunk of bytesOf(file, sizeBytes)) hash.update(chunk as Buffer);
    const sha256 = hash.digest('hex');
    const content = { stream: () => bytesOf(file, sizeBytes), sizeBytes };
    await options.client.putContent(sha256, content).catch(refused);
    return Buffer.from(JSON.stringify({ ...named.request, input: { ...named.input, sha256, sizeBytes } }));
  } finally {
    await file.close();
  }
}

function fileOf(call: Buffer, workspaceSeen: string) {
  const request = toolRequest.safeParse(json(call)).data;
  if (request?.tool !== 'artifacts.publish') return undefined;
  const input = request.input;
  if (typeof input !== 'object' || input === null || 'sha256' in input || !('path' in input)) return undefined;
  if (typeof input.path !== 'string') return undefined;
  const prefix = `${workspaceSeen}/`;
  const relative = input.path.startsWith(prefix) ? input.path.slice(prefix.length) : input.path;
  const path = workspacePath.safeParse(posix.normalize(relative)).data;
  return path === undefined ? undefined : { request, input, path };
}

function json(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** The file's first bytes, however often: no more of them than were there at first, should it grow. */
function bytesOf(file: FileHandle, sizeBytes: number): Readable {
  return sizeBytes === 0
    ? Readable.from([])
    : file.createReadStream({ start: 0, end: sizeBytes - 1, autoClose: false });
}

function unreadable(error: unknown): undefined {
  if (!(error instanceof NotARegularFile) && errnoOf(error) === undefined) throw error;
}

/** The call itself gets the answer that says why. */
function refused(error: unknown): void {
  if (!(error instanceof HttpRefusal)) throw error;
}
