import type * as z from 'zod';

const kinds: Readonly<Record<string, string>> = {
  string: 'a text',
  number: 'a number',
  boolean: 'true or false',
  array: 'a list',
  object: 'an object',
  record: 'an object',
};

/** What is wrong with a value, in words that need no knowledge of the schema's library. */
export const inWords: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'invalid_type') {
    return issue.input === undefined ? 'is required' : `expected ${kinds[issue.expected] ?? issue.expected}`;
  }
  if (issue.code === 'too_big') return `expected at most ${String(issue.maximum)}${unitOf(issue.origin)}`;
  if (issue.code === 'too_small') return `expected at least ${String(issue.minimum)}${unitOf(issue.origin)}`;
  return undefined;
};

function unitOf(origin: string): string {
  if (origin === 'string') return ' characters';
  return origin === 'array' ? ' entries' : '';
}

/** The first thing that is wrong, and where: `tools[0].name: is required`. */
export function firstFault({ issues: [issue] }: z.ZodError, whole: string): string {
  if (issue === undefined) return whole;
  const at = issue.path.reduce<string>((path, part) => {
    if (typeof part === 'number') return `${path}[${String(part)}]`;
    return path === '' ? String(part) : `${path}.${String(part)}`;
  }, '');
  return `${at === '' ? whole : at}: ${issue.message}`;
}
