import { constants } from 'node:fs';
import type { FileHandle } from 'node:fs/promises';
import { messageOf } from '../../turn-failure.js';
import { keptDirectory, type Roots } from '../paths/roots.js';

const { O_APPEND, O_CREAT, O_EXCL, O_RDWR, O_WRONLY } = constants;

/** All that a command prints, both streams as they came, in a file of the workspace: as much as is kept. */
export class OutputFile {
  #written = 0;
  #bytes = 0;
  #handle: FileHandle | undefined;
  #problem: string | undefined;
  #early: Buffer[] = [];
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
    return this.#handle === undefined ? undefined : this.#name;
  }

  /** How many bytes are in it. */
  get bytes(): number {
    return this.#written;
  }

  /** What a reader should know of it. */
  get note(): string | undefined {
    if (this.#problem !== undefined) return `All of it could not be kept: ${this.#problem}`;
    if (this.#handle === undefined) return undefined;
    const part = this.#bytes > this.#written ? `Its first ${this.#written} bytes are` : 'All of it is';
    return `${part} in ${this.#name}, for file.read and file.search.`;
  }

  async add(chunk: Buffer): Promise<void> {
    this.#bytes += chunk.length;
    if (this.#problem !== undefined) return;
    if (this.#handle === undefined) this.#early.push(chunk);
    if (this.#bytes <= this.options.afterBytes) return;
    // Two streams write into it.
    this.#work = this.#work.then(() => this.#write(chunk));
    await this.#work;
  }

  /** Some of its bytes, whoever has done what to the file's name. */
  async read(offset: number, most: number): Promise<Buffer> {
    if (this.#handle === undefined) return Buffer.concat(this.#early).subarray(offset, offset + most);
    const { buffer, bytesRead } = await this.#handle.read(Buffer.alloc(most), 0, most, offset);
    return buffer.subarray(0, bytesRead);
  }

  async close(): Promise<void> {
    await this.#work;
    await this.#handle?.close();
  }

  get #name(): string {
    return `${keptDirectory}/output/${this.name}.txt`;
  }

  async #write(chunk: Buffer): Promise<void> {
    if (this.#problem !== undefined) return;
    try {
      const isFirst = this.#handle === undefined;
      this.#handle ??= await this.#made();
      const bytes = (isFirst ? Buffer.concat(this.#early) : chunk).subarray(0, this.options.maxBytes - this.#written);
      this.#early = isFirst ? [] : this.#early;
      if (bytes.length === 0) return;
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
      await file.writeFile('*\n').finally(() => file.close());
    });
    const way = { writing: true, createDirs: true, endAsLink: true };
    return this.roots.at(this.#name, way, async ({ directory, name, facts }) => {
      if (facts) await directory.remove(name);
      return directory.openFile(name, O_RDWR | O_CREAT | O_EXCL | O_APPEND, 0o644);
    });
  }
}
