import { functionName } from './conversation.js';

// Models write names as they have seen them elsewhere: with the dots of a prompt, with `functions.` in front, in other case.
// The runner, which makes a call, and the ToolHost, which checks that it was asked for, read them by these rules alone.

/**
 * The name that a model means: the one that it wrote, else the only one that is like it.
 *
 * @returns undefined where none is like it, or several are
 */
export function meantName<Name extends string>(written: string, names: readonly Name[]): Name | undefined {
  const exact = names.find((name) => name === written || functionName(name) === written);
  if (exact !== undefined) return exact;
  const alike = names.filter((name) => meansName(written, name));
  return alike.length === 1 ? alike[0] : undefined;
}

/** Whether a written name may mean a tool. */
export function meansName(written: string, tool: string): boolean {
  return bare(written) === bare(tool);
}

/** A name's letters and digits, without what some models put around it: `functions.`, `:0`, `<|channel|>…`. */
function bare(name: string): string {
  return name
    .replace(/<\|.*$/s, '')
    .trim()
    .replace(/^functions?[.:/]/i, '')
    .replace(/:\d+$/, '')
    .replace(/[^\p{L}\p{N}]/gu, '')
    .toLowerCase();
}

/** How models begin a call in their text where their server does not read it: the mark, and the beginning of a call. */
const callMark =
  /(?:<\/?(?:tool_call|function_call|tool_calls|function_calls|invoke)>|<\|(?:tool_calls?|tool_call_begin|tool_calls_section_begin|python_tag)\|>|<｜tool▁calls?▁begin｜>|\[TOOL_CALLS\])\s*(?:[{[<]|[\w.]+\s*[({[<\n])|<function=[\w.]+>/;

/** Whether a text holds a call, by the older rule: for turns that continued by it. */
export function hasCallMark(text: string): boolean {
  return callMark.test(text);
}
