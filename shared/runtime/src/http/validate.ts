import type * as z from 'zod';
import { SuzumioError } from '@suzumio/contract/errors/suzumio-error';

const mostIssues = 5;

/**
 * Parses `value` by `schema`.
 *
 * @param where what is parsed, such as `body` or `query`
 * @throws SuzumioError `invalid-request`, which names every invalid field
 */
export function parse<T extends z.ZodType>(schema: T, value: unknown, where: string): z.output<T> {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalidRequest(result.error, where);
}

/** The error for zod's issues in `where`. */
export function invalidRequest(error: z.ZodError, where: string): SuzumioError {
  const issues = error.issues.map((issue) => {
    const path = fieldPath(issue.path);
    return path === '' ? issue.message : `${path}: ${issue.message}`;
  });
  const shown = issues.slice(0, mostIssues);
  const more = issues.length - shown.length;
  const rest = more > 0 ? `; and ${more} more` : '';
  return new SuzumioError('invalid-request', `The ${where} is not valid: ${shown.join('; ')}${rest}.`, {
    where,
    issues: shown,
  });
}

/** `agents[2].name` for `['agents', 2, 'name']`. */
function fieldPath(path: readonly PropertyKey[]): string {
  return path.reduce<string>((text, part) => {
    if (typeof part === 'number') return `${text}[${part}]`;
    return text === '' ? String(part) : `${text}.${String(part)}`;
  }, '');
}
