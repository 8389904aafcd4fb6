import { createHash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, type Stats, unlinkSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { NotARegularFile } from '../files/regular-file.js';
import { WorkspaceTooLarge } from './workspace-errors.js';

/** Content exactly as hashed: small content in memory, else in a file of the worker's own. */
export type Content = { sha256: string; sizeBytes: number } & ({ bytes: Uint8Array<ArrayBuffer> } | { file: string });

export interface ReadFile {
  content: Content;
  /** The file's attributes when it was opened. */
  stat: Stats;
  /** Whether the file was the same before and after reading. */
  isSteady: boolean;
}

/** Longer content is kept in a file while it is uploaded. */
const inMemoryBytes = 256 * 1024;
const chunk = Buffer.allocUnsafeSlow(inMemoryBytes);

let staged = 0;

/** Reads files that others may be writing: the bytes that are hashed are the bytes that are kept. */
export class FileReader {
  /**
   * @param staging the worker's own directory
   * @param check called between chunks; throws to cancel
   */
  constructor(
    private readonly staging: string,
    private readonly maxFileBytes: number,
    private readonly check: () => void,
  ) {}

  /**
   * Reads a file up to its length when opened, should it grow. Links are not followed, and pipes not waited for.
   *
   * @param at the path for system calls
   * @param path the path for messages
   * @throws NotARegularFile, WorkspaceTooLarge, or a system error
   */
  read(at: string, path: string): ReadFile {
    return withFile(at, (file, stat) => {
      this.#requireStorable(stat, path);
      const content = stat.size <= inMemoryBytes ? this.#inMemory(file, stat) : this.#staged(file, stat);
      return { content, stat, isSteady: isSteady(file, stat, content.sizeBytes) };
    });
  }

  /** The hash of a file that nobody writes; throws as {@link read} does. */
  hash(at: string): string {
    return withFile(at, (file, stat) => this.#hash(file, stat).sha256);
  }

  #inMemory(file: number, stat: Stats): Content {
    const bytes = new Uint8Array(stat.size);
    let sizeBytes = 0;
    for (let read = -1; read !== 0 && sizeBytes < bytes.length; sizeBytes += read) {
      read = readSync(file, bytes, sizeBytes, bytes.length - sizeBytes, sizeBytes);
    }
    const content = sizeBytes === bytes.length ? bytes : bytes.slice(0, sizeBytes);
    return { sha256: createHash('sha256').update(content).digest('hex'), sizeBytes, bytes: content };
  }

  #staged(file: number, stat: Stats): Content {
    const path = join(this.staging, `content-${++staged}`);
    const copy = openSync(path, constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC, 0o600);
    try {
      return { ...this.#hash(file, stat, (some) => writeWhole(copy, some)), file: path };
    } catch (error) {
      unlinkSync(path);
      throw error;
    } finally {
      closeSync(copy);
    }
  }

  #hash(file: number, stat: Stats, keep: (some: Uint8Array) => void = () => undefined) {
    const hash = createHash('sha256');
    let sizeBytes = 0;
    while (sizeBytes < stat.size) {
      this.check();
      const read = readSync(file, chunk, 0, Math.min(chunk.length, stat.size - sizeBytes), sizeBytes);
      if (read === 0) break;
      const some = chunk.subarray(0, read);
      hash.update(some);
      keep(some);
      sizeBytes += read;
    }
    return { sha256: hash.digest('hex'), sizeBytes };
  }

  #requireStorable({ size }: Stats, path: string): void {
    if (size <= this.maxFileBytes) return;
    throw new WorkspaceTooLarge(
      `The file ${path} has ${size} bytes; a file of a workspace may have ${this.maxFileBytes} at most.`,
    );
  }
}

function withFile<Result>(at: string, use: (file: number, stat: Stats) => Result): Result {
  const file = openSync(at, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK);
  try {
    const stat = fstatSync(file);
    if (!stat.isFile()) throw new NotARegularFile('is not a regular file');
    return use(file, stat);
  } finally {
    closeSync(file);
  }
}

function isSteady(file: number, before: Stats, readBytes: number): boolean {
  const after = fstatSync(file);
  return after.size === readBytes && after.mtimeMs === before.mtimeMs && after.ctimeMs === before.ctimeMs;
}

function writeWhole(file: number, bytes: Uint8Array): void {
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}
