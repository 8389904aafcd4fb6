import { createRedactor, shortestSecret } from '@suzumio/runtime/observability/redactor';
import { beginningOf } from '@suzumio/protocol/cut-text';
import { ProviderFailure } from './provider-failure.js';

/** What of a request opens its provider. */
interface Opening {
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** The most of a provider's words that are told. */
const maxMessageChars = 1_000;

/**
 * A failure as it may be told: providers, and proxies before them, say back what they were sent. What opens them is taken
 * out before anything is cut, so that no part of it stays.
 */
export function redactedFailure(failure: ProviderFailure, request: Opening): ProviderFailure {
  const secrets = secretsOf(request).filter(({ length }) => length >= shortestSecret);
  const told = createRedactor(secrets.toSorted((a, b) => b.length - a.length)).redact(failure.message);
  return new ProviderFailure(failure.kind, beginningOf(told, maxMessageChars), failure.retryAfterMs, {
    cause: failure.cause,
  });
}

/** What a request holds that opens a provider, in the forms in which it may come back. */
function secretsOf({ baseURL, headers }: Opening): string[] {
  // A value without the scheme before it is the key itself.
  const sent = Object.values(headers).flatMap((value) => [value, value.replace(/^\S+ +/, '')]);
  const { username, password, search } = new URL(baseURL);
  if (username === '' && password === '' && search === '') return sent.flatMap(encodings);
  const basic = Buffer.from(`${decoded(username)}:${decoded(password)}`).toString('base64');
  return [...sent, baseURL, search, password, decoded(password), basic].flatMap(encodings);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

function encodings(secret: string): string[] {
  return [secret, secret.replaceAll('/', '\\/'), encodeURIComponent(secret.toWellFormed())];
}
