import type { z } from 'zod';
import { errorOf, field, says } from './error-words.js';
import { failureWithin, ProviderFailure } from './provider-failure.js';

/**
 * Reads what a provider sent in answer to a question that it took.
 *
 * @throws ProviderFailure in the provider's words where it says that something went wrong; else naming the field for which
 *   it is no answer
 */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, sent: unknown): z.infer<Schema> {
  const error = errorWithin(sent);
  if (error !== undefined) throw failureWithin(error);
  const parsed = schema.safeParse(sent);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw noAnswer(sent, issue && `${issue.path.join('.')}: ${issue.message}`);
}

/** What became of a question where nothing in what was sent answers it. */
export function noAnswer(sent: unknown, why?: string): ProviderFailure {
  const { status, message } = errorOf(sent);
  if (status !== undefined) return failureWithin(sent);
  return new ProviderFailure('unavailable', `the provider answered what is no answer of a model: ${why ?? message}`);
}

/** What holds an error in an answer, or in place of one. */
function errorWithin(sent: unknown): unknown {
  if (field(sent, 'object') === 'error' || field(sent, 'type') === 'error') return sent;
  const choices = field(sent, 'choices');
  return [sent, Array.isArray(choices) ? (choices as unknown[])[0] : undefined].find((one) =>
    says(field(one, 'error')),
  );
}
