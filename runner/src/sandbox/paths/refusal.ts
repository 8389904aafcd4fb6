import type { SandboxRefusalCode } from '@suzumio/protocol/sandbox-tools/refusals';
import { messageOf } from '../../turn-failure.js';

/** A tool was not carried out, for a reason that its caller can act on. */
export class SandboxRefusal extends Error {
  override readonly name = 'SandboxRefusal';

  constructor(
    readonly code: SandboxRefusalCode,
    message: string,
    options?: ErrorOptions,
  ) {
    super(message, options);
  }
}

const meanings: Readonly<Record<string, { code: SandboxRefusalCode; says: string }>> = {
  ENOENT: { code: 'path-changed', says: 'is not there any more' },
  ELOOP: { code: 'path-changed', says: 'became a link while it was opened' },
  ENOTDIR: { code: 'path-changed', says: 'is not the directory any more that it was' },
  EEXIST: { code: 'file-exists', says: 'is there already' },
  EISDIR: { code: 'not-a-file', says: 'is a directory' },
  ENXIO: { code: 'not-a-file', says: 'is a pipe or a device' },
  EROFS: { code: 'read-only', says: 'is on a file system that is read-only' },
  EACCES: { code: 'permission-denied', says: 'is not permitted to this user' },
  EPERM: { code: 'permission-denied', says: 'is not permitted' },
  ENOSPC: { code: 'disk-full', says: 'cannot be written: the disk is full' },
  EDQUOT: { code: 'disk-full', says: 'cannot be written: the quota is used up' },
  EAGAIN: { code: 'too-many-processes', says: 'cannot start: as many processes run as may' },
  E2BIG: { code: 'input-invalid', says: 'is too long to be started' },
  EMFILE: { code: 'system-error', says: 'needs more open files than there may be' },
  ENAMETOOLONG: { code: 'input-invalid', says: 'is too long for the file system' },
};

/** What a failure of the system means for whoever named `path`; refusals, and what is no failure of it, stay as they are. */
export function explained(path: string, error: unknown): unknown {
  if (error instanceof SandboxRefusal || !isSystemError(error)) return error;
  const meaning = meanings[error.code];
  const code = meaning?.code ?? 'system-error';
  return new SandboxRefusal(code, `${JSON.stringify(path)} ${meaning?.says ?? messageOf(error)}.`, { cause: error });
}

function isSystemError(error: unknown): error is { readonly code: string } {
  return typeof error === 'object' && error !== null && 'syscall' in error && 'code' in error;
}

/** Whether a failure of the system has one of these codes. */
export function hasCode(error: unknown, ...codes: string[]): boolean {
  return isSystemError(error) && codes.includes(error.code);
}
