import { isUtf8 } from 'node:buffer';
import { withoutTerminalSequences } from '@suzumio/protocol/terminal-sequences';

/** Bytes of a file as a text that a model can be told: what is no UTF-8 is shown as U+FFFD, NUL as its picture. */
export function legible(bytes: Uint8Array): string {
  return new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes).replaceAll('\0', '␀');
}

/** Where bytes are first no UTF-8; -1 where all are. */
export function unreadableAt(bytes: Buffer): number {
  if (isUtf8(bytes)) return -1;
  const text = new TextDecoder('utf-8', { ignoreBOM: true }).decode(bytes);
  let at = 0;
  for (const char of text) {
    const written = Buffer.from(char);
    if (!bytes.subarray(at, at + written.length).equals(written)) return at;
    at += written.length;
  }
  return at;
}

/** What a program has printed, without what only a terminal understands. */
export function printed(bytes: Uint8Array): string {
  return withoutTerminalSequences(legible(bytes));
}

/** The first bytes of some text: `most` at most, whole characters only. */
export function firstBytes(text: Buffer, most: number): Buffer {
  if (text.length <= most) return text;
  let end = most;
  while (end > most - 4 && end > 0 && isWithinCharacter(text, end)) end -= 1;
  return text.subarray(0, end);
}

/** The last bytes of some text: `most` at most, whole characters only. */
export function lastBytes(text: Buffer, most: number): Buffer {
  if (text.length <= most) return text;
  let start = text.length - most;
  const limit = start + 4;
  while (start < limit && start < text.length && isWithinCharacter(text, start)) start += 1;
  return text.subarray(start);
}

/** Whether a byte goes on with the character that one before it began. */
function isWithinCharacter(text: Buffer, at: number): boolean {
  return ((text[at] ?? 0) & 0xc0) === 0x80;
}

/** `3 files`, `1 file`. */
export function counted(count: number, one: string, many = `${one}s`): string {
  return `${count} ${count === 1 ? one : many}`;
}

/** A time for people: `350 ms`, `12.3 s`. */
export function lasted(ms: number): string {
  return ms < 1000 ? `${Math.round(ms)} ms` : `${(ms / 1000).toFixed(1)} s`;
}
