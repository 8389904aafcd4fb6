import { isUtf8 } from 'node:buffer';
import { ignoring, maxTrackedBytes, maxTrackedPaths, outermostIgnored } from '@suzumio/protocol/ignored-roots';
import { isLeftover } from '@suzumio/protocol/own-artifacts';
import type { CloneRequest } from '@suzumio/protocol/repository';
import { maxWorkspaceBytes, maxWorkspaceFiles, maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { GitFailed } from './git-failed.js';
import { RepositoryProblem } from './repository-problem.js';

/** One entry of `git ls-tree -z -l`: mode, kind, object, size, path. */
const entryForm = /^(\d{6}) (\w+) ([0-9a-f]+) +(-|\d+)\t(.*)$/s;
/** The longest entry: a path that no workspace holds. */
const maxEntryBytes = 64 * 1024;

/** How much a workspace may hold. */
export interface TreeBounds {
  readonly maxBytes: number;
  /** The largest file that can be stored. */
  readonly maxFileBytes: number;
  readonly maxEntries: number;
}

/** Runs Git where no configuration of a host or a person counts, and returns what it prints. */
export type RunGit = (
  args: readonly string[],
  options?: {
    readonly input?: string;
    /** Takes the standard output; throws to end the command. @default it is kept */
    readonly onOutput?: (bytes: Buffer) => void;
    /** A file that is the command's index. */
    readonly index?: string;
  },
) => Promise<string>;

export interface TreeInspection {
  readonly gitDir: string;
  readonly commit: string;
  /** What is left out of a clone on purpose. */
  readonly request: Pick<CloneRequest, 'git' | 'lfs' | 'submodules'>;
  readonly bounds: TreeBounds;
  /** Directories that are not captured: see `ignoredRoots`. */
  readonly ignored: readonly string[];
  /** A path at which an index may be made. */
  readonly scratch: string;
}

/**
 * Inspects the files of a commit before they are written anywhere: a few objects can describe millions of files.
 *
 * @throws RepositoryProblem `repository-too-large`; `repository-unsupported` for submodules, files in LFS, names that no
 *   workspace holds, and names of what a workspace has only for a turn
 * @returns its paths in ignored directories: see `trackedPaths`
 */
export async function inspectTree(
  run: RunGit,
  { gitDir, commit, request, bounds, ignored, scratch }: TreeInspection,
): Promise<string[]> {
  const entries = new Entries(bounds, ignored, request);
  const git: RunGit = (args, options) => run([`--git-dir=${gitDir}`, ...args], options);
  await git(['ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit], {
    onOutput: (bytes) => entries.add(bytes),
  });
  if (request.lfs === undefined) {
    const pointer = await firstPointer(git, { commit, small: entries.small, scratch });
    if (pointer !== undefined)
      throw unsupported(
        request.git,
        `keeps files in Git LFS (${JSON.stringify(pointer.slice(0, 200))}), whose content is not fetched: with git: { lfs: pointers } in the project's file, a clone has the pointers in their place`,
        { lfs: 'pointers' },
      );
  }
  return entries.tracked;
}

/** How a file in LFS begins, in the format of today and that of before. */
const pointerStart = /^version https:\/\/(?:git-lfs\.github\.com|hawser\.github\.com)\/spec\//;
/** Pointers are shorter. */
const maxPointerBytes = 1_024;
const askedAtATime = 1_000;

interface SmallFile {
  readonly id: string;
  readonly path: string;
}

/** The first file of a commit that is a pointer by its bytes and in LFS by its attributes. */
async function firstPointer(
  git: RunGit,
  { commit, small, scratch }: { commit: string; small: readonly SmallFile[]; scratch: string },
): Promise<string | undefined> {
  if (small.length === 0 || !(await namesLfs(git, commit))) return undefined;
  await git(['read-tree', commit], { index: scratch });
  for (let start = 0; start < small.length; start += askedAtATime) {
    const some = small.slice(start, start + askedAtATime);
    const attributes = await collected(git, ['check-attr', '--cached', '-z', '--stdin', 'filter'], {
      input: some.map(({ path }) => `${path}\0`).join(''),
      index: scratch,
    });
    // Path, attribute, value.
    const values = attributes.toString('utf8').split('\0');
    const inLfs = some.filter((_, at) => values[at * 3 + 2] === 'lfs');
    if (inLfs.length === 0) continue;
    const contents = await collected(git, ['cat-file', '--batch'], {
      input: inLfs.map(({ id }) => `${id}\n`).join(''),
    });
    let at = 0;
    for (const { path } of inLfs) {
      const end = contents.indexOf(10, at);
      const sizeBytes = Number(contents.toString('latin1', at, end).split(' ')[2]);
      if (pointerStart.test(contents.toString('latin1', end + 1, end + 1 + sizeBytes))) return path;
      at = end + 1 + sizeBytes + 1;
    }
  }
  return undefined;
}

/** Whether attributes of a commit speak of LFS. */
async function namesLfs(git: RunGit, commit: string): Promise<boolean> {
  // No comment.
  const line = '^[[:space:]]*[^#[:space:]].*filter=lfs';
  const only = ':(top,glob)**/.gitattributes';
  return git(['grep', '--no-textconv', '--quiet', '-I', '-e', line, commit, '--', only]).then(
    () => true,
    (error: unknown) => {
      if (error instanceof GitFailed && error.ended === 1) return false;
      throw error;
    },
  );
}

async function collected(
  git: RunGit,
  args: readonly string[],
  options: { readonly input: string; readonly index?: string },
): Promise<Buffer> {
  const parts: Buffer[] = [];
  await git(args, { ...options, onOutput: (bytes) => void parts.push(bytes) });
  return Buffer.concat(parts);
}

class Entries {
  #rest = Buffer.alloc(0);
  #count = 0;
  #bytes = 0;

  /** Files that are short enough to be pointers. */
  readonly small: SmallFile[] = [];
  readonly #inIgnored = { files: new Named(), directories: new Named() };
  readonly #isIgnored: (path: string) => boolean;
  readonly #name: string;

  constructor(
    private readonly bounds: TreeBounds,
    ignored: readonly string[],
    private readonly request: TreeInspection['request'],
  ) {
    this.#isIgnored = ignoring(ignored);
    this.#name = request.git;
  }

  /** The files in ignored directories; where they are too many, these directories. */
  get tracked(): string[] {
    const { files, directories } = this.#inIgnored;
    if (files.fits) return [...files.paths];
    if (directories.fits) return [...directories.paths];
    throw unsupported(this.#name, 'has files in too many directories that are not captured (workspace.ignore)');
  }

  add(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    for (let end = all.indexOf(0); end !== -1; end = all.indexOf(0, at)) {
      this.#entry(all.subarray(at, end));
      at = end + 1;
    }
    this.#rest = Buffer.from(all.subarray(at));
    if (this.#rest.length > maxEntryBytes) throw unsupported(this.#name, 'has a path that is too long');
  }

  #entry(bytes: Buffer): void {
    const { maxEntries, maxBytes, maxFileBytes } = this.bounds;
    const [, mode, kind, id = '', size = '', path = ''] = entryForm.exec(bytes.toString('utf8')) ?? [];
    const shown = JSON.stringify(path.slice(0, 200));
    if (kind === 'commit' && this.request.submodules === undefined)
      throw unsupported(
        this.#name,
        `has a submodule (${shown}); submodules are not cloned: with git: { submodules: skip } in the project's file, a clone has empty directories in their place`,
        { submodules: 'skip' },
      );
    if (!isUtf8(bytes)) throw unsupported(this.#name, `has a name that is not UTF-8 (${shown})`);
    if (path.length > maxWorkspacePathLength) throw unsupported(this.#name, `has a path that is too long (${shown})`);
    if (isLeftover(path)) {
      throw unsupported(this.#name, `has ${shown}, a name of what Suzumio itself keeps in a workspace for a turn`);
    }
    const ignored = kind === 'tree' ? undefined : outermostIgnored(this.#isIgnored, path);
    if (ignored !== undefined) {
      this.#inIgnored.files.add(path);
      this.#inIgnored.directories.add(ignored);
    }
    const fileBytes = Number(size) || 0;
    this.#count += 1;
    this.#bytes += fileBytes;
    const refuse = (what: string, remedy = ''): never => {
      throw new RepositoryProblem(
        'repository-too-large',
        `${this.#name} has ${what}, and a workspace may not${remedy}.`,
      );
    };
    if (this.#count > maxEntries)
      refuse(
        `more than ${maxEntries} files and directories`,
        more('maxFiles', 'workspaceFiles', maxEntries, maxWorkspaceFiles),
      );
    if (this.#bytes > maxBytes)
      refuse(`more than ${maxBytes} bytes of files`, more('maxBytes', 'workspaceBytes', maxBytes, maxWorkspaceBytes));
    if (fileBytes > maxFileBytes) refuse(`a file of more than ${maxFileBytes} bytes (${shown})`);
    if (kind === 'blob' && mode !== '120000' && fileBytes > 0 && fileBytes <= maxPointerBytes)
      this.small.push({ id, path });
  }
}

/** How a workspace may have more than a project's file lets it; nothing where none may. */
function more(field: string, ceiling: string, bound: number, most: number): string {
  return bound >= most
    ? ''
    : `: workspace: { ${field}: … } in the project's file allows more, up to ceilings.${ceiling} of the policy, which may be ${most}`;
}

/** Paths, as far as they are within the bounds of what a base names. */
class Named {
  readonly paths = new Set<string>();
  fits = true;
  #bytes = 0;

  add(path: string): void {
    if (!this.fits || this.paths.has(path)) return;
    this.paths.add(path);
    this.#bytes += Buffer.byteLength(JSON.stringify(path)) + 1;
    this.fits = this.paths.size <= maxTrackedPaths && this.#bytes <= maxTrackedBytes;
    if (!this.fits) this.paths.clear();
  }
}

function unsupported(name: string, what: string, setting?: RepositoryProblem['setting']): RepositoryProblem {
  return new RepositoryProblem('repository-unsupported', `${name} ${what}.`, { setting });
}
