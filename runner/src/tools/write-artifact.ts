import { createHash } from 'node:crypto';
import {
  type DirectoryManifest,
  directoryManifest,
  type HandedArtifact,
  maxManifestBytes,
} from '@suzumio/protocol/artifacts';
import { HttpUnavailable } from '@suzumio/protocol/http-failures';
import { keptPartOf } from '@suzumio/protocol/kept-path';
import type { Problem } from '@suzumio/protocol/problem';
import type { DoorClient } from '../door/door-client.js';
import { jsonIn, problemOf } from './tool-answer.js';
import { makeDirectory, openForWriting, WorkspacePathError } from './workspace-path.js';

/** The ToolHost does not give out some content. */
export class ContentRefused extends Error {
  override readonly name = 'ContentRefused';

  constructor(readonly problem: Problem) {
    super(problem.detail);
  }
}

/** What was written. */
export interface Written {
  readonly files: number;
  readonly sizeBytes: number;
}

/** Fetches artifacts through the door and writes them into the workspace. */
export class ArtifactWriter {
  constructor(
    private readonly door: DoorClient,
    private readonly authorization: string,
    private readonly workspace: string,
  ) {}

  /**
   * Writes a file to `to`, replacing what is there, or a directory's files into it, leaving others there. Links are not
   * followed, and nothing is written where one of them would lie in what Git or the sandbox keeps for itself. Throws a
   * WorkspacePathError where that is impossible, and a {@link ContentRefused}.
   */
  async write({ kind, sha256, sizeBytes }: HandedArtifact, to: string): Promise<Written> {
    if (kind === 'file') {
      await this.#file(sha256, to);
      return { files: 1, sizeBytes };
    }
    const { entries } = await this.#manifest(sha256);
    for (const { path } of entries) {
      const kept = keptPartOf(path);
      if (kept === undefined) continue;
      throw new WorkspacePathError(
        `${JSON.stringify(path)} is in ${kept}, into which no files of another agent are written`,
      );
    }
    await makeDirectory(this.workspace, to);
    let files = 0;
    for (const entry of entries) {
      const path = `${to}/${entry.path}`;
      if (entry.kind === 'directory') {
        await makeDirectory(this.workspace, path);
        continue;
      }
      await this.#file(entry.sha256, path, entry.executable);
      files += 1;
    }
    return { files, sizeBytes };
  }

  async #file(sha256: string, path: string, executable = false): Promise<void> {
    await this.#fetch(sha256, async (body) => {
      const file = await openForWriting(this.workspace, path);
      try {
        for await (const chunk of body) await file.writeFile(chunk);
        if (executable) await file.chmod(0o755);
      } finally {
        await file.close();
      }
    });
  }

  async #manifest(sha256: string): Promise<DirectoryManifest> {
    const manifest = directoryManifest.safeParse(jsonIn(await this.read(sha256, maxManifestBytes)));
    if (manifest.success) return manifest.data;
    throw new Error(`the content ${sha256} is not the list of a directory`);
  }

  /** Reads content of at most `maxBytes`. Throws a {@link ContentRefused}. */
  async read(sha256: string, maxBytes: number): Promise<Buffer> {
    let content = Buffer.alloc(0);
    await this.#fetch(sha256, async (body) => {
      const chunks: Uint8Array[] = [];
      let size = 0;
      for await (const chunk of body) {
        size += chunk.length;
        if (size > maxBytes) throw new Error(`the content ${sha256} is longer than ${maxBytes} bytes`);
        chunks.push(chunk);
      }
      content = Buffer.concat(chunks);
    });
    return content;
  }

  /** Passes each try's bytes to `take`, until one was complete. */
  async #fetch(sha256: string, take: (body: AsyncIterable<Uint8Array>) => Promise<void>): Promise<void> {
    const request = {
      method: 'GET' as const,
      path: `/content/${sha256}`,
      headers: { authorization: this.authorization },
    };
    const refused = await this.door.receive(request, async (body) => {
      const hash = createHash('sha256');
      await take(hashed(body, hash));
      if (hash.digest('hex') !== sha256)
        throw new HttpUnavailable(`the content ${sha256} did not arrive as it was sent`);
    });
    if (refused) throw new ContentRefused(problemOf(refused));
  }
}

async function* hashed(
  body: AsyncIterable<Uint8Array>,
  hash: { update(chunk: Uint8Array): unknown },
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    hash.update(chunk);
    yield chunk;
  }
}
