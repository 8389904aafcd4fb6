import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import type { Sandbox, SandboxResponse } from './sandbox.js';
import { outputFrom } from './shell-read.js';

const maxOutputBytes = 40_000;

export async function stop({ handle }: SandboxInput<'shell.stop'>, { processes }: Sandbox): Promise<SandboxResponse> {
  const found = processes.get(handle);
  await found.command.stop();
  // Its end is told by what waits for it.
  found.exit ??= await found.command.exited;
  return outputFrom(found, found.readUpTo, maxOutputBytes);
}
