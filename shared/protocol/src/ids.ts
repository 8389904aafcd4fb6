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

/** The place of a question to a model. Not that of a call: what stands in the journal at a call's place is its result. */
export const questionStep = z.string().regex(/^\d{1,6}$/);

/** A step's place in its turn, such as `3` or `3.0`, or `seq.4` for a runner that names no steps. */
const stepKey = z.string().regex(/^(?:\d{1,6}(?:\.\d{1,6})?|seq\.\d{1,6})$/);

/**
 * The place of a tool call: a step's, or a handler's. A handler has no steps of a model: its calls are `sdk.4`, by their
 * number in the turn, or `key.` and what the handler calls them by.
 */
export const toolStep = z.union([stepKey, z.string().regex(/^(?:sdk\.\d{1,6}|key\.[\w.:-]{1,100})$/)]);

/** How urgent a message is: `P0` first. It orders mail in a prompt and jobs in the queue, and interrupts nothing. */
export const priority = z.enum(['P0', 'P1', 'P2', 'P3']);
export type Priority = z.infer<typeof priority>;
