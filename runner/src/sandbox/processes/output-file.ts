import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { keptDirectory } from '@suzumio/protocol/kept-path';
import { messageOf } from '../../turn-failure.js';
import type { Roots } from '../paths/roots.js';

const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_WRONLY } = constants;

/** All that a command prints, both streams as they came, in a file of the workspace: as much as is kept. */
export class OutputFile {
  #bytes = 0;
  #written = 0;
  #handle: FileHandle | undefined;
  #problem: string | undefined;
  /** What is not written yet. */
  #waiting: Buffer[] = [];
  #work: Promise<void> = Promise.resolve();

  /**
   * @param options.afterBytes the file is made when there are more bytes than these
   * @param options.maxBytes what comes after these is not kept
   */
  constructor(
    private readonly roots: Roots,
    private readonly name: string,
    private readonly options: { readonly afterBytes: number; readonly maxBytes: number },
  ) {}

  /** Where it is; undefined where there is none. */
  get path(): string | undefined {
    return this.#handle === undefined ? undefined : this.#path;
  }

  /** How many bytes are in it. */
  get bytes(): number {
    return this.#written;
  }

  /** What is not in it, and why; undefined where all is. */
  get loss(): string | undefined {
    if (this.#problem !== undefined) return `What it printed could not all be kept: ${this.#problem}`;
    return this.#bytes > this.options.maxBytes ? `Only the first ${this.options.maxBytes} bytes are kept.` : undefined;
  }

  async add(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#problem !== undefined) return;
    this.#waiting.push(chunk);
    if (this.#bytes <= this.options.afterBytes) return;
    // Two streams add to it.
    this.#work = this.#work.then(() => this.#write());
    await this.#work;
  }

  /** Some of its bytes, whoever has done what to the file's name. */
  async read(offset: number, most: number): Promise<Buffer> {
    if (this.#handle === undefined) return Buffer.alloc(0);
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(most), 0, most, offset);
    return buffer.subarray(0, bytesRead);
  }

  async close(): Promise<void> {
    await this.#work;
    await this.#handle?.close();
  }

  get #path(): string {
    return `${keptDirectory}/output/${this.name}.txt`;
  }

  async #write(): Promise<void> {
    const bytes = Buffer.concat(this.#waiting).subarray(0, this.options.maxBytes - this.#written);
    this.#waiting = [];
    if (bytes.length === 0 || this.#problem !== undefined) return;
    try {
      this.#handle ??= await this.#made();
      await this.#handle.writeFile(bytes);
      this.#written += bytes.length;
    } catch (error) {
      this.#problem = messageOf(error);
    }
  }

  /** Makes the file, over one that an earlier attempt has left, and keeps Git from seeing it. */
  async #made(): Promise<FileHandle> {
    await this.roots.at(`${keptDirectory}/.gitignore`, { writing: true, createDirs: true }, async (place) => {
      if (place.facts) return;
      const file = await place.directory.openFile(place.name, O_WRONLY | O_CREAT | O_EXCL, 0o644);
      try {
        await file.writeFile('*\n');
      } finally {
        await file.close();
      }
    });
    const way = { writing: true, createDirs: true, endAsLink: true };
    return this.roots.at(this.#path, way, async ({ directory, name, facts }) => {
      if (facts) await directory.remove(name);
      return directory.openFile(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0o644);
    });
  }
}
