import type { HandedArtifact } from '@suzumio/protocol/artifacts';
import { writeStep } from '@suzumio/protocol/ids';
import { beginStepAnswer, endStepAnswer, type ScriptStep, type StepResult } from '@suzumio/protocol/sandbox-steps';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { SandboxToolName } from '@suzumio/protocol/tool-names';
import type { DoorAnswer, DoorClient } from '../door/door-client.js';
import { jsonOf, localProblem, problemOf, type ToolResult } from '../tools/tool-answer.js';
import { WriteFailed, type WriteInStep } from '../tools/call-tool.js';
import { ContentRefused } from '../tools/write-artifact.js';
import { TurnFailure } from '../turn-failure.js';
import { SandboxRefusal } from './paths/refusal.js';
import type { SandboxResponse } from './sandbox.js';
import { StepNotes } from './step-notes.js';

/** A step in the sandbox: what is done, with what, and its place in the turn. */
export interface SandboxStep {
  readonly tool: SandboxToolName | ScriptStep | 'artifacts.read';
  readonly input: unknown;
  readonly step: string;
}

/** Carries out a step, which may have been given an artifact. */
type Act = (artifact: HandedArtifact | undefined) => Promise<SandboxResponse>;

/** Takes steps in the sandbox: each is on record at the ToolHost before it begins, and what came of it afterwards. */
export class SandboxSteps {
  readonly #notes: StepNotes;

  constructor(
    private readonly door: Pick<DoorClient, 'send'>,
    private readonly input: RunnerTurnInput,
  ) {
    this.#notes = new StepNotes(input.sandbox?.notes);
  }

  /**
   * Takes a step. A {@link SandboxRefusal} of `act` is what came of it; whatever else it throws ends the turn.
   *
   * @returns the result on record; a step whose effects are in the workspace already is not taken again
   */
  async take({ tool, input, step }: SandboxStep, act: Act): Promise<ToolResult> {
    const begun = await this.#send('/tool/begin', { tool, input, step });
    if (begun.status >= 300) return { problem: problemOf(begun) };
    const answer = beginStepAnswer.safeParse(jsonOf(begun));
    if (!answer.success) throw new TurnFailure(`the answer to the beginning of ${tool} is none`);
    if ('result' in answer.data) {
      this.#notes.note(tool, answer.data.result);
      return resultOf(answer.data.result);
    }
    const { artifact } = answer.data;
    const result = this.#notes.addedTo(await outcomeOf(() => act(artifact)));
    const ended = await this.#send('/tool/end', { step, result });
    if (ended.status >= 300) {
      const { code, detail } = problemOf(ended);
      throw new TurnFailure(`what came of ${tool} could not be recorded: ${code}: ${detail}`);
    }
    const recorded = endStepAnswer.safeParse(jsonOf(ended));
    if (!recorded.success) throw new TurnFailure(`the answer to the end of ${tool} is none`);
    return resultOf(recorded.data.result);
  }

  /** Writes what a call was given into the workspace, in a step of its own. */
  readonly write: WriteInStep = ({ tool, input, step }, write) =>
    this.take({ tool, input, step: writeStep(step) }, async () => {
      try {
        return { output: await write() };
      } catch (error) {
        if (!(error instanceof ContentRefused || error instanceof WriteFailed)) throw error;
        throw new SandboxRefusal('workspace-write-failed', error.message, { cause: error });
      }
    });

  #send(path: string, body: object): Promise<DoorAnswer> {
    const { project, agent, turn, token } = this.input;
    return this.door.send({
      method: 'POST',
      path,
      headers: { authorization: `Bearer ${token}` },
      json: { project, agent: agent.id, turn: turn.id, ...body },
    });
  }
}

async function outcomeOf(act: () => Promise<SandboxResponse>): Promise<StepResult> {
  try {
    const { output, metadata, image } = await act();
    return { output, ...(metadata === undefined ? {} : { metadata }), ...(image === undefined ? {} : { image }) };
  } catch (error) {
    if (!(error instanceof SandboxRefusal)) throw error;
    return { error: { code: error.code, message: error.message } };
  }
}

function resultOf(result: StepResult): ToolResult {
  if (!('error' in result)) return { response: result };
  const { code, message } = result.error;
  return { problem: localProblem(422, code, message) };
}
