import type { Command } from 'commander';
import type { ExitCode } from '../exit-codes.js';
import type { Session } from '../session.js';

/**
 * Makes a command's body what commander calls: the body gets the session, then the command's arguments and its own
 * options, and returns an exit code where it is not 0.
 */
export type Action = <Args extends unknown[]>(
  body: (session: Session, ...args: Args) => Promise<ExitCode | undefined>,
) => (...args: [...Args, Command]) => Promise<void>;

/** Adds commands to the program. */
export type Register = (program: Command, action: Action) => void;
