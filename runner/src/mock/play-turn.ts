import { setTimeout as sleep } from 'node:timers/promises';
import type { MockStep } from '@suzumio/protocol/mock-script';
import type { RunnerTurnInput, RunnerTurnOutput } from '@suzumio/protocol/runner';
import { SandboxRefusal } from '../sandbox/paths/refusal.js';
import type { LiveOutput } from '../live/live-output.js';
import type { SandboxStep, SandboxSteps } from '../sandbox/sandbox-steps.js';
import type { ToolCaller } from '../tools/tool-client.js';
import { openForWriting, WorkspacePathError } from '../tools/workspace-path.js';
import { TurnFailure } from '../turn-failure.js';
import { findRule } from './find-rule.js';
import type { ProcessControl } from './process-control.js';
import { runCommand } from './run-command.js';
import {
  fillCommand,
  fillTemplate,
  fillValue,
  scopeOf,
  scopeOfTurn,
  type TemplateScope,
  UnknownPlaceholder,
} from './template.js';

/** The environment of a script's steps. */
export interface Stage {
  readonly tools: ToolCaller;
  readonly steps: Pick<SandboxSteps, 'take'>;
  readonly control: ProcessControl;
  /** The environment of commands. */
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly log: (text: string | Buffer) => void;
  /** Tells followers of the turn what its commands print. */
  readonly live: Pick<LiveOutput, 'add' | 'ended'>;
}

/** The result of a step. */
interface StepResult {
  readonly output?: unknown;
  /** A part of the turn's text. */
  readonly text?: string;
  readonly endTurn?: boolean;
}

/** Plays the script's rule for this turn. Throws a {@link TurnFailure} that names the step which failed. */
export async function playTurn(input: RunnerTurnInput, stage: Stage): Promise<RunnerTurnOutput> {
  const rule = input.runner.mode === 'mock' ? findRule(input.runner.script ?? [], input) : undefined;
  if (rule === undefined)
    return { text: `Read ${input.turn.mail?.length ?? 0} messages; the script has nothing to do for them.` };
  const results: StepResult[] = [];
  for (const [index, step] of rule.steps.entries()) {
    const result = await playStep(step, index, scopeOf(input, results), input, stage);
    results.push(result);
    if (result.endTurn === true) break;
  }
  return { text: results.flatMap(({ text }) => text ?? []).join('\n') };
}

async function playStep(
  step: MockStep,
  index: number,
  scope: TemplateScope,
  input: RunnerTurnInput,
  stage: Stage,
): Promise<StepResult> {
  try {
    return await perform(step, index, scope, input, stage);
  } catch (error) {
    if (error instanceof UnknownPlaceholder || error instanceof WorkspacePathError || error instanceof TurnFailure) {
      const exitCode = error instanceof TurnFailure ? error.exitCode : undefined;
      throw new TurnFailure(`step ${index} (${Object.keys(step)[0] ?? ''}): ${error.message}`, exitCode, {
        cause: error,
      });
    }
    throw error;
  }
}

async function perform(
  step: MockStep,
  index: number,
  scope: TemplateScope,
  input: RunnerTurnInput,
  stage: Stage,
): Promise<StepResult> {
  if ('run' in step) {
    const { command, variables } = fillCommand(step.run.command, scope);
    const env = { ...stage.env, ...variables };
    const { timeoutMs } = step.run;
    const bounds = timeoutMs === undefined ? {} : { timeoutMs };
    const asked = recognised({ command, variables, ...bounds }, () => ({
      command,
      variables: fillCommand(step.run.command, scopeOfTurn(scope)).variables,
      ...bounds,
    }));
    const place = `${index}.0`;
    const run = () =>
      runCommand({ command, cwd: input.workspace, env, timeoutMs }, (bytes, stream) => {
        stage.log(bytes);
        stage.live.add(place, stream, bytes);
      }).finally(() => stage.live.ended(place));
    return { output: await act({ tool: 'script.run', ...asked, step: place }, run, input, stage) };
  }
  if ('write' in step) {
    const [path, content] = [fillTemplate(step.write.path, scope), fillTemplate(step.write.text, scope)];
    const write = () => writeText(input.workspace, path, content);
    const asked = recognised({ path, content }, () => ({
      path: fillTemplate(step.write.path, scopeOfTurn(scope)),
      content: fillTemplate(step.write.text, scopeOfTurn(scope)),
    }));
    await act({ tool: 'script.write', ...asked, step: `${index}.0` }, write, input, stage);
    return {};
  }
  if ('tool' in step) return callTool(step, index, scope, stage.tools);
  if ('wait' in step) await sleep(step.wait);
  else if ('fail' in step) throw new TurnFailure(`the script asks for exit code ${step.fail.exit}`, step.fail.exit);
  else if ('crash' in step) await stage.control.crash();
  else if ('hang' in step) await stage.control.hang();
  else return addText(step, scope);
  return {};
}

/** A step's input, and what the journal recognises it by where that is something else. */
function recognised(input: unknown, ofTurn: () => unknown): { input: unknown; unfilled?: unknown } {
  const unfilled = ofTurn();
  return JSON.stringify(unfilled) === JSON.stringify(input) ? { input } : { input, unfilled };
}

/** Does what a script says in the sandbox, on record where the ToolHost keeps it. What fails there ends the turn. */
async function act(
  asked: SandboxStep,
  work: () => Promise<string>,
  { sandbox }: RunnerTurnInput,
  { steps }: Stage,
): Promise<unknown> {
  if (!sandbox) return work();
  const result = await steps.take(asked, async () => {
    try {
      return { output: await work() };
    } catch (error) {
      if (!(error instanceof TurnFailure || error instanceof WorkspacePathError)) throw error;
      throw new SandboxRefusal('step-failed', error.message);
    }
  });
  if ('problem' in result) throw new TurnFailure(result.problem.detail);
  return result.response.output;
}

async function writeText(workspace: string, path: string, text: string): Promise<string> {
  const file = await openForWriting(workspace, path);
  try {
    await file.writeFile(text);
    return '';
  } finally {
    await file.close();
  }
}

/** Adds a text; it ends the turn if a condition of later steps does not hold. */
function addText({ text, endUnless }: Extract<MockStep, { text: string }>, scope: TemplateScope): StepResult {
  if (endUnless === undefined) return { text: fillTemplate(text, scope) };
  if (fillTemplate(endUnless.value, scope) === fillTemplate(endUnless.is, scope)) return {};
  return { text: fillTemplate(text, scope), endTurn: true };
}

async function callTool(
  step: Extract<MockStep, { tool: string }>,
  index: number,
  scope: TemplateScope,
  tools: ToolCaller,
): Promise<StepResult> {
  const { input, unfilled } = recognised(fillValue(step.input, scope), () => fillValue(step.input, scopeOfTurn(scope)));
  const result = await tools.call(step.tool, input, `${index}.0`, unfilled);
  if ('problem' in result) {
    const { code, detail } = result.problem;
    if (code === step.expectError || code === step.allowError) return { output: result.problem };
    throw new TurnFailure(`${step.tool} was refused: ${code}: ${detail}`);
  }
  if (step.expectError !== undefined)
    throw new TurnFailure(`${step.tool} was to be refused with ${step.expectError}, and was not`);
  const { output, endTurn } = result.response;
  return endTurn === true ? { output, endTurn, text: `Ended with ${step.tool}.` } : { output };
}
