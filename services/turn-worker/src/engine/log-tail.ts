/** Keeps the end of a log. */
export class LogTail {
  #chunks: Buffer[] = [];
  #sizeBytes = 0;

  constructor(private readonly maxBytes: number) {}

  write(chunk: Buffer): void {
    // The rest of a buffer that it is a small part of, such as of what came on the other output, is not kept with it.
    this.#chunks.push(chunk.length * 2 < chunk.buffer.byteLength ? Buffer.from(chunk) : chunk);
    this.#sizeBytes += chunk.length;
    // Cut rarely, so that small chunks are not copied each time.
    if (this.#sizeBytes > this.maxBytes * 2) this.#cut();
    else if (this.#chunks.length > 4096) this.#chunks = [Buffer.concat(this.#chunks)];
  }

  bytes(): Buffer {
    this.#cut();
    return this.#chunks[0] ?? Buffer.alloc(0);
  }

  #cut(): void {
    const all = Buffer.concat(this.#chunks);
    this.#chunks = [Buffer.from(all.subarray(Math.max(0, all.length - this.maxBytes)))];
    this.#sizeBytes = this.#chunks[0]?.length ?? 0;
  }
}
