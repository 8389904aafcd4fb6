import type * as z from 'zod';
import { beginningOf } from './cut-text.js';

const maxFaults = 10;
/** Longer than any sentence of a schema: what is cut quotes the input. */
const maxFaultChars = 500;

/** What is wrong with an input, and where in it. */
export interface InputFault {
  readonly path: readonly PropertyKey[];
  readonly message: string;
}

/**
 * What is wrong with a tool's input, for its author; bounded, because names of fields are quoted.
 *
 * @param unknown its unknown fields, which replace zod's own issues for them
 */
export function inputFaults(issues: readonly z.core.$ZodIssue[], unknown: readonly InputFault[]): string {
  const others = unknown.length === 0 ? issues : issues.filter(({ code }) => code !== 'unrecognized_keys');
  const all: readonly InputFault[] = [...unknown, ...others];
  const faults = all.slice(0, maxFaults).map(({ path, message }) => {
    const fault = path.length === 0 ? message : `${path.join('.')}: ${message}`;
    const kept = beginningOf(fault, maxFaultChars);
    return kept === fault ? fault : `${kept}…`;
  });
  const more = all.length - faults.length;
  return [...faults, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
}
