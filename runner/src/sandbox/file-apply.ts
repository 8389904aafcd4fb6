import { spawn } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { AppliedArtifact } from '@suzumio/protocol/artifacts';
import { keptPartOf } from '@suzumio/protocol/kept-path';
import { knownTips, upstreamBranch, upstreamRemote } from '@suzumio/protocol/repository';
import type { SandboxInput } from '@suzumio/protocol/sandbox-tools/catalogue';
import { firstInHead } from '../work-tree/first-in-head.js';
import { GitFailed } from '../work-tree/run-git.js';
import { WorkTree } from '../work-tree/work-tree.js';
import { applyForeign } from './file-patch.js';
import { supersede } from './patch/supersede.js';
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
  try {
    return await applied(artifact, bytes, sandbox, signal);
  } catch (error) {
    if (!(error instanceof SandboxRefusal) || error.code !== 'patch-mismatch') throw error;
    const advice = await aboutBase(artifact, sandbox, signal);
    throw advice === '' ? error : new SandboxRefusal('patch-mismatch', `${error.message} ${advice}`, { cause: error });
  }
}

async function applied(
  artifact: AppliedArtifact,
  bytes: Buffer,
  sandbox: Sandbox,
  signal: AbortSignal,
): Promise<SandboxResponse> {
  const metadata = { artifact: artifact.id };
  if (artifact.earlier?.length) {
    await requireForeign(bytes, sandbox, signal);
    const undone = await supersede(artifact, bytes, sandbox, signal);
    if (undone !== undefined) {
      const output = `Applied ${artifact.name} (${artifact.id}) in the place of its earlier version ${undone}, which was taken back.`;
      return { output, metadata: { ...metadata, supersedes: undone } };
    }
  }
  const text = textOf(bytes);
  try {
    if (text !== undefined) return await applyForeign(text, sandbox);
  } catch (error) {
    if (!(error instanceof SandboxRefusal) || error.code !== 'patch-unsupported') throw error;
  }
  await requireForeign(bytes, sandbox, signal);
  await runGit(['--whitespace=nowarn'], bytes, sandbox, signal);
  return { output: `Applied ${artifact.name}.`, metadata };
}

/** What a patch is against, where that is why it does not apply: what the workspace lacks, and the next call. */
async function aboutBase({ base }: AppliedArtifact, sandbox: Sandbox, signal: AbortSignal): Promise<string> {
  const { repository, roots, env } = sandbox;
  if (base === undefined || !repository) return '';
  const has = await WorkTree.use(roots.workspacePath, { env, signal }, async (tree) =>
    tree.isClone ? firstInHead(tree, [base]) : undefined,
  ).catch((error: unknown) => {
    if (error instanceof GitFailed) return base;
    throw error;
  });
  if (has !== undefined) return '';
  const lacks = `It is against the commit ${base}, which your branch has not:`;
  return knownTips(repository).includes(base)
    ? `${lacks} bring that in, with workspace.git.refresh or git merge ${upstreamRemote}/${upstreamBranch}, and apply it then.`
    : `${lacks} the repository was not seen there before this turn, and a later turn will have it.`;
}

/**
 * Git also reads patches of binary files, modes and links. It writes all of one or nothing, nothing outside the directory, and
 * nothing into .git.
 *
 * @throws SandboxRefusal `path-kept`
 */
async function requireForeign(bytes: Buffer, sandbox: Sandbox, signal: AbortSignal): Promise<void> {
  for (const named of (await runGit(['--numstat', '-z'], bytes, sandbox, signal)).split(/[\0\t]/)) {
    const kept = keptPartOf(named);
    if (kept === undefined) continue;
    const message = `${JSON.stringify(legible(Buffer.from(named)))} is in ${kept}, into which no files of another agent are written.`;
    throw new SandboxRefusal('path-kept', message);
  }
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
