/** Whether an error says that the disk is full: SQLite's code, or the system's. */
export function isDiskFull(error: unknown): boolean {
  if (typeof error !== 'object' || error === null || !('code' in error)) return false;
  return ['SQLITE_FULL', 'ENOSPC', 'EDQUOT'].includes(String(error.code));
}
