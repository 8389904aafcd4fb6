/** Scans text that comes in pieces for the end of the JSON object that it begins with. */
export class ObjectEnd {
  #depth = 0;
  #inString = false;
  #escaped = false;
  #reached = false;

  /** Whether the object is complete, so that only white space can follow. */
  get reached(): boolean {
    return this.#reached;
  }

  /** @returns where in the piece the object ends; undefined where it does not end in this one */
  add(piece: string): number | undefined {
    let end: number | undefined;
    for (let at = 0; at < piece.length; at += 1) {
      const character = piece[at];
      if (this.#escaped) this.#escaped = false;
      else if (this.#inString) {
        if (character === '\\') this.#escaped = true;
        else if (character === '"') this.#inString = false;
      } else if (character === '"') this.#inString = true;
      else if (character === '{') this.#depth += 1;
      else if (character === '}') {
        this.#depth -= 1;
        if (this.#depth > 0 || this.#reached) continue;
        this.#reached = true;
        end = at + 1;
      }
    }
    return end;
  }
}
