const headerBytes = 8;

/** Demultiplexes the engine's stream of a container's outputs. */
export class Demux {
  #pending = Buffer.alloc(0);

  constructor(private readonly outputs: { stdout: (chunk: Buffer) => void; stderr: (chunk: Buffer) => void }) {}

  write(chunk: Buffer): void {
    let bytes = this.#pending.length === 0 ? chunk : Buffer.concat([this.#pending, chunk]);
    while (bytes.length >= headerBytes) {
      const end = headerBytes + bytes.readUInt32BE(4);
      if (bytes.length < end) break;
      const payload = bytes.subarray(headerBytes, end);
      if (bytes[0] === 2) this.outputs.stderr(payload);
      else this.outputs.stdout(payload);
      bytes = bytes.subarray(end);
    }
    this.#pending = Buffer.from(bytes);
  }
}
