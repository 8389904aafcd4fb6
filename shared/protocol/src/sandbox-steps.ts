import * as z from 'zod';
import { appliedArtifact } from './artifacts.js';
import { shownImage } from './images.js';
import { agentId, projectId, toolStep, turnId } from './ids.js';
import { isShallow, tooDeep } from './nesting.js';
import { toolRequest } from './runner.js';
import { sandboxRefusalCodes } from './sandbox-tools/refusals.js';

// A sandbox step acts in the turn's sandbox, where the ToolHost cannot be: it says what is to be done before it is done
// (`POST /tool/begin`), and what came of it afterwards (`POST /tool/end`).

/** What a mock script's `run` and `write` are recorded as. They need no allowlist: whoever wrote the script wrote them. */
export const scriptSteps = ['script.run', 'script.write'] as const;
export type ScriptStep = (typeof scriptSteps)[number];

export function isScriptStep(name: string): name is ScriptStep {
  return (scriptSteps as readonly string[]).includes(name);
}

/** The largest body of `POST /tool/end`. */
export const maxStepResultBytes = 512 * 1024;

/** The longest sentence of a refusal, in UTF-16 code units. */
export const maxStepErrorChars = 32 * 1024;

/** What came of a step, as its runner tells it. */
export const stepResult = z.union([
  z.strictObject({
    output: z.string(),
    title: z.string().max(400).optional(),
    metadata: z.record(z.string(), z.unknown()).refine(isShallow, tooDeep).optional(),
    /** An image that a model is shown. Its content has been put to `/content/<sha256>`. */
    image: shownImage.optional(),
  }),
  z.strictObject({
    error: z.strictObject({ code: z.enum(sandboxRefusalCodes), message: z.string().max(maxStepErrorChars) }),
  }),
]);
export type StepResult = z.infer<typeof stepResult>;

/** The body of `POST /tool/begin`: that of `POST /tool`, with a step. */
export const beginStepRequest = toolRequest.required({ step: true });

/**
 * Its answer: that the step is the runner's to carry out, with the artifact that `file.apply` names; or what came of it when
 * this attempt did.
 */
export const beginStepAnswer = z.union([
  z.strictObject({ begun: z.literal(true), artifact: appliedArtifact.optional() }),
  z.strictObject({ result: stepResult }),
]);

/** The body of `POST /tool/end`. */
export const endStepRequest = z.object({
  project: projectId,
  agent: agentId,
  turn: turnId,
  step: toolStep,
  result: stepResult,
});

/** Its answer: the result on record, which is what a model is told. */
export const endStepAnswer = z.strictObject({ result: stepResult });
