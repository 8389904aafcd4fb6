import * as z from 'zod';
import { duration } from './duration.js';
import { messageKind } from './message-kind.js';
import { isShallow, tooDeep } from './nesting.js';

const text = z.string();

/** Nesting is checked first: deeper values would exhaust the stack of recursive checks. */
const toolInput = z
  .record(z.string(), z.unknown())
  .refine(isShallow, { error: tooDeep, abort: true })
  .pipe(z.record(z.string(), z.json()));

/** One step of a mock turn. Each entry has exactly one kind of step. */
export const mockStep = z.union([
  z.strictObject({ run: z.strictObject({ command: text.min(1), timeoutMs: z.exactOptional(duration) }) }),
  z.strictObject({ write: z.strictObject({ path: text.min(1), text }) }),
  z.strictObject({
    tool: text.min(1),
    input: toolInput.default({}),
    /** The call must be refused with this code; its output is then the problem document. */
    expectError: z.exactOptional(text.min(1)),
    /** The call may be refused with this code, as an agent would go on after it. */
    allowError: z.exactOptional(text.min(1)),
  }),
  z.strictObject({ wait: duration }),
  z.strictObject({ fail: z.strictObject({ exit: z.int().min(1).max(255) }) }),
  z.strictObject({ crash: z.literal(true) }),
  z.strictObject({ hang: z.literal(true) }),
  z.strictObject({
    text,
    /** If the two are equal, the turn continues without that text; otherwise it ends with it. */
    endUnless: z.exactOptional(z.strictObject({ value: text, is: text })),
  }),
]);
export type MockStep = z.infer<typeof mockStep>;

/** The conditions on a turn for a rule to apply; those on a message must all hold for one message. */
export const mockCondition = z.strictObject({
  from: z.exactOptional(text),
  contains: z.exactOptional(text),
  channel: z.exactOptional(text),
  kind: z.exactOptional(messageKind),
  priority: z.exactOptional(z.enum(['P0', 'P1', 'P2', 'P3'])),
  turn: z.exactOptional(z.int().min(1)),
  attempt: z.exactOptional(z.int().min(1)),
});
export type MockCondition = z.infer<typeof mockCondition>;

/** A rule for one agent, named by its id or by the base id of counted agents. */
export const mockRule = z.strictObject({
  agent: text.min(1),
  when: z.exactOptional(mockCondition),
  steps: z.array(mockStep).max(1000),
});
export type MockRule = z.infer<typeof mockRule>;

/** The script of a mock runner: the first rule that applies is played. */
export const mockScript = z.array(mockRule).max(10_000);
export type MockScript = z.infer<typeof mockScript>;
