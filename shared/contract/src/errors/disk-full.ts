/** The last is of a write-ahead log's index, which cannot grow. SQLite's other errors of that kind have other causes, too. */
const codes = new Set(['ENOSPC', 'EDQUOT', 'SQLITE_FULL', 'SQLITE_IOERR_SHMSIZE']);

/** Whether an error says that the disk is full: SQLite's code, or the system's. */
export function isDiskFull(error: unknown): boolean {
  return typeof error === 'object' && error !== null && 'code' in error && codes.has(String(error.code));
}
