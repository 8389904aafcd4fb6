import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  type Stats,
} from 'node:fs';

/** Whether the entries of an open directory have paths by its descriptor. Not on macOS. */
export const hasDescriptorPaths = existsSync('/proc/self/fd');

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

const replacement = '\uFFFD';

/** Linux only: a descriptor of an entry, whatever it is, without opening it. */
const O_PATH = 0o10000000;

/**
 * An open directory. It stays the same whatever others move or replace meanwhile: its entries are reached as
 * `/proc/self/fd/<descriptor>/<name>`, for which the system looks up one name in the open directory. That name may be a link
 * by then, so entries are opened with `O_NOFOLLOW`.
 *
 * Without `/proc`, entries are reached by the directory's path: safe only while nobody else writes there.
 */
export class OpenDirectory {
  readonly #base: string;

  private constructor(
    readonly fd: number,
    path: string,
  ) {
    this.#base = hasDescriptorPaths ? `/proc/self/fd/${fd}` : path;
  }

  /** @throws a system error: ENOTDIR or ELOOP for a link */
  static open(path: string): OpenDirectory {
    return new OpenDirectory(openSync(path, flags), path);
  }

  /** The path of an entry, for system calls. `name` is one name, never a path. */
  at(name: string): string {
    return `${this.#base}/${name}`;
  }

  atBytes(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${this.#base}/`), name]);
  }

  /** Opens a subdirectory. @throws a system error: ENOTDIR or ELOOP if it is no directory any more */
  open(name: string): OpenDirectory {
    return OpenDirectory.open(this.at(name));
  }

  /** The attributes of an entry; of a link itself. */
  look(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  stat(): Stats {
    return fstatSync(this.fd);
  }

  /**
   * The names in it, unique and sorted; names that are no text separately.
   *
   * @param atMost stops after more names than this
   */
  list(atMost = Number.POSITIVE_INFINITY): { names: string[]; strange: Buffer[]; isAll: boolean } {
    const names = new Set<string>();
    const strange = new Map<string, Buffer>();
    // The types lack names that need not be text.
    const encoding = 'buffer' as BufferEncoding;
    const directory = opendirSync(Buffer.from(this.#base), { encoding, bufferSize: 512 });
    let isAll = false;
    try {
      while (!isAll && names.size + strange.size <= atMost) {
        const entry = directory.readSync();
        if (!entry) {
          isAll = true;
          continue;
        }
        const name = entry.name as unknown as Buffer;
        const text = name.toString('utf8');
        if (text.includes(replacement) && !isText(name)) strange.set(name.toString('latin1'), name);
        else names.add(text);
      }
    } finally {
      directory.closeSync();
    }
    return { names: [...names].sort(), strange: [...strange.values()], isAll };
  }

  /** The names of directories in it, and how many other entries; neither is counted far beyond `atMost`. */
  kinds(atMost: number): { files: number; directories: string[] } {
    const directories: string[] = [];
    let files = 0;
    const directory = opendirSync(this.#base, { bufferSize: 512 });
    try {
      for (
        let entry = directory.readSync();
        entry && files + directories.length <= atMost;
        entry = directory.readSync()
      ) {
        if (entry.isDirectory()) directories.push(entry.name);
        else files += 1;
      }
    } finally {
      directory.closeSync();
    }
    return { files, directories };
  }

  /** Sets the permissions of an entry, never of a link's target. */
  chmod(name: string, mode: number): void {
    if (!hasDescriptorPaths) {
      chmodSync(this.at(name), mode);
      return;
    }
    const fd = openSync(this.at(name), O_PATH | constants.O_NOFOLLOW);
    try {
      chmodSync(`/proc/self/fd/${fd}`, mode);
    } finally {
      closeSync(fd);
    }
  }

  close(): void {
    closeSync(this.fd);
  }
}

export function isText(name: Buffer): boolean {
  return Buffer.from(name.toString('utf8')).equals(name);
}
