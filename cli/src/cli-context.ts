import type { Environment } from '@suzumio/core/config/environment';

/** The destination of text: a terminal or a pipe. */
export interface Output {
  write(text: string | Uint8Array): void;
  /** Resolves when the output has drained. */
  drained(): Promise<void>;
  /** Whether it is a terminal. */
  readonly isTerminal: boolean;
  readonly colors: boolean;
  /** The width of a line; undefined where it is unlimited. */
  readonly columns: number | undefined;
}

/** The command's environment, passed in so that tests control it. */
export interface CliContext {
  readonly env: Environment;
  readonly homeDir: string;
  readonly out: Output;
  readonly err: Output;
  /** How this command was called: the beginning of every suggested command. */
  readonly self: string;
  /** Aborted by Ctrl-C or SIGTERM. */
  readonly interrupted: AbortSignal;
  /** Says what a second Ctrl-C does, once, instead of ending the process. @default nothing can be said */
  readonly onInsistence?: (act: () => void) => void;
  /** Asks the person and returns the answer; undefined without a terminal. Rejects when there will be no answer. */
  readonly ask: ((question: string) => Promise<string>) | undefined;
  /** The time, in milliseconds since 1970. */
  readonly now: () => number;
  /** The time zone in which times are shown; the machine's own where it is undefined. */
  readonly timeZone: string | undefined;
}
