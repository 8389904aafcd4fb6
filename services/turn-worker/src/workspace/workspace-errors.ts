/** A workspace exceeds its limits. */
export class WorkspaceTooLarge extends Error {
  override readonly name = 'WorkspaceTooLarge';
}

/** A workspace holds something that cannot be read. */
export class WorkspaceUnreadable extends Error {
  override readonly name = 'WorkspaceUnreadable';
}
