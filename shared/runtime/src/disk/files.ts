import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  openSync,
  readFileSync,
  readlinkSync,
  realpathSync,
} from 'node:fs';
import { dirname } from 'node:path';
import { configLimits } from '@suzumio/core/config/limits';
import type { FileContent, SourceFiles } from '@suzumio/core/config/source-files';

/** A path, or its nearest ancestor that exists. */
export function nearestExisting(path: string): string {
  return existsSync(path) ? path : nearestExisting(dirname(path));
}

/** Reads a regular file of bounded size as UTF-8, without its byte order mark. */
export function readTextFile(path: string): FileContent {
  let descriptor: number | undefined;
  try {
    // Without O_NONBLOCK, opening a FIFO would wait for a writer.
    descriptor = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
    const stat = fstatSync(descriptor);
    if (!stat.isFile()) return { ok: false, code: 'file-unreadable', message: `${path} is not a regular file` };
    if (stat.size > configLimits.fileBytes) {
      const message = `${path} has ${stat.size} bytes; at most ${configLimits.fileBytes} are read`;
      return { ok: false, code: 'file-too-large', message };
    }
    const text = decodeUtf8(readFileSync(descriptor));
    if (text === undefined) return { ok: false, code: 'file-not-utf8', message: `${path} is not UTF-8 text` };
    return { ok: true, realPath: realPathOf(descriptor, path), text };
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code ?? 'unknown error';
    if (code === 'ENOENT' || code === 'ENOTDIR') {
      return { ok: false, code: 'file-missing', message: `there is no file ${path}` };
    }
    return { ok: false, code: 'file-unreadable', message: `${path} cannot be read (${code})` };
  } finally {
    if (descriptor !== undefined) closeSync(descriptor);
  }
}

/** The path of an open file with links resolved: on Linux of what was opened, whatever stands at its path by now. */
function realPathOf(descriptor: number, path: string): string {
  return existsSync('/proc/self/fd') ? readlinkSync(`/proc/self/fd/${descriptor}`) : realpathSync(path);
}

function decodeUtf8(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function realDirectory(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}

/** The files of this machine. */
export const filesOnDisk: SourceFiles = { readText: readTextFile, realDirectory };
