import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { mkdir, readFile, rm, stat, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { hunksIn, linesOf } from './merge-lines.js';
import { GitFailed, type HashName } from './run-git.js';
import type { Git } from './work-tree.js';

/** An entry of a tree: its mode, and the id of what it has. */
export interface TreeEntry {
  readonly mode: string;
  readonly id: string;
}

/** A plain file of the disk. */
export interface FileOnDisk {
  readonly path: string;
  /** Where its bytes are read. */
  readonly from: string;
}

/** A commit's files. */
export interface BaseTree {
  readonly tree: string;
  readonly entries: ReadonlyMap<string, TreeEntry>;
}

/** How many files are written out at a time, and how many bytes of them, unless one has more. */
const maxBatch = { files: 500, bytes: 16 * 1024 ** 2 };
/** Larger files are not compared by line. */
const maxComparedBytes = 4 * 1024 ** 2;

/** The entries of a tree that are no trees, by path. */
export async function entriesOf(git: Git, tree: string): Promise<Map<string, TreeEntry>> {
  const entries = new Map<string, TreeEntry>();
  for (const entry of (await git(['ls-tree', '-r', '-z', '--full-tree', tree])).split('\0')) {
    const [, mode = '', id = '', path] = /^(\d{6}) \w+ ([0-9a-f]+)\t(.*)$/s.exec(entry) ?? [];
    if (path !== undefined) entries.set(path, { mode, id });
  }
  return entries;
}

/** The id that Git gives to the bytes of a file. */
export async function idOfFile(path: string, hash: HashName): Promise<string> {
  const { size } = await stat(path);
  const sum = createHash(hash).update(`blob ${size}\0`);
  for await (const chunk of createReadStream(path)) sum.update(chunk as Buffer);
  return sum.digest('hex');
}

export function idOfBytes(bytes: Buffer, hash: HashName): string {
  return createHash(hash).update(`blob ${bytes.length}\0`).update(bytes).digest('hex');
}

export const isPlainFile = (entry: TreeEntry | undefined): entry is TreeEntry => entry?.mode.startsWith('100') === true;

/**
 * Stores files whose bytes are not those of the commit, and says under which ids. By the commit's attributes alone: a file that has
 * the bytes which its checkout wrote is as it is in the commit, and lines that were not changed are stored as they are there, also where
 * attributes ask for other line ends than it has.
 *
 * @param git has no configuration, and writes objects of its own
 * @param own a directory that is not there yet
 * @param index gets the commit's files
 */
export async function storedForms(
  git: Git,
  files: readonly FileOnDisk[],
  { base, own, index, hash }: { base: BaseTree; own: string; index: string; hash: HashName },
): Promise<Map<string, string>> {
  await git(['read-tree', base.tree], { index });
  const converted = await convertedPaths(git, files, index);
  const ids = new Map<string, string>();
  const plain = files.filter(({ path }) => !converted.has(path));
  for (const [at, id] of (await stored(git, plain, own, ['--no-filters'])).entries())
    ids.set(plain[at]?.path ?? '', id);
  for (const some of await batches(files.filter(({ path }) => converted.has(path)))) {
    const forms = new ConvertedFiles(git, { base, index, own, hash });
    try {
      for (const [path, id] of await forms.store(some)) ids.set(path, id);
    } finally {
      await rm(own, { recursive: true, force: true });
    }
  }
  return ids;
}

/** The paths of those files that Git may write otherwise than it stores them. */
async function convertedPaths(git: Git, files: readonly FileOnDisk[], index: string): Promise<Set<string>> {
  const asked = ['text', 'crlf', 'eol', 'ident', 'working-tree-encoding'];
  const input = files.map(({ path }) => `${path}\0`).join('');
  const found = new Set<string>();
  if (input === '') return found;
  const parts = (await git(['check-attr', '--cached', '-z', '--stdin', ...asked], { input, index })).split('\0');
  for (let at = 0; at + 2 < parts.length; at += 3) {
    const [path = '', , value = ''] = parts.slice(at, at + 3);
    if (value !== 'unspecified' && value !== 'unset') found.add(path);
  }
  return found;
}

async function batches(files: readonly FileOnDisk[]): Promise<FileOnDisk[][]> {
  const all: FileOnDisk[][] = [];
  let bytes = 0;
  for (const file of files) {
    const { size } = await stat(file.from);
    const last = all.at(-1);
    if (last && last.length < maxBatch.files && bytes + size <= maxBatch.bytes) last.push(file);
    else {
      all.push([file]);
      bytes = 0;
    }
    bytes += size;
  }
  return all;
}

/** Stores files, seen at their paths in a directory. @returns their ids, in order */
async function stored(
  git: Git,
  files: readonly FileOnDisk[],
  directory: string,
  options: readonly string[] = [],
): Promise<string[]> {
  if (files.length === 0) return [];
  await mkdir(directory, { recursive: true });
  // Written as Git reads names with any letters in them.
  const names = files.map(
    ({ from }) => `"${from.replaceAll(/["\\]/g, String.raw`\$&`).replaceAll('\n', String.raw`\n`)}"\n`,
  );
  const ids = await git(['hash-object', '-w', ...options, '--stdin-paths'], {
    files: directory,
    input: names.join(''),
  });
  return ids.trim().split('\n');
}

/** Some files of which the commit's attributes ask that they are written otherwise than stored. */
class ConvertedFiles {
  readonly #was: string;
  readonly #now: string;

  constructor(
    private readonly git: Git,
    private readonly at: { base: BaseTree; index: string; own: string; hash: HashName },
  ) {
    this.#was = join(at.own, 'was');
    this.#now = join(at.own, 'now');
  }

  async store(files: readonly FileOnDisk[]): Promise<Map<string, string>> {
    const { base, hash } = this.at;
    const known = files.filter(({ path }) => isPlainFile(base.entries.get(path)));
    const attributes = [...base.entries]
      .filter(([path, entry]) => basename(path) === '.gitattributes' && isPlainFile(entry))
      .map(([path]) => path);
    await this.#checkOut(this.#was, [...known.map(({ path }) => path), ...attributes]);
    await this.#checkOut(this.#now, attributes);
    const now = await this.#cleaned(this.#now, files);
    const was = await this.#cleaned(
      this.#was,
      known.map(({ path }) => ({ path, from: join(this.#was, path) })),
    );
    const ids = new Map<string, string>();
    for (const file of files) {
      const { path, from } = file;
      const entry = base.entries.get(path);
      const cleaned = now.get(path) ?? '';
      if (!isPlainFile(entry)) {
        ids.set(path, cleaned);
        continue;
      }
      const written = await idOfFile(join(this.#was, path), hash);
      if (written === (await idOfFile(from, hash))) ids.set(path, entry.id);
      else if (was.get(path) === entry.id) ids.set(path, cleaned);
      else if (written === entry.id) ids.set(path, await this.#raw(from));
      else ids.set(path, (await this.#byLine(entry.id, cleaned, file)) ?? cleaned);
    }
    return ids;
  }

  async #checkOut(directory: string, paths: readonly string[]): Promise<void> {
    await mkdir(directory, { recursive: true });
    const input = [...new Set(paths)].map((path) => `${path}\0`).join('');
    await this.git(['checkout-index', '-z', '--stdin'], { index: this.at.index, input, files: directory });
  }

  /** Stores files by the attributes of their paths; as they are where those do not fit. */
  async #cleaned(directory: string, files: readonly FileOnDisk[]): Promise<Map<string, string>> {
    const alone = files.filter(({ path }) => basename(path) === '.gitattributes');
    const rest = files.filter((file) => !alone.includes(file));
    for (const { path, from } of rest) {
      if (from === join(directory, path)) continue;
      await mkdir(dirname(join(directory, path)), { recursive: true });
      await symlink(from, join(directory, path));
    }
    const named = rest.map(({ path }) => ({ path, from: path }));
    const together = await stored(this.git, named, directory).catch((error: unknown) => {
      if (error instanceof GitFailed) return undefined;
      throw error;
    });
    const ids = new Map<string, string>();
    for (const [at, { path }] of rest.entries()) if (together) ids.set(path, together[at] ?? '');
    for (const { path, from } of together ? alone : files) {
      const how = { files: directory, input: { file: from } };
      const id = await this.git(['hash-object', '-w', '--path', path, '--stdin'], how).catch((error: unknown) => {
        if (error instanceof GitFailed) return this.#raw(from);
        throw error;
      });
      ids.set(path, id.trim());
    }
    return ids;
  }

  async #raw(from: string): Promise<string> {
    const [id = ''] = await stored(this.git, [{ path: from, from }], this.at.own, ['--no-filters']);
    return id;
  }

  /** Stores changed lines by the attributes, and all others as they are in the commit; undefined where they do not fit. */
  async #byLine(stored: string, cleaned: string, { path, from: changedFile }: FileOnDisk): Promise<string | undefined> {
    const was = join(this.#was, path);
    const sizes = await Promise.all([was, changedFile].map(async (one) => (await stat(one)).size));
    if (sizes.some((size) => size > maxComparedBytes)) return undefined;
    const before = linesOf(await this.#text(stored));
    const [from, to] = [await this.#raw(was), await this.#raw(changedFile)];
    const [written, changed, clean] = [from, to, cleaned].map((id) => this.#text(id));
    if (before.length !== linesOf((await written) ?? '').length) return undefined;
    const lines = linesOf((await clean) ?? '');
    if (lines.length !== linesOf((await changed) ?? '').length) return undefined;
    const plain = ['--unified=0', '--text', '--no-color', '--no-ext-diff', '--no-textconv'];
    const diff = join(this.at.own, 'diff');
    await this.git(['diff', ...plain, from, to], { outputTo: diff });
    const hunks = hunksIn(await readFile(diff, 'latin1'), lines);
    const merged: string[] = [];
    let at = 0;
    for (const hunk of hunks) {
      merged.push(...before.slice(at, hunk.start), ...hunk.lines);
      at = hunk.end;
    }
    merged.push(...before.slice(at));
    const input = Buffer.from(merged.join(''), 'latin1');
    return (await this.git(['hash-object', '-w', '--stdin'], { input })).trim();
  }

  /** Its bytes, one a letter. */
  async #text(id: string): Promise<string> {
    const path = join(this.at.own, `text-${id}`);
    await this.git(['cat-file', 'blob', id], { outputTo: path });
    return readFile(path, 'latin1');
  }
}
