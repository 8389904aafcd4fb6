import * as z from 'zod';
import { attachment } from './artifacts.js';
import { maxFailureChars, toldByRunner } from './failure-codes.js';
import { shownImage } from './images.js';
import { agentId, priority, projectId, toolStep, turnId } from './ids.js';
import { chatMessage } from './model-chat.js';
import { mockScript } from './mock-script.js';
import { messageKind } from './message-kind.js';
import { isShallow, tooDeep } from './nesting.js';
import { repository } from './repository.js';
import { sharedRepository } from './shared-repository.js';
import { toolpackId } from './toolpacks/manifest.js';

/** The version of the contract between worker and runner. A runner may ignore every optional field. */
export const runnerProtocol = 1;

/** A tool's definition for a model. */
export const toolDefinition = z.object({
  name: z.string(),
  description: z.string(),
  inputSchema: z.record(z.string(), z.unknown()),
});
export type ToolDefinition = z.infer<typeof toolDefinition>;

/** What the runner does: `mock` plays a script, `ai` calls a model. */
export const runnerConfig = z.discriminatedUnion('mode', [
  z.object({ mode: z.literal('mock'), script: mockScript.optional() }),
  z.object({
    mode: z.literal('ai'),
    /** The preset that answers. */
    model: z.string().optional(),
    /** How many tokens a conversation may have. */
    contextLimit: z.int().positive().optional(),
    maxSteps: z.int().positive().optional(),
    /** Whether its models see images. */
    vision: z.boolean().optional(),
  }),
]);

/** A message of this turn's prompt, as data. */
export const turnMail = z.object({
  id: z.string(),
  sender: z.string(),
  recipient: z.string().optional(),
  channel: z.string().optional(),
  priority,
  kind: messageKind,
  threadId: z.string(),
  /** The message that it answers. */
  replyTo: z.string().optional(),
  body: z.string(),
  createdAt: z.iso.datetime(),
  /** The attached artifacts, for `artifacts.read`. */
  attachments: z.array(attachment).optional(),
});
export type TurnMail = z.infer<typeof turnMail>;

/** A local toolpack, where the sandbox finds it: the tools that the agent may use, and the module that carries them out. */
export const loadedToolpack = z.object({
  id: toolpackId,
  module: z.string(),
  tools: z.array(z.string()),
});
export type LoadedToolpack = z.infer<typeof loadedToolpack>;

/** The content of `input.json`. Optional fields go beyond the minimal contract; a runner may ignore them. */
export const runnerTurnInput = z.object({
  project: projectId,
  agent: z.object({
    id: agentId,
    role: z.string(),
    prompt: z.string(),
    model: z.string().optional(),
    base: z.string().optional(),
    displayName: z.string().optional(),
  }),
  turn: z.object({
    id: turnId,
    prompt: z.string(),
    number: z.int().positive().optional(),
    attempt: z.int().positive().optional(),
    mail: z.array(turnMail).optional(),
    /** The system prompt. */
    system: z.string().optional(),
  }),
  /** The agent's earlier turns, as shown to its model. */
  history: z
    .object({
      /** Notes on the turns before those. */
      summary: z.string().optional(),
      /** Turns between the notes and those in full: first, new notes have to be made of the notes and these. */
      compact: z.string().optional(),
      messages: z.array(chatMessage),
    })
    .optional(),
  /** The runner's path of the workspace. */
  workspace: z.string(),
  /** The repository that the workspace began as a clone of. */
  repository: repository.optional(),
  /** The repository that the project's agents share. */
  shared: sharedRepository.optional(),
  /** The runner's address of the door. */
  controllerUrl: z.string(),
  /** The secret of this attempt, sent as `Authorization: Bearer`. */
  token: z.string(),
  runner: runnerConfig,
  tools: z.array(toolDefinition),
  /**
   * What its steps in the sandbox may use beside the workspace. Where it is there, they are begun and ended with the ToolHost.
   */
  sandbox: z
    .object({
      mounts: z.array(
        z.object({
          path: z.string(),
          readonly: z.boolean(),
          /** The path by which an agent knows it, where that is another. */
          as: z.string().optional(),
        }),
      ),
      /** The local toolpacks of its tools, whose modules it loads. */
      toolpacks: z.array(loadedToolpack).max(100).optional(),
      /** What the model is told with the result of its first step. */
      notes: z.array(z.string().max(1_000)).max(8).optional(),
    })
    .optional(),
  protocol: z.int().optional(),
  limits: z.object({ timeoutMs: z.int().positive(), doorPatienceMs: z.int().positive() }).optional(),
});
export type RunnerTurnInput = z.infer<typeof runnerTurnInput>;

/** Limits usage, which is shown with its turn. */
const maxUsageCharacters = 16 * 1024;

/** The stored output of a completed turn. */
export const turnOutput = z.object({
  text: z.string().max(1_000_000),
  usage: z
    .record(z.string(), z.unknown())
    .refine(isShallow, { error: tooDeep, abort: true })
    .refine((usage) => JSON.stringify(usage).length <= maxUsageCharacters, {
      error: `at most ${String(maxUsageCharacters)} characters as JSON`,
    })
    .optional(),
});
export type TurnOutput = z.infer<typeof turnOutput>;

/**
 * The content of `output.json`, written under another name first and then renamed. With a `failure` the turn has
 * failed.
 */
export const runnerTurnOutput = turnOutput.extend({
  failure: z.object({ code: toldByRunner, message: z.string().max(maxFailureChars) }).optional(),
});
export type RunnerTurnOutput = z.infer<typeof runnerTurnOutput>;

/** The largest `output.json` that is read. */
export const maxOutputBytes = 4 * 1024 * 1024;

/** The most members of all its lists and objects: the cost of parsing grows with them. */
export const maxOutputMembers = 20_000;

/** The body of `POST /tool`. Without `step`, the step is the call's number within the attempt. */
export const toolRequest = z.object({
  project: projectId,
  agent: agentId,
  turn: turnId,
  tool: z.string().min(1).max(100),
  input: z.unknown().refine(isShallow, tooDeep),
  step: toolStep.optional(),
  /**
   * Of a script's call whose input names the attempt: the input with that left as a placeholder. The journal recognises the call
   * by it, for the input is another in each attempt.
   */
  unfilled: z.unknown().refine(isShallow, tooDeep).optional(),
});
export type ToolRequest = z.infer<typeof toolRequest>;

/** A successful answer of `POST /tool`; a failed call answers a problem document. */
export const toolResponse = z.object({
  output: z.unknown(),
  title: z.string().optional(),
  metadata: z.record(z.string(), z.unknown()).optional(),
  /** An image that the call shows: questions of this turn may refer to it as `/content/<sha256>`. */
  image: shownImage.optional(),
  /** Whether this call ends the turn: then the runner writes its output and exits. */
  endTurn: z.boolean().optional(),
});
export type ToolResponse = z.infer<typeof toolResponse>;
