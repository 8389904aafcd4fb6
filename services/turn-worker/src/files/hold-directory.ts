import { constants } from 'node:fs';
import { type FileHandle, open, readlink, realpath, stat } from 'node:fs/promises';
import { hasDescriptorPaths } from './open-directory.js';

/**
 * A directory of the host that is open, so that it stays the same one whatever others put in its place. Without `/proc` it is
 * reached by its path: safe only while nobody else writes above it.
 */
export class HeldDirectory {
  private constructor(
    private readonly handle: FileHandle,
    /** Its path with links resolved, when it was opened. */
    readonly real: string,
  ) {}

  /** Opens a directory, or what a link in its place leads to. @throws a system error */
  static async open(path: string): Promise<HeldDirectory> {
    const handle = await open(path, constants.O_RDONLY | constants.O_DIRECTORY);
    try {
      if (hasDescriptorPaths) return new HeldDirectory(handle, await readlink(descriptorPath(handle.fd)));
      const real = await realpath(path);
      const [own, found] = await Promise.all([handle.stat(), stat(real)]);
      if (own.dev !== found.dev || own.ino !== found.ino) throw new Error(`${path} was replaced while it was opened`);
      return new HeldDirectory(handle, real);
    } catch (error) {
      await handle.close();
      throw error;
    }
  }

  get fd(): number {
    return this.handle.fd;
  }

  /** Its path in a process that has it open as this descriptor. @default in this process */
  at(fd = this.fd): string {
    return hasDescriptorPaths ? descriptorPath(fd) : this.real;
  }

  async close(): Promise<void> {
    await this.handle.close();
  }
}

const descriptorPath = (fd: number) => `/proc/self/fd/${fd}`;
