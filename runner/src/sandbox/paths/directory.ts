import { constants, existsSync, type Dir, type Stats } from 'node:fs';
import {
  type FileHandle,
  link,
  lstat,
  mkdir,
  open,
  opendir,
  readlink,
  realpath,
  rename,
  rmdir,
  unlink,
} from 'node:fs/promises';
import { join } from 'node:path';
import { hasCode, SandboxRefusal } from './refusal.js';

const { O_DIRECTORY, O_NOFOLLOW, O_NONBLOCK, O_RDONLY } = constants;

/** Whether paths can start at a descriptor, which Node has no other way for (no `openat`). */
export const hasDescriptorPaths = existsSync('/proc/self/fd');

/**
 * An open directory. What is done in it is done in this very directory, whatever its path has come to mean: each name is
 * looked up through the descriptor, `/proc/self/fd/<n>/<name>`, and never through a link.
 *
 * Where there is no `/proc` (macOS), names are looked up by path, each time after a look whether the path still leads to
 * this directory. That leaves a moment for a program that swaps directories; a turn's container always has `/proc`.
 */
export class Directory {
  private constructor(
    private readonly handle: FileHandle,
    private readonly path: string,
    private readonly byDescriptor: boolean,
  ) {}

  /** Opens a directory that is trusted, by its path. Links on it are followed. */
  static async open(path: string, byDescriptor = hasDescriptorPaths): Promise<Directory> {
    const real = await realpath(path);
    return new Directory(await open(real, O_RDONLY | O_DIRECTORY), real, byDescriptor);
  }

  /** Opens a directory in this one. A link is none. */
  async enter(name: string): Promise<Directory> {
    const handle = await open(await this.#at(name), O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    return new Directory(handle, join(this.path, name), this.byDescriptor);
  }

  /** A path that leads to this directory for as long as it is open: for child processes to start in. */
  get self(): string {
    return this.byDescriptor ? `/proc/self/fd/${this.handle.fd}` : this.path;
  }

  /** The facts of what has a name here, a link's own; undefined where there is nothing. */
  async facts(name: string): Promise<Stats | undefined> {
    if (name === '.') return this.handle.stat();
    try {
      return await lstat(await this.#at(name));
    } catch (error) {
      if (hasCode(error, 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Opens something that is no link. Does not wait for the other end of a pipe. */
  async openFile(name: string, flags: number, mode?: number): Promise<FileHandle> {
    return open(await this.#at(name), flags | O_NOFOLLOW | O_NONBLOCK, mode);
  }

  async entries(): Promise<Dir> {
    return opendir(await this.#at('.'));
  }

  /** Where a link leads; undefined where there is none any more. */
  async linkTarget(name: string): Promise<string | undefined> {
    try {
      return await readlink(await this.#at(name));
    } catch (error) {
      if (hasCode(error, 'EINVAL', 'ENOENT')) return undefined;
      throw error;
    }
  }

  /** Other names here that are the same in print: whose accents are composed or decomposed otherwise. */
  async namesLike(name: string): Promise<string[]> {
    const form = name.normalize('NFC');
    // A name without accents has one form.
    if (form === name && form.normalize('NFD') === name) return [];
    const names: string[] = [];
    for await (const entry of await this.entries()) {
      if (entry.name !== name && entry.name.normalize('NFC') === form) names.push(entry.name);
    }
    return names;
  }

  async makeDirectory(name: string): Promise<void> {
    await mkdir(await this.#at(name)).catch((error: unknown) => {
      if (!hasCode(error, 'EEXIST')) throw error;
    });
  }

  /** Gives a file another name here, over what has it; never to what a link leads to. */
  async rename(from: string, to: string): Promise<void> {
    await rename(await this.#at(from), await this.#at(to));
  }

  /** Gives a file a second name here. */
  async link(from: string, to: string): Promise<void> {
    await link(await this.#at(from), await this.#at(to));
  }

  async remove(name: string): Promise<void> {
    await unlink(await this.#at(name));
  }

  /** Removes an empty directory. */
  async removeDirectory(name: string): Promise<void> {
    await rmdir(await this.#at(name));
  }

  close(): Promise<void> {
    return this.handle.close();
  }

  async #at(name: string): Promise<string> {
    if (this.byDescriptor) return `${this.self}/${name}`;
    const [here, there] = await Promise.all([this.handle.stat(), lstat(this.path).catch(() => undefined)]);
    if (there?.ino !== here.ino || there.dev !== here.dev) {
      throw new SandboxRefusal('path-changed', `${JSON.stringify(this.path)} was replaced meanwhile.`);
    }
    return join(this.path, name);
  }
}
