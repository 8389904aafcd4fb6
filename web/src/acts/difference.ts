/** What differs between what was read and what is there, by the names of the fields. */
export interface Difference {
  readonly name: string;
  readonly before: unknown;
  readonly after: unknown;
  /** Whether it is in what is written, too, so that saving replaces it. */
  readonly isMine: boolean;
}
