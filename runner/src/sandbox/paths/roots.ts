import type { Stats } from 'node:fs';
import { realpath } from 'node:fs/promises';
import { posix } from 'node:path';
import { keptDirectory, keptPartOf } from '@suzumio/protocol/kept-path';
import { Directory, hasDescriptorPaths } from './directory.js';
import { explained, SandboxRefusal } from './refusal.js';

/** A directory whose files tools may use, by its absolute path. */
export interface Root {
  readonly path: string;
  readonly writable: boolean;
  /** Another path by which agents know it. */
  readonly as?: string | undefined;
}

/** How a path is gone along. */
export interface Way {
  /** For a change: the root must be writable. */
  readonly writing?: boolean;
  /** Make the directories that are missing on the way. */
  readonly createDirs?: boolean;
  /** Take a link at its end for itself, not for what it leads to. */
  readonly endAsLink?: boolean;
  /** For what another agent wrote: it may only come to lie in the workspace, and in nothing that is kept there. */
  readonly foreign?: boolean;
}

/** Where something is, or would be: a name in an open directory, inside a root. */
export interface Place {
  /** As it was asked for. */
  readonly asked: string;
  /** Its path without links. */
  readonly path: string;
  readonly directory: Directory;
  /** `.` for a root itself. */
  readonly name: string;
  /** Of what was there when it was found. */
  readonly facts: Stats | undefined;
  /** The directories that were made on the way, by their paths. */
  readonly made: readonly string[];
  /** Names beside it that are the same in print. */
  readonly twins: readonly string[];
}

const maxLinks = 40;
const shownNames = 20;

/**
 * The directories whose files tools may use. Paths are gone along one open directory at a time, links by their text, so
 * that a program that swaps directories for links at the same time can lead nowhere else.
 */
export class Roots {
  private constructor(
    private readonly roots: readonly (Root & { readonly real: string })[],
    private readonly workspace: Root,
    private readonly byDescriptor: boolean,
  ) {}

  get workspacePath(): string {
    return this.workspace.path;
  }

  /** @param roots the workspace first: relative paths start there */
  static async of(
    roots: readonly [workspace: Root, ...others: Root[]],
    byDescriptor = hasDescriptorPaths,
  ): Promise<Roots> {
    const found = await Promise.all(roots.map(async (root) => ({ ...root, real: await realpath(root.path) })));
    // The innermost first: a mount may lie inside another.
    return new Roots(
      found.sort((a, b) => b.path.length - a.path.length),
      roots[0],
      byDescriptor,
    );
  }

  /** Finds a path's place, and closes its directory after `use`. Failures of the system become refusals. */
  async at<Result>(path: string, way: Way, use: (place: Place) => Promise<Result>): Promise<Result> {
    const place = await this.find(path, way);
    try {
      return await use(place);
    } catch (error) {
      throw explained(path, error);
    } finally {
      await place.directory.close();
    }
  }

  /** Finds a path's place. Its directory is the caller's to close. */
  async find(path: string, way: Way = {}): Promise<Place> {
    const rootOf = (absolute: string) => this.#rootOf(absolute);
    const walk = new Walk(path, way, this.byDescriptor, rootOf, this.workspace, this.#named());
    try {
      return await walk.to(posix.isAbsolute(path) ? path : `${this.workspace.path}/${path}`);
    } catch (error) {
      await this.unmake(walk.made);
      throw explained(path, error);
    }
  }

  /** Removes directories that were made on the way, where they are still empty. */
  async unmake(made: readonly string[]): Promise<void> {
    for (const path of made.toReversed()) {
      await this.at(path, {}, ({ directory, name }) => directory.removeDirectory(name)).catch(() => undefined);
    }
  }

  /** The path as agents write it: relative inside the workspace. */
  shown(path: string): string {
    const { path: workspace } = this.workspace;
    return path === workspace ? '.' : path.startsWith(`${workspace}/`) ? path.slice(workspace.length + 1) : path;
  }

  /** The roots in words. */
  #named(): string {
    const paths = this.roots.map(({ path, as }) => as ?? path).toReversed();
    return paths.slice(0, shownNames).join(', ') + (paths.length > shownNames ? ', …' : '');
  }

