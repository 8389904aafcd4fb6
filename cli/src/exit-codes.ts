import { isSuzumioError } from '@suzumio/contract/errors/suzumio-error';
import { UsageError } from './usage-error.js';

/** What the command's exit code says. Stable: scripts decide by it. */
export const exitCodes = {
  /** Done. */
  ok: 0,
  /** Something failed on Suzumio's side, or a check found something broken. */
  failed: 1,
  /** The command was written wrongly; nothing was tried. */
  usage: 2,
  /** What was asked cannot be done as asked: an invalid file, an unknown project, a transition that is refused. */
  refused: 3,
  /** No server is running, or none answers. */
  unreachable: 4,
  /** What was waited for has not come in time, and may still come. */
  timedOut: 5,
} as const;

export type ExitCode = (typeof exitCodes)[keyof typeof exitCodes];

/** The exit code for something that was thrown. */
export function exitCodeOf(error: unknown): ExitCode {
  if (error instanceof UsageError) return exitCodes.usage;
  if (!isSuzumioError(error)) return exitCodes.failed;
  if (error.code === 'server-unreachable') return exitCodes.unreachable;
  return error.status < 500 ? exitCodes.refused : exitCodes.failed;
}
