import { closeSync, fstatSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { StringDecoder } from 'node:string_decoder';
import * as z from 'zod';
import { sha256 } from '@suzumio/protocol/ids';
import { errnoOf } from '../files/errno.js';
import { seenFile } from './file-clock.js';
import type { KnownDirectory, KnownEntry, KnownTree } from './known-tree.js';
import { JobTooLong } from './workspace-errors.js';

// A tree as stored between turns: a line for the whole, and one for each entry, a directory's before those of what is in it. A long
// tree takes no more memory to read or write than it has itself.

const count = z.int().nonnegative();
const head = z.object({
  version: z.literal(3),
  /** The boot in which this was written: after a reboot it is unreliable. */
  boot: z.string(),
  snapshot: sha256.nullable(),
  atMs: z.number(),
  root: z.tuple([sha256.nullable(), count]),
});
const name = z.string().min(1);
/** Mode and time of modification; null where the snapshot has none. */
const attributes = z.tuple([z.int().nullable(), z.int().nullable()]);
const line = z.union([
  z.tuple([z.literal('f'), name, attributes, sha256, count, z.boolean(), seenFile.nullable()]),
  z.tuple([z.literal('l'), name, attributes, z.string()]),
  z.tuple([z.literal('d'), name, attributes, sha256.nullable(), count]),
]);

const pieceBytes = 64 * 1024;

/**
 * The tree recorded in this boot, if any.
 *
 * @throws JobTooLong where the file has more than `maxBytes`
 */
export function readTree(path: string, boot: string, maxBytes = Number.POSITIVE_INFINITY): KnownTree | undefined {
  try {
    const file = openSync(path, 'r');
    try {
      if (fstatSync(file).size > maxBytes) throw new JobTooLong();
      const lines = linesOf(file);
      const { root, ...tree } = head.parse(next(lines));
      if (tree.boot !== boot) return undefined;
      const { snapshot, atMs } = tree;
      return { snapshot, atMs, root: directoryFrom(lines, ...root) };
    } finally {
      closeSync(file);
    }
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || errnoOf(error) === 'ENOENT') return undefined;
    throw error;
  }
}

/** Records a tree; the file is replaced atomically. */
export function writeTree(path: string, boot: string, { snapshot, atMs, root }: KnownTree): void {
  const file = openSync(`${path}.tmp`, 'w', 0o600);
  try {
    const first: z.input<typeof head> = {
      version: 3,
      boot,
      snapshot,
      atMs,
      root: [root.sha256 ?? null, root.entries.size],
    };
    let piece = `${JSON.stringify(first)}\n`;
    for (const written of entriesOf(root)) {
      piece += `${JSON.stringify(written)}\n`;
      if (piece.length < pieceBytes) continue;
      writeWhole(file, piece);
      piece = '';
    }
    writeWhole(file, piece);
  } finally {
    closeSync(file);
  }
  renameSync(`${path}.tmp`, path);
}

function writeWhole(file: number, text: string): void {
  const bytes = Buffer.from(text);
  for (let written = 0; written < bytes.length;) written += writeSync(file, bytes, written);
}

function* entriesOf({ entries }: KnownDirectory): Generator<z.input<typeof line>> {
  for (const [at, entry] of entries) {
    const attached: z.input<typeof attributes> = [entry.mode ?? null, entry.mtimeUs ?? null];
    switch (entry.kind) {
      case 'file':
        yield ['f', at, attached, entry.sha256, entry.sizeBytes, entry.executable, entry.seen ?? null];
        break;
      case 'link':
        yield ['l', at, attached, entry.target];
        break;
      case 'directory':
        yield ['d', at, attached, entry.sha256 ?? null, entry.entries.size];
        yield* entriesOf(entry);
    }
  }
}

function directoryFrom(lines: Iterator<string, void>, id: string | null, size: number): KnownDirectory {
  const entries = new Map<string, KnownEntry>();
  for (let left = size; left > 0; left -= 1) {
    const one = line.parse(next(lines));
    const [, at, [mode, mtimeUs]] = one;
    const attached = { ...(mode === null ? {} : { mode }), ...(mtimeUs === null ? {} : { mtimeUs }) };
    if (one[0] === 'd') entries.set(at, { ...directoryFrom(lines, one[3], one[4]), ...attached });
    else if (one[0] === 'l') entries.set(at, { kind: 'link', target: one[3], ...attached });
    else {
      const [, , , hash, sizeBytes, executable, seen] = one;
      entries.set(at, { kind: 'file', sha256: hash, sizeBytes, executable, seen: seen ?? undefined, ...attached });
    }
  }
  return { kind: 'directory', sha256: id ?? undefined, entries };
}

/** @throws SyntaxError where there is no other, or it is no JSON */
function next(lines: Iterator<string, void>): unknown {
  return JSON.parse(lines.next().value ?? '');
}

function* linesOf(file: number): Generator<string, void> {
  const decoder = new StringDecoder('utf8');
  const piece = Buffer.allocUnsafe(pieceBytes);
  let rest = '';
  for (let read = readSync(file, piece); read > 0; read = readSync(file, piece)) {
    const lines = (rest + decoder.write(piece.subarray(0, read))).split('\n');
    rest = lines.pop() ?? '';
    // As in files of earlier versions, which are one line: no entry is as long.
    if (rest.length > pieceBytes) throw new SyntaxError('A line has no end.');
    yield* lines;
  }
}
