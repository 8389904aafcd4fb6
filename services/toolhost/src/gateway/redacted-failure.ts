import { createRedactor, shortestSecret } from '@suzumio/runtime/observability/redactor';
import { beginningOf } from '@suzumio/protocol/cut-text';
import type { ProviderFailure } from './provider-failure.js';

/** The parts of a request with credentials. */
interface Opening {
  readonly baseURL: string;
  readonly headers: Readonly<Record<string, string>>;
}

/** How much of a provider's message is shown. */
const maxMessageChars = 1_000;

/**
 * A failure without credentials: providers, and proxies before them, may echo the request. They are removed before the
 * message is cut, so that no part remains.
 */
export function redactedFailure(
  failure: ProviderFailure,
  request: Opening,
  others: readonly string[] = [],
): ProviderFailure {
  const secrets = [...secretsOf(request), ...others].filter(({ length }) => length >= shortestSecret);
  const told = createRedactor(secrets.toSorted((a, b) => b.length - a.length)).redact(failure.message);
  return failure.with({ message: beginningOf(told, maxMessageChars) });
}

/** The credentials in a request, in each form in which they may be echoed. */
export function secretsOf({ baseURL, headers }: Opening): string[] {
  // Without its scheme, an authorization value is the key itself.
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
