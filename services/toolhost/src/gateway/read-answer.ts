import type * as z from 'zod';
import { errorOf, field, plainWords, says } from './error-words.js';
import { failureWithin, type ProviderFailure, unreadable } from './provider-failure.js';

/**
 * Parses a provider's JSON. Python servers may write `NaN` and `Infinity`, which JSON lacks, for unknown counts: they
 * are read as missing.
 *
 * @throws ProviderFailure
 */
export function wireJson(text: string): unknown {
  const value = parsed(text) ?? (hasNoNumber.test(text) ? parsed(withoutThem(text)) : undefined);
  if (value) return value.of;
  const words = plainWords(text.slice(0, maxWordChars));
  throw unreadable(`the provider answered what is not JSON${words && `: ${words}`}`);
}

/** How much of a body that is not JSON is searched for a message. */
const maxWordChars = 16 * 1024;

const hasNoNumber = /\b(?:NaN|Infinity)\b/;

/** Replaces them with `null`, but not within strings. An answer may be long, so one pass does it. */
function withoutThem(text: string): string {
  const kept: string[] = [];
  let from = 0;
  let quoted = false;
  for (let at = 0; at < text.length; at += 1) {
    const character = text[at];
    if (character === '"') quoted = !quoted;
    else if (quoted && character === '\\') at += 1;
    else if (!quoted && (character === 'N' || character === 'I')) {
      const word = ['NaN', 'Infinity'].find((one) => text.startsWith(one, at));
      if (word === undefined) continue;
      kept.push(text.slice(from, text[at - 1] === '-' ? at - 1 : at), 'null');
      at += word.length - 1;
      from = at + 1;
    }
  }
  return kept.concat(text.slice(from)).join('');
}

/** Boxed, since the JSON value may be `null`. */
function parsed(text: string): { of: unknown } | undefined {
  try {
    return { of: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

/**
 * Reads a provider's successful response.
 *
 * @throws ProviderFailure with the provider's message where it reports an error; otherwise naming the invalid field
 */
export function readAnswer<Schema extends z.ZodType>(schema: Schema, sent: unknown): z.infer<Schema> {
  const error = errorWithin(sent);
  if (error !== undefined) throw failureWithin(error);
  const parsed = schema.safeParse(sent);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw noAnswer(sent, issue && `${issue.path.join('.')}: ${issue.message}`);
}

/** The failure of a response that contains no answer. */
export function noAnswer(sent: unknown, why?: string): ProviderFailure {
  const { status, message } = errorOf(sent);
  if (status !== undefined) return failureWithin(sent);
  const words = [why, message].filter(Boolean).join(': ');
  return unreadable(`the provider answered what is no answer of a model: ${words}`);
}

/** The error in an answer, or in place of one. */
function errorWithin(sent: unknown): unknown {
  if (field(sent, 'object') === 'error' || field(sent, 'type') === 'error') return sent;
  const choices = field(sent, 'choices');
  return [sent, Array.isArray(choices) ? (choices as unknown[])[0] : undefined].find((one) =>
    says(field(one, 'error')),
  );
}
