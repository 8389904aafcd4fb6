import type { FileChange, FileCounts } from '@suzumio/contract/model/workspace';
import { maxWorkspaceFiles, maxWorkspacePathLength } from '@suzumio/protocol/workspace-manifest';
import { type OpenedDirectory, type OpenedEntry, SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';

/** What differs between two snapshots. */
export interface Comparison {
  /** All of it. */
  files: FileCounts;
  /** A page of it, ordered by path, directory by directory. */
  items: FileChange[];
  /** The path with which the list goes on. */
  next?: string;
  /** Whether nothing differs but the index of a repository, which a mere `git status` writes anew. */
  onlyIndex: boolean;
}

export interface ComparisonPage {
  limit: number;
  /** Only what comes after this path. */
  after?: string | undefined;
  /** Only what is at this path, or below it. Unless it names or leads into a `.git`, these are left out. */
  path?: string | undefined;
}

/** Where a repository keeps what Git writes: `git apply` takes no change of it. */
const repository = '.git';

/** Few manifests can describe millions of paths: no more entries are looked at than two full workspaces have. */
const maxLooks = 2 * maxWorkspaceFiles;

type Leaf = Exclude<OpenedEntry, { kind: 'directory' }>;

/**
 * Compares two snapshots, directory by directory: those that are equal are not opened.
 *
 * @throws SnapshotInvalid where one is larger than a workspace may be, or cannot be read
 */
export async function compareSnapshots(
  before: OpenedDirectory | undefined,
  after: OpenedDirectory | undefined,
  { limit, after: last, path }: ComparisonPage,
): Promise<Comparison> {
  const files = { added: 0, changed: 0, removed: 0 };
  const changes: FileChange[] = [];
  const walk = new Walk(path, (change) => {
    files[change.change] += 1;
    // One more than the page has: whether there are more.
    if (changes.length <= limit && (last === undefined || isBehind(change.path, last))) changes.push(change);
  });
  await walk.directories(before, after, '');
  const items = changes.slice(0, limit);
  const next = changes.length > limit ? items.at(-1)?.path : undefined;
  return { files, items, ...(next === undefined ? {} : { next }), onlyIndex: walk.onlyIndex };
}

class Walk {
  onlyIndex = true;
  #looks = 0;
  readonly #entersRepositories: boolean;

  constructor(
    private readonly only: string | undefined,
    private readonly tell: (change: FileChange) => void,
  ) {
    this.#entersRepositories = only?.split('/').includes(repository) ?? false;
  }

  async directories(
    before: OpenedDirectory | undefined,
    after: OpenedDirectory | undefined,
    prefix: string,
  ): Promise<void> {
    if (before?.sha256 !== undefined && before.sha256 === after?.sha256) return;
    for (const [was, is, name] of this.#pairs(before, after)) {
      const path = `${prefix}${name}`;
      if (path.length > maxWorkspacePathLength) throw new SnapshotInvalid('The snapshot has a path that is too long.');
      if (this.#isWanted(path)) await this.#entries(was, is, path, name);
    }
  }

  async #entries(was: OpenedEntry | undefined, is: OpenedEntry | undefined, path: string, name: string): Promise<void> {
    if (isSame(was, is)) return;
    if (was?.kind !== 'directory' || is?.kind !== 'directory') this.onlyIndex = false;
    const isLeftOut = name === repository && !this.#entersRepositories;
    if (!isLeftOut) this.#leaves(leaf(was), leaf(is), path);
    if (was?.kind !== 'directory' && is?.kind !== 'directory') return;
    const opened = async (entry: OpenedEntry | undefined) => (entry?.kind === 'directory' ? entry.open() : undefined);
    const [before, after] = [await opened(was), await opened(is)];
    if (isLeftOut) this.#lookForMoreThanIndex(before, after);
    else await this.directories(before, after, `${path}/`);
  }

  #leaves(before: Leaf | undefined, after: Leaf | undefined, path: string): void {
    if (before && after) this.#tell('changed', path, before, after);
    else if (before) this.#tell('removed', path, before, undefined);
    else if (after) this.#tell('added', path, undefined, after);
  }

  #lookForMoreThanIndex(before: OpenedDirectory | undefined, after: OpenedDirectory | undefined): void {
    for (const [was, is, name] of this.#pairs(before, after)) {
      if (name !== 'index' && !isSame(was, is)) this.onlyIndex = false;
    }
  }

  /** The entries of two directories, by name. */
  *#pairs(
    { entries: before }: Pick<OpenedDirectory, 'entries'> = { entries: [] },
    { entries: after }: Pick<OpenedDirectory, 'entries'> = { entries: [] },
  ): Generator<[OpenedEntry | undefined, OpenedEntry | undefined, name: string]> {
    for (let [at, to] = [0, 0]; at < before.length || to < after.length;) {
      this.#looks += 1;
      if (this.#looks > maxLooks) throw new SnapshotInvalid('The snapshots are larger than workspaces may be.');
      const [was, is] = [before[at], after[to]];
      const isFirst = was !== undefined && (is === undefined || was.name <= is.name);
      const isSecond = is !== undefined && (was === undefined || is.name <= was.name);
      yield [isFirst ? was : undefined, isSecond ? is : undefined, (isFirst ? was : is)?.name ?? ''];
      if (isFirst) at += 1;
      if (isSecond) to += 1;
    }
  }

  #tell(change: FileChange['change'], path: string, before: Leaf | undefined, after: Leaf | undefined): void {
    if (this.only !== undefined && path !== this.only && !path.startsWith(`${this.only}/`)) return;
    this.tell({ path, change, before: stateOf(before), after: stateOf(after) });
  }

  /** Whether something that is wanted may be at a path, or below it. */
  #isWanted(path: string): boolean {
    const { only } = this;
    return only === undefined || only === path || only.startsWith(`${path}/`) || path.startsWith(`${only}/`);
  }
}

/** Whether a path comes later in the list: a directory's entries come after its name, and before the next name. */
function isBehind(path: string, last: string): boolean {
  const [parts, others] = [path.split('/'), last.split('/')];
  for (const [index, part] of parts.entries()) {
    const other = others[index];
    if (other === undefined || part > other) return true;
    if (part < other) return false;
  }
  return false;
}

function leaf(entry: OpenedEntry | undefined): Leaf | undefined {
  return entry?.kind === 'directory' ? undefined : entry;
}

/** Whether nothing differs; a directory of a snapshot of an earlier version has no hash, and has to be opened. */
function isSame(one: OpenedEntry | undefined, other: OpenedEntry | undefined): boolean {
  if (one?.kind === 'link') return other?.kind === 'link' && one.target === other.target;
  if (one?.sha256 === undefined || one.kind !== other?.kind || one.sha256 !== other.sha256) return false;
  return one.kind === 'directory' || (other.kind === 'file' && one.executable === other.executable);
}

function stateOf(entry: Leaf | undefined): FileChange['before'] {
  if (entry === undefined) return null;
  if (entry.kind === 'link') return { kind: 'link', target: entry.target };
  const { kind, sizeBytes, sha256, executable } = entry;
  return { kind, sizeBytes, sha256, executable };
}
