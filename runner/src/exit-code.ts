import { exitCodes, TurnFailure } from './turn-failure.js';

/** Runs a program and returns its exit code; prints on stderr why it failed. */
export async function exitCodeOf(
  program: string,
  stderr: NodeJS.WritableStream,
  work: () => Promise<number>,
): Promise<number> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof TurnFailure) {
      stderr.write(`${program}: ${error.message}\n`);
      return error.exitCode;
    }
    stderr.write(`${program}: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
    return exitCodes.internal;
  }
}
