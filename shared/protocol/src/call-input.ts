import { isShallow, maxNesting } from './nesting.js';

/** Parses a call's input as a model wrote it. An empty text is an empty object. */
export function callInput(written: string): { input: unknown } | { fault: string } {
  if (written.trim() === '') return { input: {} };
  try {
    const input: unknown = JSON.parse(written);
    if (isShallow(input)) return { input };
    return { fault: `lists and objects within one another, more than ${maxNesting} deep` };
  } catch (error) {
    return { fault: `not JSON (${error instanceof Error ? error.message : String(error)})` };
  }
}
