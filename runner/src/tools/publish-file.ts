import { createHash } from 'node:crypto';
import type { FileHandle } from 'node:fs/promises';
import { Readable } from 'node:stream';
import {
  type ArtifactKind,
  type DirectoryEntry,
  type DirectoryFile,
  type DirectoryManifest,
  maxDirectoryBytes,
} from '@suzumio/protocol/artifacts';
import { artifactsPath } from '@suzumio/protocol/own-artifacts';
import type { Repository } from '@suzumio/protocol/repository';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import { messageOf, TurnFailure } from '../turn-failure.js';
import type { DoorClient } from '../door/door-client.js';
import { listDirectory } from './list-directory.js';
import { withPatch } from '../work-tree/make-patch.js';
import { type Content, putContent } from './put-content.js';
import { problemOf } from './tool-answer.js';
import { findDirectory, openForReading, WorkspacePathError } from './workspace-path.js';

const chunkBytes = 64 * 1024;

/** Half of a door's concurrent requests, so that other requests of the turn can proceed. */
const uploadsAtATime = 8;

/** What a call's input says of its content besides, or why that was not uploaded. */
export interface PublishedInput {
  readonly facts?: object;
  readonly reason?: string;
}

/** Content was not uploaded, with the reason for the caller. */
class NotUploaded extends Error {}

/** Whether a call's file must be uploaded first: only this side of the door can read it. */
export function needsFile(tool: string, input: unknown): input is Publishing {
  if (tool !== 'artifacts.publish' || !isObject(input)) return false;
  return ('path' in input || 'patch' in input) && !('sha256' in input) && !('content' in input);
}

/** The agent's own directory of artifacts, and the path by which it knows it. */
export interface OwnArtifacts {
  readonly path: string;
  readonly as: string;
}

/** The agent's own directory of artifacts; undefined where the turn has none. */
export function ownArtifactsOf({
  agent,
  sandbox,
}: Pick<RunnerTurnInput, 'agent' | 'sandbox'>): OwnArtifacts | undefined {
  const as = `${artifactsPath}/${agent.id}`;
  const own = sandbox?.mounts.find((mount) => !mount.readonly && (mount.as ?? mount.path) === as);
  return own && { path: own.path, as };
}

/** What is published: a path, or with `patch` what was changed since the base. */
type Publishing = { readonly path: unknown } | { readonly patch: unknown };

/**
 * Uploads the file, directory or patch that an `artifacts.publish` names. An unreadable one
 * is no error here: the call continues without, so that the ToolHost refuses and records it.
 */
export async function publishFile(
  door: DoorClient,
  authorization: string,
  {
    workspace,
    own,
    repository,
  }: {
    readonly workspace: string;
    readonly own?: OwnArtifacts | undefined;
    readonly repository?: Repository | undefined;
  },
  input: Publishing,
): Promise<PublishedInput> {
  const upload = new Upload(door, authorization);
  const what = 'path' in input ? JSON.stringify(input.path) : 'the patch';
  try {
    if (!('path' in input)) {
      if (!repository) return {};
      const facts = await withPatch(workspace, repository, async (patch, base) => ({
        ...(await upload.file(patch)),
        base,
      }));
      return { facts };
    }
    const at = placeIn(own, input.path) ?? { root: workspace, path: input.path };
    const directory = await findDirectory(at.root, at.path);
    const facts =
      directory === undefined
        ? await upload.file(await openForReading(at.root, at.path))
        : await upload.directory(directory);
    return { facts };
  } catch (error) {
    if (error instanceof TurnFailure) throw error;
    if (error instanceof WorkspacePathError) return { reason: error.message };
    return { reason: `${what}: ${messageOf(error)}` };
  }
}

/** A path that is in the agent's own directory of artifacts. */
function placeIn(own: OwnArtifacts | undefined, path: unknown): { root: string; path: string } | undefined {
  if (own === undefined || typeof path !== 'string' || !path.startsWith(`${own.as}/`)) return undefined;
  return { root: own.path, path: path.slice(own.as.length + 1) };
}

/** The upload of one publication. */
class Upload {
  readonly #sent = new Map<string, Promise<void>>();

