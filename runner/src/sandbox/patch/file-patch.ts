/** A group of changed lines with those around them. */
export interface Hunk {
  /** The first line that it is for, counted from 1; undefined where the patch names none. */
  readonly oldStart: number | undefined;
  /** Lines with what becomes of them: ` ` stays, `-` goes, `+` comes. Without their line breaks. */
  readonly lines: readonly string[];
  /** How many of its last lines stand there as empty ones: of the file, by the patch's counts, or but the patch's own end. */
  readonly emptyEnd: number;
  /** That the last line before, and the last line after, has no line break, being the last of its file. */
  readonly oldWithoutBreak: boolean;
  readonly newWithoutBreak: boolean;
}

/** What a patch does to one file. */
export interface FilePatch {
  /** Where it was; undefined makes a new file. */
  readonly from: string | undefined;
  /** Where it will be; undefined deletes it. */
  readonly to: string | undefined;
  /** That `from` stays where it is. */
  readonly isCopy: boolean;
  /** Whether it is to be a program; undefined where the patch does not say. */
  readonly executable: boolean | undefined;
  readonly hunks: readonly Hunk[];
}

/** A patch that cannot be read, or that asks for what is not done. */
export class PatchError extends Error {
  override readonly name = 'PatchError';

  constructor(
    readonly code: 'patch-invalid' | 'patch-unsupported',
    message: string,
  ) {
    super(message);
  }
}
