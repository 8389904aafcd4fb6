import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import type { BackgroundProcess } from './processes/background-processes.js';
import type { Sandbox, SandboxResponse } from './sandbox.js';
import { exitText } from './shell-exec.js';
import { lasted, printed } from './text/legible.js';

export async function readOutput(
  { handle, offset, maxOutputBytes }: SandboxInput<'shell.read'>,
  { processes }: Sandbox,
): Promise<SandboxResponse> {
  const found = processes.get(handle);
  return outputFrom(found, offset ?? found.readUpTo, maxOutputBytes);
}

/** Some of a background command's output, and how it fares. */
export async function outputFrom(found: BackgroundProcess, offset: number, most: number): Promise<SandboxResponse> {
  const { exit, output, command, startedAt } = found;
  const bytes = await output.read(offset, most);
  const next = offset + bytes.length;
  found.readUpTo = next;
  const still = exit === undefined ? 0 : command.running;
  const state =
    exit === undefined
      ? `runs for ${lasted(performance.now() - startedAt)}`
      : `${exitText(exit, ` after ${lasted(exit.durationMs)}`)}${still === 0 ? '' : `; ${still} of its processes still run`}`;
  const rest = next < output.bytes ? `; ${output.bytes - next} bytes more, from offset ${next}` : '';
  const where = bytes.length === 0 ? 'nothing new' : `bytes ${offset} to ${next}`;
  return {
    output: [`[${state}; ${where}${rest}]`, printed(bytes).replace(/\n$/, ''), output.loss && `[${output.loss}]`]
      .filter(Boolean)
      .join('\n'),
    metadata: { handle: found.handle, running: exit === undefined, exitCode: exit?.exitCode ?? null, offset: next },
  };
}
