import type { FileHandle } from 'node:fs/promises';
import { firstBytes, legible } from './legible.js';

/** Which lines of a file are wanted. */
export interface Wanted {
  /** The first, counted from 1. */
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes: number;
}

/** Lines of a file. */
export interface Window {
  readonly lines: readonly string[];
  /** How many lines were cut at their longest. */
  readonly cutLines: number;
  /** How many lines the file has; undefined where that was too much to look through. */
  readonly total: number | undefined;
  /** Whether there is a line after these. */
  readonly hasMore: boolean;
  /** Of the lines that were looked at: how many end with CR LF, and with LF alone. */
  readonly crlf: number;
  readonly lf: number;
  /** Whether the file ends with a line break; undefined where its end was not seen. */
  readonly endsWithBreak: boolean | undefined;
}

const chunkBytes = 64 * 1024;
const maxLineChars = 2000;
const maxLineBytes = maxLineChars * 4;
/** How far beyond the wanted lines the rest is counted. */
const countedBytes = 16 * 1024 * 1024;

/** Reads some lines of a file, of whatever size it and its lines are, in little memory. */
export async function readWindow(file: FileHandle, wanted: Wanted, signal: AbortSignal): Promise<Window> {
  const window = new LineWindow(wanted);
  const buffer = Buffer.allocUnsafe(chunkBytes);
  for (let at = 0; !window.isCountedOut;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
    if (bytesRead === 0) return window.ended();
    window.take(buffer.subarray(0, bytesRead));
    at += bytesRead;
  }
  return window.left();
}

class LineWindow {
  readonly #lines: string[] = [];
  #cutLines = 0;
  #bytes = 0;
  #crlf = 0;
  #lf = 0;
  /** The line that is being read: its number, how it begins, how long it is so far, its last byte. */
  #number = 1;
  #begin: Buffer[] = [];
  #beginBytes = 0;
  #length = 0;
  #last = 0;
  #isFull = false;
  #beyond = 0;

  constructor(private readonly wanted: Wanted) {}

  get isCountedOut(): boolean {
    return this.#beyond > countedBytes;
  }

  take(chunk: Buffer): void {
    if (this.#isFull) this.#beyond += chunk.length;
    for (let start = 0; start < chunk.length;) {
      const end = chunk.indexOf(10, start);
      this.#part(chunk.subarray(start, end === -1 ? chunk.length : end));
      if (end === -1) return;
      if (this.#last === 13) this.#crlf += 1;
      else this.#lf += 1;
      this.#end(this.#last === 13);
      start = end + 1;
    }
  }

  ended(): Window {
    const endsWithBreak = this.#length === 0;
    if (!endsWithBreak) this.#end(false);
    return this.#window(this.#number - 1, this.#number - 1 === 0 ? undefined : endsWithBreak);
  }

  left(): Window {
    return this.#window(undefined, undefined);
  }

  #window(total: number | undefined, endsWithBreak: boolean | undefined): Window {
    const after = this.wanted.offset + this.#lines.length;
    return {
      lines: this.#lines,
      cutLines: this.#cutLines,
      total,
      hasMore: total === undefined || after <= total,
      crlf: this.#crlf,
      lf: this.#lf,
      endsWithBreak,
    };
  }

  #part(part: Buffer): void {
    if (part.length === 0) return;
    this.#length += part.length;
    this.#last = part.at(-1) ?? 0;
    if (this.#isFull || this.#number < this.wanted.offset) return;
    const room = maxLineBytes + 1 - this.#beginBytes;
    if (room <= 0) return;
    const kept = Buffer.from(part.subarray(0, room));
    this.#begin.push(kept);
    this.#beginBytes += kept.length;
  }

  #end(withReturn: boolean): void {
    if (!this.#isFull && this.#number >= this.wanted.offset) this.#add(withReturn);
    this.#number += 1;
    this.#begin = [];
    this.#beginBytes = 0;
    this.#length = 0;
    this.#last = 0;
  }

  #add(withReturn: boolean): void {
    const bytes = Buffer.concat(this.#begin);
    const text = legible(
      withReturn && bytes.length === this.#length ? bytes.subarray(0, -1) : firstBytes(bytes, maxLineBytes),
    );
    const shown = text.length > maxLineChars || bytes.length < this.#length ? cut(text, this.#length) : text;
    const line = `${this.#number}\t${shown}`;
    const size = Buffer.byteLength(line) + 1;
    const isTooMuch = this.#bytes + size > this.wanted.maxBytes && this.#lines.length > 0;
    if (!isTooMuch) {
      this.#lines.push(line);
      this.#bytes += size;
      if (shown !== text) this.#cutLines += 1;
    }
    this.#isFull = isTooMuch || this.#lines.length === this.wanted.limit || this.#bytes > this.wanted.maxBytes;
  }
}

function cut(text: string, bytes: number): string {
  return `${text.slice(0, maxLineChars).toWellFormed()}… [line cut: ${bytes} bytes]`;
}
