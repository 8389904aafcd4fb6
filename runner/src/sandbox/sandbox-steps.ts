import type { AppliedArtifact } from '@suzumio/protocol/artifacts';
import { askForLess } from '@suzumio/protocol/conversation';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { writeStep } from '@suzumio/protocol/ids';
import {
  beginStepAnswer,
  endStepAnswer,
  maxStepErrorChars,
  maxStepResultBytes,
  type StepResult,
} from '@suzumio/protocol/sandbox-steps';
import type { RunnerTurnInput } from '@suzumio/protocol/runner';
import type { DoorAnswer, DoorClient } from '../door/door-client.js';
import { jsonOf, localProblem, problemOf, type ToolResult } from '../tools/tool-answer.js';
import { WriteFailed, type WriteInStep } from '../tools/call-tool.js';
import { ContentRefused } from '../tools/write-artifact.js';
import { messageOf, TurnFailure } from '../turn-failure.js';
import { SandboxRefusal } from './paths/refusal.js';
import type { SandboxResponse } from './sandbox.js';
import { StepNotes } from './step-notes.js';

/** A step in the sandbox: what is done, with what, and its place in the turn. */
export interface SandboxStep {
  readonly tool: string;
  readonly input: unknown;
  readonly step: string;
  /** What the journal recognises it by instead of its input. */
  readonly unfilled?: unknown;
}

/** Carries out a step, which may have been given an artifact. */
type Act = (artifact: AppliedArtifact | undefined) => Promise<SandboxResponse>;

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
   * Takes a step. Whatever `act` throws is what came of it, and told; only a {@link TurnFailure} ends the turn.
   *
   * @returns the result on record; a step whose effects are in the workspace already is not taken again
   */
  async take({ tool, input, step, unfilled }: SandboxStep, act: Act): Promise<ToolResult> {
    const begun = await this.#send('/tool/begin', {
      tool,
      input,
      step,
      ...(unfilled === undefined ? {} : { unfilled }),
    });
    if (begun.status >= 300) return { problem: problemOf(begun) };
    const answer = beginStepAnswer.safeParse(jsonOf(begun));
    if (!answer.success) throw new TurnFailure(`the answer to the beginning of ${tool} is none`);
    if ('result' in answer.data) {
      this.#notes.note(tool, answer.data.result);
      return resultOf(answer.data.result);
    }
    const { artifact } = answer.data;
    const result = this.#notes.addedTo(await outcomeOf(tool, () => act(artifact)));
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
  readonly write: WriteInStep = ({ tool, input, step, unfilled }, write) =>
    this.take({ tool, input, unfilled, step: writeStep(step) }, async () => {
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

/** The most of a result, in characters and as JSON; the rest of what a ToolHost takes is for what is told besides. */
const maxErrorChars = maxStepErrorChars / 2;
const maxResultBytes = maxStepResultBytes / 2;

async function outcomeOf(tool: string, act: () => Promise<SandboxResponse>): Promise<StepResult> {
  try {
    const { output, title, metadata, image } = await act();
    return bounded({
      output,
      ...(title === undefined ? {} : { title }),
      ...(metadata === undefined ? {} : { metadata }),
      ...(image === undefined ? {} : { image }),
    });
  } catch (error) {
    if (error instanceof TurnFailure) throw error;
    const { code, message } = error instanceof SandboxRefusal ? error : defectOf(tool, error);
    return { error: { code, message: beginningOf(message, maxErrorChars) } };
  }
}

/** What a tool broke with, as the model is told: the turn goes on without it. */
function defectOf(tool: string, error: unknown): SandboxRefusal {
  const message = `${tool} failed, by a defect of its own: ${messageOf(error)}. Try another way.`;
  return new SandboxRefusal('tool-failed', message);
}

/** A result that a ToolHost takes. What was done is done, so one that says too much of it is cut. */
function bounded(result: Exclude<StepResult, { error: unknown }>): StepResult {
  if (Buffer.byteLength(JSON.stringify(result)) <= maxResultBytes) return result;
  // A character may be six bytes of JSON.
  const { image } = result;
  const beginning = beginningOf(result.output, maxResultBytes / 8);
  return {
    ...(image === undefined ? {} : { image }),
    output: `${beginning}
[cut: ${result.output.length - beginning.length} more characters; ${askForLess}]`,
  };
}

function resultOf(result: StepResult): ToolResult {
  if (!('error' in result)) return { response: result };
  const { code, message } = result.error;
  return { problem: localProblem(422, code, message) };
}
