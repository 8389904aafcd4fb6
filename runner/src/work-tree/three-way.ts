import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { hunksIn, linesOf, mergeLines } from './merge-lines.js';
import type { Git } from './work-tree.js';

/** What a merge comes to: a tree, and the paths at which both sides have changed the same. */
export interface Merged {
  readonly tree: string;
  readonly conflicts: readonly string[];
}

interface Sides {
  readonly base: string;
  readonly ours: string;
  readonly theirs: string;
}

/** Files, and bytes of one, that are looked at once more where Git sees a conflict. */
const maxLookedAt = { files: 100, bytes: 256 * 1024 };

/** Of a commit that nobody sees. */
const nobody = ['-c', 'user.name=Suzumio', '-c', 'user.email=suzumio@invalid', '-c', 'commit.gpgSign=false'];

/**
 * Merges two trees by the one that both come from: what either has changed since. History does not count. Where one side has the
 * change of the other and more beside it, there is no conflict.
 *
 * @param called what a file says of each side where both have changed the same
 */
export async function threeWay(
  git: Git,
  { base, ours, theirs }: Sides,
  called: { ours: string; theirs: string },
): Promise<Merged> {
  if (base === ours) return { tree: theirs, conflicts: [] };
  const commit = async (tree: string, ...parents: string[]) =>
    (await git([...nobody, 'commit-tree', tree, ...parents.flatMap((id) => ['-p', id])], { input: 'A side' })).trim();
  // Git merges commits; these have the trees and no more.
  const root = await commit(base);
  // A side is called what Git is given for it, and Git takes `words-gID` for ID.
  const sides = [`${called.ours}-g${await commit(ours, root)}`, `${called.theirs}-g${await commit(theirs, root)}`];
  const printed = await git(['merge-tree', '--write-tree', '-z', '--name-only', '--no-messages', ...sides], {
    codes: [0, 1],
  });
  const [tree = '', ...conflicts] = printed.split('\0').filter((part) => part !== '');
  return withoutSeeming(git, { base, ours, theirs }, { tree, conflicts: [...new Set(conflicts)] });
}

/** Settles the conflicts in which one side has what the other has changed. */
async function withoutSeeming(git: Git, sides: Sides, { tree, conflicts }: Merged): Promise<Merged> {
  const settled = new Map<string, string>();
  for (const path of conflicts.slice(0, maxLookedAt.files)) {
    const entry = await mergedFile(git, sides, path);
    if (entry !== undefined) settled.set(path, entry);
  }
  if (settled.size === 0) return { tree, conflicts };
  const own = await mkdtemp(join(tmpdir(), 'suzumio-merge-'));
  try {
    const index = join(own, 'index');
    await git(['read-tree', tree], { index });
    const entries = [...settled].map(([path, entry]) => `${entry}\t${path}\0`).join('');
    await git(['update-index', '-z', '--index-info'], { index, input: entries });
    const better = (await git(['write-tree'], { index })).trim();
    return { tree: better, conflicts: conflicts.filter((path) => !settled.has(path)) };
  } finally {
    await rm(own, { recursive: true, force: true });
  }
}

/** Mode and id of a file in which the sides agree after all; undefined where they do not, or it is no text that both have. */
async function mergedFile(git: Git, { base, ours, theirs }: Sides, path: string): Promise<string | undefined> {
  const there = await Promise.all([base, ours, theirs].map((tree) => fileIn(git, tree, path)));
  const [was, mine, other] = there;
  if (!was || !mine || !other || there.some((file) => file?.mode !== was.mode)) return undefined;
  const hunksOf = async (tree: string, side: readonly string[]) => {
    const plain = ['--unified=0', '--no-renames', '--no-color', '--no-ext-diff', '--no-textconv'];
    return hunksIn(await git(['diff-tree', '-p', ...plain, base, tree, '--', `:(literal,top)${path}`]), side);
  };
  const [changed, arrived] = [await hunksOf(ours, mine.lines), await hunksOf(theirs, other.lines)];
  // Of what Git takes for no text it shows no lines.
  if (changed.length === 0 || arrived.length === 0) return undefined;
  const merged =
    mergeLines(was.lines, changed, arrived) ?? (await mergedWithoutEnds(git, [was.lines, mine.lines, other.lines]));
  if (!merged) return undefined;
  const id = (await git(['hash-object', '-w', '--stdin'], { input: merged.join('') })).trim();
  return `${was.mode} ${id}`;
}

/**
 * Merges files of which a side has other line ends throughout than the other had before: what was changed apart from that, with the ends of
 * the side that changed them.
 */
async function mergedWithoutEnds(
  git: Git,
  files: readonly [string[], string[], string[]],
): Promise<string[] | undefined> {
  const [base, ours, theirs] = files.map(endOfLines);
  if (base === undefined || ours === undefined || theirs === undefined || (base === ours && base === theirs))
    return undefined;
  const plain = files.map((lines) => lines.map((line) => line.replace(/\r\n$/, '\n')));
  const [was = [], mine = [], other = []] = plain;
  const ids: string[] = [];
  for (const lines of plain) ids.push((await git(['hash-object', '-w', '--stdin'], { input: lines.join('') })).trim());
  const [from = '', ...sides] = ids;
  const hunks = async (side: string, lines: readonly string[]) =>
    hunksIn(await git(['diff', '--unified=0', '--no-color', '--no-ext-diff', '--no-textconv', from, side]), lines);
  const merged = mergeLines(was, await hunks(sides[0] ?? '', mine), await hunks(sides[1] ?? '', other));
  const end = theirs === base ? ours : theirs;
  return merged?.map((line) => line.replace(/\n$/, end));
}

/** How all lines of a text end; undefined where they do not end alike. */
function endOfLines(lines: readonly string[]): string | undefined {
  const ended = lines.filter((line) => line.endsWith('\n'));
  const withReturn = ended.filter((line) => line.endsWith('\r\n')).length;
  return withReturn === 0 ? '\n' : withReturn === ended.length ? '\r\n' : undefined;
}

/** A plain file of a tree that is text in UTF-8, and not large. */
async function fileIn(git: Git, tree: string, path: string): Promise<{ mode: string; lines: string[] } | undefined> {
  const listed = await git(['ls-tree', '-z', '--long', '--full-tree', tree, path]);
  const [, mode = '', id = '', size = ''] = /^(100\d+) blob (\S+) +(\d+)\t[^\0]*\0$/.exec(listed) ?? [];
  if (id === '' || Number(size) > maxLookedAt.bytes) return undefined;
  const text = await git(['cat-file', 'blob', id]);
  return Buffer.byteLength(text) === Number(size) && !text.includes('\uFFFD')
    ? { mode, lines: linesOf(text) }
    : undefined;
}
