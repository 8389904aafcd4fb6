import type { FileHandle } from 'node:fs/promises';
import { beginningOf } from '@suzumio/protocol/cut-text';
import type { TextEncoding } from './encoding.js';
import { firstBytes, legible, unreadableAt } from './legible.js';

/** Which lines of a file are wanted. */
export interface Wanted {
  /** The first, counted from 1. */
  readonly offset: number;
  readonly limit: number;
  readonly maxBytes: number;
  /** Only the first line is wanted, from this byte of its UTF-8 on, counted from 1. */
  readonly column?: number | undefined;
}

/** What is shown of a line, in bytes of its UTF-8, counted from 1. */
export interface LinePart {
  readonly from: number;
  /** The last byte. */
  readonly to: number;
  /** How many the line has. */
  readonly bytes: number;
}

/** Lines of a file. */
export interface Window {
  readonly lines: readonly string[];
  /** What is shown of the first line; undefined where there is none. */
  readonly first: LinePart | undefined;
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
  /** The first byte of these lines that is no UTF-8. */
  readonly unreadable: { readonly line: number; readonly byte: number } | undefined;
}

const chunkBytes = 64 * 1024;
const maxLineChars = 2000;
/** Whatever is asked for, some whole characters are shown. */
const minLineBytes = 16;
/** A character has this many bytes at most. */
const maxCharBytes = 4;
/** How far beyond the wanted lines the rest is counted. */
const countedBytes = 16 * 1024 * 1024;

/** Reads some lines of a file, of whatever size it and its lines are, in little memory. */
export async function readWindow(
  file: FileHandle,
  { name, hasMark }: TextEncoding,
  wanted: Wanted,
  signal: AbortSignal,
): Promise<Window> {
  const window = new LineWindow(wanted);
  const buffer = Buffer.allocUnsafe(chunkBytes);
  const decoder = name === 'utf-8' ? undefined : new TextDecoder(name);
  for (let at = hasMark && name === 'utf-8' ? 3 : 0; !window.isCountedOut;) {
    signal.throwIfAborted();
    const { bytesRead } = await file.read(buffer, 0, chunkBytes, at);
    const chunk = buffer.subarray(0, bytesRead);
    window.take(decoder ? Buffer.from(decoder.decode(chunk, { stream: bytesRead > 0 })) : chunk);
    if (bytesRead === 0) return window.ended();
    at += bytesRead;
  }
  return window.left();
}

class LineWindow {
  readonly #lines: string[] = [];
  #first: LinePart | undefined;
  #unreadable: Window['unreadable'];
  #cutLines = 0;
  #bytes = 0;
  #crlf = 0;
  #lf = 0;
  /** The line that is being read: its number, what is stored of it, how long it is so far, its last byte. */
  #number = 1;
  #parts: Buffer[] = [];
  #partBytes = 0;
  #length = 0;
  #last = 0;
  #isFull = false;
  #beyond = 0;
  readonly #limit: number;
  /** Where the first line begins to be kept: before its column, which may be within a character. */
  readonly #skip: number;
  readonly #maxLineBytes: number;

  constructor(private readonly wanted: Wanted) {
    const { column, limit, maxBytes } = wanted;
    this.#limit = column === undefined ? limit : 1;
    this.#skip = Math.max(0, (column ?? 1) - maxCharBytes);
    const most = column === undefined ? Math.min(maxBytes, maxLineChars * maxCharBytes) : maxBytes;
    this.#maxLineBytes = Math.max(minLineBytes, most);
  }

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
      first: this.#first,
      cutLines: this.#cutLines,
      total,
      hasMore: total === undefined || after <= total,
      crlf: this.#crlf,
      lf: this.#lf,
      endsWithBreak,
      unreadable: this.#unreadable,
    };
  }

  #part(part: Buffer): void {
    if (part.length === 0) return;
    const from = Math.max(0, this.#skip - this.#length);
    this.#length += part.length;
    this.#last = part.at(-1) ?? 0;
    if (this.#isFull || this.#number < this.wanted.offset) return;
    const room = this.#maxLineBytes + 2 * maxCharBytes - this.#partBytes;
    const stored = Buffer.from(part.subarray(from, from + Math.max(0, room)));
    this.#parts.push(stored);
    this.#partBytes += stored.length;
  }

  #end(withReturn: boolean): void {
    if (!this.#isFull && this.#number >= this.wanted.offset) this.#add(this.#length - (withReturn ? 1 : 0));
    this.#number += 1;
    this.#parts = [];
    this.#partBytes = 0;
    this.#length = 0;
    this.#last = 0;
  }

  /** @param length of the line, in bytes */
  #add(length: number): void {
    const { column, maxBytes } = this.wanted;
    const stored = Buffer.concat(this.#parts).subarray(0, Math.max(0, length - this.#skip));
    const start = startOfCharacter(stored, Math.min((column ?? 1) - 1 - this.#skip, stored.length));
    const { text, bytes } = this.#shown(stored.subarray(start));
    const part: LinePart = { from: this.#skip + start + 1, to: this.#skip + start + bytes.length, bytes: length };
    const isCut = part.to < length;
    const mark =
      isCut && column === undefined ? `… [line cut: ${length} bytes; its column ${part.to + 1} goes on]` : '';
    const line = `${this.#number}\t${text}${mark}`;
    const size = Buffer.byteLength(line) + 1;
    const isTooMuch = this.#bytes + size > maxBytes && this.#lines.length > 0;
    if (!isTooMuch) {
      this.#first ??= part;
      this.#lines.push(line);
      this.#bytes += size;
      if (isCut) this.#cutLines += 1;
      const at = this.#unreadable ? -1 : unreadableAt(bytes);
      if (at !== -1) this.#unreadable = { line: this.#number, byte: bytes[at] ?? 0 };
    }
    this.#isFull = isTooMuch || this.#lines.length === this.#limit || this.#bytes > maxBytes;
  }

  /** The beginning of some bytes, as much as is shown of a line: whole characters. */
  #shown(bytes: Buffer): { text: string; bytes: Buffer } {
    const first = firstBytes(bytes, this.#maxLineBytes);
    const text = legible(first);
    if (this.wanted.column !== undefined || text.length <= maxLineChars) return { text, bytes: first };
    const isPlain = unreadableAt(first) === -1;
    const stored = beginningOf(text, maxLineChars);
    // Where not each byte has its character, bytes are counted as characters.
    const some = firstBytes(first, isPlain ? bytesOf(stored) : maxLineChars);
    return { text: legible(some), bytes: some };
  }
}

/** How many bytes a text is that {@link legible} has made: a NUL's picture is one byte. */
const bytesOf = (text: string): number => Buffer.byteLength(text.replaceAll('␀', '\0'));

/** Where the character begins that has the byte at an index. */
export function startOfCharacter(bytes: Buffer, at: number): number {
  for (let start = at; start >= 0 && start > at - maxCharBytes; start -= 1) {
    const byte = bytes[start] ?? 0;
    if ((byte & 0xc0) === 0x80) continue;
    return byte >= 0xc0 ? start : at;
  }
  return at;
}
