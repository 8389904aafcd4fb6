import { counted, firstBytes, lastBytes, printed } from '../text/legible.js';

/** The beginning and the end of what a stream has brought, in little memory however much it is. */
export class KeptOutput {
  readonly #head: Buffer[] = [];
  #headBytes = 0;
  #tail: Buffer[] = [];
  #tailBytes = 0;
  #bytes = 0;

  /** @param maxBytes how much of it may be asked for */
  constructor(private readonly maxBytes: number) {}

  get bytes(): number {
    return this.#bytes;
  }

  add(chunk: Buffer): void {
    this.#bytes += chunk.length;
    const head = chunk.subarray(0, this.maxBytes - this.#headBytes);
    if (head.length > 0) this.#head.push(head);
    this.#headBytes += head.length;
    this.#tail.push(chunk);
    this.#tailBytes += chunk.length;
    for (let [first] = this.#tail; first && this.#tailBytes - first.length >= this.maxBytes; [first] = this.#tail) {
      this.#tail.shift();
      this.#tailBytes -= first.length;
    }
  }

  /** As much of it as `most` bytes are: its end, which tells how it came out, more than its beginning. */
  text(most: number): string {
    const head = Buffer.concat(this.#head);
    if (this.#bytes <= most) return printed(head);
    const headShare = Math.floor(most / 3);
    const begin = firstBytes(head, headShare);
    const end = lastBytes(Buffer.concat(this.#tail), most - headShare);
    const cut = this.#bytes - begin.length - end.length;
    return `${printed(begin)}\n[… ${counted(cut, 'byte')} left out …]\n${printed(end)}`;
  }
}

/** How two streams share what may be shown: each at least half, or all that it has. */
export function shares(most: number, first: number, second: number): [number, number] {
  const half = Math.floor(most / 2);
  if (first <= half) return [first, Math.min(second, most - first)];
  if (second <= half) return [Math.min(first, most - second), second];
  return [half, most - half];
}
