/** A workspace exceeds its limits. */
export class WorkspaceTooLarge extends Error {
  override readonly name = 'WorkspaceTooLarge';
}

/** A job takes more memory than one of many may take: it is to be done alone. */
export class JobTooLong extends Error {
  override readonly name = 'JobTooLong';
}

/** A workspace holds something that cannot be read. */
export class WorkspaceUnreadable extends Error {
  override readonly name = 'WorkspaceUnreadable';
}
