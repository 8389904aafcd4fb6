import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import { keptPartOf } from '@suzumio/protocol/kept-path';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { applyForeign } from './file-patch.js';
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
    if (text !== undefined) return await applyForeign(text, sandbox);
  } catch (error) {
    if (!(error instanceof SandboxRefusal) || error.code !== 'patch-unsupported') throw error;
  }
  await gitApply(bytes, sandbox, signal);
  return { output: `Applied ${artifact.name}.`, metadata: { artifact: artifact.id } };
}

/** Git also reads patches of binary files, modes and links. It writes all of one or nothing, and nothing outside the directory. */
async function gitApply(bytes: Buffer, sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  // Git itself writes nothing into .git.
  for (const named of (await runGit(['--numstat', '-z'], bytes, sandbox, signal)).split(/[\0\t]/)) {
    const kept = keptPartOf(named);
    if (kept === undefined) continue;
    const message = `${JSON.stringify(legible(Buffer.from(named)))} is in ${kept}, into which no files of another agent are written.`;
    throw new SandboxRefusal('path-kept', message);
  }
  await runGit(['--whitespace=nowarn'], bytes, sandbox, signal);
}

/** @returns what `git apply` printed */
async function runGit(
  args: readonly string[],
  patch: Buffer,
  { roots, env }: Sandbox,
  signal: AbortSignal,
): Promise<string> {
  const child = spawn('git', ['apply', ...args], {
    cwd: roots.workspacePath,
    env,
    stdio: 'pipe',
    signal,
    killSignal: 'SIGKILL',
  });
  const printed = kept(child.stdout, Number.POSITIVE_INFINITY);
  const said = kept(child.stderr, maxErrorBytes);
  // It may end before it has read all.
  child.stdin.on('error', () => undefined);
  child.stdin.end(patch);
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
  if (code === 0) return printed().toString('latin1');
  throw new SandboxRefusal('patch-mismatch', `Nothing was changed. git says: ${legible(said()).trim()}`);
}

/** Keeps the beginning of what a stream brings. What git prints of a patch is shorter than the patch. */
function kept(stream: Readable, maxBytes: number): () => Buffer {
  const chunks: Buffer[] = [];
  let bytes = 0;
  stream.on('data', (chunk: Buffer) => {
    if (bytes < maxBytes) chunks.push(chunk);
    bytes += chunk.length;
  });
  return () => Buffer.concat(chunks).subarray(0, maxBytes);
}

function textOf(bytes: Buffer): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
}
