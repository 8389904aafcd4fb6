import { beginningOf } from '@suzumio/protocol/cut-text';
import { maxFailureChars } from '@suzumio/protocol/failure-codes';
import type { RunnerTurnInput, RunnerTurnOutput } from '@suzumio/protocol/runner';
import { type Connector, connectorTo } from './door/connector.js';
import { defaultPatienceMs, DoorClient } from './door/door-client.js';
import type { GitService, openGitService } from './git/git-service.js';
import { withAuthor } from './git/git-author.js';
import { LiveOutput, reportsTo } from './live/live-output.js';
import { processControl } from './mock/process-control.js';
import { playTurn } from './mock/play-turn.js';
import type { SandboxCaller } from './sandbox/sandbox-caller.js';
import { SandboxSteps } from './sandbox/sandbox-steps.js';
import { putImage } from './tools/put-content.js';
import type { Toolpacks } from './toolpacks/toolpacks.js';
import { createToolClient, type ToolCaller } from './tools/tool-client.js';
import { TurnTools } from './turn-tools.js';
import { readTurnInput, writeTurnOutput } from './turn-files.js';
import { exitCodes, ToldFailure } from './turn-failure.js';

/** What a turn uses of its process. */
export interface TurnHost {
  readonly turnDir: string;
  readonly self: NodeJS.Process;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Writes to the turn's log. */
  readonly write: (text: string | Buffer) => void;
}

/** Runs the turn that `input.json` describes, writes `output.json` and returns the exit code. Throws a {@link TurnFailure}. */
export async function runTurn({ turnDir, self, env, write }: TurnHost): Promise<number> {
  const input = await readTurnInput(turnDir);
  const connector = connectorTo(input.controllerUrl, self);
  const patienceMs = input.limits?.doorPatienceMs ?? defaultPatienceMs;
  const door = new DoorClient(connector, { patienceMs, log: (line) => write(`suzumio-runner: ${line}\n`) });
  let git: GitService | undefined;
  try {
    const own = await withAuthor(input, turnDir, env);
    if (input.shared || input.repository?.upstream) git = await openService(input, connector, own);
    const programs = git?.env ?? own;
    const steps = new SandboxSteps(door, input);
    const show = seesImages(input) ? (image: Buffer) => putImage(door, `Bearer ${input.token}`, image) : undefined;
    const live = new LiveOutput(reportsTo(connector, input));
    const toolpacks = await openToolpacks(input, door, steps, { env: programs, log: write });
    const tools = new TurnTools(createToolClient(door, input, steps.write), toolpacks, () =>
      openSandbox(input, door, steps, { env: programs, log: write, live, show }),
    );
    const output = await tools.during(() =>
      input.runner.mode === 'mock'
        ? playTurn(input, { tools, steps, control: processControl(self), env: programs, log: write, live })
        : thinkThrough(input, connector, tools, write),
    );
    await writeTurnOutput(turnDir, output);
    return exitCodes.done;
  } catch (error) {
    if (error instanceof ToldFailure) {
      const message = beginningOf(error.message, maxFailureChars);
      await writeTurnOutput(turnDir, { text: '', failure: { code: error.code, message } });
    }
    throw error;
  } finally {
    await git?.close();
    connector.close();
  }
}

/** A script takes images as they come. */
function seesImages({ runner }: RunnerTurnInput): boolean {
  return runner.mode === 'mock' || runner.vision === true;
}

/** Loaded on demand, too: most turns call none of the sandbox's tools. */
async function openSandbox(...given: Parameters<typeof SandboxCaller.open>): Promise<SandboxCaller> {
  const { SandboxCaller } = await import('./sandbox/sandbox-caller.js');
  return SandboxCaller.open(...given);
}

/** Loaded on demand, too: most projects have no toolpacks of their own. */
async function openToolpacks(...given: ConstructorParameters<typeof Toolpacks>): Promise<Toolpacks | undefined> {
  if ((given[0].sandbox?.toolpacks ?? []).length === 0) return undefined;
  const { Toolpacks } = await import('./toolpacks/toolpacks.js');
  return new Toolpacks(...given);
}

/** Loaded on demand, too: most agents have no repository. */
async function openService(...given: Parameters<typeof openGitService>): Promise<GitService> {
  const { openGitService } = await import('./git/git-service.js');
  return openGitService(...given);
}

/** Loaded on demand: the models' client is large, and scripted turns do not need it. */
async function thinkThrough(
  input: RunnerTurnInput,
  connector: Connector,
  tools: ToolCaller,
  write: TurnHost['write'],
): Promise<RunnerTurnOutput> {
  const [{ createModelClient }, { think }] = await Promise.all([
    import('./ai/model-client.js'),
    import('./ai/think.js'),
  ]);
  const model = createModelClient(connector, {
    token: input.token,
    patienceMs: input.limits?.doorPatienceMs,
    timeoutMs: input.limits?.timeoutMs ?? longestAnswerMs,
    log: (line) => write(`suzumio-runner: ${line}\n`),
    onText: write,
  });
  return think(input, { model, tools, log: write });
}

const longestAnswerMs = 15 * 60_000;
