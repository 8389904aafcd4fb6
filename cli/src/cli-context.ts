import type { Environment } from '@suzumio/core/config/environment';

/** Where text goes: a terminal or a pipe. */
export interface Output {
  write(text: string | Uint8Array): void;
  /** Resolves when more may be written without piling up. */
  drained(): Promise<void>;
  /** Whether a person sees it as it is written. */
  readonly isTerminal: boolean;
  readonly colors: boolean;
  /** How wide a line may be; undefined where nothing bounds it. */
  readonly columns: number | undefined;
}

/** The world outside the command, passed in so that a test can hold it still. */
export interface CliContext {
  readonly env: Environment;
  readonly homeDir: string;
  readonly out: Output;
  readonly err: Output;
  /** How the person calls this command: the beginning of every command that is suggested. */
  readonly self: string;
  /** Aborted when the person wants an end (Ctrl-C, SIGTERM). */
  readonly interrupted: AbortSignal;
  /**
   * Asks the person something and returns the answer; undefined without a terminal. Rejects when there
   * will be no answer.
   */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  /** The time zone in which times are shown; the machine's own where it is undefined. */
  readonly timeZone: string | undefined;
}