  #rootOf(absolute: string): { root: Root; rest: string } | undefined {
    for (const root of this.roots) {
      for (const start of [root.path, root.real, root.as]) {
        if (start === undefined) continue;
        if (absolute === start || absolute.startsWith(`${start}/`)) return { root, rest: absolute.slice(start.length) };
      }
    }
    return undefined;
  }
}

/** One way along a path. */
class Walk {
  #links = 0;
  readonly made: string[] = [];

  constructor(
    private readonly asked: string,
    private readonly way: Way,
    private readonly byDescriptor: boolean,
    private readonly rootOf: (absolute: string) => { root: Root; rest: string } | undefined,
    private readonly workspace: Root,
    private readonly named: string,
  ) {}

  async to(absolute: string): Promise<Place> {
    const start = this.rootOf(absolute);
    if (!start) throw this.#outside();
    const open = [await Directory.open(start.root.path, this.byDescriptor)];
    try {
      const place = await this.#along(start.root, open, start.rest.split('/').filter(isStep));
      if ('elsewhere' in place) return await this.to(place.elsewhere);
      // Closed by whoever asked for the place.
      open.pop();
      return place;
    } finally {
      await Promise.all(open.map((directory) => directory.close()));
    }
  }

  async #along(root: Root, open: Directory[], steps: string[]): Promise<Place | { elsewhere: string }> {
    const names: string[] = [];
    const top = (): Directory => open.at(-1) as Directory;
    const place = (name: string, facts: Stats | undefined, twins: readonly string[] = []): Place => {
      const path = [root.path, ...names, ...(name === '.' ? [] : [name])].join('/');
      this.#refuseClosed(path);
      return { asked: this.asked, path, directory: top(), name, facts, made: this.made, twins };
    };
    for (let asked = steps.shift(); asked !== undefined; asked = steps.shift()) {
      if (asked === '..') {
        if (open.length === 1) throw this.#outside();
        await open.pop()?.close();
        names.pop();
        continue;
      }
      const { name: step, facts, twins } = await this.#entry(top(), asked);
      const isEnd = steps.length === 0;
      if (facts?.isSymbolicLink() === true && !(isEnd && this.way.endAsLink === true)) {
        this.#links += 1;
        if (this.#links > maxLinks) throw this.#refusal('path-outside', 'leads through too many links.');
        const target = await top().linkTarget(step);
        if (target === undefined) throw this.#refusal('path-changed', 'was replaced while it was looked for.');
        if (posix.isAbsolute(target)) return { elsewhere: [target, ...steps].join('/') };
        steps.unshift(...target.split('/').filter(isStep));
        continue;
      }
      if (isEnd) return place(step, facts, twins);
      if (!facts && this.way.createDirs === true) {
        const path = [root.path, ...names, step].join('/');
        this.#refuseClosed(path);
        await top().makeDirectory(step);
        this.made.push(path);
      } else if (!facts) throw await missing(place(step, facts), 'directory-unknown');
      else if (!facts.isDirectory()) {
        throw this.#refusal(
          'not-a-directory',
          `cannot be: ${JSON.stringify([...names, step].join('/'))} is no directory.`,
        );
      }
      open.push(await top().enter(step));
      names.push(step);
    }
    return place('.', await top().facts('.'));
  }

  /** Finds a name, or the one beside it that is the same in print: composed accents and decomposed ones. */
  async #entry(
    directory: Directory,
    asked: string,
  ): Promise<{ name: string; facts: Stats | undefined; twins: readonly string[] }> {
    const facts = await directory.facts(asked);
    const alike = (await directory.namesLike(asked)).toSorted();
    const [name, ...others] = alike;
    if (facts || name === undefined) return { name: asked, facts, twins: facts ? alike : [] };
    if (others.length === 0) return { name, facts: await directory.facts(name), twins: [] };
    const named = alike.map((one) => `${JSON.stringify(one)} (${accentsOf(one)})`).join(' and ');
    throw this.#refusal('path-ambiguous', `may be ${named}: write one of these names.`);
  }

  /** By where the way has led, which may be another root than it began in. */
  #refuseClosed(path: string): void {
    const root = this.rootOf(path)?.root;
    if (this.way.foreign === true) this.#refuseKept(path, root);
    if (this.way.writing !== true || root?.writable === true) return;
    throw this.#refusal('read-only', `is in ${root?.as ?? root?.path ?? path}, which is read-only.`);
  }

  #refuseKept(path: string, root: Root | undefined): void {
    if (root?.path !== this.workspace.path)
      throw this.#refusal('path-outside', 'is not in the workspace; files of another agent are written there only.');
    const kept = keptPartOf(path.slice(root.path.length));
    if (kept === undefined) return;
    throw this.#refusal('path-kept', `is in ${kept}, into which no files of another agent are written.`);
  }

  #outside(): SandboxRefusal {
    return this.#refusal('path-outside', `leads out of the directories that tools may use: ${this.named}.`);
  }

  #refusal(code: SandboxRefusal['code'], says: string): SandboxRefusal {
    return new SandboxRefusal(code, `${JSON.stringify(this.asked)} ${says}`);
  }
}

