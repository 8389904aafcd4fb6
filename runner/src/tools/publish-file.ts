import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import { messageOf } from '../turn-failure.js';
import type { DoorClient } from '../door/door-client.js';
import { problemOf } from './tool-answer.js';
import { openForReading, WorkspacePathError } from './workspace-path.js';

const chunkBytes = 64 * 1024;

/** A call's input as it goes to the ToolHost, and why its file did not get there. */
export interface PublishedInput {
  readonly input: unknown;
  readonly reason?: string;
}

class FileChanged extends Error {}

/** Whether a call needs its file uploaded first: only this side of the door can read it. */
export function needsFile(tool: string, input: unknown): input is { path: unknown } {
  return tool === 'artifacts.publish' && isObject(input) && 'path' in input && !('sha256' in input);
}

/**
 * Uploads the file that an `artifacts.publish` names, and adds its hash and size to the input. A file that cannot be
 * read is no error here: the call goes on without, so that the ToolHost refuses and records it.
 */
export async function publishFile(
  door: DoorClient,
  authorization: string,
  workspace: string,
  input: { path: unknown },
): Promise<PublishedInput> {
  let file: FileHandle;
  try {
    file = await openForReading(workspace, input.path);
  } catch (error) {
    if (error instanceof WorkspacePathError) return { input, reason: error.message };
    throw error;
  }
  try {
    const { sha256, sizeBytes } = await hashOf(file);
    const answer = await door.send({
      method: 'PUT',
      path: `/content/${sha256}`,
      headers: {
        authorization,
        'content-type': 'application/octet-stream',
        'content-length': sizeBytes,
        expect: '100-continue',
      },
      body: () => Readable.from(bytesOf(file, sizeBytes)),
    });
    const complete = { ...input, sha256, sizeBytes };
    return answer.status < 300 ? { input: complete } : { input: complete, reason: problemOf(answer).detail };
  } catch (error) {
    if (error instanceof FileChanged || isSystemError(error))
      return { input, reason: `${JSON.stringify(input.path)}: ${messageOf(error)}` };
    throw error;
  } finally {
    await file.close();
  }
}

async function hashOf(file: FileHandle): Promise<{ sha256: string; sizeBytes: number }> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of bytesOf(file)) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** A file from its start, however often it was read before: `sizeBytes` of it, or all. */
async function* bytesOf(file: FileHandle, sizeBytes = Infinity): AsyncGenerator<Buffer> {
  for (let at = 0; at < sizeBytes;) {
    const wanted = Math.min(chunkBytes, sizeBytes - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0 && sizeBytes === Infinity) return;
    if (bytesRead === 0) throw new FileChanged('the file became shorter while it was sent');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}

function isSystemError(error: unknown): boolean {
  return isObject(error) && 'syscall' in error;
}
