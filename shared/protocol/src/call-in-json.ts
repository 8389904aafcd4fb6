// Calls as JSON, in the forms in which models write them.

/** Whether a written name is one of the agent's tools. */
export type IsTool = (written: string) => boolean;

/** How much of a text is searched for a call's name. */
export const maxHeadChars = 2_000;
/** How many calls in series are read. */
export const maxCalls = 64;
/** The longest input of a call that is read to its end. */
const maxInputChars = 64 * 1024;

const nameKeys = 'name tool tool_name toolName function_name function action recipient_name'.split(' ');
const inputKeys = 'arguments parameters input inputs args params kwargs action_input tool_input tool_args'.split(' ');
const listKeys = 'tool_calls tool_call calls function_calls function_call tool_uses tools function'.split(' ');
/** What says of a call what came of it, or what a tool is. */
const otherKeys =
  /^(?:results?|outputs?|response|status|error|returned|expected|description|examples?|inputSchema|input_schema)$/i;
const nameKey = new RegExp(`["'](?:${nameKeys.join('|')})["']\\s*:\\s*["']([\\w.:/-]{1,100})["']`);
const inputKey = new RegExp(`["'](?:${inputKeys.join('|')})["']\\s*:`);

/**
 * The tool that JSON calls; undefined where it is none of the agent's, or no call.
 *
 * @param isMarked whether a name alone is a call
 */
export function nameInJson(json: string, isTool: IsTool, isMarked: boolean): string | undefined {
  const value = parsed(json);
  if (value !== undefined) return nameInValue(value.of, isTool, isMarked);
  // Cut, or not quite JSON.
  const head = json.slice(0, maxHeadChars);
  const named = nameKey.exec(head);
  if (!named?.[1] || !isTool(named[1])) return undefined;
  return isMarked || inputKey.test(head) || head.slice(named.index + named[0].length).trim() === ''
    ? named[1]
    : undefined;
}

function nameInValue(value: unknown, isTool: IsTool, isMarked: boolean, depth = 0): string | undefined {
  if (typeof value !== 'object' || value === null || depth > 4) return undefined;
  if (Array.isArray(value)) {
    const names = value.slice(0, maxCalls).map((item) => nameInValue(item, isTool, isMarked, depth + 1));
    return names.every((name) => name !== undefined) ? names[0] : undefined;
  }
  const fields = value as Record<string, unknown>;
  const keys = Object.keys(fields);
  if (keys.length > 12 || keys.some((key) => otherKeys.test(key))) return undefined;
  const input = inputKeys.find((key) => Object.hasOwn(fields, key));
  for (const key of nameKeys) {
    const written = fields[key];
    if (typeof written !== 'string' || !isTool(written)) continue;
    const isSchema = input !== undefined && isObject(fields[input]) && 'properties' in (fields[input] as object);
    return !isSchema && (isMarked || input !== undefined) ? written : undefined;
  }
  for (const key of listKeys) {
    const name = Object.hasOwn(fields, key) ? nameInValue(fields[key], isTool, isMarked, depth + 1) : undefined;
    if (name !== undefined) return name;
  }
  const [only] = keys;
  return keys.length === 1 && only !== undefined && isTool(only) && isObject(fields[only]) ? only : undefined;
}

const isObject = (value: unknown) => typeof value === 'object' && value !== null && !Array.isArray(value);

/** Where what a bracket opens is closed again, with strings skipped; -1 where it is cut, or very long. */
export function balancedEnd(text: string, at: number): number {
  let depth = 0;
  let quote = '';
  for (let index = at; index < Math.min(text.length, at + maxInputChars); index += 1) {
    const character = text[index] ?? '';
    if (quote !== '') {
      if (character === '\\') index += 1;
      else if (character === quote) quote = '';
    } else if (character === '"' || (character === "'" && /[\s([{,=:]/.test(text[index - 1] ?? ''))) quote = character;
    else if (character === '{' || character === '[' || character === '(') depth += 1;
    else if (character === '}' || character === ']' || character === ')') {
      depth -= 1;
      if (depth <= 0) return index + 1;
    }
  }
  return -1;
}

function parsed(json: string): { of: unknown } | undefined {
  try {
    return { of: JSON.parse(json) };
  } catch {
    return undefined;
  }
}
