import { maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { AttemptFailure } from '../engine/attempt-failure.js';
import { isText } from '../files/open-directory.js';
import type { WorkspaceBounds } from '../workspace/capture.js';
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
 * @throws AttemptFailure `repository-too-large`; `repository-unsupported` for submodules, files in LFS and names that no
 *   workspace holds
 */
export async function inspectTree(
  git: Git,
  { mirror, commit }: Fetched,
  { bounds, name, signal }: { bounds: WorkspaceBounds; name: string; signal: AbortSignal },
): Promise<void> {
  const entries = new Entries(bounds, name);
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
  if (first === undefined || first === '') return;
  throw unsupported(name, `keeps files in LFS (${first.slice(first.indexOf(':') + 1)}), which are not fetched`);
}

class Entries {
  #rest = Buffer.alloc(0);
  #count = 0;
  #bytes = 0;

  constructor(
    private readonly bounds: WorkspaceBounds,
    private readonly name: string,
  ) {}

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

function unsupported(name: string, what: string): AttemptFailure {
  return new AttemptFailure('repository-unsupported', `${name} ${what}.`);
}
