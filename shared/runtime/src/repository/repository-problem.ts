import type { FailureCode } from '@suzumio/protocol/failure-codes';
import type { CloneRequest } from '@suzumio/protocol/repository';

/** Why a repository cannot be cloned, and what would be right. */
export class RepositoryProblem extends Error {
  override readonly name = 'RepositoryProblem';

  constructor(
    readonly code: FailureCode,
    message: string,
    {
      setting,
      isAbsent = false,
      ...options
    }: ErrorOptions & Partial<Pick<RepositoryProblem, 'setting' | 'isAbsent'>> = {},
  ) {
    super(message, options);
    this.setting = setting;
    this.isAbsent = isAbsent;
  }

  /** The field of `git` in a project file with which it can be cloned. */
  readonly setting: Pick<CloneRequest, 'lfs' | 'submodules'> | undefined;
  /** Whether there is no repository. */
  readonly isAbsent: boolean;
}

/** A path as a shell takes it. */
export function shellPath(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", String.raw`'\''`)}'`;
}
