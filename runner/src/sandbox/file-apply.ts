import { spawn } from 'node:child_process';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { patchFiles } from './file-patch.js';
import { SandboxRefusal } from './paths/refusal.js';
import type { Sandbox, SandboxCall, SandboxResponse } from './sandbox.js';
import { legible } from './text/legible.js';

const maxErrorBytes = 4000;

/** Applies a published patch: all of it, or nothing. */
export async function applyArtifact(
  { artifact: name }: SandboxInput<'file.apply'>,
  sandbox: Sandbox,
  { artifact, signal }: SandboxCall,
): Promise<SandboxResponse> {
  if (!artifact) {
    const message = `Nothing is published as ${JSON.stringify(name)}; artifacts.list shows what is.`;
    throw new SandboxRefusal('artifact-unknown', message);
  }
  if (artifact.kind !== 'file') {
    throw new SandboxRefusal('not-a-file', `${artifact.name} is a directory: artifacts.read with "to" writes it.`);
  }
  const { fileBytes } = sandbox.limits;
  if (artifact.sizeBytes > fileBytes) {
    throw new SandboxRefusal('file-too-large', `${artifact.name} has more than ${fileBytes} bytes.`);
  }
  const bytes = await sandbox.fetch(artifact.sha256, fileBytes);
  const text = textOf(bytes);
  try {
    if (text !== undefined) return await patchFiles({ patch: text, replaceAll: false }, sandbox);
  } catch (error) {
    if (!(error instanceof SandboxRefusal) || error.code !== 'patch-unsupported') throw error;
  }
  await gitApply(bytes, sandbox, signal);
  return { output: `Applied ${artifact.name}.`, metadata: { artifact: artifact.id } };
}

/** Git also reads patches of binary files, modes and links. It writes all of one or nothing, and nothing outside the directory. */
async function gitApply(bytes: Buffer, { roots, env }: Sandbox, signal: AbortSignal): Promise<void> {
  const child = spawn('git', ['apply', '--whitespace=nowarn'], {
    cwd: roots.workspacePath,
    env,
    stdio: ['pipe', 'ignore', 'pipe'],
    signal,
    killSignal: 'SIGKILL',
  });
  let said = Buffer.alloc(0);
  child.stderr.on('data', (more: Buffer) => {
    said = Buffer.concat([said, more]).subarray(0, maxErrorBytes);
  });
  // It may end before it has read all.
  child.stdin.on('error', () => undefined);
  child.stdin.end(bytes);
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? new SandboxRefusal('program-missing', 'git is not in this image, and only git applies this patch.')
          : error,
      ),
    );
    child.once('close', resolve);
  });
  if (code === 0) return;
  throw new SandboxRefusal('patch-mismatch', `Nothing was changed. git says: ${legible(said).trim()}`);
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
