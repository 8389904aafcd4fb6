import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { beginningOf } from '@suzumio/protocol/cut-text';
import {
  type Comparison,
  type ComparisonInput,
  type ComparisonOutcome,
  maxAuthorChars,
  maxCountedCommits,
  maxDiffCommits,
  maxSubjectChars,
  type RepositoryDiff,
} from '@suzumio/protocol/repository-diff';
import { assembleDiff, rawChanges } from './assemble-diff.js';
import { PlainGit, PlainGitFailed } from './plain-git.js';

/** The object that every repository has. */
const emptyTree = '4b825dc642cb6eb9a060e54bf8d69288fbee4904';

/** What is read of Git's lists and patches. */
const maxListBytes = 16 * 1024 * 1024;
const maxPatchBytes = 8 * 1024 * 1024;
const maxLogBytes = 4 * 1024 * 1024;

/** How a patch is written, whatever an attribute or a setting could ask for: nothing is started, and files that were moved are not looked for. */
const plain = [
  '-r',
  '--no-renames',
  '--no-ext-diff',
  '--no-textconv',
  '--no-color',
  '--submodule=short',
  '--src-prefix=a/',
  '--dst-prefix=b/',
  '--unified=3',
];

/** A commit that is asked for is not in what was pushed. */
class CommitUnknown extends Error {}

/**
 * Compares two commits of the packs in a directory, of which nothing is left there. Packs are taken with all that their
 * objects refer to, or not at all.
 *
 * @param path where programs are
 * @param log told of what is left out
 */
export async function compareCommits(
  { comparison, workspace, packs }: Pick<ComparisonInput, 'comparison' | 'workspace' | 'packs'>,
  path: string,
  log: (line: string) => void,
): Promise<ComparisonOutcome> {
  const gitDir = join(workspace, 'repository.git');
  await mkdir(gitDir, { recursive: true });
  const git = new PlainGit(gitDir, path);
  try {
    // No branch is in it: what Git would look up in the files of one is nowhere.
    await git.run(['init', '--quiet', '--bare', '--template=', '--initial-branch=nothing']);
    for (const pack of packs)
      await take(git, { from: join(workspace, pack), to: join(gitDir, 'objects', 'pack', pack) }, log);
    return { made: await compared(git, comparison) };
  } catch (error) {
    if (error instanceof CommitUnknown) return { refused: { code: 'git-commit-unknown', message: error.message } };
    if (!(error instanceof PlainGitFailed)) throw error;
    return {
      refused: { code: 'git-diff-failed', message: `Git could not compare them: ${error.message.slice(0, 1_500)}` },
    };
  }
}

async function take(git: PlainGit, pack: { from: string; to: string }, log: (line: string) => void): Promise<void> {
  await rename(pack.from, pack.to);
  try {
    await git.run(['index-pack', '--strict', pack.to]);
  } catch (error) {
    if (!(error instanceof PlainGitFailed)) throw error;
    log(`a pack is left out, for Git does not take it: ${error.message}`);
    for (const file of [pack.to, pack.to.replace(/pack$/, 'idx'), pack.to.replace(/pack$/, 'rev')]) {
      await rm(file, { force: true });
    }
  }
}

async function compared(git: PlainGit, { from, to, common }: Comparison): Promise<RepositoryDiff> {
  const head = await commitOf(git, to);
  const old = from === null ? null : await commitOf(git, from);
  const base = old !== null && common ? await commonOf(git, old, head) : old;
  const trees = [base ?? emptyTree, head];
  const raw = await git.run(['diff-tree', '--raw', '-z', '--no-abbrev', ...plain, ...trees], {
    maxBytes: maxListBytes,
  });
  const patch = await git.run(['diff-tree', '--patch', ...plain, ...trees], { maxBytes: maxPatchBytes });
  const changes = rawChanges(raw.bytes.toString('utf8'));
  const count = (wanted: string) => changes.filter(({ change }) => change === wanted).length;
  const range = old === null ? [head] : [head, `^${old}`];
  return {
    base,
    head,
    commits: await commitsIn(git, range),
    ahead: await counted(git, range),
    behind: old === null ? 0 : await counted(git, [old, `^${head}`]),
    files: { added: count('added'), changed: count('changed'), removed: count('removed') },
    diff: assembleDiff(changes, patch.bytes.toString('utf8'), patch.cut),
  };
}

/** The commit of an id, which may be a tag's. */
async function commitOf(git: PlainGit, id: string): Promise<string> {
  const commit = await git.lines(['rev-parse', '--quiet', '--verify', `${id}^{commit}`]).catch((error: unknown) => {
    if (error instanceof PlainGitFailed) return [];
    throw error;
  });
  if (commit[0] !== undefined) return commit[0];
  throw new CommitUnknown(
    `${id} is no commit of what was pushed, or Git refuses what it consists of: expected a branch, a tag or a commit.`,
  );
}

/** Null where the two have nothing in common: then all is new. */
async function commonOf(git: PlainGit, one: string, other: string): Promise<string | null> {
  const found = await git.lines(['merge-base', one, other]).catch((error: unknown) => {
    if (error instanceof PlainGitFailed) return [];
    throw error;
  });
  return found[0] ?? null;
}

async function counted(git: PlainGit, range: readonly string[]): Promise<number> {
  const [count = '0'] = await git.lines(['rev-list', '--count', `--max-count=${String(maxCountedCommits)}`, ...range]);
  return Number(count);
}

async function commitsIn(git: PlainGit, range: readonly string[]): Promise<RepositoryDiff['commits']> {
  const format = '--format=%H%n%at%n%an%n%s';
  const { bytes, cut } = await git.run(
    [
      'log',
      '-z',
      '--no-color',
      '--no-show-signature',
      '--no-notes',
      `--max-count=${String(maxDiffCommits)}`,
      format,
      ...range,
    ],
    { maxBytes: maxLogBytes },
  );
  const records = bytes
    .toString('utf8')
    .split('\0')
    .filter((record) => record !== '');
  if (cut) records.pop();
  return records.map((record) => {
    const [id = '', at = '', author = '', ...subject] = record.split('\n');
    return {
      id,
      at: momentOf(Number(at)),
      author: beginningOf(author, maxAuthorChars),
      subject: beginningOf(subject.join(' '), maxSubjectChars),
    };
  });
}

/** Who commits can say any time. */
function momentOf(seconds: number): string | null {
  const date = new Date(seconds * 1000);
  const year = date.getUTCFullYear();
  return year >= 0 && year <= 9999 ? date.toISOString() : null;
}
