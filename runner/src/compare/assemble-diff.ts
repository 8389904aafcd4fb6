import { maxDiffBytes, maxFileDiffBytes } from '@suzumio/protocol/repository-diff';
import { quotedPath } from '@suzumio/protocol/quoted-path';

/** A file that differs, as `git diff-tree --raw` names it. */
interface RawChange {
  path: string;
  change: 'added' | 'changed' | 'removed';
  /** Whether it is another kind of thing now: Git then writes its removal, and that it was added. */
  isTwo: boolean;
}

/** Reads `git diff-tree --raw -z`; of what was cut off, nothing. */
export function rawChanges(output: string): RawChange[] {
  const fields = output.split('\0');
  const changes: RawChange[] = [];
  // Every field ends with a NUL: what follows the last one is empty, or was cut off.
  for (let at = 0; at + 2 < fields.length; at += 2) {
    const [status = ''] = /[A-Z]\d*$/.exec(fields[at] ?? '') ?? [];
    const change = status === 'A' ? 'added' : status === 'D' ? 'removed' : 'changed';
    changes.push({ path: fields[at + 1] ?? '', change, isTwo: status === 'T' });
  }
  return changes;
}

/**
 * A diff within its bounds, of the patches of these files in their order. What it cannot have is named in lines that begin
 * with `#`.
 *
 * @param patch what Git has written, perhaps not to its end
 */
export function assembleDiff(changes: readonly RawChange[], patch: string, cut: boolean): string {
  // A line of a file has a sign before it: none begins so. JavaScript's own line starts would be also those after a bare CR.
  const pieces = patch.split(/(?<=\n)(?=diff --git )/).filter((piece) => piece !== '');
  if (cut) pieces.pop();
  const parts: string[] = [];
  let [bytes, at, shown] = [0, 0, 0];
  for (const change of changes) {
    const own = pieces.slice(at, at + (change.isTwo ? 2 : 1));
    if (own.length < (change.isTwo ? 2 : 1)) break;
    at += own.length;
    const part = own.map((piece) => shownOf(piece, change)).join('');
    bytes += jsonBytes(part);
    if (bytes > maxDiffBytes - noteRoom) break;
    parts.push(part);
    shown += 1;
  }
  if (shown < changes.length) {
    parts.push(`# ${String(changes.length - shown)} more files have changed: git bundle has them all.\n`);
  }
  return parts.join('');
}

const noteRoom = 1_000;
const maxNamedPathChars = 1_000;

function shownOf(piece: string, { path, change }: RawChange): string {
  const name = quotedPath(path.slice(0, maxNamedPathChars));
  if (/\nBinary files .* differ\n$/.test(piece)) {
    return `# ${name} was ${change}: it is no text, or longer than 1 MB.\n`;
  }
  if (jsonBytes(piece) > maxFileDiffBytes) return `# ${name} was ${change}: its changes are too long.\n`;
  return piece;
}

function jsonBytes(text: string): number {
  return Buffer.byteLength(JSON.stringify(text));
}
