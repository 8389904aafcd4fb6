import type { FileChange, FileCounts } from '@suzumio/contract/model/workspace';
import { maxWorkspaceFiles } from '@suzumio/protocol/workspace-manifest';
import { type OpenedDirectory, type OpenedEntry, SnapshotInvalid } from '@suzumio/protocol/workspace-snapshot';

/** What differs between two snapshots. */
export interface Comparison {
  /** All of it. */
  files: FileCounts;
  /** A page of it, ordered by path, directory by directory. */
  items: FileChange[];
  /** The path with which the list goes on. */
  next?: string;
}

export interface ComparisonPage {
  limit: number;
  /** Only what comes after this path. */
  after?: string | undefined;
  /** Only what is at this path, or below it. */
  path?: string | undefined;
}

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
  await new Walk(path, (change) => {
    files[change.change] += 1;
    if (last === undefined || isBehind(change.path, last)) changes.push(change);
  }).directories(before, after, '');
  const items = changes.slice(0, limit);
  const next = changes.length > limit ? items.at(-1)?.path : undefined;
  return { files, items, ...(next === undefined ? {} : { next }) };
}

class Walk {
  #looks = 0;

  constructor(
    private readonly only: string | undefined,
    private readonly tell: (change: FileChange) => void,
  ) {}

  async directories(
    before: OpenedDirectory | undefined,
    after: OpenedDirectory | undefined,
    prefix: string,
  ): Promise<void> {
    if (before?.sha256 !== undefined && before.sha256 === after?.sha256) return;
    for (const [was, is] of pairs(before?.entries ?? [], after?.entries ?? [])) {
      this.#looks += 1;
      if (this.#looks > maxLooks) throw new SnapshotInvalid('The snapshots are larger than workspaces may be.');
      const path = `${prefix}${(was ?? is)?.name ?? ''}`;
      if (this.#isWanted(path)) await this.#entries(was, is, path);
    }
  }

  async #entries(was: OpenedEntry | undefined, is: OpenedEntry | undefined, path: string): Promise<void> {
    if (was?.kind === 'directory' && is?.kind === 'directory' && was.sha256 !== undefined && was.sha256 === is.sha256)
      return;
    const [before, after] = [leaf(was), leaf(is)];
    if (before && after) {
      if (!isSame(before, after)) this.#tell('changed', path, before, after);
    } else if (before) this.#tell('removed', path, before, undefined);
    else if (after) this.#tell('added', path, undefined, after);
    if (was?.kind !== 'directory' && is?.kind !== 'directory') return;
    const opened = async (entry: OpenedEntry | undefined) => (entry?.kind === 'directory' ? entry.open() : undefined);
    await this.directories(await opened(was), await opened(is), `${path}/`);
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

/** The entries of two directories, by name. */
function* pairs(
  before: readonly OpenedEntry[],
  after: readonly OpenedEntry[],
): Generator<[OpenedEntry | undefined, OpenedEntry | undefined]> {
  for (let [at, to] = [0, 0]; at < before.length || to < after.length;) {
    const [was, is] = [before[at], after[to]];
    const isFirst = was !== undefined && (is === undefined || was.name <= is.name);
    const isSecond = is !== undefined && (was === undefined || is.name <= was.name);
    yield [isFirst ? was : undefined, isSecond ? is : undefined];
    if (isFirst) at += 1;
    if (isSecond) to += 1;
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

function isSame(one: Leaf, other: Leaf): boolean {
  if (one.kind === 'link') return other.kind === 'link' && one.target === other.target;
  return other.kind === 'file' && one.sha256 === other.sha256 && one.executable === other.executable;
}

function stateOf(entry: Leaf | undefined): FileChange['before'] {
  if (entry === undefined) return null;
  if (entry.kind === 'link') return { kind: 'link', target: entry.target };
  const { kind, sizeBytes, sha256, executable } = entry;
  return { kind, sizeBytes, sha256, executable };
}
