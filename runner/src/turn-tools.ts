import { isSandboxTool } from '@suzumio/protocol/tool-names';
import type { SandboxCaller } from './sandbox/sandbox-caller.js';
import type { Toolpacks } from './toolpacks/toolpacks.js';
import type { ToolResult } from './tools/tool-answer.js';
import type { ToolCaller } from './tools/tool-client.js';

/** The tools of one turn: those of the sandbox and of local toolpacks where they are, all others through the door. */
export class TurnTools implements ToolCaller {
  #sandbox: Promise<SandboxCaller> | undefined;

  constructor(
    private readonly others: ToolCaller,
    private readonly toolpacks: Toolpacks | undefined,
    private readonly openSandbox: () => Promise<SandboxCaller>,
  ) {}

  async call(tool: string, input: unknown, step: string, unfilled?: unknown): Promise<ToolResult> {
    if (this.toolpacks?.has(tool)) return this.toolpacks.call(tool, input, step, unfilled);
    if (!isSandboxTool(tool)) return this.others.call(tool, input, step, unfilled);
    this.#sandbox ??= this.openSandbox();
    return (await this.#sandbox).call(tool, input, step, unfilled);
  }

  /** Does a turn's work, and ends what it has left running. */
  async during<Result>(work: () => Promise<Result>): Promise<Result> {
    try {
      return await work();
    } finally {
      this.toolpacks?.close();
      await (await this.#sandbox?.catch(() => undefined))?.close();
    }
  }
}