  constructor(
    private readonly door: DoorClient,
    private readonly authorization: string,
  ) {}

  /** Uploads a file and closes it. */
  async file(file: FileHandle): Promise<Content> {
    try {
      const content = await hashOf(file);
      await this.#put(content, () => Readable.from(bytesOf(file, content.sizeBytes)));
      return content;
    } finally {
      await file.close();
    }
  }

  /** Uploads every file below a directory, some at a time, and then the list of them. */
  async directory(root: string): Promise<Content & { kind: ArtifactKind }> {
    const entries: DirectoryEntry[] = [];
    let sizeBytes = 0;
    const waiting = oneByOne(await listDirectory(root));
    await allEnded(uploadsAtATime, async () => {
      for (const [place, { kind, path }] of waiting) {
        const entry = kind === 'directory' ? { kind, path } : await this.#entry(root, path);
        entries[place] = entry;
        if (entry.kind === 'file') sizeBytes += entry.sizeBytes;
        if (sizeBytes > maxDirectoryBytes) throw new NotUploaded(`has more than ${maxDirectoryBytes} bytes`);
      }
    });
    const manifest: DirectoryManifest = { version: 1, entries };
    const list = Buffer.from(JSON.stringify(manifest));
    const sha256 = createHash('sha256').update(list).digest('hex');
    await this.#put({ sha256, sizeBytes: list.length }, () => Readable.from([list]));
    return { sha256, sizeBytes, kind: 'directory' };
  }

  async #entry(root: string, path: string): Promise<DirectoryFile> {
    try {
      const file = await openForReading(root, path);
      const executable = ((await file.stat()).mode & 0o100) !== 0;
      return { kind: 'file', path, ...(await this.file(file)), executable };
    } catch (error) {
      if (error instanceof NotUploaded) throw new NotUploaded(`${JSON.stringify(path)}: ${error.message}`);
      if (error instanceof WorkspacePathError) throw new NotUploaded(error.message);
      throw error;
    }
  }

  /** Uploads each content once, however many files have it. */
  #put(content: Content, body: () => Readable): Promise<void> {
    const sent = this.#sent.get(content.sha256) ?? this.#send(content, body);
    this.#sent.set(content.sha256, sent);
    return sent;
  }

  async #send(content: Content, body: () => Readable): Promise<void> {
    const answer = await putContent(this.door, this.authorization, content, body);
    if (answer.status >= 300) throw new NotUploaded(problemOf(answer).detail);
  }
}

/** Yields each item with its index to concurrent consumers; ends once one of them has failed. */
function* oneByOne<Item>(items: readonly Item[]): Generator<[number, Item]> {
  yield* items.entries();
}

/** Runs `work` several times concurrently, and rejects once all have ended if one failed. */
async function allEnded(times: number, work: () => Promise<void>): Promise<void> {
  const outcomes = await Promise.allSettled(Array.from({ length: times }, work));
  const failed = outcomes.find((outcome) => outcome.status === 'rejected');
  if (failed) throw failed.reason;
}

async function hashOf(file: FileHandle): Promise<Content> {
  const hash = createHash('sha256');
  let sizeBytes = 0;
  for await (const chunk of bytesOf(file)) {
    hash.update(chunk);
    sizeBytes += chunk.length;
  }
  return { sha256: hash.digest('hex'), sizeBytes };
}

/** Reads a file from its start, also after an earlier read: `sizeBytes` of it, or all. */
async function* bytesOf(file: FileHandle, sizeBytes = Infinity): AsyncGenerator<Buffer> {
  for (let at = 0; at < sizeBytes;) {
    const wanted = Math.min(chunkBytes, sizeBytes - at);
    const { bytesRead, buffer } = await file.read(Buffer.allocUnsafe(wanted), 0, wanted, at);
    if (bytesRead === 0 && sizeBytes === Infinity) return;
    if (bytesRead === 0) throw new NotUploaded('the file became shorter while it was sent');
    yield buffer.subarray(0, bytesRead);
    at += bytesRead;
  }
}

export function isObject(value: unknown): value is object {
  return typeof value === 'object' && value !== null;
}
