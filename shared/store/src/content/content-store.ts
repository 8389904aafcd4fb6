import { createHash, randomBytes } from 'node:crypto';
import { createReadStream, existsSync } from 'node:fs';
import { open, rename, stat, unlink, utimes } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import type { Readable } from 'node:stream';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { maxContentBytes } from '@suzumio/protocol/content';
import { makeSubdirectory } from './make-subdirectory.js';
import { unknownProject } from '../sqlite/store-fault.js';

export { maxContentBytes };

/** One project's files, stored under their SHA-256. A stored file is complete and never changes. */
export class ContentStore {
  readonly #directory: string;

  constructor(readonly projectDir: string) {
    this.#directory = join(projectDir, 'artifacts');
  }

  /** The path of content, relative to the project's directory. */
  pathOf(hash: string): string {
    return relative(this.projectDir, this.#file(hash));
  }

  has(hash: string): boolean {
    return existsSync(this.#file(hash));
  }

  async sizeOf(hash: string): Promise<number | undefined> {
    try {
      return (await stat(this.#file(hash))).size;
    } catch {
      return undefined;
    }
  }

  /**
   * The size of content that is about to be referred to; undefined where it has to be stored first. For a day from now
   * it is not collected.
   */
  async renew(hash: string): Promise<number | undefined> {
    const now = new Date();
    try {
      await utimes(this.#file(hash), now, now);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
      throw error;
    }
    return this.sizeOf(hash);
  }

  read(hash: string, range?: { start: number; end: number }): Readable {
    return createReadStream(this.#file(hash), range);
  }

  /** The first `maxBytes` of some content, or of what is after its first `offset` bytes. */
  async readStart(hash: string, maxBytes: number, offset = 0): Promise<Buffer> {
    const file = await open(this.#file(hash), 'r');
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(maxBytes), 0, maxBytes, offset);
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  }

  /**
   * Stores a stream whose hash is declared. Durable once it resolves: the file first, then its name.
   *
   * @throws SuzumioError `content-mismatch`, `content-too-large`; `project-unknown` when it was deleted meanwhile
   */
  async put(hash: string, content: Readable | Iterable<Uint8Array>): Promise<void> {
    await this.#store(content, hash);
  }

  /**
   * Stores a stream under its computed hash. Durable once it resolves.
   *
   * @param expected the declared hash
   * @throws SuzumioError `content-mismatch`, `content-too-large`
   */
  putStream(
    content: Readable | AsyncIterable<Uint8Array>,
    expected?: string,
  ): Promise<{ sha256: string; sizeBytes: number }> {
    return this.#store(content, expected);
  }

  /** Stores bytes that are about to be referred to, and returns their hash. */
  async putBytes(bytes: Uint8Array): Promise<string> {
    const hash = hashOf(bytes);
    if ((await this.renew(hash)) === undefined) await this.put(hash, [bytes]);
    return hash;
  }

  async #store(
    content: Readable | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    expected?: string,
  ): Promise<{ sha256: string; sizeBytes: number }> {
    await makeSubdirectory(this.projectDir, 'artifacts');
    const temporary = join(this.#directory, `.${randomBytes(8).toString('hex')}`);
    try {
      const written = await this.#writeWhole(temporary, content, expected);
      const target = this.#file(written.sha256);
      await makeSubdirectory(this.projectDir, relative(this.projectDir, dirname(target)));
      await rename(temporary, target);
      await syncDirectory(dirname(target));
      return written;
    } catch (error) {
      await unlink(temporary).catch(() => undefined);
      // The project's directories exist as long as the project does.
      const { code, path = '' } = error as NodeJS.ErrnoException;
      if (code === 'ENOENT' && path.startsWith(this.#directory)) throw unknownProject(basename(this.projectDir));
      throw error;
    }
  }

  async #writeWhole(
    file: string,
    content: Readable | Iterable<Uint8Array> | AsyncIterable<Uint8Array>,
    expected: string | undefined,
  ): Promise<{ sha256: string; sizeBytes: number }> {
    const handle = await open(file, 'wx', 0o600);
    try {
      const hash = createHash('sha256');
      let sizeBytes = 0;
      for await (const chunk of content as AsyncIterable<Uint8Array>) {
        sizeBytes += chunk.length;
        if (sizeBytes > maxContentBytes) {
          throw new SuzumioError('content-too-large', `A file may have ${String(maxContentBytes)} bytes at most.`, {
            maxBytes: maxContentBytes,
          });
        }
        hash.update(chunk);
        await handle.write(chunk);
      }
      const actual = hash.digest('hex');
      if (expected !== undefined && actual !== expected) {
        throw new SuzumioError(
          'content-mismatch',
          `What arrived has the SHA-256 ${actual}, not ${expected}; send the file again.`,
          { expected, actual },
        );
      }
      await handle.sync();
      return { sha256: actual, sizeBytes };
    } finally {
      await handle.close();
    }
  }

  #file(hash: string): string {
    return join(this.#directory, hash.slice(0, 2), hash);
  }
}

/** The name under which bytes are stored. */
export function hashOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** Makes a new or renamed entry of a directory durable. */
export async function syncDirectory(directory: string): Promise<void> {
  const handle = await open(directory, 'r');
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
