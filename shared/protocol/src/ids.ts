import * as z from 'zod';

/** A project's id: its name in the project file. */
export const projectId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9-]{0,62}$/, { error: 'expected 1 to 63 of a-z, 0-9 and -, the first no hyphen' });

/** An agent's id: its key in the project file, after `count` is expanded. */
export const agentId = z
  .string()
  .regex(/^[a-z0-9][a-z0-9_-]{0,62}$/, { error: 'expected 1 to 63 of a-z, 0-9, - and _, the first a letter or digit' });

/** A turn's id. */
export const turnId = z.string().regex(/^turn_[0-9A-HJKMNP-TV-Z]{26}$/);

/** The SHA-256 of some content, lower-case hex. */
export const sha256 = z.string().regex(/^[0-9a-f]{64}$/);

/** The step of a model call. A tool call's step has another form, because the journal holds its result there. */
export const questionStep = z.string().regex(/^\d{1,6}$/);

/** A step, such as `3` or `3.0`, or `seq.4` for a runner that names no steps; `3.0/to` where that writes what it was given. */
const stepKey = z.string().regex(/^(?:\d{1,6}(?:\.\d{1,6}(?:\/to)?)?|seq\.\d{1,6})$/);

const writeSuffix = '/to';

/** The step in the sandbox by which a call's answer is written into the workspace. */
export function writeStep(call: string): string {
  return `${call}${writeSuffix}`;
}

/** The call whose answer a step writes; undefined for any other step. */
export function callOfWrite(step: string): string | undefined {
  return step.endsWith(writeSuffix) ? step.slice(0, -writeSuffix.length) : undefined;
}

/** A call in the sandbox, which may ask its toolpack's controller module. */
export const supportedStep = z.string().regex(/^\d{1,6}\.\d{1,6}$/);

/** The step of what a call in the sandbox asks: `3.0/support.2`. It belongs to that call. */
export function supportStep(call: string, number: number): string {
  return `${call}/support.${String(number)}`;
}

/**
 * The step of a tool call. A handler has no model calls: its steps are `sdk.4`, by the number in the turn, or `key.`
 * and the handler's own key.
 */
export const toolStep = z.union([stepKey, z.string().regex(/^(?:sdk\.\d{1,6}|key\.[\w.:-]{1,100})$/)]);

/** A message's priority, `P0` first. It orders mail in a prompt and turns in the queue, and interrupts nothing. */
export const priority = z.enum(['P0', 'P1', 'P2', 'P3']);
export type Priority = z.infer<typeof priority>;
