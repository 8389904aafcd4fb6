import { spawn } from 'node:child_process';
import { TurnFailure } from '../turn-failure.js';

/** A shell command of a script. */
export interface Command {
  readonly command: string;
  readonly cwd: string;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly timeoutMs: number | undefined;
}

/** How much of a command's output later steps see; the log has all of it. */
export const maxCommandOutputBytes = 64 * 1024;

const errorTailBytes = 2000;

/**
 * Runs `sh -c` and returns what it printed, without the last line break. Its output and errors go to `log` too; its stdin
 * is empty, for ours may be the door. Throws a {@link TurnFailure} where it does not exit with 0.
 */
export function runCommand(
  { command, cwd, env, timeoutMs }: Command,
  log: (bytes: Buffer, stream: 'stdout' | 'stderr') => void,
): Promise<string> {
  return new Promise((resolve, reject) => {
    const child = spawn('sh', ['-c', command], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] });
    const output: Buffer[] = [];
    let outputBytes = 0;
    let errors = Buffer.alloc(0);
    child.stdout.on('data', (bytes: Buffer) => {
      log(bytes, 'stdout');
      if (outputBytes < maxCommandOutputBytes) output.push(bytes.subarray(0, maxCommandOutputBytes - outputBytes));
      outputBytes += bytes.length;
    });
    child.stderr.on('data', (bytes: Buffer) => {
      log(bytes, 'stderr');
      errors = Buffer.concat([errors, bytes]).subarray(-errorTailBytes);
    });
    const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs);
    function stop(): void {
      child.kill('SIGKILL');
      child.stdout.destroy();
      child.stderr.destroy();
      reject(new TurnFailure(`the command took longer than ${timeoutMs ?? 0} ms`));
    }
    child.on('error', (error) => {
      clearTimeout(timer);
      reject(new TurnFailure(`the command could not be started: ${error.message}`));
    });
    child.on('close', (code, signal) => {
      clearTimeout(timer);
      const end = code === null ? `was ended by ${signal ?? 'a signal'}` : `exited with ${code}`;
      if (code === 0) resolve(textOf(output, outputBytes));
      else
        reject(
          new TurnFailure(`the command ${end}${errors.length > 0 ? `: ${errors.toString('utf8').trimEnd()}` : ''}`),
        );
    });
  });
}

function textOf(output: readonly Buffer[], outputBytes: number): string {
  const text = Buffer.concat(output)
    .toString('utf8')
    .replace(/\r?\n$/, '');
  return outputBytes > maxCommandOutputBytes ? `${text}\n[cut: ${outputBytes} bytes in all]` : text;
}
