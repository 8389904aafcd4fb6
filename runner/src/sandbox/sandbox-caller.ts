import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { SandboxToolName } from '@suzumio/protocol/tool-names';
import type { DoorClient } from '../door/door-client.js';
import type { ToolResult } from '../tools/tool-answer.js';
import { ArtifactWriter, ContentRefused } from '../tools/write-artifact.js';
import { SandboxRefusal } from './paths/refusal.js';
import { Roots } from './paths/roots.js';
import { BackgroundProcesses } from './processes/background-processes.js';
import { runSandboxTool } from './run-sandbox-tool.js';
import { type Sandbox, usualLimits } from './sandbox.js';
import type { SandboxSteps } from './sandbox-steps.js';
import { withoutDoor } from './without-door.js';

type Environment = Readonly<Record<string, string | undefined>>;

/** Calls the tools of one turn's sandbox. */
export class SandboxCaller {
  readonly #over = new AbortController();

  private constructor(
    private readonly steps: SandboxSteps,
    private readonly sandbox: Sandbox,
  ) {}

  static async open(
    { workspace, sandbox, token, repository }: RunnerTurnInput,
    door: DoorClient,
    steps: SandboxSteps,
    host: { readonly env: Environment } & Pick<Sandbox, 'log' | 'live' | 'show'>,
  ): Promise<SandboxCaller> {
    const mounts = (sandbox?.mounts ?? []).map(({ path, readonly, as }) => ({ path, writable: !readonly, as }));
    const artifacts = new ArtifactWriter(door, `Bearer ${token}`, workspace);
    const opened: Sandbox = {
      roots: await Roots.of([{ path: workspace, writable: true }, ...mounts]),
      repository,
      env: withoutDoor(host.env),
      limits: usualLimits,
      processes: new BackgroundProcesses(),
      fetch: (sha256, maxBytes) => fetched(artifacts, sha256, maxBytes),
      log: host.log,
      live: host.live,
      show: host.show,
    };
    return new SandboxCaller(steps, opened);
  }

  call(tool: SandboxToolName, input: unknown, step: string, unfilled?: unknown): Promise<ToolResult> {
    const { signal } = this.#over;
    return this.steps.take({ tool, input, step, unfilled }, (artifact) =>
      runSandboxTool(tool, input, this.sandbox, { step, artifact, signal }),
    );
  }

  /** Ends whatever still runs. */
  async close(): Promise<void> {
    this.#over.abort();
    await this.sandbox.processes.close();
  }
}

async function fetched(artifacts: ArtifactWriter, sha256: string, maxBytes: number): Promise<Buffer> {
  try {
    return await artifacts.read(sha256, maxBytes);
  } catch (error) {
    if (!(error instanceof ContentRefused)) throw error;
    throw new SandboxRefusal('artifact-unknown', error.message, { cause: error });
  }
}
