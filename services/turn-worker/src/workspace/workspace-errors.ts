/** A workspace beyond its bounds, or with something that no snapshot can hold. */
export class WorkspaceTooLarge extends Error {
  override readonly name = 'WorkspaceTooLarge';
}

/** A snapshot that is not what its id or the manifest's rules say. */
export class SnapshotInvalid extends Error {
  override readonly name = 'SnapshotInvalid';
}
