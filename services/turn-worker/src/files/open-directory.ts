import {
  chmodSync,
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readdirSync,
  type Stats,
} from 'node:fs';

/** Whether what is in an open directory can be reached through its descriptor. Not on macOS. */
export const hasDescriptorPaths = existsSync('/proc/self/fd');

const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW;

/** Linux alone: a descriptor of what has a name, whatever it is, without opening it. */
const O_PATH = 0o10000000;

const replacement = '\uFFFD';

/**
 * A directory that stays the one that was opened, whatever a stranger moves, swaps or puts in its place meanwhile. What is
 * in it is reached as `/proc/self/fd/<descriptor>/<name>`: the system goes from the open directory on, and looks up one
 * name. It may be a link then: whoever opens it says `O_NOFOLLOW`.
 *
 * Without `/proc`, what is in it is reached by its path: only where nothing else writes.
 */
export class OpenDirectory {
  readonly #base: string;

  private constructor(
    readonly fd: number,
    path: string,
  ) {
    this.#base = hasDescriptorPaths ? `/proc/self/fd/${fd}` : path;
  }

  /** @throws a system error; ENOTDIR or ELOOP where a link stands there */
  static open(path: string): OpenDirectory {
    return new OpenDirectory(openSync(path, flags), path);
  }

  /** Where something in it is, for one system call. `name` is one name, never a path. */
  at(name: string): string {
    return `${this.#base}/${name}`;
  }

  atBytes(name: Buffer): Buffer {
    return Buffer.concat([Buffer.from(`${this.#base}/`), name]);
  }

  /** Opens a directory in it. @throws a system error; ENOTDIR or ELOOP where something else stands there by now */
  open(name: string): OpenDirectory {
    return OpenDirectory.open(this.at(name));
  }

  /** What has this name now; a link is not followed. */
  look(name: string): Stats | undefined {
    return lstatSync(this.at(name), { throwIfNoEntry: false });
  }

  stat(): Stats {
    return fstatSync(this.fd);
  }

  /**
   * The names in it, each once, in their order; those that are no text apart.
   *
   * @param atMost it stops soon after so many
   */
  list(atMost = Number.POSITIVE_INFINITY): { names: string[]; strange: Buffer[] } {
    const names = new Set<string>();
    const directory = opendirSync(this.#base, { bufferSize: 512 });
    try {
      for (let entry = directory.readSync(); entry && names.size <= atMost; entry = directory.readSync()) {
        names.add(entry.name);
      }
    } finally {
      directory.closeSync();
    }
    const unclear = [...names].some((name) => name.includes(replacement));
    const strange = unclear ? readdirSync(this.#base, { encoding: 'buffer' }).filter((name) => !isText(name)) : [];
    for (const name of strange) names.delete(name.toString('utf8'));
    return { names: [...names].sort(), strange };
  }

  /** Sets the permissions of what has this name, and of nothing that a link there leads to. */
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
