import type * as z from 'zod';
import { beginningOf } from './cut-text.js';

const maxFaults = 10;
/** Longer than any sentence of a schema: what is cut quotes the input. */
const maxFaultChars = 500;

/** What is wrong with a tool's input, for whoever wrote it; bounded, because names of fields are quoted. */
export function inputFaults({ issues }: z.ZodError): string {
  const faults = issues.slice(0, maxFaults).map(({ path, message }) => {
    const fault = path.length === 0 ? message : `${path.join('.')}: ${message}`;
    const kept = beginningOf(fault, maxFaultChars);
    return kept === fault ? fault : `${kept}…`;
  });
  const more = issues.length - faults.length;
  return [...faults, ...(more === 0 ? [] : [`and ${more} more`])].join('; ');
}
