import { meantInput } from '@suzumio/protocol/checked-input';
import { inputFaults } from '@suzumio/protocol/input-faults';
import { answerOf, type PackAnswer } from '@suzumio/protocol/toolpacks/answer';
import { firstFault, inWords } from '@suzumio/protocol/toolpacks/in-words';
import { maxSupportCalls, supportPath, toolpackSignal } from '@suzumio/protocol/toolpacks/support';
import type { LoadedToolpack, RunnerTurnInput } from '@suzumio/protocol/runner';
import type { DoorClient } from '../door/door-client.js';
import { SandboxRefusal } from '../sandbox/paths/refusal.js';
import type { SandboxSteps } from '../sandbox/sandbox-steps.js';
import { withoutDoor } from '../sandbox/without-door.js';
import { jsonOf, problemOf, type ToolResult } from '../tools/tool-answer.js';
import { ModuleProcess } from './module-process.js';

export interface ToolpackHost {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (bytes: Buffer) => void;
  /** How long a call may take. @default five minutes */
  readonly callMs?: number;
}

const usualCallMs = 300_000;
const loggedBytes = 64 * 1024;

/** A call of a toolpack's tool, and how much it has asked of the controller. */
interface ToolCall {
  readonly step: string;
  readonly pack: LoadedToolpack;
  asked: number;
}

/** Carries out the tools of a turn's local toolpacks: each toolpack's by one process, from its first call on. */
export class Toolpacks {
  readonly #packs: ReadonlyMap<string, LoadedToolpack>;
  readonly #processes = new Map<string, ModuleProcess>();
  readonly #calls = new Map<number, ToolCall>();
  #count = 0;
  #closed = false;

  constructor(
    private readonly input: RunnerTurnInput,
    private readonly door: Pick<DoorClient, 'send'>,
    private readonly steps: Pick<SandboxSteps, 'take'>,
    private readonly host: ToolpackHost,
  ) {
    const packs = input.sandbox?.toolpacks ?? [];
    this.#packs = new Map(packs.flatMap((pack) => pack.tools.map((tool) => [tool, pack] as const)));
  }

  has(tool: string): boolean {
    return this.#packs.has(tool);
  }

  /** Calls one of its tools, as a step in the sandbox. */
  call(tool: string, input: unknown, step: string, unfilled?: unknown): Promise<ToolResult> {
    return this.steps.take({ tool, input, step, unfilled }, () => this.#carryOut(tool, input, step));
  }

  /** Ends its processes. */
  close(): void {
    this.#closed = true;
    for (const process of this.#processes.values()) process.close();
  }

  async #carryOut(tool: string, input: unknown, step: string): Promise<PackAnswer> {
    const pack = this.#packs.get(tool);
    if (pack === undefined) throw new Error(`no toolpack has ${tool}`);
    const schema = this.input.tools.find(({ name }) => name === tool)?.inputSchema ?? {};
    const meant = meantInput(schema, input);
    if (meant.unknown.length > 0) {
      const faults = inputFaults([], meant.unknown);
      throw new SandboxRefusal('input-invalid', `The input of ${tool} is not valid: ${faults}.`);
    }
    const call = (this.#count += 1);
    this.#calls.set(call, { step, pack, asked: 0 });
    try {
      return await this.#processOf(pack).call(call, tool, meant.input);
    } catch (error) {
      if (this.#closed) throw new SandboxRefusal('cancelled', `The turn ended while ${tool} ran.`, { cause: error });
      throw error;
    } finally {
      this.#calls.delete(call);
    }
  }

  /** One that has ended is started anew. */
  #processOf(pack: LoadedToolpack): ModuleProcess {
    const running = this.#processes.get(pack.id);
    if (running?.isOver === false) return running;
    const { project, agent, turn, workspace } = this.input;
    const { env, log, callMs = usualCallMs } = this.host;
    const started = new ModuleProcess({
      module: pack.module,
      facts: { project, agentId: agent.id, activationId: turn.id, workspace, toolpackId: pack.id },
      cwd: workspace,
      env: withoutDoor(env),
      callMs,
      loggedBytes,
      log,
      ask: (call, what) => this.#ask(call, what),
    });
    this.#processes.set(pack.id, started);
    return started;
  }

  /** Asks a toolpack's controller for a call that is under way, or records a signal of it. */
  async #ask(number: number, asks: unknown): Promise<PackAnswer> {
    const call = this.#calls.get(number);
    if (call === undefined) throw new Error('This call has ended.');
    if (call.asked === maxSupportCalls) {
      throw new Error(
        `It has called its controller and recorded signals ${String(maxSupportCalls)} times, and may not more often.`,
      );
    }
    requireSignal(asks);
    call.asked += 1;
    const { project, agent, turn, token } = this.input;
    const answer = await this.door.send({
      method: 'POST',
      path: supportPath,
      headers: { authorization: `Bearer ${token}` },
      json: {
        project,
        agent: agent.id,
        turn: turn.id,
        step: call.step,
        number: call.asked,
        toolpack: call.pack.id,
        asks,
      },
    });
    if (answer.status >= 300) {
      const { code, detail } = problemOf(answer);
      throw Object.assign(new Error(detail), { code });
    }
    const response = answerOf(jsonOf(answer));
    if ('fault' in response)
      throw new Error(`The ToolHost has answered something else than an answer: ${response.fault}`);
    return response;
  }
}

/** @throws Error what is wrong with a signal, where that is what is asked */
function requireSignal(asks: unknown): void {
  if (typeof asks !== 'object' || asks === null || !('signal' in asks)) return;
  const parsed = toolpackSignal.safeParse(asks.signal, { error: inWords });
  if (!parsed.success) throw new Error(`recordSignal: ${firstFault(parsed.error, 'the signal')}`);
}
