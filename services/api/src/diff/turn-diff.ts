import { setImmediate as breathe } from 'node:timers/promises';
import { bytesInWords } from '@suzumio/contract/model/storage';
import type { FileChange } from '@suzumio/contract/model/workspace';
import { quotedPath } from '@suzumio/protocol/quoted-path';
import type { ContentStore } from '@suzumio/store/content/content-store';
import { Comparisons } from './common-lines.js';
import { type TextState, unifiedDiff } from './unified-diff.js';

/** The longest file whose text is compared, and the most that one diff has, in bytes. */
const maxTextBytes = 1024 * 1024;
const maxDiffBytes = 2 * 1024 * 1024;

/** The most files of a diff. */
export const maxDiffFiles = 1000;

/** The most text that one diff reads, in bytes and in lines, before and after the changes together. */
const mostRead = { bytes: 32 * 1024 * 1024, lines: 100_000 };

/** How many pairs of lines one diff may compare: about a tenth of a second's work, and no more at a time for a file. */
const mostComparisons = 10_000_000;
const mostOfFile = 2_000_000;

/** Why the text of a file is not shown. */
class NoText {
  constructor(readonly reason: string) {}
}

/** What a diff may still read. */
class Reading {
  #bytes = 0;
  #lines = 0;

  /** @returns why a text is not read; undefined where it may be, which is counted then */
  refusal(sizeBytes: number): string | undefined {
    if (this.#bytes + sizeBytes > mostRead.bytes) {
      return `this diff has read ${bytesInWords(mostRead.bytes)} already: ask for its path`;
    }
    this.#bytes += sizeBytes;
    return undefined;
  }

  /** The same for its lines, once it was read. */
  refusalOfLines(bytes: Buffer): string | undefined {
    let lines = 1;
    for (let at = bytes.indexOf(10); at !== -1; at = bytes.indexOf(10, at + 1)) lines += 1;
    if (lines > mostRead.lines) return `it has more than ${String(mostRead.lines)} lines`;
    if (this.#lines + lines > mostRead.lines) {
      return `this diff has ${String(mostRead.lines)} lines to compare already: ask for its path`;
    }
    this.#lines += lines;
    return undefined;
  }
}

type FileState = NonNullable<FileChange['before']>;

/**
 * The changes of a turn as a unified diff that `git apply` takes. What it cannot have is named in lines that begin with
 * `#`.
 *
 * @param total how many files have changed
 */
export async function turnDiff(content: ContentStore, changes: readonly FileChange[], total: number): Promise<string> {
  const parts: string[] = [];
  let [bytes, shown, left] = [0, 0, mostComparisons];
  const reading = new Reading();
  for (const change of changes) {
    const comparisons = new Comparisons(Math.min(left, mostOfFile));
    const part = await diffOf(content, change, reading, comparisons);
    left -= Math.min(left, mostOfFile) - comparisons.remaining;
    bytes += Buffer.byteLength(part);
    if (bytes > maxDiffBytes && shown > 0) break;
    parts.push(bytes > maxDiffBytes ? named(change, 'its changes are too long') : part);
    shown += 1;
    // Other requests have their turn between two files.
    await breathe();
  }
  if (shown < total) parts.push(`# ${String(total - shown)} more files have changed: ask for a path.\n`);
  return parts.join('');
}

async function diffOf(
  content: ContentStore,
  change: FileChange,
  reading: Reading,
  comparisons: Comparisons,
): Promise<string> {
  const { path, before, after } = change;
  const states = [await stateOf(content, before, reading), await stateOf(content, after, reading)] as const;
  for (const state of states) if (state instanceof NoText) return named(change, state.reason);
  const [was, is] = states as readonly (TextState | undefined)[];
  // What is another kind of thing now is removed and added, as in git.
  if (before && after && before.kind !== after.kind) {
    return unifiedDiff(path, was, undefined, comparisons) + unifiedDiff(path, undefined, is, comparisons);
  }
  return unifiedDiff(path, was, is, comparisons);
}

function named({ path, change, before, after }: FileChange, reason: string): string {
  const sizes = [before, after].flatMap((state) => (state?.kind === 'file' ? [bytesInWords(state.sizeBytes)] : []));
  return `# ${quotedPath(path)} was ${change}, ${sizes.join(' -> ')}: ${reason}.\n`;
}

/** A file's text; a link's is what it leads to. */
async function stateOf(
  content: ContentStore,
  state: FileState | null,
  reading: Reading,
): Promise<TextState | NoText | undefined> {
  if (state === null) return undefined;
  if (state.kind === 'link') return { mode: '120000', text: state.target };
  if (state.sizeBytes > maxTextBytes) return new NoText(`it is longer than ${bytesInWords(maxTextBytes)}`);
  const refusal = reading.refusal(state.sizeBytes);
  if (refusal !== undefined) return new NoText(refusal);
  const bytes = (await content.sizeOf(state.sha256)) === undefined ? undefined : await read(content, state);
  if (bytes === undefined) return new NoText('its content is no longer kept');
  const tooMany = reading.refusalOfLines(bytes);
  if (tooMany !== undefined) return new NoText(tooMany);
  const text = textIn(bytes);
  return text === undefined ? new NoText('it is no text') : { mode: state.executable ? '100755' : '100644', text };
}

async function read(content: ContentStore, { sha256, sizeBytes }: FileState & { kind: 'file' }) {
  return sizeBytes === 0 ? Buffer.alloc(0) : content.readStart(sha256, sizeBytes);
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function textIn(bytes: Buffer): string | undefined {
  if (bytes.includes(0)) return undefined;
  try {
    return utf8.decode(bytes);
  } catch {
    return undefined;
  }
}
