import type { ErrorCode } from '@suzumio/contract/errors/codes';
import { isSuzumioError, messageOf, SuzumioError } from '@suzumio/contract/errors/suzumio-error';

/** Errors of the system and of SQLite for a damaged file, and for one that this process may not use. */
const faults: readonly { code: ErrorCode; codes: RegExp; is: string; next: string }[] = [
  {
    code: 'store-corrupt',
    codes: /^SQLITE_(CORRUPT|NOTADB|FORMAT)/,
    is: 'is damaged',
    next: 'restore the project from a backup',
  },
  {
    code: 'store-unreadable',
    codes: /^(SQLITE_(CANTOPEN|READONLY|PERM|AUTH)|E(ACCES|PERM|ISDIR|LOOP)$)/,
    is: 'cannot be opened',
    next: 'give its files to the user that the services run as (chown -R)',
  },
];

/** The fault that an error of the system or of SQLite tells of. */
function faultOf(error: unknown): (typeof faults)[number] | undefined {
  const code = typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
  return faults.find(({ codes }) => codes.test(code));
}

/** Whether this process may not use a database, as another user's. */
export function isUnreadable(error: unknown): error is Error {
  return faultOf(error)?.code === 'store-unreadable';
}

/** Whether the project's own file is at fault: other projects can be used. */
export function isBrokenProject(error: unknown): error is SuzumioError {
  return isSuzumioError(error, 'store-corrupt', 'store-missing', 'store-unreadable', 'project-misplaced');
}

/** A database in another project's directory: beside its original, it would do the same work again. */
export function misplaced(directory: string, project: string, file: string): SuzumioError {
  return new SuzumioError(
    'project-misplaced',
    `${file} is the database of the project "${project}", in the directory of another name. ` +
      `Move the directory "${directory}" out of the data directory, or give it back its name where "${project}" is gone.`,
    { project: directory, found: project },
  );
}

/** A database that was never written, or was truncated. */
export function empty(project: string, file: string): SuzumioError {
  return new SuzumioError(
    'store-corrupt',
    `The database of the project "${project}" has no project in it (${file}): restore the project from a backup, or move its directory out of the data directory. Other projects go on.`,
    { project, file },
  );
}

/** The error of a failing database in an operator's words; the original error where the file is not at fault. */
export function storeFault(project: string, file: string, error: unknown): unknown {
  const fault = faultOf(error);
  if (!fault || error instanceof SuzumioError) return error;
  return new SuzumioError(
    fault.code,
    `The database of the project "${project}" ${fault.is} (${file}: ${messageOf(error)}): ${fault.next}, or move its directory out of the data directory. Other projects go on.`,
    { project, file },
    { cause: error },
  );
}

/** The database of a project that the catalog lists is missing. */
export function missingStore(project: string, file: string): SuzumioError {
  return new SuzumioError(
    'store-missing',
    `The database of the project "${project}" is missing (${file}): restore its directory from a backup, or delete the project. Other projects go on.`,
    { project, file },
  );
}

/** No project of this name exists. */
export function unknownProject(project: string): SuzumioError {
  return new SuzumioError('project-unknown', `There is no project "${project}" in this data directory.`, { project });
}
