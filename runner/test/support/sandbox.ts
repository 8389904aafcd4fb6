import { mkdir, mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { AppliedArtifact } from '@suzumio/protocol/artifacts';
import type { Repository } from '@suzumio/protocol/repository';
import type { SandboxToolName } from '@suzumio/protocol/tool-names';
import { SandboxRefusal } from '@suzumio/runner/sandbox/paths/refusal';
import { Roots } from '@suzumio/runner/sandbox/paths/roots';
import { BackgroundProcesses } from '@suzumio/runner/sandbox/processes/background-processes';
import { runSandboxTool } from '@suzumio/runner/sandbox/run-sandbox-tool';
import { type Sandbox, type SandboxLimits, type SandboxResponse, usualLimits } from '@suzumio/runner/sandbox/sandbox';

/** A sandbox in a directory of its own: a workspace, a read-only mount, and something outside. */
export interface TestSandbox {
  readonly root: string;
  readonly workspace: string;
  readonly mount: string;
  readonly outside: string;
  readonly sandbox: Sandbox;
  readonly logged: () => string;
  readonly run: (
    tool: SandboxToolName,
    input: unknown,
    call?: { step?: string; signal?: AbortSignal; artifact?: Buffer; applied?: Partial<AppliedArtifact> },
  ) => Promise<SandboxResponse>;
  /** What a call is refused with. */
  readonly refused: (
    tool: SandboxToolName,
    input: unknown,
    call?: { artifact?: Buffer; applied?: Partial<AppliedArtifact> },
  ) => Promise<{ code: string; message: string }>;
  /** Has content served, as of an artifact. */
  readonly publish: (sha256: string, bytes: Buffer) => void;
  readonly remove: () => Promise<void>;
}

export interface TestSandboxOptions {
  readonly limits?: Partial<SandboxLimits>;
  readonly env?: Record<string, string>;
  readonly byDescriptor?: boolean;
  /** What the workspace was cloned from. */
  readonly repository?: Repository;
  /** What an image is stored by, where the turn's model sees. */
  readonly show?: Sandbox['show'];
}

export async function createSandbox({
  limits,
  env,
  byDescriptor,
  repository,
  show,
}: TestSandboxOptions = {}): Promise<TestSandbox> {
  const root = await realpath(await mkdtemp(join(tmpdir(), 'suzumio-sandbox-')));
  const [workspace, mount, outside] = [join(root, 'workspace'), join(root, 'mount'), join(root, 'outside')];
  for (const directory of [workspace, mount, outside]) await mkdir(directory);
  const chunks: Buffer[] = [];
  const published = new Map<string, Buffer>();
  const sandbox: Sandbox = {
    roots: await Roots.of(
      [
        { path: workspace, writable: true },
        { path: mount, writable: false },
      ],
      byDescriptor,
    ),
    repository,
    env: { PATH: process.env['PATH'], HOME: root, ...env },
    limits: { ...usualLimits, ...limits },
    processes: new BackgroundProcesses(2),
    fetch: (sha256) => Promise.resolve(published.get(sha256) ?? Buffer.alloc(0)),
    log: (bytes) => chunks.push(bytes),
    live: { add: () => undefined, ended: () => undefined },
    show,
  };
  let calls = 0;
  const run: TestSandbox['run'] = (tool, input, { step, signal, artifact, applied } = {}) => {
    calls += 1;
    const sha256 = `content-${calls}`;
    if (artifact) published.set(sha256, artifact);
    const handed = { id: 'art_1', name: 'a.patch', kind: 'file' as const, files: 1, sha256 };
    return runSandboxTool(tool, input, sandbox, {
      step: step ?? `${calls}.0`,
      artifact: artifact && { ...handed, sizeBytes: artifact.length, ...applied },
      signal: signal ?? new AbortController().signal,
    });
  };
  return {
    root,
    workspace,
    mount,
    outside,
    sandbox,
    logged: () => Buffer.concat(chunks).toString(),
    run,
    publish: (sha256, bytes) => published.set(sha256, bytes),
    refused: async (tool, input, call) => {
      try {
        const { output } = await run(tool, input, call);
        return { code: 'not-refused', message: output };
      } catch (error) {
        if (!(error instanceof SandboxRefusal)) throw error;
        return { code: error.code, message: error.message };
      }
    },
    remove: async () => {
      await sandbox.processes.close();
      await rm(root, { recursive: true, force: true });
    },
  };
}

/** What the environment of a turn says of Git: the remote of its repository, and its author. */
export const remoteOf = (upstream: string) => ({
  GIT_CONFIG_COUNT: '4',
  GIT_CONFIG_KEY_0: 'remote.upstream.url',
  GIT_CONFIG_VALUE_0: upstream,
  GIT_CONFIG_KEY_1: 'remote.upstream.fetch',
  GIT_CONFIG_VALUE_1: '+refs/heads/main:refs/remotes/upstream/tip',
  GIT_CONFIG_KEY_2: 'user.name',
  GIT_CONFIG_VALUE_2: 'dev',
  GIT_CONFIG_KEY_3: 'user.email',
  GIT_CONFIG_VALUE_3: 'dev@suzumio.invalid',
});
