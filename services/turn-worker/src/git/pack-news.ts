import { createReadStream } from 'node:fs';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type LookRequest, maxShallowCommits, maxUpstreamPacks } from '@suzumio/protocol/repository';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { hashBytes } from '../files/hash-bytes.js';
import type { Git } from './git.js';
import { GitFailed } from '@suzumio/runtime/repository/git-failed';
import { type Fetched, maxShallowBytes, shallowBytes } from './mirrors.js';

/** Where a repository is, and a pack of what is new there. */
export interface Looked {
  commit: string;
  /** How many commits the base lacks; undefined where what was fetched does not tell. */
  ahead: number | undefined;
  /** Whether the base, or the tip before, is not in the history of this one. */
  rewritten: boolean;
  /** A file of the worker's own. */
  pack: { file: string; sha256: string; sizeBytes: number; alone: boolean } | undefined;
  /** The commits whose parents were not fetched, where there are any. */
  shallow: string[] | undefined;
}

/**
 * Packs what of a fetched commit is not in the history of commits that are known. Whoever has those, and the packs of before,
 * has all of it with this one. Of a shallow history all is packed: what is known may have been cut off of it since.
 *
 * @throws AttemptFailure `repository-too-large`
 */
export async function packNews(
  git: Git,
  fetched: Fetched,
  { git: name, known, depth }: LookRequest,
  { directory, signal }: { directory: string; signal: AbortSignal },
): Promise<Looked> {
  const { mirror, commit } = fetched;
  const run = (args: readonly string[], input?: string) =>
    git.run([`--git-dir=${mirror}`, ...args], { signal, ...(input === undefined ? {} : { input }) });
  const contains = async (other: string) => {
    try {
      await run(['merge-base', '--is-ancestor', other, commit]);
      return true;
    } catch (error) {
      if (error instanceof GitFailed && error.ended === 1) return false;
      throw error;
    }
  };
  const shallow = await shallowOf(mirror, name, () => run(['rev-list', '--max-parents=0', commit]));
  const here = await presentOf(known, (input) => run(['cat-file', '--batch-check=%(objecttype)'], input));
  const [base = commit] = known;
  const last = known.at(-1) ?? base;
  const [hasBase, hasLast] = [
    here.includes(base) && (await contains(base)),
    here.includes(last) && (await contains(last)),
  ];
  const isWhole = shallow === undefined;
  const facts = {
    commit,
    ahead:
      hasBase || (isWhole && here.includes(base))
        ? Number(await run(['rev-list', '--count', commit, `^${base}`]))
        : undefined,
    // A shallow history may only be too short to show it.
    rewritten: isWhole && !(hasBase && hasLast),
    shallow,
  };
  if (commit === last) return { ...facts, pack: undefined };
  // So many packs are asked for no more: the next begins at the clone again.
  const without =
    isWhole && depth === undefined ? (known.length > maxUpstreamPacks ? here.filter((one) => one === base) : here) : [];
  const input = [commit, ...without.map((one) => `^${one}`)].join('\n');
  await run(['pack-objects', '--revs', '--quiet', '--delta-base-offset', join(directory, 'news')], `${input}\n`);
  const made = (await readdir(directory)).find((one) => one.endsWith('.pack'));
  if (made === undefined) throw new Error('Git has made no pack');
  const file = join(directory, made);
  const alone = without.every((one) => one === base);
  return { ...facts, pack: { file, ...(await hashBytes(createReadStream(file))), alone } };
}

/** Those of some commits that a mirror has. */
async function presentOf(known: readonly string[], check: (input: string) => Promise<string>): Promise<string[]> {
  const kinds = (await check(known.map((commit) => `${commit}\n`).join(''))).split('\n');
  return known.filter((_, index) => kinds[index] === 'commit');
}

async function shallowOf(
  mirror: string,
  name: string,
  beginnings: () => Promise<string>,
): Promise<string[] | undefined> {
  const tooMany = () =>
    new AttemptFailure(
      'repository-too-large',
      `The history of ${name} is cut off at more than ${maxShallowCommits} commits: fetch more of it with depth.`,
    );
  const sizeBytes = await shallowBytes(mirror);
  if (sizeBytes === 0) return undefined;
  if (sizeBytes > maxShallowBytes) throw tooMany();
  const all = new Set((await readFile(join(mirror, 'shallow'), 'utf8')).split('\n'));
  const ends = (await beginnings()).split('\n').filter((commit) => commit !== '' && all.has(commit));
  if (ends.length > maxShallowCommits) throw tooMany();
  return ends.length === 0 ? undefined : ends;
}
