import * as z from 'zod';
import { toolStep } from './ids.js';

/** The route of a door at which a runner says what its commands print. The door answers it itself. */
export const livePath = '/live';

/** The longest text of one report, in UTF-16 units, and the most pieces of it. */
export const maxLiveChars = 16 * 1024;
export const maxLivePieces = 64;
/** The largest report: a character may be six bytes of JSON. */
export const maxLiveBytes = 128 * 1024;

/** What a command of a step printed, as far as it was told. */
export const liveOutput = z.object({
  step: toolStep,
  stream: z.enum(['stdout', 'stderr']),
  text: z.string().max(maxLiveChars),
});
export type LiveOutput = z.infer<typeof liveOutput>;

/** What commands have printed since the last report, and how many bytes before it are left out. */
export const liveReport = z.object({
  skipped: z.int().nonnegative(),
  output: z
    .array(liveOutput)
    .max(maxLivePieces)
    .refine((pieces) => pieces.reduce((chars, { text }) => chars + text.length, 0) <= maxLiveChars, {
      error: `expected at most ${maxLiveChars} characters in all`,
    }),
});
export type LiveReport = z.infer<typeof liveReport>;

/** Whether anybody follows the turn. Otherwise reports are dropped, and none are due. */
export const liveAnswer = z.object({ followed: z.boolean() });
export type LiveAnswer = z.infer<typeof liveAnswer>;

/**
 * What a follower of a turn sees of it while it runs. Nothing of it is on record, and any of it may be lost: what is recorded
 * of a step is whole.
 *
 * - `model`: text of a model's answer to the question of a step
 * - `output`: what a command of a step prints
 * - `gap`: something was left out here, so many bytes of it; 0 where nobody knows
 */
export const liveFrame = z.discriminatedUnion('kind', [
  z.object({ kind: z.literal('model'), step: z.string(), text: z.string() }),
  z.object({
    kind: z.literal('output'),
    step: z.string(),
    stream: liveOutput.shape.stream,
    text: z.string(),
  }),
  z.object({ kind: z.literal('gap'), bytes: z.int().nonnegative() }),
]);
export type LiveFrame = z.infer<typeof liveFrame>;

/** The ToolHost's route by which the API follows a turn, with the token of the cell's services. */
export function livePathOf(project: string, turn: string): string {
  return `/projects/${project}/turns/${turn}/live`;
}

/** One frame a line; empty lines keep the connection alive. `end` says that the attempt is over. */
export const liveLine = z.union([liveFrame, z.object({ kind: z.literal('end') })]);
export type LiveLine = z.infer<typeof liveLine>;
export const liveLinesType = 'application/x-ndjson';
