/** Follows a text that comes in pieces, and sees where the JSON object is whole with which it begins. */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #reached = false;

  /** Whether nothing can follow any more but blanks. */
  get reached(): boolean {
    return this.#reached;
  }

  add(piece: string): void {
    for (const character of piece) {
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '{') this.#depth += 1;
      else if (character === '}') {
        this.#depth -= 1;
        if (this.#depth === 0) this.#reached = true;
      }
    }
  }
}
