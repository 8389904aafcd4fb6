import * as z from 'zod';
import { isShallow, tooDeep } from '../nesting.js';
import { firstFault, inWords } from './in-words.js';

/** The longest line that a module's process may send, in bytes: an answer, or what it asks. */
export const maxModuleLineBytes = 512 * 1024;

/** What a handler of a toolpack answers. An `output` that is no text is shown as JSON. */
export const packAnswer = z.object({
  output: z.unknown().refine((output) => output !== undefined && output !== null, { error: 'is required' }),
  title: z.string().max(400).optional(),
  metadata: z.record(z.string(), z.unknown()).refine(isShallow, tooDeep).optional(),
});

/** A handler's answer, as it is recorded. */
export interface PackAnswer {
  readonly output: string;
  readonly title?: string;
  readonly metadata?: Record<string, unknown>;
}

/** @returns what is wrong with an answer, in words */
export function answerOf(value: unknown): PackAnswer | { fault: string } {
  const parsed = packAnswer.safeParse(value, { error: inWords });
  if (!parsed.success) {
    const isObject = (parsed.error.issues[0]?.path.length ?? 0) > 0;
    return { fault: isObject ? firstFault(parsed.error, 'it') : 'it is no object' };
  }
  const { output, title, metadata } = parsed.data;
  return {
    output: typeof output === 'string' ? output : JSON.stringify(output),
    ...(title === undefined ? {} : { title }),
    ...(metadata === undefined ? {} : { metadata }),
  };
}

/** Splits what a module's process sends into lines, none longer than may be. */
export class ModuleLines {
  #held: Buffer[] = [];
  #heldBytes = 0;

  /**
   * @returns the lines that are complete
   * @throws RangeError for a line that is too long
   */
  take(chunk: Buffer): string[] {
    const lines: string[] = [];
    let rest = chunk;
    for (let end = rest.indexOf(10); end >= 0; end = rest.indexOf(10)) {
      this.#hold(rest.subarray(0, end));
      lines.push(Buffer.concat(this.#held).toString('utf8'));
      this.#held = [];
      this.#heldBytes = 0;
      rest = rest.subarray(end + 1);
    }
    this.#hold(rest);
    return lines;
  }

  #hold(part: Buffer): void {
    this.#heldBytes += part.length;
    if (this.#heldBytes > maxModuleLineBytes) throw new RangeError('a line is too long');
    if (part.length > 0) this.#held.push(part);
  }
}
