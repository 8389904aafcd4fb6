import { isShallow, maxNesting } from './nesting.js';

/** The text in a code fence that is all there is. */
const fence = /^```\w*\s*\n?(.*?)\s*```$/s;

/**
 * Parses a call's input as a model wrote it. An empty text is an empty object; an object in a code fence, or encoded
 * twice, is that object.
 */
export function callInput(written: string): { input: unknown } | { fault: string } {
  const text = written.trim();
  const bare = fence.exec(text)?.[1] ?? text;
  if (bare === '') return { input: {} };
  try {
    const input = decodedTwice(JSON.parse(bare));
    if (isShallow(input)) return { input };
    return { fault: `lists and objects within one another, more than ${maxNesting} deep` };
  } catch (error) {
    return { fault: `not JSON (${error instanceof Error ? error.message : String(error)})` };
  }
}

/** No tool takes a text as its input: one that is an object's JSON is meant as that. */
function decodedTwice(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  try {
    const inner: unknown = JSON.parse(value);
    return typeof inner === 'object' && inner !== null ? inner : value;
  } catch {
    return value;
  }
}
