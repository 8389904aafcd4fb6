import { createHmac, randomBytes } from 'node:crypto';
import {
  accessSync,
  chmodSync,
  constants,
  existsSync,
  linkSync,
  mkdirSync,
  readFileSync,
  statSync,
  statfsSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join, resolve } from 'node:path';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { secretPrefix } from '@suzumio/contract/model/access-token';
import { newSecret } from '../turns/tokens.js';

/** File systems on which SQLite's locks or memory maps cannot be trusted, by `statfs` magic number. */
const networkFileSystems = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x01021997, '9P'],
  [0x00c36400, 'Ceph'],
  [0x65735546, 'FUSE'],
]);

/** The name of the network file system that a path is on; undefined where it is a local one. */
export function networkFileSystemOf(path: string, statfs: StatFs = statfsSync): string | undefined {
  return networkFileSystems.get(statfs(path).type);
}

/** The file system that a path is on, as the system reports it. */
export type StatFs = (path: string) => { readonly type: number };

/** The layout of a cell's data directory (`SUZUMIO_ROOT`). */
export class DataDirectory {
  readonly root: string;

  constructor(root: string) {
    this.root = resolve(root);
  }

  get catalogFile(): string {
    return join(this.root, 'catalog.db');
  }

  get projectsDir(): string {
    return join(this.root, 'projects');
  }

  projectDir(project: string): string {
    return join(this.projectsDir, project);
  }

  projectFile(project: string): string {
    return join(this.projectDir(project), 'project.db');
  }

  /** The file in which a running `up` or `serve` announces its address. */
  get serverFile(): string {
    return join(this.root, 'server.json');
  }

  get adminTokenFile(): string {
    return join(this.root, 'admin.token');
  }

  /**
   * The cell's name where none is configured. Containers and jobs are labelled with it, so two data directories on one
   * engine must not share a name.
   */
  cellId(): string {
    return this.#lasting('cell.id', () => `cell-${randomBytes(4).toString('hex')}`);
  }

  /** The secret from which the tokens of attempts are derived. */
  cellKey(): string {
    return this.#lasting('cell.key', () => randomBytes(32).toString('hex'));
  }

  /** The token with which workers claim turns. */
  workerToken(): string {
    return this.#lasting('worker.token', newSecret);
  }

  /** With which services of this cell ask each other. It is never written: each derives it from the cell's key. */
  serviceToken(): string {
    return `${secretPrefix}${createHmac('sha256', this.cellKey()).update('service').digest('base64url')}`;
  }

  /** The administrator's token: who may read this directory may use the API. */
  adminToken(): string {
    return this.#lasting('admin.token', newSecret);
  }

  /**
   * Creates the directory where it is missing, and refuses file systems that SQLite cannot use.
   *
   * @throws SuzumioError `data-dir-invalid`
   */
  prepare(): void {
    try {
      mkdirSync(this.projectsDir, { recursive: true, mode: 0o700 });
    } catch (error) {
      if (existsSync(this.root) && (error as NodeJS.ErrnoException).code === 'EACCES')
        throw this.unreadable(error as Error);
      throw new SuzumioError(
        'data-dir-invalid',
        `The data directory ${this.root} cannot be made: ${(error as Error).message}. Set SUZUMIO_ROOT to a directory that you may write.`,
        { root: this.root },
        { cause: error },
      );
    }
    const fileSystem = networkFileSystemOf(this.root);
    if (fileSystem !== undefined) {
      throw new SuzumioError(
        'data-dir-invalid',
        `The data directory ${this.root} is on a network file system (${fileSystem}), where SQLite can lose data. Set SUZUMIO_ROOT to a local disk.`,
        { root: this.root, fileSystem },
      );
    }
  }

  /**
   * Whether a cell exists here.
   *
   * @throws SuzumioError `data-dir-invalid` where this process may not look, as in another user's directory
   */
  exists(): boolean {
    try {
      accessSync(this.catalogFile, constants.R_OK);
      return true;
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
      throw this.unreadable(error as Error);
    }
  }

  /** The error for a file of the directory that cannot be read. */
  unreadable(error: Error): SuzumioError {
    return new SuzumioError(
      'data-dir-invalid',
      `The data directory ${this.root} cannot be read: ${error.message}. Run this as the user whom it belongs to, name another directory with --root or SUZUMIO_ROOT, or ask its server with --url and SUZUMIO_TOKEN.`,
      { root: this.root },
      { cause: error },
    );
  }

  /** Reads a lasting value, or creates it; concurrent processes all get the value of the first. */
  #lasting(name: string, make: () => string): string {
    const file = join(this.root, name);
    if (!existsSync(file)) createOnce(file, `${make()}\n`);
    if ((statSync(file).mode & 0o077) !== 0) chmodSync(file, 0o600);
    return readFileSync(file, 'utf8').trim();
  }
}

/** Writes a file whole or not at all. If another process was first, its file stays. */
export function createOnce(file: string, content: string): void {
  const temporary = `${file}.${randomBytes(6).toString('hex')}`;
  writeFileSync(temporary, content, { mode: 0o600, flush: true });
  try {
    linkSync(temporary, file);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  } finally {
    unlinkSync(temporary);
  }
}
