/** A workspace exceeds its limits, or has something that no snapshot can hold. */
export class WorkspaceTooLarge extends Error {
  override readonly name = 'WorkspaceTooLarge';
}

/** A snapshot does not match its id, or violates the manifest's rules. */
export class SnapshotInvalid extends Error {
  override readonly name = 'SnapshotInvalid';
}
