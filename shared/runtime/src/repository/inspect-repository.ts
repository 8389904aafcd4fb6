import { spawn } from 'node:child_process';
import { mkdtemp, realpath, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { gitConfig, gitEnvironment } from './git-config.js';
import { fetchFailure, GitFailed, missingRef, partialSentence } from './git-failed.js';
import { inspectTree, type RunGit, type TreeBounds } from './inspect-tree.js';
import { RepositoryProblem, shellPath } from './repository-problem.js';
import { requirePlain } from './require-plain.js';

/** What a repository is, to who clones it. */
export interface RepositoryFacts {
  readonly commit: string;
  readonly objectFormat: 'sha1' | 'sha256';
  /** Whether its history is cut off. */
  readonly isShallow: boolean;
  /** Whether objects were left out when it was cloned itself. */
  readonly isPartial: boolean;
}

export type RepositoryRequest = Omit<CloneRequest, 'branch'>;

export interface InspectOptions {
  readonly bounds: TreeBounds;
  /** Directories that are not captured. */
  readonly ignored?: readonly string[];
  /** Whether the agents share a repository besides. */
  readonly shared?: boolean;
  /** @default 60,000 */
  readonly timeoutMs?: number;
}

/**
 * Inspects a repository of this host as a worker does before it clones it, and changes nothing in it.
 *
 * @throws RepositoryProblem
 */
export async function inspectRepository(
  request: RepositoryRequest,
  { bounds, ignored = [], shared = false, timeoutMs = 60_000 }: InspectOptions,
): Promise<RepositoryFacts> {
  const name = request.git;
  const path = await realpath(name).catch(() => name);
  const gitDir = await requirePlain(path, name);
  const home = await mkdtemp(join(tmpdir(), 'suzumio-inspect-'));
  try {
    await writeFile(join(home, 'gitconfig'), gitConfig);
    const run = runner(home, AbortSignal.timeout(timeoutMs));
    const git: RunGit = (args, options) => run([`--git-dir=${gitDir}`, ...args], options);
    // Git refuses here what it refuses when it fetches: another user's, damaged, output in a way that it does not know.
    await run(['ls-remote', '--quiet', path, 'HEAD']);
    const commit = await commitOf(git, request.ref);
    if (commit === undefined) throw new RepositoryProblem('ref-unknown', missingRef(request));
    const objectFormat = commit.length === 64 ? 'sha256' : 'sha1';
    if (shared && objectFormat === 'sha256')
      throw new RepositoryProblem(
        'repository-unsupported',
        `${name} names its commits by SHA-256, and the repository that agents share (git.shared) by SHA-1: leave git.shared out, and pass work on as patches.`,
      );
    const isShallow = ((await stat(join(gitDir, 'shallow')).catch(() => undefined))?.size ?? 0) > 0;
    if (shared && isShallow)
      throw new RepositoryProblem(
        'repository-unsupported',
        `${name} has a history that is cut off, and agents share repositories with their whole history (git.shared): fetch the rest, with git -C ${shellPath(name)} fetch --unshallow, or leave git.shared out.`,
      );
    const isPartial = await isAnswered(git, ['config', '--get-regexp', partialSettings]);
    if (isPartial) await requireObjects(git, { ...request, commit });
    await inspectTree(run, { gitDir, commit, request, bounds, ignored, scratch: join(home, 'index') });
    return { commit, objectFormat, isShallow, isPartial };
  } catch (error) {
    if (error instanceof GitFailed) throw fetchFailure(error, request);
    throw error;
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

const partialSettings = String.raw`^(remote\..*\.(promisor|partialclonefilter)|extensions\.partialclone)$`;

/** The commit that a fetch of a reference would bring. */
async function commitOf(git: RunGit, ref = 'HEAD'): Promise<string | undefined> {
  const isId = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/.test(ref);
  const names = isId || ref === 'HEAD' ? [ref] : ['', 'refs/', 'refs/tags/', 'refs/heads/', 'refs/remotes/'];
  for (const prefix of names) {
    const full = prefix === ref ? ref : `${prefix}${ref}`;
    // Anything else would be taken for the beginning of an id.
    if (full !== ref || isId || /^(?:HEAD$|refs\/)/.test(ref)) {
      const found = await git(['rev-parse', '--verify', '--quiet', '--end-of-options', `${full}^{commit}`]).catch(
        (error: unknown) => {
          if (error instanceof GitFailed && typeof error.ended === 'number') return '';
          throw error;
        },
      );
      const id = found.split('\n').find((line) => /^[0-9a-f]{40,64}$/.test(line));
      if (id !== undefined) return id;
    }
  }
  return undefined;
}

async function isAnswered(git: RunGit, args: readonly string[]): Promise<boolean> {
  return git(args).then(
    (answer) => answer !== '',
    (error: unknown) => {
      if (error instanceof GitFailed && error.ended === 1) return false;
      throw error;
    },
  );
}

/** Requires that what is cloned of a partial clone is there. */
async function requireObjects(git: RunGit, request: RepositoryRequest & { commit: string }): Promise<void> {
  const { commit, depth } = request;
  const isWhole = async (...range: string[]) => {
    let line = '';
    let isMissing = false;
    await git(['rev-list', '--objects', '--missing=print', ...range], {
      onOutput(bytes) {
        const lines = (line + bytes.toString('latin1')).split('\n');
        line = lines.pop() ?? '';
        isMissing ||= lines.some((one) => /^\?[0-9a-f]{40,64}$/.test(one));
      },
    });
    return !isMissing;
  };
  const newest = await isWhole('--no-walk', commit);
  if (newest && (depth === 1 || (await isWhole(...(depth === undefined ? [] : [`--max-count=${depth}`]), commit))))
    return;
  throw new RepositoryProblem('repository-unsupported', partialSentence(request, newest && depth !== 1));
}

const maxOutputBytes = 64 * 1024;

/** Runs Git without any configuration of this host but what is ours. */
function runner(home: string, signal: AbortSignal): RunGit {
  return async (args, { input, onOutput, index } = {}) => {
    const child = spawn('git', args, {
      cwd: home,
      signal,
      killSignal: 'SIGKILL',
      stdio: [input === undefined ? 'ignore' : 'pipe', 'pipe', 'pipe'],
      env: {
        ...gitEnvironment,
        HOME: home,
        GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
        GIT_ALLOW_PROTOCOL: 'file',
        ...(index === undefined ? {} : { GIT_INDEX_FILE: index }),
      },
    });
    let [output, errors] = ['', ''];
    child.stdout?.on('data', (bytes: Buffer) => {
      if (onOutput === undefined) output = (output + bytes.toString('utf8')).slice(-maxOutputBytes);
      else
        try {
          onOutput(bytes);
        } catch (error) {
          child.emit('error', error);
          child.kill('SIGKILL');
        }
    });
    child.stderr?.on('data', (bytes: Buffer) => (errors = (errors + bytes.toString('utf8')).slice(-maxOutputBytes)));
    // It may end before it has read everything.
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
    const [code, by] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve, reject) => {
      child.once('error', (error: NodeJS.ErrnoException) =>
        reject(error.code === 'ENOENT' ? new GitFailed(args, 127, 'git: not found') : error),
      );
      child.once('close', (...ended) => resolve(ended));
    });
    if (code !== 0) throw new GitFailed(args, code ?? by ?? -1, errors);
    return output;
  };
}
