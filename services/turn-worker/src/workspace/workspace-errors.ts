/** A workspace exceeds its limits. */
export class WorkspaceTooLarge extends Error {
  override readonly name = 'WorkspaceTooLarge';
}