/** How a name is written whose accents may be so or so: each character that is not ASCII, by its number. */
export function accentsOf(name: string): string {
  return Array.from(name)
    .filter((one) => one > '\x7f' || /\p{M}/u.test(one))
    .map(numberOf)
    .join(' ');
}

const numberOf = (one: string): string => `U+${one.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;

/** The note on an entry beside which other names are the same in print; a sentence with a space before it, or nothing. */
export function twinsText({ name, twins }: Pick<Place, 'name' | 'twins'>): string {
  if (twins.length === 0) return '';
  const others = twins.map(accentsOf).join('; ');
  return ` Another name beside it looks the same: ${accentsOf(name)} is this one, ${others} the other.`;
}

/** That nothing is at a place, and what else is there: models mistake names more than directories. */
export async function missing(
  { asked, path, name, directory }: Place,
  code: 'file-unknown' | 'directory-unknown' = 'file-unknown',
): Promise<SandboxRefusal> {
  const shown = JSON.stringify(asked);
  if (path.split('/').includes(keptDirectory)) {
    return new SandboxRefusal(
      'output-gone',
      `${shown} is not kept any more: output of commands lasts as long as the attempt that ran them. Run the command again.`,
    );
  }
  const names: string[] = [];
  let more = 0;
  for await (const entry of await directory.entries()) {
    if (names.length < shownNames) names.push(entry.isDirectory() ? `${entry.name}/` : entry.name);
    else more += 1;
    if (more === 1000) break;
  }
  const there = names.length === 0 ? 'that directory is empty' : `there are ${names.sort().join(', ')}`;
  const rest = more === 0 ? '' : ` and ${more === 1000 ? 'many' : more} more`;
  return new SandboxRefusal(code, `${shown} is not there: no ${JSON.stringify(name)}; ${there}${rest}.`);
}

/** Opens a regular file of a place for reading. */
export async function openedFile(place: Place, flags: number): ReturnType<Directory['openFile']> {
  if (!place.facts) throw await missing(place);
  refuseUnlessFile(place);
  const file = await place.directory.openFile(place.name, flags);
  if ((await file.stat()).isFile()) return file;
  await file.close();
  throw new SandboxRefusal('path-changed', `${JSON.stringify(place.asked)} was replaced while it was opened.`);
}

/** Refuses a place where something is that is no regular file. */
export function refuseUnlessFile({ asked, facts }: Place): void {
  if (!facts || facts.isFile()) return;
  const advice = facts.isDirectory() ? '; file.list lists it' : '';
  throw new SandboxRefusal('not-a-file', `${JSON.stringify(asked)} is ${kindOf(facts)}, not a file${advice}.`);
}

/** What something is, in words. */
export function kindOf(
  facts: Pick<Stats, 'isFile' | 'isDirectory' | 'isSymbolicLink' | 'isFIFO' | 'isSocket'>,
): string {
  if (facts.isFile()) return 'a file';
  if (facts.isDirectory()) return 'a directory';
  if (facts.isSymbolicLink()) return 'a link';
  if (facts.isFIFO()) return 'a pipe';
  return facts.isSocket() ? 'a socket' : 'a device';
}

const isStep = (part: string): boolean => part !== '' && part !== '.';
