import { spawn } from 'node:child_process';
import { constants } from 'node:os';
import { messageOf, TurnFailure } from '../turn-failure.js';

const forwarded = ['SIGTERM', 'SIGINT', 'SIGHUP', 'SIGQUIT', 'SIGUSR1', 'SIGUSR2'] as const;

/**
 * Runs the image's own command and returns the exit code to leave with: the child's own, or 128 and its signal's number.
 * The child's stdout goes to stderr, for ours may be the door, and signals to this process go on to the child.
 */
export function runChild(self: NodeJS.Process, command: string, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    // Before the child is there: a signal that comes right after its start must not end this process alone.
    for (const signal of forwarded) self.on(signal, () => child.kill(signal));
    const child = spawn(command, args, { stdio: ['ignore', 2, 2] });
    child.on('error', (error) => {
      // As a shell has it: 127 where there is no such command, 126 where it cannot be run.
      const code = 'code' in error && error.code === 'ENOENT' ? 127 : 126;
      reject(new TurnFailure(`the image's command ${command} could not be started: ${messageOf(error)}`, code));
    });
    child.on('exit', (code, signal) => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
  });
}
