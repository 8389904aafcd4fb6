import { ignoring, maxTrackedBytes, maxTrackedPaths, outermostIgnored } from '@suzumio/protocol/ignored-roots';
import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { isText } from '../files/open-directory.js';
import type { WorkspaceBounds } from '../workspace/workspace-bounds.js';
import { isLeftover } from '../workspace/weigh.js';
import type { Git } from './git.js';
import { GitFailed } from './git-failed.js';
import type { Fetched } from './mirrors.js';

/** One entry of `git ls-tree -z -l`: mode, kind, object, size, path. */
const entryForm = /^(\d{6}) (\w+) [0-9a-f]+ +(-|\d+)\t(.*)$/s;
/** The longest entry: a path that no workspace holds. */
const maxEntryBytes = 64 * 1024;

/**
 * Looks at the files of a commit before they are written anywhere: a few objects can describe millions of files.
 *
 * @throws AttemptFailure `repository-too-large`; `repository-unsupported` for submodules, files in LFS, names that no
 *   workspace holds, and names of what a workspace has only for a turn
 * @returns what of it lies in ignored directories: see `trackedPaths`
 */
export async function inspectTree(
  git: Git,
  { mirror, commit }: Fetched,
  {
    bounds,
    ignored,
    name,
    signal,
  }: { bounds: WorkspaceBounds; ignored: readonly string[]; name: string; signal: AbortSignal },
): Promise<string[]> {
  const entries = new Entries(bounds, ignored, name);
  await git.run([`--git-dir=${mirror}`, 'ls-tree', '-r', '-t', '-l', '-z', '--full-tree', commit], {
    signal,
    onOutput: (bytes) => entries.add(bytes),
  });
  const attributes = await git
    .run(
      [
        `--git-dir=${mirror}`,
        'grep',
        '--no-textconv',
        '-l',
        '-I',
        '-e',
        // No comment.
        '^[[:space:]]*[^#[:space:]].*filter=lfs',
        commit,
        '--',
        ':(top,glob)**/.gitattributes',
      ],
      { signal },
    )
    .catch((error: unknown) => {
      // Nothing was found.
      if (error instanceof GitFailed && error.ended === 1) return '';
      throw error;
    });
  const [first] = attributes.split('\n');
  if (first === undefined || first === '') return entries.tracked;
  throw unsupported(name, `keeps files in LFS (${first.slice(first.indexOf(':') + 1)}), which are not fetched`);
}

class Entries {
  #rest = Buffer.alloc(0);
  #count = 0;
  #bytes = 0;

  readonly #inIgnored = { files: new Named(), directories: new Named() };
  readonly #isIgnored: (path: string) => boolean;

  constructor(
    private readonly bounds: WorkspaceBounds,
    ignored: readonly string[],
    private readonly name: string,
  ) {
    this.#isIgnored = ignoring(ignored);
  }

  /** The files in ignored directories; where they are too many, these directories. */
  get tracked(): string[] {
    const { files, directories } = this.#inIgnored;
    if (files.fits) return [...files.paths];
    if (directories.fits) return [...directories.paths];
    throw unsupported(this.name, 'has files in too many directories that are not captured (workspace.ignore)');
  }

  add(bytes: Buffer): void {
    const all = this.#rest.length === 0 ? bytes : Buffer.concat([this.#rest, bytes]);
    let at = 0;
    for (let end = all.indexOf(0); end !== -1; end = all.indexOf(0, at)) {
      this.#entry(all.subarray(at, end));
      at = end + 1;
    }
    this.#rest = Buffer.from(all.subarray(at));
    if (this.#rest.length > maxEntryBytes) throw unsupported(this.name, 'has a path that is too long');
  }

  #entry(bytes: Buffer): void {
    const { maxEntries, maxBytes, maxFileBytes } = this.bounds;
    const [, , kind, size = '', path = ''] = entryForm.exec(bytes.toString('utf8')) ?? [];
    const shown = JSON.stringify(path.slice(0, 200));
    if (kind === 'commit') throw unsupported(this.name, `has a submodule (${shown}); submodules are not cloned`);
    if (!isText(bytes)) throw unsupported(this.name, `has a name that is not UTF-8 (${shown})`);
    if (path.length > maxWorkspacePathLength) throw unsupported(this.name, `has a path that is too long (${shown})`);
    if (isLeftover(path)) {
      throw unsupported(this.name, `has ${shown}, a name of what Suzumio itself keeps in a workspace for a turn`);
    }
    const ignored = kind === 'tree' ? undefined : outermostIgnored(this.#isIgnored, path);
    if (ignored !== undefined) {
      this.#inIgnored.files.add(path);
      this.#inIgnored.directories.add(ignored);
    }
    const fileBytes = Number(size) || 0;
    this.#count += 1;
    this.#bytes += fileBytes;
    const tooLarge =
      this.#count > maxEntries
        ? `more than ${maxEntries} files and directories`
        : this.#bytes > maxBytes
          ? `more than ${maxBytes} bytes of files`
          : fileBytes > maxFileBytes
            ? `a file of more than ${maxFileBytes} bytes (${shown})`
            : undefined;
    if (tooLarge === undefined) return;
    throw new AttemptFailure('repository-too-large', `${this.name} has ${tooLarge}, and a workspace may not.`);
  }
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

function unsupported(name: string, what: string): AttemptFailure {
  return new AttemptFailure('repository-unsupported', `${name} ${what}.`);
}
