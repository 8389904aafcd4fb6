import type { FileHandle } from 'node:fs/promises';
import { posix } from 'node:path';
import { Readable } from 'node:stream';
import { meantInput } from '@suzumio/protocol/checked-input';
import { maxContentBytes } from '@suzumio/protocol/content';
import { HttpRefusal } from '@suzumio/protocol/http-failures';
import { type ToolDefinition, toolRequest } from '@suzumio/protocol/runner';
import { workspacePath } from '@suzumio/protocol/workspace-manifest';
import { errnoOf } from '../files/errno.js';
import { hashBytes } from '../files/hash-bytes.js';
import { openFileWithin } from '../files/open-within.js';
import { NotARegularFile } from '../files/regular-file.js';
import type { AttemptClient } from '../toolhost/toolhost-client.js';

export interface PublishedFileOptions {
  /** The workspace's path on this host, and the runner's path of it. */
  workspace: string;
  workspaceSeen: string;
  client: Pick<AttemptClient, 'putContent'>;
  /** The turn's tools, by whose schemas inputs are read. */
  tools?: readonly ToolDefinition[];
  /** The largest file that is uploaded. @default 256 MiB */
  maxBytes?: number;
}

/**
 * Uploads the file that an `artifacts.publish` names by path alone, and adds hash and size to the call: what the shim
 * does in a sealed container, for a runner on a network without one. Other calls, and those whose file cannot be read,
 * stay unchanged, so that the ToolHost answers and records them.
 *
 * @throws HttpUnavailable when the file could not be sent
 */
export async function withPublishedFile(call: Buffer, options: PublishedFileOptions): Promise<Buffer> {
  const named = fileOf(call, options);
  if (named === undefined) return call;
  const file = await openFileWithin(options.workspace, named.path).catch(unreadable);
  if (file === undefined) return call;
  try {
    const { size } = await file.stat();
    if (size > (options.maxBytes ?? maxContentBytes)) return call;
    const { sha256, sizeBytes } = await hashBytes(bytesOf(file, size));
    const content = { stream: () => bytesOf(file, sizeBytes), sizeBytes };
    await options.client.putContent(sha256, content).catch(refused);
    return Buffer.from(JSON.stringify({ ...named.request, input: { ...named.written, sha256, sizeBytes } }));
  } finally {
    await file.close();
  }
}

function fileOf(call: Buffer, { workspaceSeen, tools = [] }: PublishedFileOptions) {
  const request = toolRequest.safeParse(json(call)).data;
  if (request?.tool !== 'artifacts.publish') return undefined;
  const { tool, input: written } = request;
  const { input } = meantInput(tools.find(({ name }) => name === tool)?.inputSchema ?? {}, written);
  if (typeof input !== 'object' || input === null || !('path' in input)) return undefined;
  if (typeof written !== 'object' || 'sha256' in input || 'content' in input) return undefined;
  if (typeof input.path !== 'string') return undefined;
  const prefix = `${workspaceSeen}/`;
  const relative = input.path.startsWith(prefix) ? input.path.slice(prefix.length) : input.path;
  const path = workspacePath.safeParse(posix.normalize(relative)).data;
  return path === undefined ? undefined : { request, written, path };
}

function json(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString('utf8'));
  } catch {
    return undefined;
  }
}

/** Reads the file from the start, any number of times, but only the bytes that it had at first, as it may grow. */
function bytesOf(file: FileHandle, sizeBytes: number): Readable {
  return sizeBytes === 0
    ? Readable.from([])
    : file.createReadStream({ start: 0, end: sizeBytes - 1, autoClose: false });
}

function unreadable(error: unknown): undefined {
  if (!(error instanceof NotARegularFile) && errnoOf(error) === undefined) throw error;
}

/** Ignored here: the call itself gets the error. */
function refused(error: unknown): void {
  if (!(error instanceof HttpRefusal)) throw error;
}
