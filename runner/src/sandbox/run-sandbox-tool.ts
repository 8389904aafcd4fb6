import { checkedInput } from '@suzumio/protocol/checked-input';
import { type SandboxInput, sandboxTools } from '@suzumio/protocol/sandbox-tools/catalogue';
import type { SandboxToolName } from '@suzumio/protocol/tool-names';
import { applyArtifact } from './file-apply.js';
import { listFiles } from './file-list.js';
import { patchFiles } from './file-patch.js';
import { readFile } from './file-read.js';
import { searchFiles } from './file-search.js';
import { writeFile } from './file-write.js';
import { explained, SandboxRefusal } from './paths/refusal.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { execute } from './shell-exec.js';
import { readOutput } from './shell-read.js';
import { stop } from './shell-stop.js';
import { refreshWorkspace } from './workspace-refresh.js';

type Run<Name extends SandboxToolName> = (
  input: SandboxInput<Name>,
  sandbox: Sandbox,
  call: SandboxCall,
) => Promise<SandboxResponse>;

const runs: { readonly [Name in SandboxToolName]: Run<Name> } = {
  'file.read': readFile,
  'file.write': writeFile,
  'file.patch': patchFiles,
  'file.apply': applyArtifact,
  'file.list': listFiles,
  'file.search': searchFiles,
  'shell.exec': execute,
  'shell.read': readOutput,
  'shell.stop': stop,
  'workspace.git.refresh': refreshWorkspace,
};

/**
 * Carries out a call of a sandbox tool.
 *
 * @throws SandboxRefusal with a code and a sentence for the caller
 */
export async function runSandboxTool(
  name: SandboxToolName,
  input: unknown,
  sandbox: Sandbox,
  call: SandboxCall,
): Promise<SandboxResponse> {
  const checked = checkedInput(sandboxTools[name].definition, sandboxTools[name].input, input);
  if ('fault' in checked) {
    throw new SandboxRefusal('input-invalid', `The input of ${name} is not valid: ${checked.fault}.`);
  }
  try {
    return await (runs[name] as Run<SandboxToolName>)(bounded(checked.input, sandbox.limits.shownBytes), sandbox, call);
  } catch (error) {
    if (call.signal.aborted)
      throw new SandboxRefusal('cancelled', `The turn ended while ${name} ran.`, { cause: error });
    throw explained(name, error);
  }
}

/** An input that asks for no more than is shown. */
function bounded<Input extends object>(input: Input, most: number): Input {
  const bounds = Object.entries(input).filter(([name]) => name === 'maxBytes' || name === 'maxOutputBytes');
  return { ...input, ...Object.fromEntries(bounds.map(([name, value]) => [name, Math.min(Number(value), most)])) };
}
